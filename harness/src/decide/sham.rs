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
        .map(|it| (it, noise))
        .or_else(|_| comparison.gain(Margin::Absolute(0.0), LEVEL).map(|it| (it, 0.0)));
    let (passed, result) = match gain {
        Ok((gain, margin)) => {
            let interval = gain.interval;
            let inside = interval.lower >= -margin && interval.upper <= margin;
            let passed = interval.contains(0.0) || inside;
            let (low, high) = (interval.lower * 100.0, interval.upper * 100.0);
            let result = match (passed, margin) {
                (_, 0.0) if passed => "does not differ".to_owned(),
                (_, 0.0) => "differs".to_owned(),
                _ => format!("differs by {low:+.2} to {high:+.2} % (99.9 % interval)"),
            };
            (passed, result)
        }
        Err(undefined) => (true, undefined.to_string()),
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
