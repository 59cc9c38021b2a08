//! What is asked of an allocator: the loops that are measured, the same for every one.
//!
//! An operation is one iteration: in [`Shape::Mixed`] an allocation *or* a free, in the others both.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

/// The order of allocations and frees on a working set of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The published workload: one draw chooses the slot and, if it is empty, the size; if not, its block is freed.
    Mixed,
    /// A block is freed and another allocated at every step: no branch depends on chance.
    Replace,
    /// As `Replace`, with 256 steps in one hot class before the next class: C2 to C6 in turn.
    Phased,
}

/// The published generator: xorshift with 13, 17, 5 on 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Xorshift(u32);

impl Xorshift {
    pub(crate) fn new(seed: u32) -> Self {
        Self(if seed == 0 { 1 } else { seed })
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// The published sizes, 16 to 1,039 bytes, cut at 1,024.
#[inline(always)]
fn size(random: u32) -> usize {
    (16 + (random & 0x3FF) as usize).min(1024)
}

#[inline(always)]
fn layout(size: usize) -> Layout {
    // SAFETY: sizes are at most 1,024 and 8 is a power of two.
    unsafe { Layout::from_size_align_unchecked(size, 8) }
}

#[derive(Clone, Copy)]
struct Slot {
    block: *mut u8,
    size: usize,
}

/// A working set, and the operations on it.
pub(crate) struct Slots<A: GlobalAlloc> {
    allocator: A,
    slots: Vec<Slot>,
    random: Xorshift,
    steps: u32,
}

// SAFETY: the blocks are used by whoever has the working set.
unsafe impl<A: GlobalAlloc + Send> Send for Slots<A> {}

impl<A: GlobalAlloc> Slots<A> {
    /// A working set of `count` slots; full for the shapes that replace.
    pub(crate) fn new(allocator: A, count: usize, seed: u32, shape: Shape) -> Self {
        let slots = vec![Slot { block: null_mut(), size: 0 }; count];
        let mut it = Self { allocator, slots, random: Xorshift::new(seed), steps: 0 };
        if shape == Shape::Mixed {
            // Steady state: about half of the slots are full.
            it.run(Shape::Mixed, 4 * count as u64);
        } else {
            for slot in 0..count {
                let size = size(it.random.next());
                it.slots[slot] = it.take(size);
            }
        }
        it
    }

    #[inline(always)]
    fn take(&self, size: usize) -> Slot {
        // SAFETY: no size is 0; the block has its bytes.
        unsafe {
            let block = self.allocator.alloc(layout(size));
            assert!(!block.is_null(), "out of memory");
            block.write(size as u8);
            Slot { block, size }
        }
    }

    #[inline(always)]
    fn give(&self, slot: Slot) {
        // SAFETY: the slot's block is in use and has this layout.
        unsafe { self.allocator.dealloc(slot.block, layout(slot.size)) };
    }

    /// Runs so many operations and returns the sum of the sizes allocated.
    #[inline(never)]
    pub(crate) fn run(&mut self, shape: Shape, ops: u64) -> u64 {
        match shape {
            Shape::Mixed => self.mixed(ops),
            Shape::Replace => self.replace(ops),
            Shape::Phased => self.phased(ops),
        }
    }

    fn mixed(&mut self, ops: u64) -> u64 {
        let (mut random, count, mut sum) = (self.random, self.slots.len() as u32, 0);
        for _ in 0..ops {
            let draw = random.next();
            let at = (draw % count) as usize;
            let slot = self.slots[at];
            if slot.block.is_null() {
                let size = size(draw);
                sum += size as u64;
                self.slots[at] = self.take(size);
            } else {
                self.give(slot);
                self.slots[at].block = null_mut();
            }
        }
        self.random = random;
        sum
    }

    fn replace(&mut self, ops: u64) -> u64 {
        let (mut random, count, mut sum) = (self.random, self.slots.len() as u32, 0);
        for _ in 0..ops {
            let draw = random.next();
            let at = (draw % count) as usize;
            self.give(self.slots[at]);
            let size = size(draw >> 10);
            sum += size as u64;
            self.slots[at] = self.take(size);
        }
        self.random = random;
        sum
    }

    fn phased(&mut self, ops: u64) -> u64 {
        let (mut random, count, mut sum) = (self.random, self.slots.len() as u32, 0);
        for _ in 0..ops {
            let class = 4 + self.steps / 256 % 5;
            self.steps = self.steps.wrapping_add(1);
            let draw = random.next();
            let at = (draw % count) as usize;
            self.give(self.slots[at]);
            let size = (1 << class) + 1 + (draw >> 10 & ((1 << class) - 1)) as usize;
            sum += size as u64;
            self.slots[at] = self.take(size);
        }
        self.random = random;
        sum
    }

    /// The number of full slots and the sum of the sizes in them; fails if a block lost what was written to it.
    pub(crate) fn check(&self) -> Result<(u64, u64), String> {
        let (mut full, mut sum) = (0, 0);
        for slot in self.slots.iter().filter(|it| !it.block.is_null()) {
            // SAFETY: the slot's block is in use and was written to.
            let found = unsafe { slot.block.read() };
            if found != slot.size as u8 {
                return Err(format!("a block of {} bytes holds {found}, expected its size", slot.size));
            }
            full += 1;
            sum += slot.size as u64;
        }
        Ok((full, sum))
    }
}

impl<A: GlobalAlloc> Drop for Slots<A> {
    fn drop(&mut self) {
        for slot in std::mem::take(&mut self.slots) {
            if !slot.block.is_null() {
                self.give(slot);
            }
        }
    }
}
