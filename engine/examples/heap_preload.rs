//! The heap as the `malloc` of any program, to test it under programs that were not written for it.
//!
//! ```text
//! cargo build --release -p engine --features heap --example heap_preload
//! LD_PRELOAD=$PWD/target/release/examples/libheap_preload.so python3 -c 'print(sum(range(10)))'
//! ```
//!
//! `engine/under-heap.sh` runs the tests of any crate so.

use std::ffi::{c_int, c_void};

use engine::heap::c;

/// What `valloc` aligns to.
const PAGE: usize = 4096;

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    or_no_memory(c::malloc(size))
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    or_no_memory(c::calloc(count, size))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: by C's contract.
    let moved = unsafe { c::realloc(block.cast(), size) };
    if size == 0 { moved.cast() } else { or_no_memory(moved) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: by C's contract.
    unsafe { c::free(block.cast()) };
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    or_no_memory(c::aligned_alloc(align, size))
}

#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    or_no_memory(c::aligned_alloc(align, size))
}

#[unsafe(no_mangle)]
extern "C" fn valloc(size: usize) -> *mut c_void {
    or_no_memory(c::aligned_alloc(PAGE, size))
}

#[unsafe(no_mangle)]
extern "C" fn pvalloc(size: usize) -> *mut c_void {
    or_no_memory(c::aligned_alloc(PAGE, size.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || align < size_of::<usize>() {
        return libc::EINVAL;
    }
    let block = c::aligned_alloc(align, size);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: by C's contract, `out` can be written to.
    unsafe { out.write(block.cast()) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    // SAFETY: by C's contract.
    unsafe { c::usable_size(block.cast()) }
}

fn or_no_memory(block: *mut u8) -> *mut c_void {
    if block.is_null() {
        // SAFETY: the location is the thread's own.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
    }
    block.cast()
}
