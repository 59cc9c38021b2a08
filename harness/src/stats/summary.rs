//! The numbers that describe one sample.

use super::dist::student_t_isf;
use super::interval::alpha_of;
use super::moments::{Sum, scale_for};
use super::quantile::{median_of, supports_quantile, type_7};
use super::sample::ln_quotient;
use super::{Interval, Moments, Sample, StatsError};

/// Turns a median absolute deviation into a standard deviation of normal values.
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// A description of one sample; everything is in the unit of the observations unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of observations.
    pub n: usize,
    /// Sum of the observations.
    pub sum: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// What needs two observations; `None` for one.
    pub spread: Option<Spread>,
    /// Smallest observation.
    pub min: f64,
    /// First quartile (all quantiles are type 7).
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Quantile of order 0.9.
    pub p90: f64,
    /// Quantile of order 0.95; see [`Summary::supports`].
    pub p95: f64,
    /// Quantile of order 0.99; see [`Summary::supports`].
    pub p99: f64,
    /// Largest observation.
    pub max: f64,
    /// Median of the absolute deviations from the median; times [`MAD_TO_SD`] it estimates a normal spread.
    pub mad: f64,
    /// Mean of what is left without the lowest and the highest tenth (rounded down) of the observations.
    pub trimmed_mean: f64,
    /// Geometric mean; `None` unless all observations are above zero.
    pub geometric_mean: Option<f64>,
    /// Shape; `None` below 3 observations and when all are equal.
    pub shape: Option<Shape>,
}

/// The spread of a sample around its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Variance of the observations, with n - 1; in the square of the unit. `None` where a square of the unit is
    /// beyond what an `f64` holds, although the deviation is not.
    pub variance: Option<f64>,
    /// Standard deviation of the observations.
    pub sd: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Coefficient of variation `sd / |mean|`, without a unit; `None` for mean 0.
    pub variation: Option<f64>,
}

/// The shape of a sample, without units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Skewness `m3 / m2^1.5`.
    pub skewness: f64,
    /// Skewness with the correction for small samples.
    pub skewness_corrected: f64,
    /// Excess kurtosis `m4 / m2^2 - 3`.
    pub kurtosis: f64,
    /// Excess kurtosis with the correction for small samples; `None` below 4 observations.
    pub kurtosis_corrected: Option<f64>,
}

impl Summary {
    /// Describes a sample, O(n log n).
    pub fn of(sample: &Sample) -> Self {
        let moments = Moments::of_values(sample.values());
        let sorted = sample.sorted();
        let n = sorted.len();
        let median = type_7(sorted, 0.5);
        let trimmed = n / 10;
        let positive = sorted[0] > 0.0;
        Self {
            n,
            sum: sum(sample),
            mean: moments.mean(),
            spread: (n > 1).then(|| Spread {
                variance: variance(moments.sd()),
                sd: moments.sd(),
                standard_error: moments.standard_error(),
                variation: (moments.mean() != 0.0).then(|| moments.sd() / moments.mean().abs()),
            }),
            min: sorted[0],
            q1: type_7(sorted, 0.25),
            median,
            q3: type_7(sorted, 0.75),
            p90: type_7(sorted, 0.9),
            p95: type_7(sorted, 0.95),
            p99: type_7(sorted, 0.99),
            max: sorted[n - 1],
            mad: median_of(sorted.iter().map(|value| (value - median).abs())),
            trimmed_mean: Moments::of_values(&sorted[trimmed..n - trimmed]).mean(),
            geometric_mean: positive.then(|| geometric_mean(sorted)),
            shape: shape(sample.values(), &moments),
        }
    }

    /// Returns the interquartile range.
    pub fn iqr(&self) -> f64 {
        self.q3 - self.q1
    }

    /// Says whether n is large enough for the quantile of order `p`; 51 observations support 0.9 at most.
    pub fn supports(&self, p: f64) -> bool {
        supports_quantile(self.n, p)
    }
}

/// Returns the confidence interval of the mean, `mean -+ t(1 - alpha/2, n - 1) * standard error`.
///
/// Assumes independent observations whose mean is about normal.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations, [`StatsError::InvalidLevel`] unless `0 < level < 1`.
pub fn mean_interval(sample: &Sample, level: f64) -> Result<Interval, StatsError> {
    let moments = Moments::of(sample)?;
    let quantile = student_t_isf(0.5 * alpha_of(level)?, moments.size() - 1.0)?;
    Ok(Interval::around(moments.mean(), quantile * moments.standard_error(), level))
}

fn variance(sd: f64) -> Option<f64> {
    let square = sd * sd;
    (square.is_normal() || sd == 0.0).then_some(square)
}

fn sum(sample: &Sample) -> f64 {
    let scale = scale_for(sample.min().abs().max(sample.max().abs()));
    Sum::of(sample.values().iter().map(|value| value * scale)) / scale
}

/// Deviations of the logarithm from that of a middle value, so that the mean logarithm keeps its digits.
fn geometric_mean(sorted: &[f64]) -> f64 {
    let pivot = sorted[sorted.len() / 2];
    let mean = Sum::of(sorted.iter().map(|value| ln_quotient(*value, pivot))) / sorted.len() as f64;
    let factor = mean.exp();
    if factor.is_normal() { pivot * factor } else { (pivot.ln() + mean).exp() }
}

fn shape(values: &[f64], moments: &Moments) -> Option<Shape> {
    if values.len() < 3 || moments.sd() == 0.0 {
        return None;
    }
    let n = moments.size();
    let unit = scale_for(moments.sd());
    let (mut second, mut third, mut fourth) = (Sum::default(), Sum::default(), Sum::default());
    for value in values {
        let deviation = moments.deviation(*value) * unit;
        let square = deviation * deviation;
        second.add(square);
        third.add(square * deviation);
        fourth.add(square * square);
    }
    let (m2, m3, m4) = (second.value() / n, third.value() / n, fourth.value() / n);
    let skewness = m3 / (m2 * m2.sqrt());
    let kurtosis = m4 / (m2 * m2) - 3.0;
    Some(Shape {
        skewness,
        skewness_corrected: skewness * (n * (n - 1.0)).sqrt() / (n - 2.0),
        kurtosis,
        kurtosis_corrected: (values.len() > 3)
            .then(|| (n - 1.0) / ((n - 2.0) * (n - 3.0)) * ((n + 1.0) * kurtosis + 6.0)),
    })
}
