//! What a thread keeps ready of one class: the unified cache, and the inline slots in front of it.
//!
//! The cache is a stack, since the block freed last is the one the processor's cache still holds. The inline slots are
//! a ring: first in, first out. A bin of zeroes is empty and has no room, so every operation on it fails: that is the one
//! test by which the fast path finds out that a thread has no heap yet, is in debug mode, has ended, or has inline slots
//! for this class. So inline slots that are off cost nothing: where they are on, the stack is out of sight of the fast
//! path, which then comes to the slots, and behind them to the stack.

use std::mem::MaybeUninit;

use super::sizes::{CLASSES, NO_PLACE, PITCH};

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
}

/// The inline slots of a bin, and as many bytes as a bin has.
#[repr(C)]
struct Ring {
    slots: [MaybeUninit<*mut u8>; SLOTS],
    _rest: [u64; 3],
}

/// All bins of a heap, and behind them their inline slots: slots that are off take no memory, and the bins that are in use
/// lie close together.
#[repr(C)]
pub(super) struct Bins {
    pub(super) of: [Bin; CLASSES],
    /// Where the record of a span leads that has no blocks of a class: there is never room.
    none: Bin,
    rings: [Ring; CLASSES],
}

const _: () = assert!(size_of::<Bin>() == PITCH * 8 && size_of::<Ring>() == PITCH * 8);
const _: () = assert!(std::mem::offset_of!(Bins, none) == NO_PLACE as usize * 8);

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

    /// The inline slot with this number, counted from the first one ever used.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins::of`], and leads to all of these.
    #[inline(always)]
    unsafe fn slot(bin: *mut Self, number: u32) -> *mut *mut u8 {
        // SAFETY: by the contract, the ring of a bin lies as far behind it as the first ring behind the first bin.
        unsafe {
            let ring: *mut *mut u8 = bin.byte_add(std::mem::offset_of!(Bins, rings)).cast();
            ring.add(number as usize % SLOTS)
        }
    }

    /// Takes the block that was queued first.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins::of`] and leads to all of these, and `queued` is not 0.
    #[inline(always)]
    pub(super) unsafe fn dequeue(bin: *mut Self) -> *mut u8 {
        // SAFETY: by the contract; the `queued` slots from `first` on are written.
        unsafe {
            let ptr = *Self::slot(bin, (*bin).first);
            (*bin).first = (*bin).first.wrapping_add(1);
            (*bin).queued -= 1;
            ptr
        }
    }

    /// Queues a block.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins::of`] and leads to all of these, and `queued` is below `slots`.
    #[inline(always)]
    pub(super) unsafe fn enqueue(bin: *mut Self, ptr: *mut u8) {
        // SAFETY: by the contract.
        unsafe {
            *Self::slot(bin, (*bin).first.wrapping_add((*bin).queued)) = ptr;
            (*bin).queued += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn zeroes() -> Box<MaybeUninit<Bins>> {
        Box::new(MaybeUninit::zeroed())
    }

    /// # Safety
    ///
    /// `bins` came from [`zeroes`].
    unsafe fn bin_of(bins: &mut MaybeUninit<Bins>, class: usize) -> *mut Bin {
        // SAFETY: by the contract, it is one of them, and leads to all.
        unsafe { bins.as_mut_ptr().byte_add(class * PITCH * 8).cast() }
    }

    proptest! {
        #[test]
        fn behaves_as_a_vector_and_a_queue(class in 0..CLASSES, cap in 0u32..=128, slots in prop::sample::select(vec![0u32, 3, 128]), steps in prop::collection::vec(0u8..4, 0..600)) {
            let (mut stack, mut ring, mut bins) = (Vec::new(), VecDeque::new(), zeroes());
            // SAFETY: the bin is used here only, and its slots as the model says that it can be.
            unsafe {
                let bin = bin_of(&mut bins, class);
                ((*bin).cap, (*bin).slots) = (cap, slots);
                for (number, step) in steps.into_iter().enumerate() {
                    let ptr = std::ptr::without_provenance_mut(16 * (number + 1));
                    match step {
                        0 => prop_assert_eq!((*bin).pop(), stack.pop()),
                        1 => {
                            let room = stack.len() < cap as usize;
                            if room {
                                stack.push(ptr);
                            }
                            prop_assert_eq!((*bin).push(ptr), room);
                        }
                        2 => {
                            prop_assert_eq!((*bin).queued as usize, ring.len());
                            if let Some(first) = ring.pop_front() {
                                prop_assert_eq!(Bin::dequeue(bin), first);
                            }
                        }
                        _ => {
                            if ring.len() < slots as usize {
                                ring.push_back(ptr);
                                Bin::enqueue(bin, ptr);
                            }
                            prop_assert_eq!((*bin).queued as usize, ring.len());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn zeroes_are_empty_and_full() {
        let mut bins = zeroes();
        // SAFETY: the bin is used here only.
        unsafe {
            let bin = bin_of(&mut bins, 7);
            assert!((*bin).pop().is_none() && !(*bin).push(std::ptr::dangling_mut()));
            assert_eq!(((*bin).queued, (*bin).slots, *(*bin).stacked()), (0, 0, 0));
        }
    }
}
