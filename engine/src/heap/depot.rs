//! Where the threads that free pass blocks on to the threads that allocate.
//!
//! When one thread allocates and another frees, every block has to go back. By the list of its span it would be written to
//! by the one and read by the other, each block a line of the cache that changes sides, and each read waits for the one
//! before. Here only addresses change sides, many at a time, and the blocks are not touched.
//!
//! Only blocks of other heaps come here: what a thread has allocated itself goes back to its own spans, which can then
//! become empty. What waits here is bounded for each class by [`WAITING_BYTES`] and [`WAITING`]; what has no room, or
//! finds the shelf in use at that moment, goes the other way. Nobody ever waits here.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bin::capacity;
use super::lock::{Lock, Locked};
use super::sizes::{CLASSES, block};

/// Most blocks of a class that wait.
const WAITING: usize = 1024;
/// Most bytes of a class that wait, as far as the halves of two caches allow.
const WAITING_BYTES: usize = 512 << 10;
/// Blocks smaller than a line of the cache go home: else two threads would write to one line without knowing.
const LINE: usize = 64;

/// The blocks of one class that wait.
#[repr(align(128))]
struct Shelf {
    /// Their number, written with the lock held: who only wants to know whether there are any need not have it.
    waiting: AtomicUsize,
    blocks: Lock<Blocks>,
}

pub(super) struct Blocks([*mut u8; WAITING]);

// SAFETY: whoever holds the lock has the blocks to itself.
unsafe impl Send for Blocks {}

static DEPOT: [Shelf; CLASSES] = [const { Shelf::new() }; CLASSES];

/// How many blocks of `class` may wait.
const fn room(class: usize) -> usize {
    if block(class) < LINE {
        return 0;
    }
    let (fit, least) = (WAITING_BYTES / block(class), capacity(block(class)) as usize);
    if fit > WAITING {
        WAITING
    } else if fit < least {
        least
    } else {
        fit
    }
}

impl Shelf {
    const fn new() -> Self {
        Self { waiting: AtomicUsize::new(0), blocks: Lock::new(Blocks([null_mut(); WAITING])) }
    }

    /// # Safety
    ///
    /// As for [`put`].
    unsafe fn put(&self, room: usize, from: *const *mut u8, count: usize) -> usize {
        if count == 0 || room == 0 {
            return 0;
        }
        let Some(mut blocks) = self.blocks.try_lock() else { return 0 };
        let waiting = self.waiting.load(Ordering::Relaxed);
        let left = count.min(room - waiting);
        // SAFETY: by the contract; `room` is at most the length of the array.
        unsafe { from.copy_to_nonoverlapping(blocks.0.as_mut_ptr().add(waiting), left) };
        self.waiting.store(waiting + left, Ordering::Relaxed);
        left
    }

    /// # Safety
    ///
    /// As for [`take`].
    unsafe fn take(&self, out: *mut *mut u8, want: usize) -> usize {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let Some(blocks) = self.blocks.try_lock() else { return 0 };
        let waiting = self.waiting.load(Ordering::Relaxed);
        let taken = want.min(waiting);
        // SAFETY: by the contract; the first `waiting` are written.
        unsafe { blocks.0.as_ptr().add(waiting - taken).copy_to_nonoverlapping(out, taken) };
        self.waiting.store(waiting - taken, Ordering::Relaxed);
        taken
    }
}

/// Leaves up to `count` blocks here, the first ones from `from` on, and returns how many.
///
/// # Safety
///
/// The caller has the blocks to itself, and all are of `class`.
pub(super) unsafe fn put(class: usize, from: *const *mut u8, count: usize) -> usize {
    // SAFETY: by the contract.
    unsafe { DEPOT[class].put(room(class), from, count) }
}

/// Takes up to `want` blocks of `class`, those that came last, and returns how many.
///
/// # Safety
///
/// `out` has room for `want` pointers.
pub(super) unsafe fn take(class: usize, out: *mut *mut u8, want: usize) -> usize {
    // SAFETY: by the contract.
    unsafe { DEPOT[class].take(out, want) }
}

/// How many blocks of `class` wait.
pub(super) fn waiting(class: usize) -> usize {
    DEPOT[class].waiting.load(Ordering::Relaxed)
}

/// All shelves, locked: for a fork.
pub(super) fn lock() -> [Locked<'static, Blocks>; CLASSES] {
    std::array::from_fn(|class| DEPOT[class].blocks.lock())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::ptr::without_provenance_mut;

    #[test]
    fn a_shelf_takes_what_it_has_room_for_and_gives_the_last_first() {
        let shelf = Shelf::new();
        let blocks: Vec<*mut u8> = (1..=100).map(|it| without_provenance_mut(16 * it)).collect();
        let mut out = [null_mut(); 100];
        // SAFETY: the addresses are only passed on; both arrays have a hundred.
        unsafe {
            assert_eq!(shelf.take(out.as_mut_ptr(), 100), 0);
            assert_eq!(shelf.put(0, blocks.as_ptr(), 100), 0, "no room at all");
            assert_eq!(shelf.put(70, blocks.as_ptr(), 60), 60);
            assert_eq!(shelf.put(70, blocks.as_ptr().add(60), 40), 10, "only as much as there is room");
            assert_eq!(shelf.take(out.as_mut_ptr(), 20), 20);
            assert_eq!(out[..20], blocks[50..70]);
            assert_eq!(shelf.take(out.as_mut_ptr(), 100), 50);
            assert_eq!(out[..50], blocks[..50]);
            let held = shelf.blocks.try_lock().unwrap();
            assert_eq!(shelf.put(70, blocks.as_ptr(), 60), 0, "in use");
            drop(held);
        }
    }

    #[test]
    fn no_block_is_lost_or_doubled_between_threads() {
        const EACH: usize = 20_000;
        static SHELF: Shelf = Shelf::new();
        let taken = AtomicUsize::new(0);
        let seen: Vec<usize> = std::thread::scope(|scope| {
            for from in [0, EACH] {
                scope.spawn(move || {
                    let mut next = from;
                    while next < from + EACH {
                        let count = (from + EACH - next).min(48);
                        let batch: Vec<*mut u8> =
                            (next..next + count).map(|it| without_provenance_mut(it + 1)).collect();
                        // SAFETY: the addresses are only passed on.
                        next += unsafe { SHELF.put(100, batch.as_ptr(), count) };
                    }
                });
            }
            let takers = [7, 64].map(|want| {
                let taken = &taken;
                scope.spawn(move || {
                    let (mut seen, mut out) = (Vec::new(), [null_mut(); 64]);
                    while taken.load(Ordering::Relaxed) < 2 * EACH {
                        // SAFETY: the array has room for 64.
                        let count = unsafe { SHELF.take(out.as_mut_ptr(), want) };
                        seen.extend(out[..count].iter().map(|it| it.addr()));
                        taken.fetch_add(count, Ordering::Relaxed);
                    }
                    seen
                })
            });
            takers.into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(seen.len(), 2 * EACH);
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 2 * EACH);
    }

    #[test]
    fn what_waits_is_bounded() {
        for class in 0..CLASSES {
            let room = room(class);
            assert!(room <= WAITING && (room * block(class) <= WAITING_BYTES || room <= 64), "{class}");
            assert_eq!(room == 0, block(class) < LINE);
        }
    }
}
