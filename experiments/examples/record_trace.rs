//! Records what the building of a trie asks of its allocator, as a trace for `experiments/traces`.
//!
//! `cargo run --release -p experiments --example record_trace -- 1000 experiments/traces/trie-build.trace`

#[path = "../src/terms.rs"]
mod terms;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::error::Error;

/// The system's allocator, with an ear at it.
struct Recorder;

/// The trace so far: which slot a block has, which slots are free, and the bytes.
#[derive(Default)]
struct Tape {
    slots: HashMap<usize, u64>,
    free: BinaryHeap<Reverse<u64>>,
    bytes: Vec<u8>,
}

thread_local! {
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    static TAPE: RefCell<Tape> = RefCell::default();
}

impl Tape {
    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn take(&mut self, block: usize, layout: Layout) {
        let slot = self.free.pop().map_or(self.slots.len() as u64, |Reverse(it)| it);
        self.slots.insert(block, slot);
        self.write(u64::from(layout.align().trailing_zeros()) << 2);
        self.write(layout.size() as u64);
    }

    /// Blocks from before the recording are none of its.
    fn give(&mut self, block: usize) {
        if let Some(slot) = self.slots.remove(&block) {
            self.free.push(Reverse(slot));
            self.write(slot << 2 | 1);
        }
    }

    fn resize(&mut self, old: usize, new: usize, size: usize) {
        if let Some(slot) = self.slots.remove(&old) {
            self.slots.insert(new, slot);
            self.write(slot << 2 | 2);
            self.write(size as u64);
        }
    }
}

/// Writes to the tape, whose own allocations are not heard.
fn record(write: impl FnOnce(&mut Tape)) {
    if RECORDING.replace(false) {
        TAPE.with_borrow_mut(write);
        RECORDING.set(true);
    }
}

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        let block = unsafe { System.alloc(layout) };
        record(|it| it.take(block.addr(), layout));
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        record(|it| it.give(block.addr()));
        // SAFETY: by the contract of the caller.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by the contract of the caller.
        let new = unsafe { System.realloc(block, layout, size) };
        record(|it| it.resize(block.addr(), new.addr(), size));
        new
    }
}

#[global_allocator]
static RECORDER: Recorder = Recorder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(count), Some(path)) = (args.next(), args.next()) else {
        return Err("give the number of terms and the file to write".into());
    };
    let terms = terms::terms(count.parse()?);
    TAPE.with_borrow_mut(|it| it.bytes.reserve(1 << 24));
    RECORDING.set(true);
    let mut trie = engine::CharTrie::<u64>::new();
    for (term, rank) in terms.iter().zip(0..) {
        trie.insert(term, rank)?;
    }
    drop(trie);
    RECORDING.set(false);
    TAPE.with_borrow(|it| std::fs::write(path, &it.bytes))?;
    Ok(())
}
