//! The F distribution.

use super::Probability;
use super::beta::{Point, incomplete};
use crate::stats::StatsError;

/// Returns `P(F > f)` for an F distribution with `df1` and `df2` degrees of freedom.
///
/// The incomplete beta function at `1 / (1 + df1 f / df2)`, formed without a subtraction.
///
/// # Errors
///
/// [`StatsError::NonFinite`] for NaN, [`StatsError::InvalidInput`] unless both df are positive and finite.
pub fn f_sf(f: f64, df1: f64, df2: f64) -> Result<Probability, StatsError> {
    if f.is_nan() || df1.is_nan() || df2.is_nan() {
        return Err(StatsError::NonFinite);
    }
    if df1 <= 0.0 || df2 <= 0.0 || df1.is_infinite() || df2.is_infinite() {
        return Err(StatsError::InvalidInput("degrees of freedom must be positive"));
    }
    if f <= 0.0 {
        return Ok(Probability::ONE);
    }
    let root = (df1 / df2).sqrt() * f.sqrt();
    Ok(incomplete(0.5 * df2, 0.5 * df1, Point::of_root(root)))
}
