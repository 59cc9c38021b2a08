//! The standard normal distribution.

use std::f64::consts::SQRT_2;

use statrs::distribution::{ContinuousCDF, Normal};

use super::{LN_SQRT_2PI, Probability};
use crate::stats::StatsError;

/// Returns `P(Z > z)` for a standard normal Z; z must not be NaN, infinities are fine.
///
/// Half of `erfc(z / sqrt 2)`; beyond z = 30 the logarithm comes from Laplace's continued fraction of Mills'
/// ratio.
pub fn normal_sf(z: f64) -> Probability {
    if z < 0.0 {
        return normal_sf(-z).complement();
    }
    if z.is_infinite() {
        return Probability::ZERO;
    }
    let value = 0.5 * libm::erfc(z / SQRT_2);
    if z <= 30.0 {
        return Probability::from_value(value);
    }
    let fraction = (1..=60).rev().fold(0.0, |rest, k| f64::from(k) / (z + rest));
    Probability { value, ln: -0.5 * z * z - LN_SQRT_2PI - (z + fraction).ln() }
}

/// Returns the z with `P(Z > z) = q`, for `0 < q < 1`.
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] for a q outside.
pub fn normal_isf(q: f64) -> Result<f64, StatsError> {
    if !(q > 0.0 && q < 1.0) {
        return Err(StatsError::InvalidLevel { level: q });
    }
    Ok(isf(q))
}

/// The quantile for a q known to lie between 0 and 1.
pub(super) fn isf(q: f64) -> f64 {
    if q == 0.5 { 0.0 } else { -Normal::standard().inverse_cdf(q) }
}
