//! The bootstrap: intervals of statistics that have no formula.

use super::dist::{normal_isf, normal_sf};
use super::interval::alpha_of;
use super::moments::Sum;
use super::quantile::{check_order, sorted, type_7, type_7_of_any};
use super::rng::Rng;
use super::{Interval, Moments, Sample, StatsError, Status, parallel};
use std::cell::OnceCell;

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
        self.join(self.of_arm(&mut treatment.to_vec()), self.of_arm(&mut control.to_vec()))
    }

    /// The number of one arm; may put its values in another order.
    fn of_arm(self, values: &mut [f64]) -> f64 {
        match self {
            Self::MeanDifference | Self::MeanRatio => mean(values),
            Self::QuantileDifference(p) | Self::QuantileRatio(p) => type_7_of_any(values, p),
        }
    }

    fn join(self, treatment: f64, control: f64) -> f64 {
        match self {
            Self::MeanDifference | Self::QuantileDifference(_) => treatment - control,
            Self::MeanRatio | Self::QuantileRatio(_) => treatment / control,
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
    let of_arm = |values: &mut [f64]| estimand.of_arm(values);
    let join = |treatment, control| estimand.join(treatment, control);
    let [found] = bootstrap_arms(
        treatment,
        [control],
        &Arms { of_treatment: of_arm, of_control: of_arm, join },
        resamples,
        seed,
    );
    found
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
    let [found] = bootstrap_relative_changes(treatment, [control], resamples, seed);
    found
}

/// As [`bootstrap_relative_change`] for each of several controls of one size: the same observations are drawn of all of
/// them, as they are for each alone, and only once.
pub(super) fn bootstrap_relative_changes<const K: usize>(
    treatment: &Sample,
    controls: [&Sample; K],
    resamples: usize,
    seed: u64,
) -> [Result<Bootstrap, StatsError>; K] {
    let of_arm = |values: &mut [f64]| mean(values);
    let change = |treatment: f64, base: f64| (treatment - base) / base.abs();
    let arms = Arms { of_treatment: of_arm, of_control: of_arm, join: change };
    let found = bootstrap_arms(treatment, controls, &arms, resamples, seed);
    let mut bases = controls.into_iter().map(|it| mean(it.values()));
    found.map(|found| if bases.next() == Some(0.0) { Err(StatsError::ZeroBaseline) } else { found })
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
    let (x, y) = (treatment.values(), control.values());
    let replicates = parallel::map(resamples, GRAIN, |index| {
        let mut rng = Rng::stream(seed, index as u64);
        let mut draw = |values: &[f64]| -> Vec<f64> {
            (0..values.len()).map(|_| values[rng.below(values.len())]).collect()
        };
        let resample = draw(x);
        statistic(&resample, &draw(y))
    });
    let without =
        || [leave_one_out(x, |rest| statistic(rest, y)), leave_one_out(y, |rest| statistic(x, rest))];
    finish(statistic(x, y), replicates, seed, || acceleration(&without()))
}

/// A statistic that is made of one number of each arm, which may put the values that it is given in another order.
pub(super) struct Arms<T, C, J> {
    pub(super) of_treatment: T,
    pub(super) of_control: C,
    pub(super) join: J,
}

/// As [`bootstrap_by`], for each of several controls of one size, which are drawn from together. No number of an arm is
/// computed again where only the other arm is another.
pub(super) fn bootstrap_arms<const K: usize>(
    treatment: &Sample,
    controls: [&Sample; K],
    arms: &Arms<
        impl Fn(&mut [f64]) -> f64 + Sync,
        impl Fn(&mut [f64]) -> f64 + Sync,
        impl Fn(f64, f64) -> f64 + Sync,
    >,
    resamples: usize,
    seed: u64,
) -> [Result<Bootstrap, StatsError>; K] {
    let Arms { of_treatment, of_control, join } = arms;
    let (x, ys) = (treatment.values(), controls.map(Sample::values));
    let m = ys.iter().map(|it| it.len()).min().unwrap_or_default();
    let scratch = || (vec![0.0; x.len()], [const { Vec::new() }; K].map(|_: Vec<f64>| vec![0.0; m]));
    let replicates = parallel::map_with(resamples, GRAIN, scratch, |(of_x, of_ys), index| {
        let mut rng = Rng::stream(seed, index as u64);
        for drawn in of_x.iter_mut() {
            *drawn = x[rng.below(x.len())];
        }
        for place in 0..m {
            let from = rng.below(m);
            for (drawn, y) in of_ys.iter_mut().zip(ys) {
                drawn[place] = y[from];
            }
        }
        let treatment = of_treatment(of_x);
        of_ys.each_mut().map(|drawn| join(treatment, of_control(drawn)))
    });
    let whole = of_treatment(&mut x.to_vec());
    // The same for every control.
    let without_x = OnceCell::new();
    let mut place = 0..K;
    controls.map(|control| {
        let place = place.next().unwrap_or_default();
        let y = control.values();
        let base = of_control(&mut y.to_vec());
        let of_this = replicates.iter().map(|it| it[place]).collect();
        finish(join(whole, base), of_this, seed, || {
            let without_x = without_x.get_or_init(|| leave_one_out(x, of_treatment));
            let without_y = leave_one_out(y, of_control);
            acceleration(&[
                without_x.iter().map(|it| join(*it, base)).collect(),
                without_y.iter().map(|it| join(whole, *it)).collect(),
            ])
        })
    })
}

/// What follows from the replicates of a statistic.
fn finish(
    observed: f64,
    replicates: Vec<f64>,
    seed: u64,
    acceleration: impl FnOnce() -> f64,
) -> Result<Bootstrap, StatsError> {
    if replicates.is_empty() {
        return Err(StatsError::InvalidInput("a bootstrap needs resamples"));
    }
    if !observed.is_finite() || replicates.iter().any(|replicate| !replicate.is_finite()) {
        return Err(StatsError::NonFinite);
    }
    let resamples = replicates.len();
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
        acceleration: if degenerate { 0.0 } else { acceleration() },
        sorted,
        replicates,
    })
}

/// The number of an arm without each of its observations in turn; empty for a single one.
fn leave_one_out(values: &[f64], of: impl Fn(&mut [f64]) -> f64 + Sync) -> Vec<f64> {
    let n = if values.len() < 2 { 0 } else { values.len() };
    parallel::map_with(n, GRAIN, Vec::new, |rest, index| {
        rest.clear();
        rest.extend_from_slice(&values[..index]);
        rest.extend_from_slice(&values[index + 1..]);
        of(rest)
    })
}

/// Skewness of the influence of single observations, by the statistic without each of them, arm by arm (Efron 1987).
fn acceleration(arms: &[Vec<f64>; 2]) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for without in arms.iter().filter(|it| !it.is_empty()) {
        let n = without.len() as f64;
        let moments = Moments::of_values(without);
        let influence = |value: &f64| -(n - 1.0) * moments.deviation(*value);
        cubes += Sum::of(without.iter().map(|value| influence(value).powi(3))) / (n * n * n);
        squares += Sum::of(without.iter().map(|value| influence(value).powi(2))) / (n * n);
    }
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
