//! The plan: which arm is measured when. Pure, and random access: a step depends on the registration, the
//! seed and its index only, so an interrupted run goes on with the very same order.

use crate::prereg::{Design, Prereg};
use crate::stats::rng::Rng;
use crate::vocab::{Cell, Mode, Order};

/// A seeded arrangement of all samples of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    cells: Vec<Cell>,
    arms: usize,
    design: Design,
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
    /// For each slice of a sample, the indices of the arms in the order in which they are measured; of a duet, by the side on
    /// which they are.
    pub rounds: Vec<Vec<usize>>,
}

/// By what each build of an arm is told to order what it links: one number a build, the same for all arms; none where there is
/// one build, linked as it comes.
pub fn salts(design: &Design) -> Vec<u32> {
    if design.builds < 2 {
        return Vec::new();
    }
    // A stream of its own beside those of the steps.
    let mut rng = Rng::stream(design.seed, u64::MAX);
    let mut salts = Vec::new();
    while salts.len() < design.builds as usize {
        // 31 bits, and not 0: linkers read 0 and -1 as something else.
        let salt = (rng.next_u64() >> 33) as u32;
        if salt > 0 && !salts.contains(&salt) {
            salts.push(salt);
        }
    }
    salts
}

impl Step {
    /// Indices of the arms, in the order in which the first slice of each is measured.
    pub fn arms(&self) -> &[usize] {
        self.rounds.first().map_or(&[], Vec::as_slice)
    }
}

impl Plan {
    /// The plan of a run of `prereg` with this `seed`.
    pub fn new(prereg: &Prereg, seed: u64) -> Self {
        Self { cells: prereg.cells(), arms: prereg.arms.len(), design: prereg.design.clone(), seed }
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

    /// Samples of all arms, warm-ups included; a sample of several slices is one.
    pub fn total(&self) -> u64 {
        self.cells.len() as u64 * self.blocks_a_cell() as u64 * self.arms as u64
    }

    fn blocks_a_cell(&self) -> usize {
        self.blocks_a_process() * self.design.processes as usize
    }

    fn blocks_a_process(&self) -> usize {
        self.design.warmups as usize + self.design.blocks_a_process() as usize
    }

    fn steps_a_cell(&self) -> usize {
        match self.design.order {
            Order::RandomBlocks | Order::Abba => self.blocks_a_cell(),
            Order::Sequential => self.blocks_a_cell() * self.arms,
        }
    }

    /// Whether the cell of step `index` is complete after it.
    pub fn is_last_of_cell(&self, index: usize) -> bool {
        (index + 1).is_multiple_of(self.steps_a_cell())
    }

    /// By how many bytes the environment of a process is larger than it has to be; the same in all arms of the cell.
    pub fn padding(&self, cell: usize, process: u32) -> u32 {
        // A stream of its own beside those of the steps.
        let stream = 1 << 63 | (cell as u64) << 32 | u64::from(process);
        let share = Rng::stream(self.seed, stream).next_u64() >> 32;
        // Less than 2^32 times a u32, and the upper half of it.
        ((share * (u64::from(self.design.padding) + 1)) >> 32) as u32
    }

    /// The arms of a duet by their side: swapped from block to block; which comes first of every two blocks, the order says.
    fn sides(&self, cell: usize, warmup: bool, block: usize) -> Vec<usize> {
        let first = match self.design.order {
            Order::RandomBlocks => {
                let stream = ((2 * cell + usize::from(warmup)) as u64) << 32 | (block / 2) as u64;
                Rng::stream(self.seed, stream).next_u64() >> 63 == 1
            }
            Order::Abba | Order::Sequential => false,
        };
        let mut arms: Vec<usize> = (0..self.arms).collect();
        if first != block.is_multiple_of(2) {
            arms.reverse();
        }
        arms
    }

    /// The step with this `index`, which is less than [`Plan::len`].
    pub fn step(&self, index: usize) -> Step {
        let (cell, within) = (index / self.steps_a_cell(), index % self.steps_a_cell());
        let sequential = self.design.order == Order::Sequential;
        let position = if sequential { within % self.blocks_a_cell() } else { within };
        let slices = self.design.slices as usize;
        let all = || (0..self.arms).collect::<Vec<usize>>();
        let warmups = self.design.warmups as usize;
        let each = self.design.blocks_a_process() as usize;
        let (process, place) = (position / self.blocks_a_process(), position % self.blocks_a_process());
        let (warmup, block) = if place < warmups {
            (true, process * warmups + place)
        } else {
            (false, process * each + place - warmups)
        };
        let rounds = match self.design.order {
            _ if self.design.mode == Mode::Duet => vec![self.sides(cell, warmup, block); slices],
            Order::RandomBlocks => {
                let mut rng = Rng::stream(self.seed, index as u64);
                let shuffled = || {
                    let mut arms = all();
                    rng.shuffle(&mut arms);
                    arms
                };
                std::iter::repeat_with(shuffled).take(slices).collect()
            }
            // Rounds alternate, not blocks: with several slices, a block by itself is as balanced as two blocks are.
            Order::Abba => (position * slices..(position + 1) * slices)
                .map(|round| if round.is_multiple_of(2) { all() } else { all().into_iter().rev().collect() })
                .collect(),
            Order::Sequential => vec![vec![within / self.blocks_a_cell()]; slices],
        };
        // Warm-ups and samples of all processes are both counted in u32.
        Step { cell, warmup, block: block as u32, rounds }
    }
}

#[cfg(test)]
mod tests;
