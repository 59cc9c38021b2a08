use super::decision::gain_text;
use crate::analyse::Comparison;
use crate::prereg::Prereg;
use crate::vocab::Margin;
use std::fmt;

/// The level of the interval between sham and control: high, since every metric and cell is checked.
const LEVEL: f64 = 0.999;

/// Whether a second copy of the control differs from it.
#[derive(Clone, Debug)]
pub struct ShamCheck {
    /// Sham against control.
    pub comparison: Comparison,
    /// Whether a hypothesis or guard rests on these samples.
    pub decisive: bool,
    /// Whether the difference is none, or no more than noise.
    pub passed: bool,
    /// What was found.
    pub result: String,
}

impl fmt::Display for ShamCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { metric, cell, treatment, control, .. } = &self.comparison;
        let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
        write!(f, "`{metric}`{place}: arm `{treatment}`, a copy of `{control}`, {}", self.result)
    }
}

pub(super) fn check(prereg: &Prereg, comparison: &Comparison) -> ShamCheck {
    let noise = prereg.decision.noise_margin;
    // A baseline of zero has no share; then the difference itself must be compatible with zero.
    let gain = comparison
        .gain(Margin::Relative(noise), LEVEL)
        .map(|it| (it, Margin::Relative(noise)))
        .or_else(|_| comparison.gain(Margin::Absolute(0.0), LEVEL).map(|it| (it, Margin::Absolute(0.0))));
    let (passed, result) = match gain {
        Ok((gain, counted)) => {
            let (interval, margin) = (gain.interval, counted.value());
            let inside = interval.lower >= -margin && interval.upper <= margin;
            let passed = interval.contains(0.0) || inside;
            let gain = gain_text(&gain, counted, comparison.unit);
            let result = match (passed, inside) {
                (true, true) => format!("agrees within noise: gain {gain} at 99.9 %"),
                (true, false) => format!("does not differ: gain {gain} at 99.9 %"),
                (false, _) => format!("differs: gain {gain} at 99.9 %, expected zero or noise of {counted}"),
            };
            (passed, result)
        }
        Err(undefined) => (true, format!("cannot be compared: {undefined}")),
    };
    ShamCheck { decisive: decisive(prereg, comparison), comparison: comparison.clone(), passed, result }
}

fn decisive(prereg: &Prereg, comparison: &Comparison) -> bool {
    let rules = prereg.hypotheses.iter().map(|it| (&it.metric, &it.condition));
    let mut rules = rules.chain(prereg.guards.iter().map(|it| (&it.metric, &it.condition)));
    let cells = prereg.cells();
    let Some(cell) = cells.iter().find(|it| it.to_string() == comparison.cell) else { return false };
    rules.any(|(metric, condition)| *metric == comparison.metric && cell.matches(condition))
}
