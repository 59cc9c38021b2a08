//! The bootstrap as the registered test: a p-value and an interval from the same resamples.

use crate::analyse::{Comparison, Gain, Pair, Undefined};
use crate::stats::{Estimand, PValue, bootstrap, bootstrap_relative_change};
use crate::vocab::Margin;

/// Resamples of each arm.
const RESAMPLES: usize = 10_000;

/// With fewer samples of an arm, resamples show less spread than there is.
pub(super) const LEAST_SAMPLES: usize = 10;

/// The p-value of "no difference of the means": twice the share of resamples on the rarer side of zero, never 0.
pub(super) fn p_value(comparison: &Comparison, seed: u64) -> Result<PValue, Undefined> {
    let pair = pair(comparison)?;
    let found = bootstrap(&pair.treatment, &pair.control, Estimand::MeanDifference, RESAMPLES, seed)?;
    let count = |side: fn(f64) -> bool| found.replicates.iter().filter(|it| side(**it)).count();
    let rarer = count(|it| it <= 0.0).min(count(|it| it >= 0.0));
    Ok(PValue::new((2.0 * (rarer + 1) as f64 / (RESAMPLES + 1) as f64).min(1.0))?)
}

/// The gain with its BCa interval at `level`, from the resamples that the p-value has.
pub(super) fn gain(
    comparison: &Comparison,
    counted: Margin,
    level: f64,
    seed: u64,
) -> Result<Gain, Undefined> {
    // A share of a control that cannot be told from zero does not exist, whatever its resamples say.
    comparison.gain(counted, level)?;
    let Pair { treatment, control, .. } = pair(comparison)?;
    let found = match counted {
        Margin::Relative(_) => bootstrap_relative_change(treatment, control, RESAMPLES, seed)?,
        Margin::Absolute(_) => bootstrap(treatment, control, Estimand::MeanDifference, RESAMPLES, seed)?,
    };
    let mut interval = found.bca_interval(level)?.interval;
    let ends = [interval.lower, interval.upper].map(|it| comparison.better.gain(it));
    (interval.lower, interval.upper) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    Ok(Gain { value: comparison.better.gain(found.observed), interval })
}

fn pair(comparison: &Comparison) -> Result<&Pair, Undefined> {
    let pair = comparison.samples.as_ref().ok_or_else(|| Undefined("an arm has no samples".to_owned()))?;
    let n = pair.treatment.len().min(pair.control.len());
    if n < LEAST_SAMPLES {
        let reason = format!("{n} samples of an arm are too few for the bootstrap, it needs {LEAST_SAMPLES}");
        return Err(Undefined(reason));
    }
    Ok(pair)
}
