//! The bootstrap: intervals of statistics that have no formula.

use super::dist::{normal_isf, normal_sf};
use super::interval::alpha_of;
use super::moments::Sum;
use super::quantile::{check_order, sorted, type_7};
use super::rng::Rng;
use super::{Interval, Moments, Sample, StatsError, Status, parallel};

/// Pieces of work that are worth a thread.
const GRAIN: usize = 250;

/// A statistic of two arms, of treatment against control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimand {
    /// Difference of the means.
    MeanDifference,
    /// Ratio of the means.
    MeanRatio,
    /// Difference of the quantiles of an order (type 7); 0.5 for the medians.
    QuantileDifference(f64),
    /// Ratio of the quantiles of an order (type 7); 0.5 for the medians.
    QuantileRatio(f64),
}

impl Estimand {
    /// Computes the statistic; infinite or NaN where a ratio has no value.
    pub fn of(self, treatment: &[f64], control: &[f64]) -> f64 {
        let quantile = |values: &[f64], p: f64| type_7(&sorted(values.iter().copied()), p);
        match self {
            Self::MeanDifference => mean(treatment) - mean(control),
            Self::MeanRatio => mean(treatment) / mean(control),
            Self::QuantileDifference(p) => quantile(treatment, p) - quantile(control, p),
            Self::QuantileRatio(p) => quantile(treatment, p) / quantile(control, p),
        }
    }

    fn check(self) -> Result<(), StatsError> {
        match self {
            Self::MeanDifference | Self::MeanRatio => Ok(()),
            Self::QuantileDifference(p) | Self::QuantileRatio(p) => check_order(p),
        }
    }
}

/// Replicates of a statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the samples themselves.
    pub observed: f64,
    /// The statistic of each resample, in the order of their numbers.
    pub replicates: Vec<f64>,
    /// The seed that makes them.
    pub seed: u64,
    /// Replicates below the observed value.
    pub count_less: usize,
    /// Replicates equal to the observed value, to 1e-12.
    pub count_equal: usize,
    /// [`Status::Degenerate`] if all replicates are equal: intervals are then points.
    pub status: Status,
    /// The correction for bias, in standard normal units; `None` if all replicates lie on one side.
    pub bias: Option<f64>,
    /// The correction for skewness.
    pub acceleration: f64,
    sorted: Vec<f64>,
}

/// An interval with corrected order of its quantiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BcaInterval {
    /// The interval.
    pub interval: Interval,
    /// The orders of the replicates at its limits.
    pub orders: [f64; 2],
    /// Whether the corrections exist; if not, this is the percentile interval.
    pub corrected: bool,
}

/// Bootstraps one of the named statistics; see [`bootstrap_by`].
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] for the order of a quantile; otherwise as [`bootstrap_by`].
pub fn bootstrap(
    treatment: &Sample,
    control: &Sample,
    estimand: Estimand,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    estimand.check()?;
    bootstrap_by(treatment, control, |x, y| estimand.of(x, y), resamples, seed)
}

/// Bootstraps the difference of the means by the magnitude of the control's: -0.1 is 10 % less, also for means below zero.
/// See [`bootstrap_by`].
///
/// # Errors
///
/// [`StatsError::ZeroBaseline`] if the mean of the control is 0; otherwise as [`bootstrap_by`].
pub fn bootstrap_relative_change(
    treatment: &Sample,
    control: &Sample,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    let base = mean(control.values());
    if base == 0.0 {
        return Err(StatsError::ZeroBaseline);
    }
    let change = |treatment: &[f64], control: &[f64]| {
        let base = mean(control);
        (mean(treatment) - base) / base.abs()
    };
    bootstrap_by(treatment, control, change, resamples, seed)
}

fn mean(values: &[f64]) -> f64 {
    let pivot = values[0];
    pivot + Sum::over(values, |value| value - pivot).value() / values.len() as f64
}

/// Resamples both arms with replacement and computes a statistic of each pair of resamples (Davison and Hinkley 1997).
/// 9,999 resamples are usual.
///
/// Replicate b draws from stream b of the seed, first for the treatment and then for the control, so that the result
/// depends on neither the number of threads nor their order. O((resamples + n) n) over all cores. With fewer than 10
/// observations an arm, prefer a formula; quantiles of order 0.99 need 500.
///
/// # Errors
///
/// [`StatsError::InvalidInput`] for 0 resamples, [`StatsError::NonFinite`] if the statistic of the samples or of a
/// resample has no value, such as a ratio to 0.
pub fn bootstrap_by(
    treatment: &Sample,
    control: &Sample,
    statistic: impl Fn(&[f64], &[f64]) -> f64 + Sync,
    resamples: usize,
    seed: u64,
) -> Result<Bootstrap, StatsError> {
    if resamples == 0 {
        return Err(StatsError::InvalidInput("a bootstrap needs resamples"));
    }
    let (x, y) = (treatment.values(), control.values());
    let observed = statistic(x, y);
    let replicates = parallel::map(resamples, GRAIN, |index| {
        let mut rng = Rng::stream(seed, index as u64);
        let mut draw = |values: &[f64]| -> Vec<f64> {
            (0..values.len()).map(|_| values[rng.below(values.len())]).collect()
        };
        let resample = draw(x);
        statistic(&resample, &draw(y))
    });
    if !observed.is_finite() || replicates.iter().any(|replicate| !replicate.is_finite()) {
        return Err(StatsError::NonFinite);
    }
    let sorted = sorted(replicates.iter().copied());
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    // Replicates that equal the observed value but for rounding count as equal.
    let reach = observed.abs().max((high - observed).abs()).max((low - observed).abs());
    let tolerance = 1e-12 * reach;
    let count_less = sorted.partition_point(|replicate| *replicate < observed - tolerance);
    let count_equal = sorted.partition_point(|replicate| *replicate <= observed + tolerance) - count_less;
    let share = (count_less as f64 + 0.5 * count_equal as f64) / resamples as f64;
    let degenerate = high - low <= tolerance;
    Ok(Bootstrap {
        observed,
        seed,
        count_less,
        count_equal,
        status: if degenerate { Status::Degenerate } else { Status::Regular },
        bias: normal_isf(share).ok().map(|z| -z),
        acceleration: if degenerate { 0.0 } else { acceleration(x, y, &statistic) },
        sorted,
        replicates,
    })
}

/// Skewness of the influence of single observations, by leaving out each of them (Efron 1987).
fn acceleration(x: &[f64], y: &[f64], statistic: &(impl Fn(&[f64], &[f64]) -> f64 + Sync)) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    let mut arm = |values: &[f64], left_out: &(dyn Fn(&[f64]) -> f64 + Sync)| {
        if values.len() < 2 {
            return;
        }
        let without = parallel::map(values.len(), GRAIN, |index| {
            let mut rest = values.to_vec();
            rest.remove(index);
            left_out(&rest)
        });
        let n = values.len() as f64;
        let moments = Moments::of_values(&without);
        let influence = |value: &f64| -(n - 1.0) * moments.deviation(*value);
        cubes += Sum::of(without.iter().map(|value| influence(value).powi(3))) / (n * n * n);
        squares += Sum::of(without.iter().map(|value| influence(value).powi(2))) / (n * n);
    };
    arm(x, &|rest| statistic(rest, y));
    arm(y, &|rest| statistic(x, rest));
    let acceleration = cubes / (6.0 * squares * squares.sqrt());
    if acceleration.is_finite() { acceleration } else { 0.0 }
}

impl Bootstrap {
    /// Returns the standard deviation of the replicates; 0 for a single one.
    pub fn standard_error(&self) -> f64 {
        Moments::of_values(&self.replicates).sd()
    }

    fn between(&self, orders: [f64; 2], level: f64) -> Interval {
        let limit = |order: f64| type_7(&self.sorted, order);
        Interval { lower: limit(orders[0]), upper: limit(orders[1]), level }
    }

    /// Returns the interval between the quantiles of the replicates.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn percentile_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        Ok(self.between([half, 1.0 - half], level))
    }

    /// Returns the interval with orders corrected for bias and skewness (Efron 1987).
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn bca_interval(&self, level: f64) -> Result<BcaInterval, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let z = normal_isf(half)?;
        let Some(bias) = self.bias.filter(|_| self.status == Status::Regular) else {
            let orders = [half, 1.0 - half];
            return Ok(BcaInterval { interval: self.between(orders, level), orders, corrected: false });
        };
        let order = |z: f64| {
            let shifted = bias + (bias + z) / (1.0 - self.acceleration * (bias + z));
            normal_sf(-shifted).value
        };
        let orders = [order(-z), order(z)];
        Ok(BcaInterval { interval: self.between(orders, level), orders, corrected: true })
    }
}
