use super::signs;
use crate::analyse::{Comparison, Undefined};
use crate::prereg::Stopping;
use crate::stats::dist::normal_isf;
use crate::stats::{Moments, welch_of_moments};
use crate::vocab::{Claim, Margin};

/// Where a claim stands at a look against the boundary at which it is decided.
///
/// Of group-sequential looks both are a z: that of Welch's t against the margin, above zero where the gain is beyond it. Of
/// the sign e-process both are the decimal logarithm of evidence, below zero where it speaks for a gain short of the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// What was observed; `None` where it does not exist, as of arms that do not vary.
    pub observed: Option<f64>,
    /// The boundary; the other one is its negative. `None`: nothing could be decided at this look.
    pub boundary: Option<f64>,
}

/// What the position of a claim follows from.
pub(super) struct Claimed<'a> {
    pub(super) claim: Claim,
    pub(super) margin: Margin,
    pub(super) comparison: &'a Comparison,
}

impl Claimed<'_> {
    /// The position of a claim with this z at its boundary, or this alpha a side.
    pub(super) fn position(&self, stopping: Stopping, z: Option<f64>, alpha: f64) -> Position {
        let at = |limit| match stopping {
            Stopping::GroupSequential(_) => self.z(limit),
            Stopping::SignEProcess => self.evidence(limit).ok(),
        };
        let margin = self.margin.value();
        let observed = match self.claim {
            Claim::Superior => at(margin),
            Claim::NonInferior => at(-margin),
            // Both limits must be kept, and the nearer one says how well.
            Claim::Equivalent => at(-margin).zip(at(margin)).map(|(low, high)| low.min(-high)),
        };
        let boundary = match stopping {
            Stopping::GroupSequential(_) => z,
            Stopping::SignEProcess => Some(-libm::log10(alpha)),
        };
        Position { observed, boundary }
    }

    /// The z of the difference between gain and limit, by Welch.
    fn z(&self, limit: f64) -> Option<f64> {
        let statistics = self.comparison.statistics.as_ref().ok()?;
        let (treatment, control) = (&statistics.treatment, &statistics.control);
        let better = self.comparison.better;
        // The control as it would be with just that gain.
        let (mean, sd) = match self.margin {
            Margin::Relative(_) => {
                let factor = 1.0 + better.gain(limit) * control.mean().signum();
                (control.mean() * factor, control.sd() * factor.abs())
            }
            Margin::Absolute(_) => (control.mean() + better.gain(limit), control.sd()),
        };
        let moved = Moments::from_summary(mean, sd, control.n()).ok()?;
        let test = welch_of_moments(treatment, &moved).ok()?.test?;
        // Beyond this, a p is no number any more, and every boundary is far away.
        let tail = (0.5 * test.p.two_sided.value()).max(1e-300);
        Some(better.gain(test.t).signum() * normal_isf(tail).ok()?)
    }

    /// The decimal logarithm of the stronger evidence, below zero if it is that of a gain short of the limit.
    fn evidence(&self, limit: f64) -> Result<f64, Undefined> {
        let [above, below] = signs::evidence(self.comparison, self.margin, limit)?;
        let ln = if above >= below { above.max(0.0) } else { -below.max(0.0) };
        Ok(ln * std::f64::consts::LOG10_E)
    }
}
