//! Quantiles estimated from all observations.

use super::bootstrap::{Arms, bootstrap_arms};
use super::dist::incomplete_beta;
use super::moments::Sum;
use super::quantile::sorted;
use super::{Bootstrap, Sample, StatsError};

/// The weights of the Harrell-Davis estimator of one quantile for one n.
#[derive(Clone, Debug, PartialEq)]
pub struct HarrellDavis {
    weights: Vec<f64>,
}

impl HarrellDavis {
    /// Prepares the quantile of order `p` for samples of `n`, O(n).
    ///
    /// The weight of the i-th smallest observation is the chance that a beta variable with parameters `(n + 1) p` and
    /// `(n + 1)(1 - p)` lies between `(i - 1) / n` and `i / n` (Harrell and Davis 1982).
    ///
    /// # Errors
    ///
    /// [`StatsError::Empty`] for n = 0, [`StatsError::InvalidLevel`] unless `0 < p < 1`.
    pub fn new(n: usize, p: f64) -> Result<Self, StatsError> {
        if n == 0 {
            return Err(StatsError::Empty);
        }
        if !(p > 0.0 && p < 1.0) {
            return Err(StatsError::InvalidLevel { level: p });
        }
        let size = n as f64;
        let (a, b) = ((size + 1.0) * p, (size + 1.0) * (1.0 - p));
        // Differences of the tail that is small, so that weights far from the quantile keep their digits.
        let turn = ((size * p).round() as usize).clamp(1, n);
        let below = |i: usize| incomplete_beta(i as f64 / size, a, b).map(|tail| tail.value);
        let above = |i: usize| incomplete_beta((n - i) as f64 / size, b, a).map(|tail| tail.value);
        let mut weights = Vec::with_capacity(n);
        let mut previous = 0.0;
        for i in 1..=turn {
            let next = below(i)?;
            weights.push(next - previous);
            previous = next;
        }
        let mut previous = above(turn)?;
        for i in turn + 1..=n {
            let next = above(i)?;
            weights.push(previous - next);
            previous = next;
        }
        Ok(Self { weights })
    }

    /// Estimates the quantile from as many ascending values as there are weights.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidInput`] for another number of values.
    pub fn of_sorted(&self, sorted: &[f64]) -> Result<f64, StatsError> {
        if sorted.len() != self.weights.len() {
            return Err(StatsError::InvalidInput("the weights are for another n"));
        }
        let pivot = sorted[sorted.len() / 2];
        let terms = sorted.iter().zip(&self.weights);
        Ok(pivot + Sum::of(terms.map(|(value, weight)| weight * (value - pivot))))
    }
}

/// Estimates the quantile of order `p` by a weighted mean of all observations (Harrell and Davis 1982), which has a
/// smaller error than an interpolation between two of them. O(n log n).
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 < p < 1`.
pub fn harrell_davis(sample: &Sample, p: f64) -> Result<f64, StatsError> {
    HarrellDavis::new(sample.len(), p)?.of_sorted(sample.sorted())
}

/// The Harrell-Davis estimate of samples of n and of n - 1, the size that a jackknife asks for.
struct Estimator {
    whole: HarrellDavis,
    less_one: Option<HarrellDavis>,
}

impl Estimator {
    fn new(n: usize, p: f64) -> Result<Self, StatsError> {
        let less_one = if n > 1 { Some(HarrellDavis::new(n - 1, p)?) } else { None };
        Ok(Self { whole: HarrellDavis::new(n, p)?, less_one })
    }

    fn of(&self, values: &[f64]) -> f64 {
        let sorted = sorted(values.iter().copied());
        let fitting = |weights: &&HarrellDavis| weights.weights.len() == sorted.len();
        let weights = [Some(&self.whole), self.less_one.as_ref()].into_iter().flatten().find(fitting);
        weights.and_then(|weights| weights.of_sorted(&sorted).ok()).unwrap_or(f64::NAN)
    }
}

/// Bootstraps the difference of the quantiles of order `p` of two arms, each estimated after Harrell and Davis (Wilcox
/// 2012). Correct for several orders as for any family.
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 < p < 1`; otherwise as [`bootstrap_by`](super::bootstrap_by).
pub fn quantile_difference(
    treatment: &Sample,
    control: &Sample,
    p: f64,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    quantiles(treatment, control, p, |treatment, control| treatment - control, resamples, seed)
}

/// Bootstraps the ratio of the quantiles of order `p` of two arms; see [`quantile_difference`].
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 < p < 1`; otherwise as [`bootstrap_by`](super::bootstrap_by).
pub fn quantile_ratio(
    treatment: &Sample,
    control: &Sample,
    p: f64,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    quantiles(treatment, control, p, |treatment, control| treatment / control, resamples, seed)
}

fn quantiles(
    treatment: &Sample,
    control: &Sample,
    p: f64,
    join: impl Fn(f64, f64) -> f64 + Sync,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    let (x, y) = (Estimator::new(treatment.len(), p)?, Estimator::new(control.len(), p)?);
    let (of_treatment, of_control) = (|it: &mut [f64]| x.of(it), |it: &mut [f64]| y.of(it));
    let [found] =
        bootstrap_arms(treatment, [control], &Arms { of_treatment, of_control, join }, resamples, seed);
    found
}
