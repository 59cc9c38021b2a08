//! The corners of an allocator's contract, as `GlobalAlloc` and in the shapes of C.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeMap;

use engine::heap::{Heap, c};

static HEAP: Heap = Heap::new();

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a layout")
}

/// Writes a pattern and reads it back.
fn fill(ptr: *mut u8, len: usize, seed: usize) {
    for i in 0..len {
        // SAFETY: the callers pass blocks of `len` bytes.
        unsafe { ptr.add(i).write(((i + seed) % 251) as u8) };
    }
}

#[track_caller]
fn check(ptr: *mut u8, len: usize, seed: usize) {
    for i in 0..len {
        // SAFETY: the callers pass blocks of `len` bytes that were filled.
        assert_eq!(usize::from(unsafe { ptr.add(i).read() }), (i + seed) % 251, "byte {i} of {len}");
    }
}

#[test]
fn products_that_overflow_are_refused() {
    assert!(c::calloc(1 << 33, 1 << 33).is_null());
    assert!(c::calloc(2, 1 << 63).is_null());
    assert!(c::calloc(1 << 61, 8).is_null());
    assert!(c::malloc(usize::MAX).is_null());
    assert!(c::aligned_alloc(3, 8).is_null());
    // SAFETY: the sizes are not 0.
    unsafe {
        assert!(HEAP.alloc(layout(isize::MAX as usize, 1)).is_null());
        assert!(HEAP.alloc_zeroed(layout(isize::MAX as usize, 1)).is_null());
    }
}

#[test]
fn rounding_does_not_wrap() {
    // SAFETY: the size is not 0.
    assert!(unsafe { HEAP.alloc(layout(isize::MAX as usize - 7, 8)) }.is_null());
    assert!(c::aligned_alloc(4096, usize::MAX).is_null());
    let block = c::malloc(10);
    // SAFETY: the block is in use, and freed once.
    unsafe {
        assert!(c::realloc(block, usize::MAX - 8).is_null(), "and the block is as it was");
        block.write(1);
        c::free(block);
    }
}

#[test]
fn every_alignment_holds_and_blocks_do_not_overlap() {
    let mut blocks = Vec::new();
    let mut taken = BTreeMap::new();
    for align in (0..=16).map(|it| 1usize << it).chain([1 << 20, 1 << 22, 1 << 24]) {
        for size in [0, 1, align - 1, align, align + 1, 3 * align] {
            // SAFETY: the heap documents that a size of 0 is served.
            let ptr = unsafe { HEAP.alloc(layout(size, align)) };
            assert!(!ptr.is_null() && ptr.addr().is_multiple_of(align), "{size} aligned to {align}");
            fill(ptr, size, align);
            taken.insert(ptr.addr(), size.max(1));
            blocks.push((ptr, size, align));
        }
    }
    let ends: Vec<_> = taken.iter().map(|(start, size)| (*start, start + size)).collect();
    assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0), "no block overlaps the next");
    for (ptr, size, align) in blocks {
        check(ptr, size, align);
        // SAFETY: allocated above with the same layout.
        unsafe { HEAP.dealloc(ptr, layout(size, align)) };
    }
}

#[test]
fn a_new_size_keeps_alignment_and_bytes() {
    for align in [8, 16, 64, 4096, 65536, 8 << 20] {
        let mut size = 64;
        // SAFETY: every block is used with its own layout, and no more after it was moved.
        unsafe {
            let mut ptr = HEAP.alloc(layout(size, align));
            fill(ptr, size, 0);
            for new in [100_000, 8, 24, 17_000, 3 << 20, 9 << 20, 2 << 20, 70_000, 140_000, 5] {
                ptr = HEAP.realloc(ptr, layout(size, align), new);
                assert!(ptr.addr().is_multiple_of(align), "{size} to {new} aligned to {align}");
                check(ptr, size.min(new), 0);
                size = new;
                fill(ptr, size, 0);
            }
            HEAP.dealloc(ptr, layout(size, align));
        }
    }
}

#[test]
fn a_walk_over_the_borders_of_classes_keeps_the_bytes() {
    let sizes = (0..5_714).chain((0..5_714).rev()).map(|it| it * 7 + 1);
    let mut size = 1;
    // SAFETY: every block is used with its own layout, and no more after it was moved.
    unsafe {
        let mut ptr = HEAP.alloc(layout(size, 1));
        ptr.write(0);
        for new in sizes {
            ptr = HEAP.realloc(ptr, layout(size, 1), new);
            let kept = size.min(new);
            // The whole of it every hundredth time, else the border.
            check(ptr, if new % 700 < 7 { kept } else { kept.min(3) }, 0);
            assert_eq!(usize::from(ptr.add(kept - 1).read()), (kept - 1) % 251);
            for i in kept..new {
                ptr.add(i).write((i % 251) as u8);
            }
            size = new;
        }
        HEAP.dealloc(ptr, layout(size, 1));
    }
}

#[test]
fn the_path_is_chosen_by_the_new_size() {
    // SAFETY: the block is used with its own layout.
    unsafe {
        let ptr = HEAP.alloc(layout(8, 16));
        let ptr = HEAP.realloc(ptr, layout(8, 16), 24);
        assert!(ptr.addr().is_multiple_of(16));
        HEAP.dealloc(ptr, layout(24, 16));
    }
}

#[test]
fn nothing_is_a_block_too() {
    let (a, b) = (c::malloc(0), c::malloc(0));
    assert!(!a.is_null() && !b.is_null() && a != b);
    // SAFETY: both are freed once; the second by a size of 0.
    unsafe {
        c::free(a);
        assert!(c::realloc(b, 0).is_null());
        c::free(std::ptr::null_mut());
        let grown = c::realloc(std::ptr::null_mut(), 5);
        assert!(c::usable_size(grown) >= 5);
        c::free(grown);
    }
}

#[test]
fn used_blocks_come_back_as_zeroes() {
    for size in [256, 5000, 100_000, 3 << 20] {
        let count = if size == 256 { 1000 } else { 8 };
        // SAFETY: all blocks are used with their layout.
        unsafe {
            let blocks: Vec<_> = (0..count).map(|_| HEAP.alloc(layout(size, 8))).collect();
            for ptr in blocks {
                ptr.write_bytes(0xFF, size);
                HEAP.dealloc(ptr, layout(size, 8));
            }
            let zeroed: Vec<_> = (0..count).map(|_| HEAP.alloc_zeroed(layout(size, 8))).collect();
            for ptr in zeroed {
                assert!(std::slice::from_raw_parts(ptr, size).iter().all(|it| *it == 0), "{size}");
                HEAP.dealloc(ptr, layout(size, 8));
            }
        }
    }
}

#[test]
fn all_usable_bytes_can_be_written() {
    let sizes = || (1..=4096).chain([16_384, 16_385, 65_537, 3 << 20]);
    let blocks: Vec<_> = sizes().map(c::malloc).collect();
    for (number, (size, ptr)) in sizes().zip(&blocks).enumerate() {
        // SAFETY: the block is in use.
        let usable = unsafe { c::usable_size(*ptr) };
        assert!(usable >= size);
        fill(*ptr, usable, number);
    }
    for (number, ptr) in blocks.into_iter().enumerate() {
        // SAFETY: the block is in use, and freed once.
        unsafe {
            check(ptr, c::usable_size(ptr), number);
            c::free(ptr);
        }
    }
}

#[test]
fn a_run_grows_where_it_stands() {
    // SAFETY: the block is used with its own layout.
    unsafe {
        let ptr = HEAP.alloc(layout(100_000, 8));
        assert_eq!(HEAP.realloc(ptr, layout(100_000, 8), 128 << 10), ptr, "within its spans");
        assert_eq!(HEAP.realloc(ptr, layout(128 << 10, 8), 20_000), ptr, "shrinking");
        HEAP.dealloc(ptr, layout(20_000, 8));
        let ptr = HEAP.alloc(layout(4 << 20, 8));
        fill(ptr, 4 << 20, 3);
        let grown = HEAP.realloc(ptr, layout(4 << 20, 8), 64 << 20);
        check(grown, 4 << 20, 3);
        HEAP.dealloc(grown, layout(64 << 20, 8));
    }
}
