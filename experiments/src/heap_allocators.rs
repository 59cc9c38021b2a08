//! The allocators that are measured, by the name that a registration gives them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;

use engine::heap::{Chained, Gated, Heap, Observed, Ungated, c};

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

/// Calls `visitor` with the allocator `name`, if this build has it.
pub(crate) fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
    Some(match name {
        "engine" => visitor.visit(Heap::<Gated>::new()),
        "engine-ungated" => visitor.visit(Heap::<Ungated>::new()),
        "engine-chained" => visitor.visit(Heap::<Chained>::new()),
        "engine-observed" => visitor.visit(Heap::<Observed>::new()),
        "engine-called" => visitor.visit(Called(Heap::<Ungated>::new())),
        "engine-c" => visitor.visit(C),
        "null" => visitor.visit(Null),
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

/// An allocator behind a call, as one of another language is.
#[derive(Clone, Copy)]
struct Called<A>(A);

// SAFETY: all is passed on.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Called<A> {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.alloc(layout) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.dealloc(ptr, layout) }
    }

    #[inline(never)]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { self.0.realloc(ptr, layout, new_size) }
    }
}

/// The engine's heap in the shapes of C, behind a call: a block is freed without its size.
#[derive(Clone, Copy)]
struct C;

// SAFETY: blocks of `malloc` are aligned to 16; more is asked of `aligned_alloc`.
unsafe impl GlobalAlloc for C {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            c::malloc(layout.size())
        } else {
            c::aligned_alloc(layout.align(), layout.size())
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, ptr: *mut u8, _layout: Layout) {
        // SAFETY: by the contract of the caller.
        unsafe { c::free(ptr) };
    }
}

/// No allocator: every block is the same one. It shows what the loop costs without allocating, the floor that none can
/// go below. For one thread, and blocks up to 4 KiB.
#[derive(Clone, Copy)]
struct Null;

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
