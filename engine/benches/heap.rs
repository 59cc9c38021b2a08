//! The heap beside the system's allocator and mimalloc: each function is one loop on one of them.
//!
//! `cargo bench -p engine --bench heap --features heap`. The wall clock of a busy host says little about an allocator: for ratios
//! from slices that take turns, more peers, exact counts and memory there is `experiments/examples/heap_table.rs`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::thread;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use engine::heap::Heap;
use mimalloc::MiMalloc;

fn xorshift(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

/// Every block belongs to whoever has it; it is freed with the layout it has here.
struct Block(*mut u8, Layout);

// SAFETY: any thread may free a block.
unsafe impl Send for Block {}

fn take<A: GlobalAlloc>(allocator: &A, size: usize) -> Block {
    let layout = Layout::from_size_align(size, 8).expect("a layout");
    // SAFETY: no size is 0, and the block has its bytes.
    unsafe {
        let block = allocator.alloc(layout);
        assert!(!block.is_null(), "out of memory");
        block.write(1);
        Block(block, layout)
    }
}

fn give<A: GlobalAlloc>(allocator: &A, block: Block) {
    // SAFETY: the block came from `take`, and is given away.
    unsafe { allocator.dealloc(black_box(block.0), block.1) };
}

const STEPS: usize = 10_000;

/// Frees one of `count` blocks of 16 to 1,024 bytes and allocates another, again and again.
fn replace<A: GlobalAlloc>(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, a: &A, count: usize) {
    let mut state = 88_172_645_463_325_252;
    let mut size = move || 16 + xorshift(&mut state) % 1009;
    let mut blocks: Vec<Block> = (0..count).map(|_| take(a, size())).collect();
    let mut at = 1;
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            for _ in 0..STEPS {
                let slot = xorshift(&mut at) % count;
                give(a, std::mem::replace(&mut blocks[slot], take(a, size())));
            }
        });
    });
    blocks.into_iter().for_each(|it| give(a, it));
}

/// A vector that grows to 10,000 numbers by reallocation.
fn grow<A: GlobalAlloc>(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, a: &A) {
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            let mut block = take(a, 32);
            while block.1.size() < 8 * STEPS {
                let doubled = 2 * block.1.size();
                // SAFETY: the block is in use with this layout, and replaced by what comes back.
                let moved = unsafe { a.realloc(block.0, block.1, doubled) };
                block = Block(moved, Layout::from_size_align(doubled, 8).expect("a layout"));
            }
            give(a, block);
        });
    });
}

/// One thread allocates, another frees, in batches of 256.
fn hand_over<A: GlobalAlloc + Sync>(group: &mut BenchmarkGroup<'_, WallTime>, id: &str, a: &A) {
    thread::scope(|scope| {
        let (full, filled) = sync_channel::<Vec<Block>>(4);
        let (empty, emptied) = sync_channel(8);
        for _ in 0..6 {
            empty.send(Vec::with_capacity(256)).expect("the channel has room");
        }
        scope.spawn(move || {
            for mut batch in filled {
                batch.drain(..).for_each(|it| give(a, it));
                if empty.send(batch).is_err() {
                    return;
                }
            }
        });
        let mut state = 1;
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                for _ in 0..STEPS / 256 {
                    let mut batch = emptied.recv().expect("the other thread is there");
                    batch.extend((0..256).map(|_| take(a, 16 + xorshift(&mut state) % 1009)));
                    full.send(batch).expect("the other thread is there");
                }
            });
        });
    });
}

fn allocators(criterion: &mut Criterion) {
    static HEAP: Heap = Heap::new();
    for (name, count) in [("replace_400", 400), ("replace_20k", 20_000)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(STEPS as u64));
        replace(&mut group, "engine", &HEAP, count);
        replace(&mut group, "system", &System, count);
        replace(&mut group, "mimalloc", &MiMalloc, count);
        group.finish();
    }
    let mut group = criterion.benchmark_group("grow");
    grow(&mut group, "engine", &HEAP);
    grow(&mut group, "system", &System);
    grow(&mut group, "mimalloc", &MiMalloc);
    group.finish();
    let mut group = criterion.benchmark_group("hand_over");
    group.throughput(Throughput::Elements((STEPS / 256 * 256) as u64));
    hand_over(&mut group, "engine", &HEAP);
    hand_over(&mut group, "system", &System);
    hand_over(&mut group, "mimalloc", &MiMalloc);
    group.finish();
}

criterion_group!(benches, allocators);
criterion_main!(benches);
