//! Do observations remember the ones before them?

use super::dist::{chi_squared_sf, normal_sf};
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

/// A sample as a first-order autoregressive series, whose neighbors are the only ones that depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstOrder {
    /// The correlation of neighbors without the bias of small samples, between 0 and 0.95: `(r_1 + 1/n) / (1 - 4/n)` (Kendall
    /// 1954; Marriott and Pope 1954).
    pub phi: f64,
    /// One-sided p-value of "neighbors do not depend on each other" against a positive correlation: `(r_1 + 1/n) sqrt n` is
    /// about standard normal.
    pub p: PValue,
    /// By what the variance of a mean is larger than the variance of the sample, divided by n, says: `(1 + phi) / (1 - phi)`,
    /// and for a deviation that dependence makes too small, times `(n - 1) / (n - time)`. At least 1.
    pub time: f64,
    /// The independent observations that the sample is worth, n by that time; at least 2.
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

    /// Returns what the correlation of neighbors says, if it is the only one. O(n).
    ///
    /// Geyer's sequence ([`Autocorrelation::effective_size`]) makes no such assumption and needs far more than 30
    /// observations for it. Where more than neighbors depend on each other, a sample is worth less than this says.
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 6 observations.
    pub fn first_order(&self) -> Result<FirstOrder, StatsError> {
        let (found, n) = (self.deviations.len(), self.deviations.len() as f64);
        if found < 6 {
            return Err(StatsError::TooFew { needed: 6, found });
        }
        let unbiased = self.at(1) + n.recip();
        let p = normal_sf(unbiased * n.sqrt()).into();
        let phi = (unbiased / (1.0 - 4.0 / n)).clamp(0.0, 0.95);
        let plain = (1.0 + phi) / (1.0 - phi);
        let time = plain * (n - 1.0) / (n - plain).max(1.0);
        Ok(FirstOrder { phi, p, time, size: (n / time).max(2.0) })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    /// A series with this correlation of neighbors.
    fn series(rng: &mut Rng, n: usize, phi: f64) -> Autocorrelation {
        let mut noise = || (0..12).map(|_| rng.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
        let mut last = noise();
        let next = |_| {
            last = phi * last + (1.0 - phi * phi).sqrt() * noise();
            last
        };
        Autocorrelation::of(&Sample::new((0..n).map(next).collect()).unwrap()).unwrap()
    }

    #[test]
    fn neighbors_are_judged_without_the_bias_of_small_samples() {
        let mut rng = Rng::new(1);
        let runs = 2_000;
        let mut share = |n, phi| {
            let found: Vec<FirstOrder> =
                (0..runs).map(|_| series(&mut rng, n, phi).first_order().unwrap()).collect();
            let significant = found.iter().filter(|it| it.p.value() < 0.05).count();
            let mean = found.iter().map(|it| it.phi).sum::<f64>() / f64::from(runs);
            (significant as f64 / f64::from(runs), mean)
        };
        // Independent: 5 % at most, and dependent ones are seen by 30 observations.
        for n in [10, 30, 100] {
            let (significant, _) = share(n, 0.0);
            assert!((0.02..0.066).contains(&significant), "{n}: {significant}");
        }
        let (significant, mean) = share(30, 0.5);
        assert!(significant > 0.75 && (mean - 0.5).abs() < 0.04, "{significant} {mean}");
        let (_, mean) = share(100, 0.8);
        assert!((mean - 0.8).abs() < 0.02, "{mean}");
    }

    #[test]
    fn the_time_is_that_of_the_series() {
        let found = series(&mut Rng::new(2), 10_000, 0.5).first_order().unwrap();
        assert!((found.time - 3.0).abs() < 0.2 && (found.size * found.time - 10_000.0).abs() < 1e-6);
        let few = Autocorrelation::of(&Sample::new(vec![1.0, 2.0, 4.0]).unwrap()).unwrap();
        assert_eq!(few.first_order(), Err(StatsError::TooFew { needed: 6, found: 3 }));
        // A ramp is worth two observations, not none.
        let ramp = Autocorrelation::of(&Sample::new((0..8).map(f64::from).collect()).unwrap()).unwrap();
        assert!(ramp.first_order().unwrap().size >= 2.0);
    }
}
