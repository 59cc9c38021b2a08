//! Every interleaving, and every reordering the memory model allows, of the lists by which blocks come home.
#![cfg(loom)]

#[path = "../src/heap/remote.rs"]
mod remote;
mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use remote::{Pending, Returned};

/// Spans are 1 and 2; their blocks are 1 and 2 of span 1, 3 and 4 of span 2.
struct Heap {
    pending: Pending,
    returned: [Returned; 2],
    pending_link: [UnsafeCell<usize>; 2],
    block_link: [UnsafeCell<usize>; 4],
}

impl Heap {
    fn new() -> Self {
        Self {
            pending: Pending::new(),
            returned: [Returned::new(), Returned::new()],
            pending_link: [UnsafeCell::new(0), UnsafeCell::new(0)],
            block_link: [UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)],
        }
    }

    /// As `local::give_abroad`.
    fn give_abroad(&self, block: usize) {
        let span = block.div_ceil(2);
        let first = self.returned[span - 1].push(block, 1, |seen| {
            // SAFETY: loom finds out whether the block is the caller's own.
            self.block_link[block - 1].with_mut(|link| unsafe { *link = seen });
        });
        if first {
            self.pending.push(span, |seen| {
                // SAFETY: loom finds out whether nobody else uses the link.
                self.pending_link[span - 1].with_mut(|link| unsafe { *link = seen });
            });
        }
    }

    /// As `local::drain`; the blocks that came home, and their number by the counters.
    fn drain(&self) -> (Vec<usize>, u64) {
        let (mut blocks, mut counted) = (Vec::new(), 0);
        let mut span = self.pending.take();
        while span != 0 {
            // SAFETY: loom finds out whether nobody writes the link.
            let next = self.pending_link[span - 1].with(|link| unsafe { *link });
            let (mut block, count) = self.returned[span - 1].take();
            counted += count;
            while block != 0 {
                blocks.push(block);
                // SAFETY: as above.
                block = self.block_link[block - 1].with(|link| unsafe { *link });
            }
            span = next;
        }
        (blocks, counted)
    }
}

#[test]
fn every_block_comes_home_once() {
    loom::model(|| {
        let heap = Arc::new(Heap::new());
        let threads: Vec<_> = [[1, 3], [2, 4]]
            .map(|blocks| {
                let heap = Arc::clone(&heap);
                thread::spawn(move || blocks.into_iter().for_each(|it| heap.give_abroad(it)))
            })
            .into();
        let (mut home, mut counted) = (Vec::new(), 0);
        while home.len() < 4 {
            let (blocks, count) = heap.drain();
            home.extend(blocks);
            counted += count;
            // Lets the others go on: a block that is not home yet is on its way.
            thread::yield_now();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        home.sort_unstable();
        assert_eq!(home, [1, 2, 3, 4]);
        assert_eq!(counted, 4);
    });
}

/// A block that came home is used again and freed again, while its span is on the way.
#[test]
fn a_block_can_come_home_twice() {
    loom::model(|| {
        let heap = Arc::new(Heap::new());
        let (a, b) = (Arc::clone(&heap), Arc::clone(&heap));
        let first = thread::spawn(move || a.give_abroad(1));
        let second = thread::spawn(move || b.give_abroad(2));
        let mut again = Vec::new();
        while again.is_empty() {
            again = heap.drain().0;
            thread::yield_now();
        }
        for block in &again {
            heap.give_abroad(*block);
        }
        first.join().unwrap();
        second.join().unwrap();
        let (mut home, counted) = heap.drain();
        home.sort_unstable();
        assert_eq!((home, counted), (vec![1, 2], 2));
    });
}
