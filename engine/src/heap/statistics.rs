//! What the heap has done so far, by class.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bin::{Bin, Bins, capacity};
use super::local::{self, Counters, Local};
use super::sizes::{CLASSES, block, hot};
use super::{depot, pool, thread};

/// What happened to one class, in all threads together.
///
/// `hits`, `pushes`, `inline_hits` and `inline_pushes` are counted by [`Observed`](super::Observed) only; of what went through
/// another form they count no more than the hits and pushes of a cache behind inline slots. Through `Observed` alone, blocks up to 2,048 bytes and outside of debug mode, the number of
/// allocations is `hits + inline_hits + refills`, and that of frees `pushes + inline_pushes + flushes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStatistics {
    /// Bytes of a block.
    pub block: usize,
    /// The hot class that the gates name it by, `k` of `Ck`; none above 1,024 bytes.
    pub hot: Option<usize>,
    /// Allocations served by the cache.
    pub hits: u64,
    /// Frees that the cache had room for.
    pub pushes: u64,
    /// Allocations served by the inline slots.
    pub inline_hits: u64,
    /// Frees that the inline slots had room for.
    pub inline_pushes: u64,
    /// Allocations that found the cache empty, and filled its half.
    pub refills: u64,
    /// Frees that found the cache full, and emptied its half.
    pub flushes: u64,
    /// Spans opened for the class.
    pub spans: u64,
    /// Blocks in the caches of this thread.
    pub cached: u32,
    /// Blocks on their way from threads that free to threads that allocate.
    pub waiting: usize,
    /// Most blocks in the cache of a thread.
    pub capacity: u32,
    /// Blocks in the inline slots of this thread.
    pub queued: u32,
    /// Inline slots of a thread; 0 when they are off.
    pub slots: u32,
}

impl ClassStatistics {
    /// Number of allocations.
    pub fn allocations(&self) -> u64 {
        self.hits + self.inline_hits + self.refills
    }

    /// Number of frees.
    pub fn frees(&self) -> u64 {
        self.pushes + self.inline_pushes + self.flushes
    }
}

/// What the heap has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Every class, the smallest first.
    pub classes: [ClassStatistics; CLASSES],
    /// Bytes of address space mapped for segments; huge blocks are not counted.
    pub mapped: usize,
    /// Bytes of spans that heaps and runs of spans use.
    pub in_use: usize,
    /// Bytes of the records of heaps, one for each thread that was ever alive with the others.
    pub heaps: usize,
}

/// Reads the counters of all threads, without allocating. Those of threads that run are a moment old.
pub fn statistics() -> Statistics {
    thread::stage();
    let (mapped, in_use) = pool::lock().bytes();
    let mut all = Statistics { classes: [ClassStatistics::default(); CLASSES], mapped, in_use, heaps: 0 };
    let here = thread::local();
    for (class, it) in all.classes.iter_mut().enumerate() {
        (it.block, it.hot) = (block(class), hot(class));
        (it.capacity, it.waiting) = (capacity(it.block), depot::waiting(class));
        // SAFETY: it is the thread's own heap, or the one that has nothing.
        unsafe {
            let bins = &raw mut (*here).bins;
            let queue = Bin::queue(Bins::bin(bins, class));
            it.cached = Bins::cached(bins, class) as u32;
            (it.queued, it.slots) = ((*queue).queued, (*queue).slots);
        }
    }
    thread::for_each(|local: *mut Local| {
        all.heaps += local::BYTES;
        for (class, it) in all.classes.iter_mut().enumerate() {
            // SAFETY: heaps are never unmapped, and counters are atomic.
            let counters: &Counters = unsafe { &(*local).counters[class] };
            let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            it.hits += read(&counters.hits);
            it.pushes += read(&counters.pushes);
            it.inline_hits += read(&counters.inline_hits);
            it.inline_pushes += read(&counters.inline_pushes);
            it.refills += read(&counters.refills);
            it.flushes += read(&counters.flushes);
            it.spans += read(&counters.spans);
        }
    });
    all
}
