//! Tests of normality by skewness and kurtosis, which say in what way a sample is not normal.

use super::dist::chi_squared_sf;
use super::{PValue, Sample, Shape, StatsError, Summary};

/// The result of the test of D'Agostino and Pearson.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DAgostinoPearson {
    /// Skewness as a standard normal score.
    pub z_skewness: f64,
    /// Kurtosis as a standard normal score.
    pub z_kurtosis: f64,
    /// The sum of both squares.
    pub k2: f64,
    /// The p-value of "the sample is from a normal distribution".
    pub p: PValue,
}

/// The result of the test of Jarque and Bera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JarqueBera {
    /// `n / 6 (skewness^2 + kurtosis^2 / 4)`.
    pub statistic: f64,
    /// The p-value of "the sample is from a normal distribution".
    pub p: PValue,
}

fn shape(sample: &Sample, needed: usize) -> Result<Shape, StatsError> {
    sample.require(needed)?;
    Summary::of(sample).shape.ok_or(StatsError::ZeroVariance)
}

/// Tests skewness and kurtosis together, each transformed to normality (D'Agostino and Pearson 1973; D'Agostino,
/// Belanger and D'Agostino 1990). O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 20 observations, [`StatsError::ZeroVariance`] if all are equal.
pub fn dagostino_pearson(sample: &Sample) -> Result<DAgostinoPearson, StatsError> {
    let shape = shape(sample, 20)?;
    let n = sample.len() as f64;
    let z_skewness = skewness_score(shape.skewness, n);
    let z_kurtosis = kurtosis_score(shape.kurtosis, n);
    let k2 = z_skewness * z_skewness + z_kurtosis * z_kurtosis;
    Ok(DAgostinoPearson { z_skewness, z_kurtosis, k2, p: chi_squared_sf(k2, 2.0)?.into() })
}

fn skewness_score(skewness: f64, n: f64) -> f64 {
    let y = skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
    let kurtosis = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w2 = (2.0 * (kurtosis - 1.0)).sqrt() - 1.0;
    let alpha = (2.0 / (w2 - 1.0)).sqrt();
    (y / alpha).asinh() / (0.5 * w2.ln()).sqrt()
}

fn kurtosis_score(excess: f64, n: f64) -> f64 {
    let mean = 3.0 * (n - 1.0) / (n + 1.0);
    let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) * (n + 1.0) * (n + 3.0) * (n + 5.0));
    let x = (excess + 3.0 - mean) / variance.sqrt();
    let skewness = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
        * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let a = 6.0 + 8.0 / skewness * (2.0 / skewness + (1.0 + 4.0 / (skewness * skewness)).sqrt());
    let denominator = 1.0 + x * (2.0 / (a - 4.0)).sqrt();
    let root = ((1.0 - 2.0 / a) / denominator.abs()).cbrt().copysign(denominator);
    (1.0 - 2.0 / (9.0 * a) - root) / (2.0 / (9.0 * a)).sqrt()
}

/// Tests skewness and kurtosis together by their large-sample variances (Jarque and Bera 1980), for samples of
/// hundreds at least. O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 3 observations, [`StatsError::ZeroVariance`] if all are equal.
pub fn jarque_bera(sample: &Sample) -> Result<JarqueBera, StatsError> {
    let shape = shape(sample, 3)?;
    let squares = shape.skewness * shape.skewness + 0.25 * shape.kurtosis * shape.kurtosis;
    let statistic = sample.len() as f64 / 6.0 * squares;
    Ok(JarqueBera { statistic, p: chi_squared_sf(statistic, 2.0)?.into() })
}
