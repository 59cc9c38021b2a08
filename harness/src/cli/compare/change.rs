//! How a treatment's gain over its control changed from one run to another.

use super::side::Side;
use crate::analyse::{Comparison, Gain};
use crate::stats::Interval;

/// The gain of one treatment in both runs.
pub(super) struct Change {
    pub(super) a: Comparison,
    pub(super) b: Comparison,
    /// Gain in B minus gain in A, with its 95 % interval; none where a gain is undefined.
    pub(super) gain: Option<Gain>,
}

/// Every comparison that both runs have.
pub(super) fn changes(a: &Side, b: &Side) -> Vec<Change> {
    let (Some((_, a_run)), Some((_, b_run)), None, None) = (&a.run, &b.run, &a.arm, &b.arm) else {
        return Vec::new();
    };
    let key = |it: &Comparison| {
        (it.metric.clone(), it.cell.clone(), it.treatment.clone(), it.control.clone(), it.better.as_str())
    };
    let mut changes = Vec::new();
    for of_a in &a_run.analysis.comparisons {
        if let Some(of_b) = b_run.analysis.comparisons.iter().find(|it| key(it) == key(of_a)) {
            let gains = of_a.relative_gain(0.95).ok().zip(of_b.relative_gain(0.95).ok());
            let gain = gains.map(|(a, b)| difference(&a, &b));
            changes.push(Change { a: of_a.clone(), b: of_b.clone(), gain });
        }
    }
    changes
}

/// The difference of two independent estimates, its interval recovered from theirs (Zou and Donner 2008).
fn difference(a: &Gain, b: &Gain) -> Gain {
    let value = b.value - a.value;
    let below = (b.value - b.interval.lower).hypot(a.interval.upper - a.value);
    let above = (b.interval.upper - b.value).hypot(a.value - a.interval.lower);
    Gain { value, interval: Interval { lower: value - below, upper: value + above, level: a.interval.level } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_a_difference_follow_from_those_of_its_parts() {
        let gain = |value, lower, upper| Gain { value, interval: Interval { lower, upper, level: 0.95 } };
        let found = difference(&gain(0.5, 0.47, 0.54), &gain(0.6, 0.57, 0.64));
        assert!((found.value - 0.1).abs() < 1e-12, "{found:?}");
        assert!((found.interval.lower - 0.05).abs() < 1e-12, "{found:?}");
        assert!((found.interval.upper - 0.15).abs() < 1e-12, "{found:?}");
    }
}
