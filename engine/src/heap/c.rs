//! The heap with the shapes of C's `malloc` family: a block is freed without its layout.
//!
//! The functions are not exported to C under their names, since that would replace the C library's own in every program
//! that links this crate.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

use super::bin::Bin;
use super::heap::{Heap, Ungated, alloc_slow, realloc_slow};
use super::sizes::{LARGEST_FAST, LEAST_ALIGN, Route, block};
use super::span::{SEGMENT, Use, span_of};
use super::thread::{self, Stage};
use super::{checked, huge, local, pool};

const HEAP: Heap<Ungated> = Heap::new();

/// The layout of `size` bytes; none when no block can be so large.
fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, LEAST_ALIGN).ok()
}

/// A block of `size` bytes aligned to 16; null when the system refuses or no block can be so large. 0 bytes are a block
/// as well, one that must be freed.
#[inline]
pub fn malloc(size: usize) -> *mut u8 {
    if size > LARGEST_FAST {
        return malloc_large(size);
    }
    // SAFETY: the size was tested, and one of 0 is served with the smallest block.
    unsafe { HEAP.alloc(Layout::from_size_align_unchecked(size, LEAST_ALIGN)) }
}

#[cold]
#[inline(never)]
fn malloc_large(size: usize) -> *mut u8 {
    layout(size).map_or(null_mut(), |it| alloc_slow(it.size(), it.align()))
}

/// As [`malloc`] of `count * size` bytes, all of them zero; null when the product is larger than any block.
pub fn calloc(count: usize, size: usize) -> *mut u8 {
    let layout = count.checked_mul(size).and_then(layout);
    // SAFETY: a size of 0 is served with the smallest block.
    layout.map_or(null_mut(), |it| unsafe { HEAP.alloc_zeroed(it) })
}

/// A block of `size` bytes aligned to `align`; null when the system refuses, when no block can be so large, or when
/// `align` is no power of two.
pub fn aligned_alloc(align: usize, size: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        Ok(layout) => alloc_slow(layout.size(), layout.align().max(LEAST_ALIGN)),
        Err(_) => null_mut(),
    }
}

/// What a block is, found by its address.
enum Found {
    Small(usize),
    Run(usize),
    Huge,
}

/// # Safety
///
/// `ptr` is a block of this heap that is in use, and the heap is not in debug mode.
#[inline(always)]
unsafe fn find(ptr: *mut u8) -> Found {
    if ptr.addr().is_multiple_of(SEGMENT) {
        return Found::Huge;
    }
    // SAFETY: by the contract, the block has a record.
    unsafe {
        let span = span_of(ptr);
        match (*span).used_for {
            Use::Blocks => Found::Small(usize::from((*span).class)),
            Use::Run => Found::Run((*span).bytes),
            _ => Found::Huge,
        }
    }
}

/// Frees a block; null is nothing to free.
///
/// # Safety
///
/// `ptr` is null or a block of this heap that is used no more.
#[inline]
pub unsafe fn free(ptr: *mut u8) {
    // SAFETY: by the contract. The record leads to a bin of its class, or to one without room; in debug mode, and before
    // a thread has a heap, no bin has room.
    unsafe {
        // Null is one of these.
        if !ptr.addr().is_multiple_of(SEGMENT) {
            let place = usize::from((*span_of(ptr)).place) * 8;
            let bin: *mut Bin = thread::local().byte_add(place).cast();
            if Bin::push(bin, ptr) {
                return;
            }
        }
        free_slow(ptr);
    }
}

/// # Safety
///
/// As for [`free`].
#[cold]
#[inline(never)]
unsafe fn free_slow(ptr: *mut u8) {
    if ptr.is_null() {
        return;
    }
    let stage = thread::stage();
    // SAFETY: by the contract.
    unsafe {
        if stage == Stage::Checked {
            return checked::give(ptr, None);
        }
        match find(ptr) {
            Found::Small(class) if stage == Stage::Live => local::put_cached(thread::local(), class, ptr),
            Found::Small(_) => thread::give_ended(ptr),
            Found::Run(_) => pool::give_run(ptr),
            Found::Huge => huge::give(ptr),
        }
    }
}

/// Gives a block another size, in place if it can be, and keeps the bytes of the smaller of both; the alignment is that
/// of [`malloc`]. Of null it is [`malloc`]; to 0 bytes it is [`free`] and null. Null when the system refuses, and the
/// block is as it was.
///
/// # Safety
///
/// `ptr` is null or a block of this heap; it is used no more when the result is not null or `size` is 0.
pub unsafe fn realloc(ptr: *mut u8, size: usize) -> *mut u8 {
    if ptr.is_null() {
        return malloc(size);
    }
    // SAFETY: by the contract.
    unsafe {
        if size == 0 {
            free(ptr);
            return null_mut();
        }
        if layout(size).is_none() {
            return null_mut();
        }
        if thread::stage() == Stage::Checked {
            return checked::resize(ptr, None, size);
        }
        let usable = usable_size(ptr);
        let moved = match (find(ptr), Route::of(size, LEAST_ALIGN)) {
            (Found::Small(old), Route::Small(new)) if old == new => return ptr,
            (Found::Run(_), Route::Run(_)) => return realloc_slow(ptr, usable, LEAST_ALIGN, size),
            (Found::Huge, Route::Huge) => huge::resize(ptr, size, huge::lead_of(ptr)),
            _ => null_mut(),
        };
        if !moved.is_null() {
            return moved;
        }
        let moved = malloc(size);
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(ptr, usable.min(size));
            free(ptr);
        }
        moved
    }
}

/// Bytes of a block that may be used; at least those it was asked for with, and exactly those in debug mode. 0 for null.
///
/// # Safety
///
/// `ptr` is null or a block of this heap that is in use.
pub unsafe fn usable_size(ptr: *mut u8) -> usize {
    if ptr.is_null() {
        return 0;
    }
    // SAFETY: by the contract.
    unsafe {
        if thread::stage() == Stage::Checked {
            return checked::size_of_block(ptr);
        }
        match find(ptr) {
            Found::Small(class) => block(class),
            Found::Run(bytes) => bytes,
            Found::Huge => huge::usable(ptr),
        }
    }
}
