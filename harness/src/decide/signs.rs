//! The sign e-process: gains within blocks, counted by their sign against a margin.

use super::judge::Rule;
use super::method::{Tested, blocks};
use crate::analyse::{Comparison, Gain, Pair, Undefined};
use crate::stats::{Interval, PValue, Sample, ln_sign_evidence, median, sign_ranks};
use crate::vocab::{Claim, Margin};
use std::f64::consts::LN_2;

/// What the treatment gains within each block, counted as `counted` is.
fn gains(comparison: &Comparison, counted: Margin) -> Result<Vec<f64>, Undefined> {
    let Pair { treatment, control, .. } = blocks(comparison)?;
    let pairs = treatment.values().iter().zip(control.values());
    pairs
        .map(|(treatment, control)| {
            let gain = comparison.better.gain(treatment - control);
            match counted {
                Margin::Absolute(_) => Ok(gain),
                Margin::Relative(_) if *control == 0.0 => {
                    Err(Undefined("a sample of the control is zero, of which there is no share".to_owned()))
                }
                Margin::Relative(_) => Ok(gain / control.abs()),
            }
        })
        .collect()
}

/// The median gain within a block, with the interval that is valid at any look, `alpha` a side.
pub(super) fn gain(comparison: &Comparison, counted: Margin, alpha: f64) -> Result<Gain, Undefined> {
    let mut gains = gains(comparison, counted)?;
    gains.sort_by(f64::total_cmp);
    let n = gains.len();
    let Some((lower, upper)) = sign_ranks(n, alpha)? else {
        return Err(Undefined(format!("{n} blocks are too few for the signs to exclude anything")));
    };
    let value = median(&Sample::new(gains.clone())?);
    // Ranks count from 1 and are at most n.
    let interval = Interval { lower: gains[lower - 1], upper: gains[upper - 1], level: 1.0 - 2.0 * alpha };
    Ok(Gain { value, interval })
}

/// The evidence that the median gain is above `limit` and that it is below, as logarithms. Ties do not count.
pub(super) fn evidence(comparison: &Comparison, counted: Margin, limit: f64) -> Result<[f64; 2], Undefined> {
    let (above, below) = counts(&gains(comparison, counted)?, limit);
    Ok([ln_sign_evidence(above, below), ln_sign_evidence(below, above)])
}

fn counts(gains: &[f64], limit: f64) -> (usize, usize) {
    let above = gains.iter().filter(|it| **it > limit).count();
    (above, gains.iter().filter(|it| **it < limit).count())
}

/// The test of the claim: of any difference for superiority, of "within the margin" otherwise. p is one by the evidence.
pub(super) fn test(rule: &Rule<'_>, comparison: &Comparison) -> Result<Tested, Undefined> {
    let margin = rule.margin.value();
    // Signs against zero are the same however a gain is counted.
    let counted = match rule.claim {
        Claim::Superior => Margin::Absolute(0.0),
        Claim::NonInferior | Claim::Equivalent => rule.margin,
    };
    let gains = gains(comparison, counted)?;
    let p = |ln: f64| PValue::from_ln((-ln).min(0.0));
    let wins = |limit: f64| {
        let (above, below) = counts(&gains, limit);
        (above as f64, ln_sign_evidence(above, below), ln_sign_evidence(below, above))
    };
    Ok(match rule.claim {
        Claim::Superior => {
            let (above, better, worse) = wins(0.0);
            // Half of alpha for each direction.
            Tested::new(p(better.max(worse) - LN_2)?, Some(above), None)
        }
        Claim::NonInferior => {
            let (above, better, _) = wins(-margin);
            Tested::new(p(better)?, Some(above), None)
        }
        Claim::Equivalent => {
            let ((above, above_low, _), (_, _, below_high)) = (wins(-margin), wins(margin));
            Tested::new(p(above_low.min(below_high))?, Some(above), None)
        }
    })
}
