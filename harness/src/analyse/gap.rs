use super::Samples;
use super::aside::{SetAside, excluded};
use crate::prereg::Prereg;
use crate::vocab::Then;
use std::fmt;

/// Samples that are missing, or more than registered: a run that goes on until it likes what it sees.
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
    /// How many there are of blocks that were not registered.
    pub surplus: u32,
    /// How many blocks the registered rule excluded: more than it may.
    pub excluded: u32,
}

impl Gap {
    /// Whether nothing is missing but what the registered rule excluded. The run is INVALID, and its record is whole.
    pub fn is_excluded(&self) -> bool {
        self.surplus == 0 && self.found.saturating_add(self.excluded) >= self.registered
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, cell, arm, found, registered, surplus, excluded } = self;
        let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
        write!(f, "{found} of {registered} samples of `{metric}` in arm `{arm}`{place}")?;
        if *surplus > 0 {
            write!(f, ", and {surplus} beyond the registered blocks")?;
        }
        if *excluded > 0 { write!(f, ", {excluded} blocks were excluded by the rule") } else { Ok(()) }
    }
}

/// Of the blocks of a cell, no more than this share may be excluded by the registered rule.
const MOST_EXCLUDED: u32 = 5;

/// Excluded blocks are no gap, unless they are more than a fifth of a cell or the registration has no such rule.
pub(super) fn gaps(prereg: &Prereg, samples: &Samples, aside: &[SetAside]) -> Vec<Gap> {
    let may_exclude = prereg.environment.blocks.is_some_and(|it| it.then == Then::Exclude);
    let stops = prereg.design.stops();
    let mut gaps = Vec::new();
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            for arm in &prereg.arms {
                let (metric, cell, arm) = (metric.name.clone(), cell.to_string(), arm.name.clone());
                let blocks = samples.blocks_of(prereg, &cell);
                // A cell ends at one of its stops; whether at the right one, the rule says.
                let registered =
                    stops.iter().copied().find(|it| *it >= blocks).unwrap_or(prereg.design.samples);
                let (mut found, mut surplus) = (0, 0);
                for (block, _) in samples.blocks(&metric, &cell, &arm) {
                    *if block < registered { &mut found } else { &mut surplus } += 1;
                }
                let excluded = match may_exclude {
                    true => u32::try_from(excluded(aside, &cell).len()).unwrap_or(u32::MAX),
                    false => 0,
                };
                let allowed = excluded.min(registered / MOST_EXCLUDED);
                if found < registered - allowed || surplus > 0 {
                    gaps.push(Gap { metric, cell, arm, found, registered, surplus, excluded });
                }
            }
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::Gap;

    fn gap(found: u32, surplus: u32, excluded: u32) -> Gap {
        let (metric, cell, arm) = ("time".to_owned(), String::new(), "a".to_owned());
        Gap { metric, cell, arm, found, registered: 30, surplus, excluded }
    }

    #[test]
    fn only_what_the_rule_took_out_explains_a_gap() {
        assert!(gap(20, 0, 10).is_excluded());
        assert!(!gap(19, 0, 10).is_excluded(), "one is missing for no reason");
        assert!(!gap(20, 1, 10).is_excluded(), "one is there that was not registered");
        assert!(!gap(20, 0, 0).is_excluded());
        assert_eq!(
            gap(20, 0, 10).to_string(),
            "20 of 30 samples of `time` in arm `a`, 10 blocks were excluded by the rule"
        );
    }
}
