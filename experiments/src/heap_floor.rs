//! What a loop costs without an allocator, and with the least that one can do: the bounds that an allocator is held against.
//!
//! They are for one thread and blocks up to 1,024 bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::hint::cold_path;
use std::ptr::null_mut;

/// No allocator: every block is the same one. Its memory is always at hand, which is true of no allocator.
#[derive(Clone, Copy)]
pub(crate) struct Null;

struct Block(UnsafeCell<[u8; 4096]>);

// SAFETY: only workloads of one thread are run with it.
unsafe impl Sync for Block {}

static BLOCK: Block = Block(UnsafeCell::new([0; 4096]));

// SAFETY: it is none, and is given only to loops that never rely on what is in a block.
unsafe impl GlobalAlloc for Null {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // The loop's own test of the address is part of the loop.
        std::hint::black_box(layout.size());
        std::hint::black_box(BLOCK.0.get().cast())
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        std::hint::black_box((ptr, layout.size()));
    }
}

/// The least that an allocator does: a block comes off a list and goes back on it, linked through its first bytes. There is
/// no thread to ask for, no bound to a list, no way back to the system. Without `SIZED` all blocks have one size and there is
/// one list; with it there is a list for every 16 bytes of size.
#[derive(Clone, Copy)]
pub(crate) struct Floor<const SIZED: bool>;

const LISTS: usize = 64;
const CHUNK: usize = 64 << 10;

/// Those by size, and the one of blocks of one size.
struct Lists([Cell<*mut u8>; LISTS + 1]);

// SAFETY: only workloads of one thread are run with them.
unsafe impl Sync for Lists {}

static FREE: Lists = Lists([const { Cell::new(null_mut()) }; LISTS + 1]);

impl<const SIZED: bool> Floor<SIZED> {
    /// # Safety
    ///
    /// `size` is 1 to 1,024.
    #[inline(always)]
    unsafe fn list(size: usize) -> &'static Cell<*mut u8> {
        // SAFETY: by the contract, the number is below that of the lists.
        if SIZED { unsafe { FREE.0.get_unchecked((size - 1) / 16) } } else { &FREE.0[LISTS] }
    }

    /// Cuts a chunk into blocks for an empty list and takes one; null when the system refuses.
    #[inline(never)]
    fn refill(list: &Cell<*mut u8>, size: usize) -> *mut u8 {
        // An odd number of lines of the processor's cache: powers of two would put all blocks into few sets of it.
        let block = if SIZED { size.next_multiple_of(16) } else { 17 * 64 };
        let layout = Layout::from_size_align(CHUNK, 64).expect("a power of two");
        // SAFETY: the blocks lie in the chunk, which is this list's for ever.
        unsafe {
            let chunk = System.alloc(layout);
            if chunk.is_null() {
                return chunk;
            }
            for at in (1..CHUNK / block).rev().map(|it| it * block) {
                chunk.add(at).cast::<*mut u8>().write(list.get());
                list.set(chunk.add(at));
            }
            chunk
        }
    }
}

// SAFETY: a block is on a list or in use; the loops ask for 1 to 1,024 bytes, aligned to 16 at most.
unsafe impl<const SIZED: bool> GlobalAlloc for Floor<SIZED> {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the loops; what is on a list is linked.
        unsafe {
            let list = Self::list(layout.size());
            let block = list.get();
            if block.is_null() {
                cold_path();
                return Self::refill(list, layout.size());
            }
            list.set(block.cast::<*mut u8>().read());
            block
        }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: by the contract of the caller, the block is used no more.
        unsafe {
            let list = Self::list(layout.size());
            ptr.cast::<*mut u8>().write(list.get());
            list.set(ptr);
        }
    }
}
