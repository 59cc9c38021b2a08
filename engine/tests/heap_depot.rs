//! Blocks that one thread allocates and another frees. Alone in its process, so that the counters are its own.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::HashSet;
use std::ptr::with_exposed_provenance_mut;

use engine::heap::{ClassStatistics, Heap, purge, statistics};

static HEAP: Heap = Heap::new();

fn of_class(block: usize) -> ClassStatistics {
    *statistics().classes.iter().find(|it| it.block == block).expect("a class")
}

/// Addresses of new blocks that are full of `seal`.
fn take(count: usize, size: usize, seal: u8) -> Vec<usize> {
    let layout = Layout::from_size_align(size, 8).expect("a layout");
    let take = |_| {
        // SAFETY: the size is not 0, and the block has its bytes.
        unsafe {
            let block = HEAP.alloc(layout);
            block.write_bytes(seal, size);
            block.expose_provenance()
        }
    };
    (0..count).map(take).collect()
}

fn give(blocks: &[usize], size: usize, seal: u8) {
    let layout = Layout::from_size_align(size, 8).expect("a layout");
    for &block in blocks {
        let block: *mut u8 = with_exposed_provenance_mut(block);
        // SAFETY: the block came from `take` with this size, and is freed once.
        unsafe {
            let bytes = std::slice::from_raw_parts(block, size);
            assert!(bytes.iter().all(|it| *it == seal), "a block was written to");
            HEAP.dealloc(block, layout);
        }
    }
}

fn give_elsewhere(blocks: &[usize], size: usize, seal: u8) {
    std::thread::scope(|scope| scope.spawn(|| give(blocks, size, seal)).join()).expect("sound blocks");
}

#[test]
fn what_another_thread_frees_is_allocated_again() {
    let first = take(5000, 500, 1);
    give_elsewhere(&first, 500, 1);
    assert_eq!(of_class(512).waiting, 1024, "as many as there is room for; the others are with their spans");
    let second = take(5000, 500, 2);
    assert_eq!(of_class(512).waiting, 0);
    let known: HashSet<_> = first.iter().collect();
    assert_eq!(second.iter().collect::<HashSet<_>>().len(), 5000, "no block is given out twice");
    // What this thread had in its cache besides was not among the first.
    assert!(second.iter().filter(|it| known.contains(it)).count() >= 5000 - 128);

    give_elsewhere(&second, 500, 2);
    assert_eq!(of_class(512).waiting, 1024);
    purge();
    assert_eq!(of_class(512).waiting, 0);
    assert!(statistics().in_use < 1 << 20, "the spans are empty: {:?}", statistics());

    let small = take(5000, 32, 3);
    give_elsewhere(&small, 32, 3);
    assert_eq!(of_class(32).waiting, 0, "two threads shall not write to one line of the processor's cache");
    give(&take(5000, 32, 4), 32, 4);

    let own = take(5000, 500, 5);
    give(&own, 500, 5);
    assert_eq!(of_class(512).waiting, 0, "own blocks go to their spans");
}
