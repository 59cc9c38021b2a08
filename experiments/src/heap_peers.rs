//! Peers that have no adapter of their own.

use std::alloc::{GlobalAlloc, Layout};

/// mimalloc by its plain functions: its Rust adapter goes by the dearer ones for a given alignment.
#[derive(Clone, Copy)]
pub(crate) struct MimallocC;

// SAFETY: `mi_malloc` aligns to 16; more is asked of `mi_malloc_aligned`.
unsafe impl GlobalAlloc for MimallocC {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe {
            if layout.align() <= 16 {
                libmimalloc_sys::mi_malloc(layout.size()).cast()
            } else {
                libmimalloc_sys::mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, _layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { libmimalloc_sys::mi_free(ptr.cast()) };
    }
}
