//! What a registered alpha and a p-value are worth where a cell is looked at more than once.
//!
//! A group-sequential look has the intervals of Jennison and Turnbull (1989): those of a single look, at the p of the look's
//! boundary in place of alpha. Over all looks together they cover as often as registered, whyever a cell stops at one of
//! them; so the same interval may support, refute, and hold a guard. The p-value beside it is the repeated one.

use crate::analyse::{Comparison, Undefined};
use crate::prereg::{Design, Stopping};
use crate::stats::{self, PValue, Sides, group_sequential, repeated_p};
use crate::vocab::{Claim, Spending};

/// How often a comparison has been looked at.
pub(super) enum Sequence {
    /// Once, at the end.
    Once,
    /// At these fractions of the planned blocks, the last one now.
    Boundaries(stats::Spending, Vec<f64>),
    /// At any time: evidence needs no correction for it.
    Anytime,
}

impl Sequence {
    /// Of a comparison with as many blocks as it has.
    pub(super) fn of(design: &Design, comparison: &Comparison) -> Self {
        Self::at(design, comparison.samples.as_ref().map_or(0, |it| it.treatment.len().min(it.control.len())))
    }

    /// Of a comparison that went on to the last look.
    pub(super) fn to_the_end(design: &Design) -> Self {
        Self::at(design, design.samples as usize)
    }

    fn at(design: &Design, n: usize) -> Self {
        match design.looks.as_ref().map(|it| it.stopping) {
            None => Self::Once,
            Some(Stopping::SignEProcess) => Self::Anytime,
            Some(Stopping::GroupSequential(spending)) => {
                let stops = design.stops();
                // What lies between two stops is on its way to the next.
                let now = stops.iter().position(|it| *it as usize >= n).unwrap_or(stops.len() - 1);
                let fraction = |it: &u32| f64::from(*it) / f64::from(design.samples);
                Self::Boundaries(to_stats(spending), stops[..=now].iter().map(fraction).collect())
            }
        }
    }

    /// The p at the boundary of this look of a plan with this `alpha`, and its z where it has one.
    pub(super) fn boundary(&self, alpha: f64, claim: Claim) -> Result<(f64, Option<f64>), Undefined> {
        match self {
            Self::Once | Self::Anytime => Ok((alpha, None)),
            Self::Boundaries(spending, fractions) => {
                let plan = group_sequential(fractions, alpha, sides(claim), *spending)?;
                let found = plan.looks.last().and_then(|it| Some((it.p?.value(), it.z)));
                let early = || Undefined("nothing of alpha may be spent at so early a look".to_owned());
                found.ok_or_else(early)
            }
        }
    }

    /// The p-value that is valid over all looks.
    pub(super) fn p(&self, p: PValue, claim: Claim) -> Result<PValue, Undefined> {
        match self {
            Self::Once | Self::Anytime => Ok(p),
            Self::Boundaries(spending, fractions) => Ok(repeated_p(fractions, sides(claim), *spending, p)?),
        }
    }
}

/// The sides on which a claim can be decided by its p-value.
fn sides(claim: Claim) -> Sides {
    match claim {
        Claim::Superior => Sides::Two,
        Claim::NonInferior | Claim::Equivalent => Sides::One,
    }
}

fn to_stats(spending: Spending) -> stats::Spending {
    match spending {
        Spending::OBrienFleming => stats::Spending::OBrienFleming,
        Spending::Pocock => stats::Spending::Pocock,
    }
}
