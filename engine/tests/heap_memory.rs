//! What the heap holds of the system's memory. Alone in its process, so that nothing else is measured.

use std::alloc::{GlobalAlloc, Layout};

use engine::heap::{Heap, purge, statistics};

static HEAP: Heap = Heap::new();

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split(' ').nth(1).and_then(|it| it.parse::<usize>().ok()).expect("pages") * 4096
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a layout")
}

#[test]
fn it_is_little_more_than_what_is_in_use_and_goes_back() {
    const COUNT: usize = 100_000;
    let before = resident();
    // SAFETY: all blocks are used with their layout, and freed once, half of them by another thread.
    unsafe {
        for round in 0..3 {
            let blocks: Vec<(usize, usize)> = (0..COUNT)
                .map(|i| (HEAP.alloc(layout(16 + i % 1000)).expose_provenance(), 16 + i % 1000))
                .collect();
            let live: usize = blocks.iter().map(|it| it.1).sum();
            for (ptr, size) in &blocks {
                std::ptr::with_exposed_provenance_mut::<u8>(*ptr).write_bytes(1, *size);
            }
            let grown = resident() - before;
            assert!(grown < live * 13 / 10, "round {round}: {grown} bytes for {live}");
            let free = |part: &[(usize, usize)]| {
                for (ptr, size) in part {
                    HEAP.dealloc(std::ptr::with_exposed_provenance_mut(*ptr), layout(*size));
                }
            };
            let (mine, theirs) = blocks.split_at(COUNT / 2);
            std::thread::scope(|scope| {
                scope.spawn(|| free(theirs));
                free(mine);
            });
        }
        let small = resident();
        let huge = HEAP.alloc(layout(64 << 20));
        huge.write_bytes(1, 64 << 20);
        let huge = HEAP.realloc(huge, layout(64 << 20), 5 << 20);
        assert!(resident() - small < 8 << 20, "the end of a shrunk block goes back");
        HEAP.dealloc(huge, layout(5 << 20));
    }
    purge();
    let remains = resident() - before;
    assert!(remains < 3 << 20, "{remains} bytes remain");
    let all = statistics();
    assert!(all.mapped >= 48 << 20 && all.in_use < 4 << 20, "{all:?}");
}
