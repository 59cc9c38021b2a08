//! Mean and spread to the last digit.

use super::sample::LARGEST;
use super::{Sample, StatsError};

/// Sums that a processor can add up at once.
const LANES: usize = 8;

/// The largest magnitude of a function of many values.
pub(super) fn largest_of(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let mut lanes = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(f(*value).abs(), *lane);
        }
    }
    rest.iter().map(|value| f(*value).abs()).chain(lanes).fold(0.0, larger)
}

/// A sum that carries its rounding error along (Neumaier 1974).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    total: f64,
    error: f64,
}

impl Sum {
    /// Adds a term.
    pub(super) fn add(&mut self, term: f64) {
        // Without a branch on the magnitudes, which would be guessed wrong half of the time (Knuth 1969).
        let total = self.total + term;
        let of_term = total - self.total;
        self.error += (self.total - (total - of_term)) + (term - of_term);
        self.total = total;
    }

    /// Returns the sum of all terms.
    pub(super) fn value(self) -> f64 {
        self.total + self.error
    }

    /// Adds up the terms of an iterator.
    pub(super) fn of(terms: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum.value()
    }

    /// Adds up a function of many values, in eight sums side by side.
    pub(super) fn over(values: &[f64], f: impl Fn(f64) -> f64) -> Self {
        let (mut totals, mut errors) = ([0.0; LANES], [0.0; LANES]);
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for lane in 0..LANES {
                let term = f(chunk[lane]);
                let total = totals[lane] + term;
                let of_term = total - totals[lane];
                errors[lane] += (totals[lane] - (total - of_term)) + (term - of_term);
                totals[lane] = total;
            }
        }
        let mut sum = Self::default();
        rest.iter().for_each(|value| sum.add(f(*value)));
        for (total, error) in totals.into_iter().zip(errors) {
            sum.add(total);
            sum.error += error;
        }
        sum
    }

    /// Returns the mean of `n` terms as a number and what rounding took from it.
    fn mean(self, n: f64) -> (f64, f64) {
        let mean = self.value() / n;
        let rest = libm::fma(-mean, n, self.total) + self.error;
        (mean, rest / n)
    }
}

/// Returns a power of two that brings `magnitude` near 1, and 1 for zero. Multiplying by it is exact.
pub(super) fn scale_for(magnitude: f64) -> f64 {
    if magnitude == 0.0 || !magnitude.is_finite() {
        return 1.0;
    }
    let exponent = libm::ilogb(magnitude).clamp(-1000, 1000);
    libm::ldexp(1.0, -exponent)
}

/// Number, mean and standard deviation of an arm, from its observations or as somebody printed them.
///
/// The mean is kept as a pivot (the first observation) plus a mean deviation from it, so that the difference
/// of two means does not go through two rounded ones: values that vary by 1 around 1e12 lose nothing. Scaling
/// all observations by a power of two scales everything exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    n: usize,
    worth: f64,
    mean: f64,
    sd: f64,
    pivot: f64,
    offset: f64,
    offset_error: f64,
}

impl Moments {
    /// Computes the moments of a sample in two compensated passes (Chan, Golub and LeVeque 1983), O(n).
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 2 observations.
    pub fn of(sample: &Sample) -> Result<Self, StatsError> {
        sample.require(2)?;
        Ok(Self::of_values(sample.values()))
    }

    /// Takes a mean, a standard deviation (of the observations, with n - 1) and n.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`], [`StatsError::InvalidSummary`] for a negative deviation or one beyond 1e300,
    /// [`StatsError::TooFew`] for n < 2.
    pub fn from_summary(mean: f64, sd: f64, n: usize) -> Result<Self, StatsError> {
        if !mean.is_finite() || !sd.is_finite() {
            Err(StatsError::NonFinite)
        } else if !(0.0..=LARGEST).contains(&sd) || mean.abs() > LARGEST {
            Err(StatsError::InvalidSummary)
        } else if n < 2 {
            Err(StatsError::TooFew { needed: 2, found: n })
        } else {
            Ok(Self { n, worth: n as f64, mean, sd, pivot: mean, offset: 0.0, offset_error: 0.0 })
        }
    }

    /// The moments of at least one finite value; the deviation of a single one is 0.
    pub(super) fn of_values(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let largest = largest_of(values, |value| value);
        // First a scale at which no difference overflows, then one at which no square does.
        let outer = scale_for(largest);
        let pivot = values[0] * outer;
        let widest = largest_of(values, |value| value * outer - pivot);
        let inner = scale_for(widest);
        let deviation = |value: f64| (value * outer - pivot) * inner;

        let sum = Sum::over(values, deviation);
        let (mean, mean_error) = sum.mean(n);

        let squares = Sum::over(values, |value| {
            let from_mean = deviation(value) - mean;
            from_mean * from_mean
        });
        // What rounding the mean leaves of the deviations from it: their sum, known without adding them up.
        let residue = mean_error * n;
        let square_sum = (squares.value() - residue * residue / n).max(0.0);
        let sd = if n > 1.0 { (square_sum / (n - 1.0)).sqrt() } else { 0.0 };
        Self {
            n: values.len(),
            worth: n,
            mean: (pivot + (mean / inner + mean_error / inner)) / outer,
            sd: sd / inner / outer,
            pivot: values[0],
            offset: mean / inner / outer,
            offset_error: mean_error / inner / outer,
        }
    }

    /// Returns the same moments as those of `worth` independent observations, which autocorrelated ones are
    /// worth (see [`EffectiveSize`](super::EffectiveSize)): standard errors and degrees of freedom follow, so that
    /// every comparison of means can be made with and without.
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 2, [`StatsError::InvalidInput`] above the number of observations.
    pub fn worth(self, worth: f64) -> Result<Self, StatsError> {
        if worth.is_nan() || worth > self.n as f64 {
            Err(StatsError::InvalidInput("observations are worth at most their number"))
        } else if worth < 2.0 {
            Err(StatsError::TooFew { needed: 2, found: worth.max(0.0) as usize })
        } else {
            Ok(Self { worth, ..self })
        }
    }

    /// Returns the number of observations.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the standard deviation of the observations, with n - 1.
    pub fn sd(&self) -> f64 {
        self.sd
    }

    /// Returns the standard error of the mean, `sd / sqrt n`.
    pub fn standard_error(&self) -> f64 {
        self.sd / self.worth.sqrt()
    }

    /// Returns `mean(self) - mean(other)` without rounding either mean first.
    pub fn difference(&self, other: &Self) -> f64 {
        // The terms are paired, so that exchanging the means turns the sign of each of them and of the result.
        let terms = [self.pivot, self.offset, other.pivot, other.offset];
        let scale = 0.25 * scale_for(terms.iter().fold(0.0, |largest: f64, term| largest.max(term.abs())));
        let (pivots, pivot_error) = exact_difference(self.pivot * scale, other.pivot * scale);
        let (offsets, offset_error) = exact_difference(self.offset * scale, other.offset * scale);
        let errors = pivot_error + offset_error + (self.offset_error - other.offset_error) * scale;
        let mut sum = Sum::default();
        sum.add(pivots);
        sum.add(offsets);
        sum.add(errors);
        sum.value() / scale
    }

    /// Returns the same mean with another deviation.
    pub(super) fn with_sd(self, sd: f64) -> Self {
        Self { sd, ..self }
    }

    /// Returns the deviation of a value from the mean, by way of the pivot.
    pub(super) fn deviation(&self, value: f64) -> f64 {
        (value - self.pivot) - self.offset - self.offset_error
    }

    /// Returns the number of independent observations, n unless it was set.
    pub(super) fn size(&self) -> f64 {
        self.worth
    }
}

/// Makes values equal that differ by no more than the rounding of numbers of this magnitude: what is left of a
/// difference of decimals must not become a spread, and that spread a p-value.
pub(super) fn level_out(values: &mut [f64], magnitude: f64) {
    let first = values[0];
    if values.iter().all(|value| (value - first).abs() <= 2.0 * f64::EPSILON * magnitude) {
        values.fill(first);
    }
}

/// Returns `a - b` as a rounded number and what rounding took from it (Knuth 1969).
fn exact_difference(a: f64, b: f64) -> (f64, f64) {
    let difference = a - b;
    let of_b = a - difference;
    (difference, (a - (difference + of_b)) + (of_b - b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> Moments {
        Moments::of_values(values)
    }

    #[test]
    fn a_constant_has_no_spread() {
        for n in 2..60 {
            assert_eq!(moments(&vec![0.37; n]).sd(), 0.0);
            assert_eq!(moments(&vec![0.37; n]).mean(), 0.37);
            assert_eq!(moments(&vec![0.37; n]).difference(&moments(&vec![0.37; n + 1])), 0.0);
        }
    }

    #[test]
    fn fewer_independent_observations_widen_the_error() {
        let all = moments(&[1.0, 2.0, 4.0, 3.0, 5.0, 2.5, 1.5, 4.5]);
        let worth = all.worth(2.0).unwrap();
        assert_eq!((worth.standard_error(), worth.mean()), (2.0 * all.standard_error(), all.mean()));
        assert_eq!(all.worth(1.5).map_err(StatsError::code), Err("too_few"));
        assert_eq!(all.worth(9.0).map_err(StatsError::code), Err("invalid_input"));
    }

    #[test]
    fn extreme_scales_neither_overflow_nor_vanish() {
        let unit = [1.0, 2.0, 4.0];
        for exponent in [-700, 700] {
            let scale = libm::ldexp(1.0, exponent);
            let scaled: Vec<f64> = unit.iter().map(|value| value * scale).collect();
            assert_eq!(moments(&scaled).sd() / scale, moments(&unit).sd());
            assert_eq!(moments(&scaled).mean() / scale, moments(&unit).mean());
        }
        assert!(moments(&[1e300, -1e300]).sd().is_finite());
    }
}
