//! The observations of one arm and metric.

use std::sync::OnceLock;

use super::{StatsError, radix};

/// The largest magnitude of an observation or a mean: sums and differences of a few must be finite too.
pub(super) const LARGEST: f64 = 1e300;

/// Observations whose sorting is worth a thread.
const WORTH_A_THREAD: usize = 20_000;

/// The observations of one arm and metric, in the order in which they were made.
///
/// A sample holds at least one value and only finite ones; no statistic checks that again, and none drops a
/// value.
#[derive(Clone, Debug)]
pub struct Sample {
    values: Vec<f64>,
    sorted: OnceLock<Vec<f64>>,
}

impl Sample {
    /// Validates observations.
    ///
    /// # Errors
    ///
    /// [`StatsError::Empty`] without values, [`StatsError::NonFinite`] if one is NaN or infinite,
    /// [`StatsError::InvalidInput`] if one is beyond 1e300.
    pub fn new(values: Vec<f64>) -> Result<Self, StatsError> {
        if values.is_empty() {
            return Err(StatsError::Empty);
        }
        // One pass without branches; NaN is not below anything either.
        if !values.iter().fold(true, |fine, value| fine & (value.abs() <= LARGEST)) {
            let finite = values.iter().all(|value| value.is_finite());
            return Err(if finite {
                StatsError::InvalidInput("a value is beyond 1e300")
            } else {
                StatsError::NonFinite
            });
        }
        Ok(Self { values, sorted: OnceLock::new() })
    }

    /// Returns the number of observations, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the observations in the order in which they were made.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the observations in ascending order. The first call sorts, later ones do not. O(n), for few
    /// observations O(n log n).
    pub fn sorted(&self) -> &[f64] {
        self.sorted.get_or_init(|| radix::sorted(&self.values))
    }

    /// Returns the observations of two arms in ascending order, large ones sorted on two cores.
    pub(super) fn sorted_both<'a>(one: &'a Self, other: &'a Self) -> (&'a [f64], &'a [f64]) {
        let is_work = |sample: &Self| sample.len() >= WORTH_A_THREAD && sample.sorted.get().is_none();
        if is_work(one) && is_work(other) {
            std::thread::scope(|scope| {
                scope.spawn(|| one.sorted());
                other.sorted();
            });
        }
        (one.sorted(), other.sorted())
    }

    /// Returns the median without sorting the sample, if it was not sorted before. O(n).
    pub(super) fn quick_median(&self) -> f64 {
        let n = self.len();
        if n < WORTH_A_THREAD || self.sorted.get().is_some() {
            return super::quantile::type_7(self.sorted(), 0.5);
        }
        let mut keys: Vec<u64> = self.values.iter().map(|value| radix::key(*value)).collect();
        let (below, middle, _) = keys.select_nth_unstable(n / 2);
        let upper = radix::value(*middle);
        let lower = if n.is_multiple_of(2) {
            below.iter().max().map_or(upper, |key| radix::value(*key))
        } else {
            upper
        };
        super::quantile::type_7(&[lower, upper], 0.5)
    }

    /// Returns the smallest observation.
    pub fn min(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the largest observation.
    pub fn max(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Says whether all observations are equal.
    pub fn is_constant(&self) -> bool {
        self.values.iter().all(|value| *value == self.values[0])
    }

    /// Returns an error unless there are at least `needed` observations.
    pub(super) fn require(&self, needed: usize) -> Result<(), StatsError> {
        if self.len() < needed { Err(StatsError::TooFew { needed, found: self.len() }) } else { Ok(()) }
    }

    /// Returns the sample of `ln(value / pivot)`, for a pivot above zero.
    ///
    /// A pivot close to the values keeps the digits of their small relative differences, and a common pivot drops
    /// out of every comparison.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonPositive`] if a value or the pivot is not above zero.
    pub fn ln_relative_to(&self, pivot: f64) -> Result<Self, StatsError> {
        if pivot <= 0.0 || self.values.iter().any(|value| *value <= 0.0) {
            return Err(StatsError::NonPositive);
        }
        Self::new(self.values.iter().map(|value| ln_quotient(*value, pivot)).collect())
    }
}

/// Returns `ln(a / b)` of positive numbers: exact where they are close, and finite where their quotient is not.
pub(super) fn ln_quotient(a: f64, b: f64) -> f64 {
    let change = (a - b) / b;
    let quotient = a / b;
    if change.abs() < 0.5 {
        change.ln_1p()
    } else if quotient.is_normal() {
        quotient.ln()
    } else {
        a.ln() - b.ln()
    }
}

impl PartialEq for Sample {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl TryFrom<&[f64]> for Sample {
    type Error = StatsError;

    fn try_from(values: &[f64]) -> Result<Self, StatsError> {
        Self::new(values.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::median;
    use crate::stats::rng::Rng;

    #[test]
    fn selecting_a_median_is_sorting_for_it() {
        let mut rng = Rng::new(2);
        for n in [WORTH_A_THREAD, WORTH_A_THREAD + 1] {
            let values = (0..n).map(|_| rng.below(1 << 40) as f64 / 1e6).collect();
            let sample = Sample::new(values).unwrap();
            assert_eq!(sample.quick_median(), median(&sample.clone()));
        }
    }
}
