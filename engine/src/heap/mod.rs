//! A size-class allocator.
//!
//! ```
//! use engine::heap::Heap;
//!
//! #[global_allocator]
//! static HEAP: Heap = Heap::new();
//!
//! assert_eq!(vec![1u64; 1000].iter().sum::<u64>(), 1000);
//! ```
//!
//! # Blocks
//!
//! | bytes | come from |
//! |---|---|
//! | to 16 KiB, aligned to as much | a block of one of 36 classes, from a span of 64 KiB |
//! | to 2 MiB, aligned to 64 KiB | a run of spans |
//! | more | a mapping of its own |
//!
//! Every block is aligned to 16 bytes at least. 0 bytes are a block of the smallest class. A request too large for any
//! block is refused with null.
//!
//! A thread keeps up to 128 free blocks of each class at hand, 256 KiB at most of a class where that is more than
//! eight. Taking one and putting it back is a load, a comparison and a store, inlined where the program is compiled with
//! the allocator (`lto = "fat"` for `#[global_allocator]`). When none is left, half as many are taken from the thread's
//! spans; when there is no room, the older half goes back to the thread's own spans. Both are amortised O(1). A thread
//! that ends leaves its spans to the next one.
//!
//! Blocks that another thread has allocated go to a depot, where the next thread that runs out of their class takes them,
//! up to 1,024 of a class and 512 KiB. Only addresses change hands, half a cache at a time. Blocks below 64 bytes, and
//! what the depot has no room for, go to the spans they are from, by one compare-and-swap for each chain of neighbours.
//!
//! Empty spans go back to a pool; when it holds more than 4 MiB and an eighth of what is in use, their memory is given to
//! the system. [`purge`] does that at once.
//!
//! # Inline slots
//!
//! In front of a thread's cache there can be a ring of 128 slots for each class up to 1,024 bytes, first in, first out.
//! The ring is off unless the environment says otherwise when the process first allocates, and is then tested for only
//! where the cache has nothing:
//!
//! | variable | meaning |
//! |---|---|
//! | `ENGINE_HEAP_INLINE` | hot classes with inline slots, as in `c5,c6`: `Ck` are blocks up to `8 << k` bytes and above half of it |
//! | `ENGINE_HEAP_DEBUG` | `1`: every block is guarded and every free checked, at many times the cost |
//!
//! What is tested on the way is part of the type: [`Heap<Gated>`](Gated), [`Heap<Ungated>`](Ungated) without the rings,
//! [`Heap<Observed>`](Observed) with counters. [`Configuration`] tells what a process runs with.
//!
//! # Debug mode
//!
//! Finds double frees, pointers that are no block, frees with another layout, writes behind a block and writes after
//! free: when the block is freed or used again, on [`verify`], and when the process ends. It writes one line to standard
//! error and aborts. Outside of debug mode such a program has undefined behaviour, as with every allocator.
//!
//! # Limits
//!
//! Linux on 64 bits, with pages of 4 KiB and 47 bits of address. After a fork the child cannot use what other threads of
//! the parent had cached. It must not be called from a signal handler.

mod bin;
pub mod c;
mod checked;
mod depot;
mod gates;
#[expect(clippy::module_inception, reason = "the module of the type `Heap`")]
mod heap;
mod huge;
mod local;
mod lock;
mod os;
mod pool;
mod remote;
mod report;
mod sizes;
mod span;
mod statistics;
mod sync {
    pub(super) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}
mod thread;

pub use gates::Configuration;
pub use heap::{Chained, Form, Gate, Gated, Heap, Observed, Ungated};
pub use sizes::HOT_CLASSES;
pub use statistics::{ClassStatistics, Statistics, statistics};

/// Gives back what this thread and the ended ones have cached, and the memory of all free spans to the system.
pub fn purge() {
    thread::purge();
}

/// In debug mode, checks all blocks and aborts when a fault is found; nothing otherwise.
pub fn verify() {
    if thread::stage() == thread::Stage::Checked {
        checked::verify();
    }
}
