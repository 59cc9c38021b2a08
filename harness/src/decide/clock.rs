use super::judge::Rule;
use crate::analyse::{Comparison, Gain, is_coarse};
use crate::stats::Resolution;
use crate::vocab::{Claim, Margin, UnitKind, significant};

/// Why support does not stand: the clock is coarse, and one step of it would take the support away.
pub(super) fn objection(
    rule: &Rule<'_>,
    comparison: &Comparison,
    counted: Margin,
    gain: &Gain,
) -> Option<String> {
    if comparison.unit.kind() != UnitKind::Time {
        return None;
    }
    let pair = comparison.samples.as_ref()?;
    let clocks = [&pair.treatment, &pair.control].map(Resolution::of);
    if !clocks.iter().any(is_coarse) {
        return None;
    }
    let step = clocks.iter().filter_map(|it| it.quantum.or(it.smallest_step)).reduce(f64::max)?;
    let slack = match counted {
        Margin::Relative(_) => step / comparison.base()?,
        Margin::Absolute(_) => step,
    };
    let (margin, interval) = (rule.margin.value(), gain.interval);
    let stands = match rule.claim {
        Claim::Superior => interval.lower - slack > margin,
        Claim::NonInferior => interval.lower - slack > -margin,
        Claim::Equivalent => interval.lower - slack > -margin && interval.upper + slack < margin,
    };
    (!stands).then(|| {
        let step = format!("{} {}", significant(step, 3), comparison.unit);
        format!("the clock is too coarse: a single step of {step} could make up for what the interval shows")
    })
}
