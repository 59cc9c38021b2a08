//! The plan: which arm is measured when. Pure, and random access: a step depends on the registration, the
//! seed and its index only, so an interrupted run goes on with the very same order.

use crate::prereg::Prereg;
use crate::stats::rng::Rng;
use crate::vocab::{Cell, Order};

/// A seeded arrangement of all samples of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    cells: Vec<Cell>,
    arms: usize,
    warmups: u32,
    samples: u32,
    order: Order,
    seed: u64,
}

/// What is measured before anything is stored: a block, or in sequential order one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the cell.
    pub cell: usize,
    /// Whether this is a warm-up.
    pub warmup: bool,
    /// Number of the block; warm-ups and measured blocks are counted apart, each from 0.
    pub block: u32,
    /// Indices of the arms, in the order in which they are measured.
    pub arms: Vec<usize>,
}

impl Plan {
    /// The plan of a run of `prereg` with this `seed`.
    pub fn new(prereg: &Prereg, seed: u64) -> Self {
        Self {
            cells: prereg.cells(),
            arms: prereg.arms.len(),
            warmups: prereg.design.warmups,
            samples: prereg.design.samples,
            order: prereg.design.order,
            seed,
        }
    }

    /// The cells, in the order in which they are measured.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.cells.len() * self.steps_a_cell()
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Samples of all arms, warm-ups included.
    pub fn total(&self) -> u64 {
        self.cells.len() as u64 * self.blocks_a_cell() as u64 * self.arms as u64
    }

    fn blocks_a_cell(&self) -> usize {
        self.warmups as usize + self.samples as usize
    }

    fn steps_a_cell(&self) -> usize {
        match self.order {
            Order::RandomBlocks | Order::Abba => self.blocks_a_cell(),
            Order::Sequential => self.blocks_a_cell() * self.arms,
        }
    }

    /// Whether the cell of step `index` is complete after it.
    pub fn is_last_of_cell(&self, index: usize) -> bool {
        (index + 1).is_multiple_of(self.steps_a_cell())
    }

    /// The step with this `index`, which is less than [`Plan::len`].
    pub fn step(&self, index: usize) -> Step {
        let (cell, within) = (index / self.steps_a_cell(), index % self.steps_a_cell());
        let (arms, position) = match self.order {
            Order::RandomBlocks => {
                let mut arms: Vec<usize> = (0..self.arms).collect();
                Rng::stream(self.seed, index as u64).shuffle(&mut arms);
                (arms, within)
            }
            Order::Abba if within.is_multiple_of(2) => ((0..self.arms).collect(), within),
            Order::Abba => ((0..self.arms).rev().collect(), within),
            Order::Sequential => (vec![within / self.blocks_a_cell()], within % self.blocks_a_cell()),
        };
        let warmups = self.warmups as usize;
        let (warmup, block) = if position < warmups { (true, position) } else { (false, position - warmups) };
        // Warm-ups and samples are both counted in u32.
        Step { cell, warmup, block: block as u32, arms }
    }
}

#[cfg(test)]
mod tests;
