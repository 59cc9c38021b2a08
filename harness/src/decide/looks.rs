//! Looks before the end: pure functions of the registration and of the blocks that are stored, so that the runner, a resumed
//! run and a later decision agree on where a cell stops.

use super::judge::{self, Judged};
use crate::analyse::Stages;
use crate::prereg::Prereg;
use crate::store::SampleSet;
use crate::vocab::{Cell, Finding};

/// The looks at one cell, up to the one at which it stopped.
#[derive(Clone, Debug)]
pub struct CellLooks {
    /// The cell; may be empty.
    pub cell: String,
    /// After how many blocks it was to be looked at.
    pub planned: Vec<u32>,
    /// How many blocks there are.
    pub blocks: u32,
    /// What was seen, in order.
    pub looks: Vec<Look>,
}

/// One look at one cell.
#[derive(Clone, Debug)]
pub struct Look {
    /// After how many blocks.
    pub blocks: u32,
    /// Each hypothesis, then each guard of the cell, judged from these blocks alone. Of a family each hypothesis has its equal
    /// share of alpha, whatever other cells say.
    pub judged: Vec<Judged>,
    /// Whether the cell stops here: all of them are supported, one is refuted, or it is the last look.
    pub stops: bool,
}

impl CellLooks {
    /// The number, from 1, and the blocks of the look at which it stopped; `None` while it goes on.
    pub fn stopped(&self) -> Option<(usize, u32)> {
        let last = self.looks.last().filter(|it| it.stops)?;
        Some((self.looks.len(), last.blocks))
    }

    /// Why the blocks are not those that the rule asks for.
    pub(super) fn problem(&self) -> Option<String> {
        let place = if self.cell.is_empty() { String::new() } else { format!(" at {}", self.cell) };
        match self.stopped() {
            Some((_, blocks)) if blocks < self.blocks => Some(format!(
                "{} blocks were measured{place}, but all was decided after {blocks}, where the rule stops",
                self.blocks
            )),
            None if self.planned.contains(&self.blocks) => Some(format!(
                "it ended after {} blocks{place}, a look at which the rule goes on",
                self.blocks
            )),
            _ => None,
        }
    }

    /// `stopped at look 2 of 3, after 40 of 60 blocks`.
    pub fn sentence(&self) -> String {
        let (of, planned) = (self.planned.len(), self.planned.last().copied().unwrap_or(0));
        match self.stopped() {
            Some((_, blocks)) if blocks == planned => {
                format!("went to its last look, after {planned} blocks")
            }
            Some((look, blocks)) => {
                format!("stopped at look {look} of {of}, after {blocks} of {planned} blocks")
            }
            None => format!("not complete, {} of at most {planned} blocks", self.blocks),
        }
    }
}

/// Whether `cell` stops after its first `blocks` blocks, of which `sets` holds all samples. Never without registered
/// looks, and never between two of them.
///
/// This is all that a runner may know of the samples while it measures.
pub fn is_over(prereg: &Prereg, cell: &Cell, sets: &[SampleSet], blocks: u32) -> bool {
    prereg.design.looks.is_some()
        && prereg.design.stops().contains(&blocks)
        && look(prereg, &Stages::of(prereg, cell, sets), blocks).stops
}

/// Every look at every cell of which something is claimed, as it was to be taken.
pub(super) fn replay(prereg: &Prereg, sets: &[SampleSet]) -> Vec<CellLooks> {
    if prereg.design.looks.is_none() {
        return Vec::new();
    }
    let planned = prereg.design.stops();
    let cells = prereg.cells();
    let of_cell = |cell: &Cell| {
        let stages = Stages::of(prereg, cell, sets);
        let blocks = stages.blocks();
        let mut looks = Vec::new();
        for after in planned.iter().copied().filter(|it| *it <= blocks) {
            let look = look(prereg, &stages, after);
            let stops = look.stops;
            looks.push(look);
            if stops {
                break;
            }
        }
        CellLooks { cell: cell.to_string(), planned: planned.clone(), blocks, looks }
    };
    cells.iter().map(of_cell).collect()
}

fn look(prereg: &Prereg, stages: &Stages<'_>, blocks: u32) -> Look {
    let judged = judge::one_cell(prereg, &stages.after(blocks));
    let refuted = judged.iter().any(|it| it.finding == Finding::Refuted);
    let supported = !judged.is_empty() && judged.iter().all(|it| it.finding == Finding::Supported);
    Look { blocks, stops: refuted || supported || blocks >= prereg.design.samples, judged }
}
