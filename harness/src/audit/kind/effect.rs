//! Claims about an effect in units of the spread.

use crate::audit::finding::{Confidence, Finding};
use crate::audit::frame::{Frame, Pair};
use crate::stats::{EffectSize, effect_size_of_moments};

pub(super) fn pooled_sd(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "pooled standard deviation";
    let arms = (frame.one("treatment"), frame.one("control"));
    let Some(pair) = frame.pair(arms) else { return frame.cannot(NAME) };
    let reach = frame.reach(|values| Some(effect(pair, values)?.pooled_sd));
    frame.judged(NAME, "", reach)
}

pub(super) fn cohens_d(frame: &mut Frame<'_>) -> Finding {
    let (name, sign) =
        if frame.claim.reversed { ("Cohen's d, control minus treatment", -1.0) } else { ("Cohen's d", 1.0) };
    let arms = (frame.one("treatment"), frame.one("control"));
    let Some(pair) = frame.pair(arms) else { return frame.cannot(name) };
    let reach = frame.reach(|values| Some(sign * effect(pair, values)?.standardized?.cohens_d));
    let mut finding = frame.judged(name, "", reach);
    let standardized = frame.at(|values| effect(pair, values)?.standardized);
    if let Some(it) = standardized {
        finding.detail("Hedges' g", sign * it.hedges_g);
        let level = frame.claim.level;
        finding.interval = it.bonett_interval(level).ok().map(|it| {
            let (a, b) = (sign * it.lower, sign * it.upper);
            Confidence { low: a.min(b), high: a.max(b), level }
        });
    }
    finding
}

/// The effect at these values.
fn effect(pair: Pair, values: &[f64]) -> Option<EffectSize> {
    let (treatment, control) = pair.moments(values)?;
    Some(effect_size_of_moments(&treatment, &control))
}
