//! What a thread keeps ready of one class: the unified cache, and the inline slots in front of it.
//!
//! The cache is a stack, since the block freed last is the one the processor's cache still holds. The inline slots are
//! a ring: first in, first out. A bin of zeroes is empty and has no room, so every operation on it fails: that is the one
//! test by which the fast path finds out that a thread has no heap yet, is in debug mode, has ended, or has inline slots
//! for this class. So inline slots that are off cost nothing: where they are on, the stack is out of sight of the fast
//! path, which then comes to the slots, and behind them to the stack.

use std::mem::MaybeUninit;

/// Most blocks in the cache, and in the inline slots.
pub(super) const SLOTS: usize = 128;
/// Most bytes in the cache of one class, as far as eight blocks allow.
const CACHED_BYTES: usize = 256 << 10;

/// The blocks of one class that a thread has ready.
#[repr(C)]
pub(super) struct Bin {
    /// Number of blocks in the cache, and the most there can be; 0 both where inline slots are on.
    pub(super) len: u32,
    pub(super) cap: u32,
    /// Number of blocks in the inline slots, and of all slots; 0 both where they are off.
    pub(super) queued: u32,
    pub(super) slots: u32,
    /// The slot of the block that was queued first.
    first: u32,
    /// Number of blocks in the cache where inline slots are on.
    behind: u32,
    pub(super) stack: [*mut u8; SLOTS],
    ring: [MaybeUninit<*mut u8>; SLOTS],
}

/// How many blocks of `size` bytes a cache holds.
pub(super) const fn capacity(size: usize) -> u32 {
    let fit = CACHED_BYTES / size;
    (if fit < 8 {
        8
    } else if fit > SLOTS {
        SLOTS
    } else {
        fit
    }) as u32
}

impl Bin {
    #[cfg(test)]
    pub(super) fn new(cap: u32, slots: u32) -> Self {
        let (stack, ring) = ([std::ptr::null_mut(); SLOTS], [const { MaybeUninit::uninit() }; SLOTS]);
        Self { len: 0, cap, queued: 0, slots, first: 0, behind: 0, stack, ring }
    }

    /// Number of blocks in the cache, whether the fast path sees it or not.
    pub(super) fn stacked(&mut self) -> &mut u32 {
        if self.slots == 0 { &mut self.len } else { &mut self.behind }
    }

    /// As [`stacked`](Self::stacked), to read it.
    pub(super) fn cached(&self) -> u32 {
        if self.slots == 0 { self.len } else { self.behind }
    }

    /// Takes the block that was put on the stack last.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<*mut u8> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        // SAFETY: `len` is at most `SLOTS`, before it was lowered.
        Some(unsafe { *self.stack.get_unchecked(self.len as usize) })
    }

    /// Puts a block on the stack; whether there was room.
    #[inline(always)]
    pub(super) fn push(&mut self, ptr: *mut u8) -> bool {
        let room = self.len != self.cap;
        if room {
            // SAFETY: `len` is below `cap`, which is at most `SLOTS`.
            unsafe { *self.stack.get_unchecked_mut(self.len as usize) = ptr };
            self.len += 1;
        }
        room
    }

    /// Takes the block that was queued first.
    ///
    /// # Safety
    ///
    /// `queued` is not 0.
    #[inline(always)]
    pub(super) unsafe fn dequeue(&mut self) -> *mut u8 {
        let slot = self.first as usize % SLOTS;
        self.first = self.first.wrapping_add(1);
        self.queued -= 1;
        // SAFETY: the `queued` slots from `first` on are written.
        unsafe { self.ring[slot].assume_init() }
    }

    /// Queues a block.
    ///
    /// # Safety
    ///
    /// `queued` is below `slots`.
    #[inline(always)]
    pub(super) unsafe fn enqueue(&mut self, ptr: *mut u8) {
        let slot = self.first.wrapping_add(self.queued) as usize % SLOTS;
        self.queued += 1;
        self.ring[slot].write(ptr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_vector_and_a_queue(cap in 0u32..=128, slots in prop::sample::select(vec![0u32, 3, 128]), steps in prop::collection::vec(0u8..4, 0..600)) {
            let (mut bin, mut stack, mut ring) = (Bin::new(cap, slots), Vec::new(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                let ptr = std::ptr::without_provenance_mut(16 * (number + 1));
                match step {
                    0 => prop_assert_eq!(bin.pop(), stack.pop()),
                    1 => {
                        let room = stack.len() < cap as usize;
                        if room {
                            stack.push(ptr);
                        }
                        prop_assert_eq!(bin.push(ptr), room);
                    }
                    2 => {
                        prop_assert_eq!(bin.queued as usize, ring.len());
                        if let Some(first) = ring.pop_front() {
                            // SAFETY: the model says that one is queued.
                            prop_assert_eq!(unsafe { bin.dequeue() }, first);
                        }
                    }
                    _ => {
                        prop_assert_eq!(bin.queued as usize, ring.len());
                        if ring.len() < slots as usize {
                            ring.push_back(ptr);
                            // SAFETY: the model says that there is room.
                            unsafe { bin.enqueue(ptr) };
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn zeroes_are_empty_and_full() {
        let mut bin = Bin::new(0, 0);
        assert!(bin.pop().is_none() && !bin.push(std::ptr::dangling_mut()));
        assert_eq!((bin.queued, bin.slots, *bin.stacked()), (0, 0, 0));
    }
}
