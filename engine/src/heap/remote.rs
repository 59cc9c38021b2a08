//! The lists by which a block comes home to the thread that owns its span.
//!
//! Any thread may free any block. It links the block into the [`Returned`] list of the block's span; whoever finds that
//! list empty also links the span into the [`Pending`] list of the owner, so that the owner hears of each span once.
//! Both only ever grow by one compare-and-swap and are taken whole, so no element can come back between a read and a
//! swap (no ABA).
//!
//! Addresses are plain numbers here and links are made by the caller, so that the same code runs in the model checker.

use super::sync::{AtomicU64, AtomicUsize, Ordering};

/// Blocks that came back to a span: their number in the upper 16 bits, the address of the first in the lower 48.
pub(super) struct Returned(AtomicU64);

const ADDRESS: u64 = (1 << 48) - 1;

impl Returned {
    /// An empty list, for the model checker: spans are born as zeroes, which is this.
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Links in a chain of `count` blocks that begins at `head`; `link` sets what follows its last block. Whether the
    /// list was empty: then the caller tells the owner.
    pub(super) fn push(&self, head: usize, count: u64, mut link: impl FnMut(usize)) -> bool {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            link((seen & ADDRESS) as usize);
            let next = (((seen >> 48) + count) << 48) | head as u64;
            // Release: who takes the list sees the links. Acquire: who finds the list empty writes the span's link in
            // `Pending` after the owner has read it.
            match self.0.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return seen == 0,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the whole list: the address of its first block and the number of blocks.
    ///
    /// `AcqRel`: acquire for the links; release so that who finds the list empty next writes the span's link in
    /// [`Pending`] after the owner has read it.
    pub(super) fn take(&self) -> (usize, u64) {
        let all = self.0.swap(0, Ordering::AcqRel);
        ((all & ADDRESS) as usize, all >> 48)
    }
}

/// Spans with returned blocks, waiting for their owner.
pub(super) struct Pending(AtomicUsize);

impl Pending {
    /// An empty list, for the model checker: heaps are born as zeroes, which is this.
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Links in a span; `link` sets what follows it.
    pub(super) fn push(&self, span: usize, mut link: impl FnMut(usize)) {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            link(seen);
            match self.0.compare_exchange_weak(seen, span, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the whole list: the address of its first span, 0 when there is none.
    #[inline]
    pub(super) fn take(&self) -> usize {
        // The usual answer is "nothing", which needs no write.
        if self.0.load(Ordering::Relaxed) == 0 { 0 } else { self.0.swap(0, Ordering::Acquire) }
    }
}
