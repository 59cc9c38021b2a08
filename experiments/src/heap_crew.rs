//! Workloads of two threads. The threads live as long as the workload: their starts and ends are not measured.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use crate::heap_workloads::{Shape, Slots, Xorshift};

/// A thread that does so many operations whenever it is told to, and answers with what they gave.
struct Member {
    orders: Option<Sender<u64>>,
    answers: Receiver<u64>,
    thread: Option<JoinHandle<()>>,
}

impl Member {
    fn new<W: FnMut(u64) -> u64>(start: impl FnOnce() -> W + Send + 'static) -> Self {
        let ((orders, inbox), (outbox, answers)) = (channel(), channel());
        let thread = thread::spawn(move || {
            let mut work = start();
            for ops in inbox {
                if outbox.send(work(ops)).is_err() {
                    return;
                }
            }
        });
        Self { orders: Some(orders), answers, thread: Some(thread) }
    }

    fn order(&self, ops: u64) -> Result<(), String> {
        let orders = self.orders.as_ref().ok_or("the thread has been told to end")?;
        orders.send(ops).map_err(|_| "a thread of the workload ended early".to_owned())
    }

    fn answer(&self) -> Result<u64, String> {
        self.answers.recv().map_err(|_| "a thread of the workload ended early".to_owned())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// Threads that run together.
pub(crate) struct Crew(Vec<Member>);

impl Crew {
    /// Two threads with a working set each, and nothing in common.
    pub(crate) fn independent<A: GlobalAlloc + Copy + Send + 'static>(a: A, slots: usize, seed: u32) -> Self {
        let member = |seed| {
            Member::new(move || {
                let mut slots = Slots::new(a, slots, seed, Shape::Mixed);
                move |ops| slots.run(Shape::Mixed, ops)
            })
        };
        Self(vec![member(seed), member(seed.wrapping_add(1))])
    }

    /// One thread allocates and the other frees; blocks go over one by one through a ring of 1,024.
    pub(crate) fn ring<A: GlobalAlloc + Copy + Send + Sync + 'static>(a: A, seed: u32) -> Self {
        let slots = vec![null_mut::<u8>(); 1024];
        Self::over(
            slots,
            seed,
            1,
            move |random, slot, _, sum| *slot = take(a, random, sum),
            move |slot, sum| {
                give(a, *slot, sum);
            },
        )
    }

    /// One thread allocates and the other frees; blocks go over in batches of `batch`, four of which are on the way at most.
    pub(crate) fn batches<A: GlobalAlloc + Copy + Send + Sync + 'static>(
        a: A,
        batch: usize,
        seed: u32,
    ) -> Self {
        let lists = (0..4).map(|_| Vec::with_capacity(batch)).collect();
        let fill = move |random: &mut Xorshift, list: &mut Vec<*mut u8>, count, sum: &mut u64| {
            list.extend((0..count).map(|_| take(a, random, sum)));
        };
        Self::over(lists, seed, batch, fill, move |list, sum| list.drain(..).for_each(|it| give(a, it, sum)))
    }

    /// One thread fills slots with up to `batch` blocks and the other empties them.
    fn over<T: 'static>(
        slots: Vec<T>,
        seed: u32,
        batch: usize,
        fill: impl Fn(&mut Xorshift, &mut T, usize, &mut u64) + Send + 'static,
        empty: impl Fn(&mut T, &mut u64) + Send + 'static,
    ) -> Self {
        let ring = Arc::new(Ring::new(slots));
        let (theirs, mut random) = (Arc::clone(&ring), Xorshift::new(seed));
        let counts = move |ops: u64| (0..ops).step_by(batch).map(move |at| batch.min((ops - at) as usize));
        let producer = Member::new(move || {
            let mut limit = 0;
            move |ops| {
                let mut sum = 0;
                for count in counts(ops) {
                    theirs.push(&mut limit, |slot| fill(&mut random, slot, count, &mut sum));
                }
                sum
            }
        });
        let consumer = Member::new(move || {
            let mut limit = 0;
            move |ops| {
                let mut sum = 0;
                for _ in counts(ops) {
                    ring.pop(&mut limit, |slot| empty(slot, &mut sum));
                }
                sum
            }
        });
        Self(vec![producer, consumer])
    }

    /// Runs `ops` operations in each thread and returns what they gave, in order.
    pub(crate) fn run(&self, ops: u64) -> Result<Vec<u64>, String> {
        self.0.iter().try_for_each(|it| it.order(ops))?;
        self.0.iter().map(Member::answer).collect()
    }
}

/// The size stands in the first bytes of the block, for the thread that frees it.
fn take<A: GlobalAlloc>(a: A, random: &mut Xorshift, sum: &mut u64) -> *mut u8 {
    let size = 16 + (random.next() & 0x3EF) as usize;
    *sum += size as u64;
    // SAFETY: the size is 16 to 1,023; the block has room for a number.
    unsafe {
        let block = a.alloc(Layout::from_size_align_unchecked(size, 8));
        assert!(!block.is_null(), "out of memory");
        block.cast::<usize>().write(size);
        block
    }
}

fn give<A: GlobalAlloc>(a: A, block: *mut u8, sum: &mut u64) {
    // SAFETY: the block came from `take`, with its size in it.
    unsafe {
        let size = block.cast::<usize>().read();
        *sum += size as u64;
        a.dealloc(block, Layout::from_size_align_unchecked(size, 8));
    }
}

/// A ring for one producer and one consumer.
///
/// Each end keeps how far it may go and asks the other only when it gets there: the allocators are to be measured, not the
/// two counters that change sides.
struct Ring<T> {
    slots: Vec<UnsafeCell<T>>,
    pushed: Line,
    popped: Line,
}

// SAFETY: a slot is the producer's from when it was popped until it is pushed, and the consumer's in between; what is in it
// goes over with it.
unsafe impl<T> Sync for Ring<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Ring<T> {}

/// A line of the cache for each end.
#[repr(align(128))]
struct Line(AtomicUsize);

impl<T> Ring<T> {
    /// A ring of these slots, whose number is a power of two.
    fn new(slots: Vec<T>) -> Self {
        let slots = slots.into_iter().map(UnsafeCell::new).collect();
        Self { slots, pushed: Line(AtomicUsize::new(0)), popped: Line(AtomicUsize::new(0)) }
    }

    fn slot(&self, at: usize) -> *mut T {
        self.slots[at & (self.slots.len() - 1)].get()
    }

    /// Fills the next slot once it is free; `limit` is the producer's own, and 0 at first.
    #[inline]
    fn push(&self, limit: &mut usize, fill: impl FnOnce(&mut T)) {
        let at = self.pushed.0.load(Ordering::Relaxed);
        if at == *limit {
            wait(|| {
                *limit = self.popped.0.load(Ordering::Acquire) + self.slots.len();
                at != *limit
            });
        }
        // SAFETY: the slot was popped, or never pushed.
        fill(unsafe { &mut *self.slot(at) });
        self.pushed.0.store(at + 1, Ordering::Release);
    }

    /// Empties the next slot once it is full; `limit` is the consumer's own, and 0 at first.
    #[inline]
    fn pop(&self, limit: &mut usize, empty: impl FnOnce(&mut T)) {
        let at = self.popped.0.load(Ordering::Relaxed);
        if at == *limit {
            wait(|| {
                *limit = self.pushed.0.load(Ordering::Acquire);
                at != *limit
            });
        }
        // SAFETY: the slot was pushed and not popped.
        empty(unsafe { &mut *self.slot(at) });
        self.popped.0.store(at + 1, Ordering::Release);
    }
}

/// Spins for a moment and then lets others run: the other end may be waiting for this processor.
fn wait(mut ready: impl FnMut() -> bool) {
    let mut spins = 0;
    while !ready() {
        spins += 1;
        if spins < 100 {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
