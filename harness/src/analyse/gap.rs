use super::Samples;
use crate::prereg::Prereg;
use std::fmt;

/// Samples that are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The metric.
    pub metric: String,
    /// The cell; may be empty.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// How many there are.
    pub found: u32,
    /// How many were registered.
    pub registered: u32,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, cell, arm, found, registered } = self;
        let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
        write!(f, "{found} of {registered} samples of `{metric}` in arm `{arm}`{place}")
    }
}

pub(super) fn gaps(prereg: &Prereg, samples: &Samples) -> Vec<Gap> {
    let registered = prereg.design.samples;
    let mut gaps = Vec::new();
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            for arm in &prereg.arms {
                let (metric, cell, arm) = (metric.name.clone(), cell.to_string(), arm.name.clone());
                let found =
                    samples.blocks(&metric, &cell, &arm).filter(|(block, _)| *block < registered).count();
                if found < registered as usize {
                    // No more than the registered number, which is a u32.
                    gaps.push(Gap { metric, cell, arm, found: found as u32, registered });
                }
            }
        }
    }
    gaps
}
