use super::{Comparison, Samples, comparison};
use crate::prereg::{Contrast, Prereg};
use crate::store::SampleSet;
use crate::vocab::Cell;

/// The samples of one cell as they stood after any of its blocks.
#[derive(Clone, Debug)]
pub struct Stages<'a> {
    prereg: &'a Prereg,
    cell: Cell,
    samples: Samples,
}

impl<'a> Stages<'a> {
    /// The samples of a cell.
    pub fn of(prereg: &'a Prereg, cell: &Cell, sets: &[SampleSet]) -> Self {
        let name = cell.to_string();
        let own: Vec<SampleSet> = sets.iter().filter(|it| it.cell == name).cloned().collect();
        Self { prereg, cell: cell.clone(), samples: Samples::of_sets(&own) }
    }

    /// The cell.
    pub fn cell(&self) -> &Cell {
        &self.cell
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u32 {
        self.samples.blocks_of(self.prereg, &self.cell.to_string())
    }

    /// Every comparison that something is claimed of, of the first so many blocks and no others.
    pub fn after(&self, blocks: u32) -> Vec<Comparison> {
        let first = self.samples.first(blocks);
        let claimed = self.prereg.hypotheses.iter().map(|it| (&it.metric, &it.contrast, &it.condition));
        let guarded = self.prereg.guards.iter().map(|it| (&it.metric, &it.contrast, &it.condition));
        let mut found: Vec<Comparison> = Vec::new();
        for (metric, Contrast { treatment, control }, condition) in claimed.chain(guarded) {
            let known = found
                .iter()
                .any(|it| it.metric == *metric && it.treatment == *treatment && it.control == *control);
            // The registration was checked: these names are its own.
            if let (false, true, Some(metric), Some(treatment), Some(control)) = (
                known,
                self.cell.matches(condition),
                self.prereg.metric(metric),
                self.prereg.arm(treatment),
                self.prereg.arm(control),
            ) {
                let arms = [treatment, control];
                found.push(comparison::compare(self.prereg, &first, metric, &self.cell, arms));
            }
        }
        found
    }
}
