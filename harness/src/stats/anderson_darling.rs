//! A test of normality that looks at the tails.

use super::dist::normal_sf;
use super::moments::Sum;
use super::{Moments, PValue, Sample, StatsError, parallel};

/// Observations that are worth a thread.
const GRAIN: usize = 5_000;

/// The result of an Anderson-Darling test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AndersonDarling {
    /// The statistic; larger is less normal.
    pub a2: f64,
    /// The statistic, corrected for n: `a2 (1 + 0.75 / n + 2.25 / n^2)`.
    pub a2_corrected: f64,
    /// The p-value of "the sample is from a normal distribution"; 3.7e-24 stands for that and everything below.
    pub p: PValue,
}

/// Tests a sample for normality by the distance of its distribution function from the fitted normal one, with more
/// weight on the tails (Anderson and Darling 1952; p-values of D'Agostino and Stephens 1986). O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 8 observations, [`StatsError::ZeroVariance`] if all are equal.
pub fn anderson_darling(sample: &Sample) -> Result<AndersonDarling, StatsError> {
    sample.require(8)?;
    let moments = Moments::of(sample)?;
    if moments.sd() == 0.0 {
        return Err(StatsError::ZeroVariance);
    }
    let n = moments.size();
    let scores: Vec<f64> =
        sample.sorted().iter().map(|value| moments.deviation(*value) / moments.sd()).collect();
    let terms = parallel::map(scores.len(), GRAIN, |index| {
        let (low, high) = (scores[index], scores[scores.len() - 1 - index]);
        // Logarithms of tails: a gross outlier must not turn them into those of 0.
        (2 * index + 1) as f64 * (normal_sf(-low).ln + normal_sf(high).ln)
    });
    let sum = Sum::of(terms);
    let a2 = -n - sum / n;
    let corrected = a2 * (1.0 + 0.75 / n + 2.25 / (n * n));
    Ok(AndersonDarling { a2, a2_corrected: corrected, p: p_value(corrected)? })
}

fn p_value(a: f64) -> Result<PValue, StatsError> {
    PValue::from_ln(if a < 0.2 {
        (-(-13.436 + 101.14 * a - 223.73 * a * a).exp()).ln_1p()
    } else if a < 0.34 {
        (-(-8.318 + 42.796 * a - 59.938 * a * a).exp()).ln_1p()
    } else if a < 0.6 {
        0.9177 - 4.279 * a - 1.38 * a * a
    } else if a < 10.0 {
        1.2937 - 5.709 * a + 0.0186 * a * a
    } else {
        3.7e-24f64.ln()
    })
}
