//! What a thread keeps ready of one class: the unified cache, and the inline slots in front of it.
//!
//! The cache is a stack, since the block freed last is the one the processor's cache still holds. The inline slots are
//! a ring: first in, first out. A bin of zeroes is empty and has no room, so every operation on it fails: that is the one
//! test by which the fast path finds out that a thread has no heap yet, is in debug mode, has ended, or has inline slots
//! for this class. So inline slots that are off cost nothing: where they are on, the stack is out of sight of the fast
//! path, which then comes to the slots, and behind them to the stack.

use std::mem::offset_of;
use std::ptr::null_mut;

use super::sizes::{CLASSES, NO_PLACE, PITCH, block};

/// Most blocks in the cache, and in the inline slots.
pub(super) const SLOTS: usize = 128;
/// Most bytes in the cache of one class, as far as eight blocks allow.
const CACHED_BYTES: usize = 256 << 10;

/// What the fast path sees of a class: three addresses in its stack. Bins lie close together, so that those in use are few
/// lines of the processor's cache.
#[repr(C)]
pub(super) struct Bin {
    /// Behind the block that was put on the stack last.
    top: *mut *mut u8,
    /// Where the first block is, and behind the last one that there is room for; both are `top` where inline slots are on.
    base: *mut *mut u8,
    full: *mut *mut u8,
}

/// What the inline slots of a class hold, and what is in the stack behind them. Zeroes are slots that are off.
#[repr(C)]
pub(super) struct Queue {
    ring: *mut *mut u8,
    /// Number of blocks in the inline slots, and of all slots; 0 both where they are off.
    pub(super) queued: u32,
    pub(super) slots: u32,
    /// The slot of the block that was queued first.
    first: u32,
    /// Number of blocks in the cache where inline slots are on.
    behind: u32,
}

/// Room for the blocks of a class, and a line of the processor's cache more: so that the same depth of two stacks is not in
/// the same set of it.
#[repr(C)]
struct Room([*mut u8; SLOTS + 8]);

/// All bins of a heap, and behind them their inline slots: slots that are off take no memory.
#[repr(C)]
pub(super) struct Bins {
    of: [Bin; CLASSES],
    /// Where the record of a span leads that has no blocks of a class: there is never room.
    none: Bin,
    queues: [Queue; CLASSES],
    stacks: [Room; CLASSES],
    rings: [Room; CLASSES],
}

const _: () = assert!(size_of::<Bin>() == PITCH * 8 && size_of::<Queue>() == PITCH * 8);
const _: () = assert!(offset_of!(Bins, none) == NO_PLACE as usize * 8);

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
    /// Takes the block that was put on the stack last.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins`], or of the heap that has nothing.
    #[inline(always)]
    pub(super) unsafe fn pop(bin: *mut Self) -> Option<*mut u8> {
        // SAFETY: by the contract; what is below `top` and not below `base` was pushed, and no block is null.
        unsafe {
            let top = (*bin).top;
            if top == (*bin).base {
                return None;
            }
            let last = top.sub(1);
            (*bin).top = last;
            let ptr = *last;
            // Spares the caller its test.
            std::hint::assert_unchecked(!ptr.is_null());
            Some(ptr)
        }
    }

    /// Puts a block on the stack; whether there was room.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins`], or of the heap that has nothing; `ptr` is not null.
    #[inline(always)]
    pub(super) unsafe fn push(bin: *mut Self, ptr: *mut u8) -> bool {
        // SAFETY: by the contract; what is below `full` is room of the bin.
        unsafe {
            let top = (*bin).top;
            let room = top != (*bin).full;
            if room {
                *top = ptr;
                (*bin).top = top.add(1);
            }
            room
        }
    }

    /// The inline slots of a bin.
    ///
    /// # Safety
    ///
    /// `bin` is one of [`Bins`], but not the one of no class, and leads to all of these.
    #[inline(always)]
    pub(super) unsafe fn queue(bin: *mut Self) -> *mut Queue {
        // SAFETY: by the contract, a queue lies as far behind its bin as the first one behind the first bin.
        unsafe { bin.byte_add(offset_of!(Bins, queues)).cast() }
    }
}

impl Queue {
    /// Takes the block that was queued first.
    ///
    /// # Safety
    ///
    /// The queue is of [`Bins`], and `queued` is not 0.
    #[inline(always)]
    pub(super) unsafe fn dequeue(queue: *mut Self) -> *mut u8 {
        // SAFETY: by the contract; the `queued` slots from `first` on are written.
        unsafe {
            let ptr = *(*queue).ring.add((*queue).first as usize % SLOTS);
            (*queue).first = (*queue).first.wrapping_add(1);
            (*queue).queued -= 1;
            ptr
        }
    }

    /// Queues a block.
    ///
    /// # Safety
    ///
    /// The queue is of [`Bins`], and `queued` is below `slots`.
    #[inline(always)]
    pub(super) unsafe fn enqueue(queue: *mut Self, ptr: *mut u8) {
        // SAFETY: by the contract.
        unsafe {
            let slot = (*queue).first.wrapping_add((*queue).queued);
            *(*queue).ring.add(slot as usize % SLOTS) = ptr;
            (*queue).queued += 1;
        }
    }
}

impl Bins {
    /// The bin of a class.
    ///
    /// # Safety
    ///
    /// `bins` are of a heap, and `class` is a class.
    pub(super) unsafe fn bin(bins: *mut Self, class: usize) -> *mut Bin {
        // SAFETY: by the contract; the bins stand first.
        unsafe { bins.cast::<Bin>().add(class) }
    }

    /// Gives an empty bin of a class its room: that of the cache, and inline slots or none.
    ///
    /// # Safety
    ///
    /// As for [`bin`](Self::bin), and nobody else uses the bins.
    pub(super) unsafe fn open(bins: *mut Self, class: usize, slots: bool) {
        // SAFETY: by the contract.
        unsafe {
            let (bin, base) = (Self::bin(bins, class), Self::stack(bins, class));
            let room = if slots { 0 } else { capacity(block(class)) };
            (*bin) = Bin { top: base, base, full: base.add(room as usize) };
            let ring: *mut *mut u8 = (&raw mut (*bins).rings[class]).cast();
            let slots = if slots { SLOTS as u32 } else { 0 };
            *Bin::queue(bin) = Queue { ring, queued: 0, slots, first: 0, behind: 0 };
        }
    }

    /// Leaves an empty bin of a class without any room.
    ///
    /// # Safety
    ///
    /// As for [`open`](Self::open).
    pub(super) unsafe fn close(bins: *mut Self, class: usize) {
        let base = null_mut();
        // SAFETY: by the contract.
        unsafe {
            let bin = Self::bin(bins, class);
            *bin = Bin { top: base, base, full: base };
            *Bin::queue(bin) = Queue { ring: base, queued: 0, slots: 0, first: 0, behind: 0 };
        }
    }

    /// Where the blocks in the cache of a class begin.
    ///
    /// # Safety
    ///
    /// As for [`bin`](Self::bin).
    pub(super) unsafe fn stack(bins: *mut Self, class: usize) -> *mut *mut u8 {
        // SAFETY: by the contract.
        unsafe { (&raw mut (*bins).stacks[class]).cast() }
    }

    /// Number of blocks in the cache of a class, whether the fast path sees it or not.
    ///
    /// # Safety
    ///
    /// As for [`bin`](Self::bin), or the bins are of the heap that has nothing.
    pub(super) unsafe fn cached(bins: *mut Self, class: usize) -> usize {
        // SAFETY: by the contract; `top` and `base` are in one stack, or both null.
        unsafe {
            let bin = Self::bin(bins, class);
            let queue = Bin::queue(bin);
            if (*queue).slots == 0 {
                (*bin).top.offset_from_unsigned((*bin).base)
            } else {
                (*queue).behind as usize
            }
        }
    }

    /// Says that the cache of a class holds so many blocks.
    ///
    /// # Safety
    ///
    /// As for [`open`](Self::open), and the first `count` places of the stack, which has room for them, hold blocks.
    pub(super) unsafe fn set_cached(bins: *mut Self, class: usize, count: usize) {
        // SAFETY: by the contract.
        unsafe {
            let bin = Self::bin(bins, class);
            let queue = Bin::queue(bin);
            if (*queue).slots == 0 {
                (*bin).top = (*bin).base.add(count);
            } else {
                (*queue).behind = count as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::mem::MaybeUninit;

    fn zeroes() -> Box<MaybeUninit<Bins>> {
        Box::new(MaybeUninit::zeroed())
    }

    proptest! {
        #[test]
        fn behaves_as_a_vector_and_a_queue(class in 0..CLASSES, slots: bool, steps in prop::collection::vec(0u8..4, 0..600)) {
            let (mut stack, mut ring, mut bins) = (Vec::new(), VecDeque::new(), zeroes());
            let cap = if slots { 0 } else { capacity(block(class)) as usize };
            // SAFETY: the bins are used here only, and the slots as the model says that they can be.
            unsafe {
                let bins: *mut Bins = bins.as_mut_ptr();
                Bins::open(bins, class, slots);
                let bin = Bins::bin(bins, class);
                let queue = Bin::queue(bin);
                for (number, step) in steps.into_iter().enumerate() {
                    let ptr = std::ptr::without_provenance_mut(16 * (number + 1));
                    match step {
                        0 => prop_assert_eq!(Bin::pop(bin), stack.pop()),
                        1 => {
                            let room = stack.len() < cap;
                            if room {
                                stack.push(ptr);
                            }
                            prop_assert_eq!(Bin::push(bin, ptr), room);
                        }
                        2 => {
                            prop_assert_eq!((*queue).queued as usize, ring.len());
                            if let Some(first) = ring.pop_front() {
                                prop_assert_eq!(Queue::dequeue(queue), first);
                            }
                        }
                        _ => {
                            if ring.len() < (*queue).slots as usize {
                                ring.push_back(ptr);
                                Queue::enqueue(queue, ptr);
                            }
                            prop_assert_eq!((*queue).queued as usize, ring.len());
                        }
                    }
                    prop_assert_eq!(Bins::cached(bins, class), stack.len());
                }
            }
        }
    }

    #[test]
    fn zeroes_are_empty_and_full() {
        let mut bins = zeroes();
        // SAFETY: the bins are used here only.
        unsafe {
            let bins: *mut Bins = bins.as_mut_ptr();
            let bin = Bins::bin(bins, 7);
            assert!(Bin::pop(bin).is_none() && !Bin::push(bin, std::ptr::dangling_mut()));
            let queue = Bin::queue(bin);
            assert_eq!(((*queue).queued, (*queue).slots, Bins::cached(bins, 7)), (0, 0, 0));
        }
    }
}
