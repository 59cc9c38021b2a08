//! Workloads of two threads. The threads live as long as the workload: their starts and ends are not measured.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
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
        let ring = Arc::new(Ring::new());
        let (theirs, mut random) = (Arc::clone(&ring), Xorshift::new(seed));
        let producer = Member::new(move || {
            move |ops| {
                let mut sum = 0;
                for _ in 0..ops {
                    let block = take(a, &mut random, &mut sum);
                    theirs.push(block);
                }
                sum
            }
        });
        let consumer = Member::new(move || {
            move |ops| {
                let mut sum = 0;
                for _ in 0..ops {
                    give(a, ring.pop(), &mut sum);
                }
                sum
            }
        });
        Self(vec![producer, consumer])
    }

    /// One thread allocates and the other frees; blocks go over in batches of `batch`.
    pub(crate) fn batches<A: GlobalAlloc + Copy + Send + Sync + 'static>(
        a: A,
        batch: usize,
        seed: u32,
    ) -> Self {
        // Two batches are on the way at most, and their lists come back: passing them on allocates nothing.
        let (full, filled): (SyncSender<Batch>, _) = sync_channel(2);
        let (empty, emptied) = sync_channel(4);
        for _ in 0..3 {
            // The channel has room for it.
            let _ = empty.try_send(Batch(Vec::with_capacity(batch)));
        }
        let mut random = Xorshift::new(seed);
        let producer = Member::new(move || {
            move |ops| {
                let mut sum = 0;
                let mut left = ops as usize;
                while left > 0 {
                    let Ok(mut list) = emptied.recv() else { return sum };
                    for _ in 0..batch.min(left) {
                        list.0.push(take(a, &mut random, &mut sum));
                    }
                    left -= list.0.len();
                    if full.send(list).is_err() {
                        return sum;
                    }
                }
                sum
            }
        });
        let consumer = Member::new(move || {
            move |ops| {
                let mut sum = 0;
                let mut left = ops as usize;
                while left > 0 {
                    let Ok(mut list): Result<Batch, _> = filled.recv() else { return sum };
                    left -= list.0.len();
                    for block in list.0.drain(..) {
                        give(a, block, &mut sum);
                    }
                    if empty.send(list).is_err() {
                        return sum;
                    }
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

struct Batch(Vec<*mut u8>);

// SAFETY: the blocks are used by whoever has the list.
unsafe impl Send for Batch {}

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
struct Ring {
    slots: Vec<AtomicPtr<u8>>,
    pushed: Line,
    popped: Line,
}

/// A line of the cache for each end.
#[repr(align(128))]
struct Line(AtomicUsize);

const RING: usize = 1024;

impl Ring {
    fn new() -> Self {
        let slots = (0..RING).map(|_| AtomicPtr::default()).collect();
        Self { slots, pushed: Line(AtomicUsize::new(0)), popped: Line(AtomicUsize::new(0)) }
    }

    fn push(&self, block: *mut u8) {
        let at = self.pushed.0.load(Ordering::Relaxed);
        wait(|| at - self.popped.0.load(Ordering::Acquire) < RING);
        self.slots[at % RING].store(block, Ordering::Relaxed);
        self.pushed.0.store(at + 1, Ordering::Release);
    }

    fn pop(&self) -> *mut u8 {
        let at = self.popped.0.load(Ordering::Relaxed);
        wait(|| self.pushed.0.load(Ordering::Acquire) != at);
        let block = self.slots[at % RING].load(Ordering::Relaxed);
        self.popped.0.store(at + 1, Ordering::Release);
        block
    }
}

/// Spins for a moment and then lets others run: the other end may be waiting for this processor.
fn wait(ready: impl Fn() -> bool) {
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
