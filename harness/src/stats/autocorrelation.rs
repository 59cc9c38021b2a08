//! Do observations remember the ones before them?

use super::dist::chi_squared_sf;
use super::moments::Sum;
use super::{Moments, PValue, Sample, StatsError};

/// The autocorrelations of a sample in the order in which it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Autocorrelation {
    deviations: Vec<f64>,
    squares: f64,
}

/// The result of a portmanteau test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// Number of autocorrelations that were looked at, and degrees of freedom.
    pub lags: usize,
    /// The statistic.
    pub q: f64,
    /// The p-value of "the observations are independent".
    pub p: PValue,
}

/// How many independent observations a sample is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveSize {
    /// The autocorrelation time: observations that are worth one independent one. Standard errors of a mean grow
    /// by its root.
    pub time: f64,
    /// n by that time, at most n.
    pub size: f64,
}

impl Autocorrelation {
    /// Prepares a sample, O(n).
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 3 observations, [`StatsError::ZeroVariance`] if all are equal.
    pub fn of(sample: &Sample) -> Result<Self, StatsError> {
        sample.require(3)?;
        let moments = Moments::of(sample)?;
        if moments.sd() == 0.0 {
            return Err(StatsError::ZeroVariance);
        }
        let deviations: Vec<f64> =
            sample.values().iter().map(|value| moments.deviation(*value) / moments.sd()).collect();
        let squares = Sum::of(deviations.iter().map(|deviation| deviation * deviation));
        Ok(Self { deviations, squares })
    }

    /// Returns the autocorrelation at a lag, between -1 and 1; 0 for lags of n and more. O(n).
    ///
    /// `sum (x_i - mean)(x_(i+k) - mean) / sum (x_i - mean)^2`, the biased form.
    pub fn at(&self, lag: usize) -> f64 {
        if lag >= self.deviations.len() {
            return 0.0;
        }
        let pairs = self.deviations.iter().zip(&self.deviations[lag..]);
        Sum::of(pairs.map(|(earlier, later)| earlier * later)) / self.squares
    }

    /// Returns the von Neumann ratio: about 2 for independent observations, less for positively dependent ones.
    pub fn von_neumann(&self) -> f64 {
        let steps = self.deviations.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0]));
        Sum::of(steps) / self.squares
    }

    /// Returns the number of lags that is usual for this n: `min(10, n / 5)`, at least 1.
    pub fn usual_lags(&self) -> usize {
        (self.deviations.len() / 5).clamp(1, 10)
    }

    /// Returns how many independent observations the sample is worth, from Geyer's initial monotone positive
    /// sequence (Geyer 1992). O(n) for observations that forget quickly, O(n^2) at worst.
    pub fn effective_size(&self) -> EffectiveSize {
        let n = self.deviations.len();
        let mut smallest = f64::INFINITY;
        let mut sum = Sum::default();
        for pair in 0..(n - 1) / 2 {
            let both = self.at(2 * pair) + self.at(2 * pair + 1);
            if both <= 0.0 {
                break;
            }
            smallest = smallest.min(both);
            sum.add(smallest);
        }
        let time = 2.0 * sum.value() - 1.0;
        EffectiveSize { time, size: if time <= 1.0 { n as f64 } else { n as f64 / time } }
    }

    /// Tests the first autocorrelations together (Ljung and Box 1978), O(n lags).
    ///
    /// `Q = n (n + 2) sum r_k^2 / (n - k)` against chi-squared with as many degrees of freedom as lags.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidInput`] unless `1 <= lags < n`.
    pub fn ljung_box(&self, lags: usize) -> Result<LjungBox, StatsError> {
        if lags == 0 || lags >= self.deviations.len() {
            return Err(StatsError::InvalidInput("the number of lags must lie between 1 and n - 1"));
        }
        let n = self.deviations.len() as f64;
        let terms = (1..=lags).map(|lag| self.at(lag) * self.at(lag) / (n - lag as f64));
        let q = n * (n + 2.0) * Sum::of(terms);
        Ok(LjungBox { lags, q, p: chi_squared_sf(q, lags as f64)?.into() })
    }
}
