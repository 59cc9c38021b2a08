//! The allocators that are measured, by the name that a registration gives them.

use std::alloc::{GlobalAlloc, Layout, System};

use engine::heap::{Chained, Gated, Heap, Observed, Ungated, c};

use crate::heap_floor::{Floor, Null};

/// What a workload is compiled for: a function for every allocator.
pub(crate) trait Visitor {
    type Output;
    fn visit<A: GlobalAlloc + Copy + Send + Sync + 'static>(self, allocator: A) -> Self::Output;
}

/// Names of all allocators in this build.
pub(crate) const NAMES: &[&str] = &[
    "engine",
    "engine-ungated",
    "engine-chained",
    "engine-observed",
    "engine-called",
    "engine-c",
    "null",
    "floor",
    "floor-sized",
    "glibc",
    #[cfg(feature = "peer-allocators")]
    "mimalloc",
    #[cfg(feature = "peer-allocators")]
    "mimalloc-c",
    #[cfg(feature = "peer-allocators")]
    "jemalloc",
    #[cfg(feature = "peer-allocators")]
    "snmalloc",
    #[cfg(feature = "peer-allocators")]
    "rpmalloc",
];

/// Those among them that are bounds and no allocators: for the loops of one thread on a working set.
pub(crate) const BOUNDS: &[&str] = &["null", "floor", "floor-sized"];

/// Calls `visitor` with the allocator `name`, if this build has it.
pub(crate) fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
    Some(match name {
        "engine" => visitor.visit(Heap::<Gated>::new()),
        "engine-ungated" => visitor.visit(Heap::<Ungated>::new()),
        "engine-chained" => visitor.visit(Heap::<Chained>::new()),
        "engine-observed" => visitor.visit(Heap::<Observed>::new()),
        "engine-called" => visitor.visit(Called),
        "engine-c" => visitor.visit(C),
        "null" => visitor.visit(Null),
        "floor" => visitor.visit(Floor::<false>),
        "floor-sized" => visitor.visit(Floor::<true>),
        "glibc" => visitor.visit(System),
        #[cfg(feature = "peer-allocators")]
        "mimalloc" => visitor.visit(Shared(&mimalloc::MiMalloc)),
        #[cfg(feature = "peer-allocators")]
        "mimalloc-c" => visitor.visit(crate::heap_peers::MimallocC),
        #[cfg(feature = "peer-allocators")]
        "jemalloc" => visitor.visit(tikv_jemallocator::Jemalloc),
        #[cfg(feature = "peer-allocators")]
        "snmalloc" => visitor.visit(Shared(&snmalloc_rs::SnMalloc)),
        #[cfg(feature = "peer-allocators")]
        "rpmalloc" => visitor.visit(Shared(&rpmalloc::RpMalloc)),
        _ => return None,
    })
}

/// The engine's heap behind a call, as an allocator of another language is: as of such a one, the adapter is inlined.
#[derive(Clone, Copy)]
struct Called;

const HEAP: Heap<Ungated> = Heap::new();

#[inline(never)]
fn call_alloc(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the size and alignment are of a layout.
    unsafe { HEAP.alloc(Layout::from_size_align_unchecked(size, align)) }
}

/// # Safety
///
/// As for `dealloc`.
#[inline(never)]
unsafe fn call_dealloc(ptr: *mut u8, size: usize, align: usize) {
    // SAFETY: by the contract.
    unsafe { HEAP.dealloc(ptr, Layout::from_size_align_unchecked(size, align)) };
}

// SAFETY: all is passed on.
unsafe impl GlobalAlloc for Called {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        call_alloc(layout.size(), layout.align())
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { call_dealloc(ptr, layout.size(), layout.align()) };
    }

    #[inline(always)]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { HEAP.realloc(ptr, layout, new_size) }
    }
}

/// The engine's heap in the shapes of C, behind a call: a block is freed without its size.
#[derive(Clone, Copy)]
struct C;

#[inline(never)]
fn call_malloc(size: usize) -> *mut u8 {
    c::malloc(size)
}

/// # Safety
///
/// As for `free`.
#[inline(never)]
unsafe fn call_free(ptr: *mut u8) {
    // SAFETY: by the contract.
    unsafe { c::free(ptr) };
}

// SAFETY: blocks of `malloc` are aligned to 16; more is asked of `aligned_alloc`.
unsafe impl GlobalAlloc for C {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            call_malloc(layout.size())
        } else {
            c::aligned_alloc(layout.align(), layout.size())
        }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, _layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { call_free(ptr) };
    }
}

/// An allocator that is no `Copy` itself.
#[cfg(feature = "peer-allocators")]
struct Shared<A: 'static>(&'static A);

#[cfg(feature = "peer-allocators")]
impl<A> Clone for Shared<A> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(feature = "peer-allocators")]
impl<A> Copy for Shared<A> {}

#[cfg(feature = "peer-allocators")]
// SAFETY: all is passed on.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Shared<A> {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.dealloc(ptr, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.realloc(ptr, layout, new_size) }
    }
}
