use crate::analyse::{Comparison, Gain};
use crate::stats::Design;
use crate::vocab::Margin;

/// The power that is planned with.
const POWER: f64 = 0.8;

/// What an undecided comparison could have shown, and what would decide it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The smallest gain beyond the margin that this n shows with 80 % power, counted as the margin is.
    pub detectable: f64,
    /// Samples of each arm that would decide with 80 % power, if gain and spread are what they seem to be.
    /// `None`: the gain lies on the margin, so no feasible n would.
    pub needed_n: Option<usize>,
}

/// The outlook of `comparison` at `alpha` against `threshold`, a gain counted as `margin` is.
pub(super) fn outlook(
    comparison: &Comparison,
    gain: &Gain,
    margin: Margin,
    threshold: f64,
    alpha: f64,
    two_sided: bool,
) -> Option<Outlook> {
    let statistics = comparison.statistics.as_ref().ok()?;
    let (treatment, control) = (&statistics.treatment, &statistics.control);
    let scale = match margin {
        Margin::Relative(_) => control.mean().abs(),
        Margin::Absolute(_) => 1.0,
    };
    let design = Design { sd_treatment: treatment.sd(), sd_control: control.sd(), alpha, two_sided };
    Some(Outlook {
        detectable: design.detectable(POWER, treatment.n(), control.n()).ok()? / scale,
        needed_n: design.needed_n((gain.value - threshold) * scale, POWER).ok(),
    })
}
