//! The allocator itself: the inlined paths, and the rare ones behind them.

use std::alloc::{GlobalAlloc, Layout};
use std::hint::cold_path;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;

use super::bin::{Bin, Queue};
use super::local::{self, Counters, Local, count};
use super::sizes::{LARGEST_FAST, LEAST_ALIGN, Route, fast, place};
use super::thread::{self, Stage};
use super::{checked, huge, pool};

/// How the test for inline slots is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Not at all: there are no inline slots, whatever the environment says.
    Absent,
    /// Where the fast path finds nothing in the cache, or no room: for classes with inline slots that is always so, for
    /// the others it is rare. Slots that are off cost nothing.
    Room,
    /// Comparisons of the class with C6 and C5, one after the other, each followed by a test of its switch. Inline
    /// slots of other classes are not used.
    Chain,
}

/// What is compiled into a [`Heap`].
pub trait Form {
    /// The test for inline slots.
    const GATE: Gate;
    /// Whether hits and pushes are counted. It costs an instruction or more an operation.
    const COUNTED: bool = false;
}

/// Inline slots are compiled in, and switched at start-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gated;
/// Inline slots are compiled out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ungated;
/// Inline slots are compiled in behind a chain of tests for two classes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chained;
/// As [`Gated`], and everything is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observed;

impl Form for Gated {
    const GATE: Gate = Gate::Room;
}
impl Form for Ungated {
    const GATE: Gate = Gate::Absent;
}
impl Form for Chained {
    const GATE: Gate = Gate::Chain;
}
impl Form for Observed {
    const GATE: Gate = Gate::Room;
    const COUNTED: bool = true;
}

/// The allocator. All values and all forms of it are handles of the one heap of the process.
///
/// A block allocated through one may be freed through another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap<F = Gated>(PhantomData<F>);

impl<F> Heap<F> {
    /// A handle.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Whether a request is served on the inlined path. When size and alignment are known where it is called, nothing of
/// this remains.
#[inline(always)]
fn is_fast(layout: Layout) -> bool {
    layout.size() <= LARGEST_FAST && layout.align() <= LEAST_ALIGN
}

/// Whether the chain of tests leads `class` to inline slots.
#[inline(always)]
fn chain_leads(class: usize, local: *mut Local) -> bool {
    // SAFETY: the heap of a thread, and the one that has nothing, can be read by the thread.
    let on = |hot: u64| unsafe { (*local).gates } >> hot & 1 == 1;
    ((12..16).contains(&class) && on(6)) || ((8..12).contains(&class) && on(5))
}

/// The bin of a request on the inlined path.
///
/// # Safety
///
/// `size` is at most [`LARGEST_FAST`] and `local` the heap of this thread or the one that has nothing.
#[inline(always)]
unsafe fn bin_of(local: *mut Local, size: usize) -> *mut Bin {
    // SAFETY: the bins stand first in a heap, and the table leads to one of them.
    unsafe { local.byte_add(place(size)).cast() }
}

/// Counts, if the form does, for the class of `size` in one of its counters.
///
/// # Safety
///
/// As for [`bin_of`], and the heap is that of this thread.
#[inline(always)]
unsafe fn note<F: Form>(local: *mut Local, size: usize, counter: impl Fn(&Counters) -> &AtomicU64) {
    if F::COUNTED {
        // SAFETY: by the contract.
        unsafe {
            let counters = (&raw const (*local).counters).cast::<Counters>();
            count(counter(&*counters.add(fast(size))));
        }
    }
}

// SAFETY: a block is handed out once until it is freed, has the size and alignment of its layout or more, and stays where
// it is; nothing here unwinds.
unsafe impl<F: Form> GlobalAlloc for Heap<F> {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_fast(layout) {
            return alloc_slow(layout.size(), layout.align());
        }
        let (local, size) = (thread::local(), layout.size());
        // SAFETY: the size was tested; the bin is the thread's own, or the one that is empty and never written.
        unsafe {
            let bin = bin_of(local, size);
            let queue = Bin::queue(bin);
            if F::GATE == Gate::Chain && chain_leads(fast(size), local) && (*queue).queued != 0 {
                return Queue::dequeue(queue);
            }
            if let Some(ptr) = Bin::pop(bin) {
                note::<F>(local, size, |it| &it.hits);
                return ptr;
            }
            // Keeps what follows, which is rare where slots are off, from shaping the code of the path above.
            cold_path();
            if F::GATE == Gate::Room && (*queue).queued != 0 {
                note::<F>(local, size, |it| &it.inline_hits);
                return Queue::dequeue(queue);
            }
            alloc_slow(size, layout.align())
        }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if !is_fast(layout) {
            // SAFETY: by the contract of the caller.
            return unsafe { dealloc_slow(ptr, layout.size(), layout.align()) };
        }
        let (local, size) = (thread::local(), layout.size());
        // SAFETY: the size was tested; the bin is the thread's own, or the one that is full and never written.
        unsafe {
            let bin = bin_of(local, size);
            let queue = Bin::queue(bin);
            if F::GATE == Gate::Chain && chain_leads(fast(size), local) && (*queue).queued != (*queue).slots {
                return Queue::enqueue(queue, ptr);
            }
            if Bin::push(bin, ptr) {
                return note::<F>(local, size, |it| &it.pushes);
            }
            cold_path();
            if F::GATE == Gate::Room && (*queue).queued != (*queue).slots {
                note::<F>(local, size, |it| &it.inline_pushes);
                return Queue::enqueue(queue, ptr);
            }
            dealloc_slow(ptr, size, layout.align());
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_fast(layout) {
            return alloc_zeroed_slow(layout.size(), layout.align());
        }
        // SAFETY: by the contract of the caller; a block has room for its size.
        unsafe {
            let ptr = self.alloc(layout);
            if !ptr.is_null() {
                ptr.write_bytes(0, layout.size());
            }
            ptr
        }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        unsafe { realloc_slow(ptr, layout.size(), layout.align(), new_size) }
    }
}

/// A block of `size` bytes aligned to `align`, a power of two; null when the system refuses.
#[cold]
#[inline(never)]
pub(super) fn alloc_slow(size: usize, align: usize) -> *mut u8 {
    let stage = thread::stage();
    if stage == Stage::Checked {
        return checked::take(size, align, false);
    }
    match Route::of(size, align) {
        Route::Small(class) if stage == Stage::Live => {
            // SAFETY: the heap is this thread's.
            unsafe { local::take_cached(thread::local(), class) }
        }
        Route::Small(class) => thread::take_ended(class),
        Route::Run(spans) => pool::take_run(spans).0,
        Route::Huge => huge::take(size, align),
    }
}

/// As [`alloc_slow`], and all bytes are zero.
#[cold]
#[inline(never)]
pub(super) fn alloc_zeroed_slow(size: usize, align: usize) -> *mut u8 {
    if thread::stage() == Stage::Checked {
        return checked::take(size, align, true);
    }
    let (ptr, zeroed) = match Route::of(size, align) {
        Route::Small(_) => (alloc_slow(size, align), false),
        Route::Run(spans) => pool::take_run(spans),
        Route::Huge => (huge::take(size, align), true),
    };
    if !zeroed && !ptr.is_null() {
        // SAFETY: the block has room for its size and is known to nobody.
        unsafe { ptr.write_bytes(0, size) };
    }
    ptr
}

/// # Safety
///
/// `ptr` is a block of this size and alignment and is used no more.
#[cold]
#[inline(never)]
pub(super) unsafe fn dealloc_slow(ptr: *mut u8, size: usize, align: usize) {
    let stage = thread::stage();
    // SAFETY: by the contract; the heap of a live thread is its own.
    unsafe {
        if stage == Stage::Checked {
            return checked::give(ptr, Some((size, align)));
        }
        match Route::of(size, align) {
            Route::Small(class) if stage == Stage::Live => local::put_cached(thread::local(), class, ptr),
            Route::Small(_) => thread::give_ended(ptr),
            Route::Run(_) => pool::give_run(ptr),
            Route::Huge => huge::give(ptr),
        }
    }
}

/// Gives a block another size, in place if it can be; null when the system refuses, and the block is as it was.
///
/// # Safety
///
/// `ptr` is a block of this size and alignment; it is used no more when the result is not null.
#[inline(never)]
pub(super) unsafe fn realloc_slow(ptr: *mut u8, size: usize, align: usize, new_size: usize) -> *mut u8 {
    // SAFETY: by the contract.
    unsafe {
        if thread::stage() == Stage::Checked {
            return checked::resize(ptr, Some((size, align)), new_size);
        }
        match (Route::of(size, align), Route::of(new_size, align)) {
            (Route::Small(old), Route::Small(new)) if old == new => return ptr,
            (Route::Run(_), Route::Run(spans)) if pool::resize_run(ptr, spans) => return ptr,
            (Route::Huge, Route::Huge) => {
                let moved = huge::resize(ptr, new_size, align);
                if !moved.is_null() {
                    return moved;
                }
            }
            _ => {}
        }
        let Ok(new) = Layout::from_size_align(new_size, align) else { return null_mut() };
        let old = Layout::from_size_align_unchecked(size, align);
        let heap = Heap::<Ungated>::new();
        let moved = heap.alloc(new);
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(ptr, size.min(new_size));
            heap.dealloc(ptr, old);
        }
        moved
    }
}
