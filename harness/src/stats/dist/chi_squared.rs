//! The chi-squared distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::Probability;
use crate::stats::StatsError;

/// Returns `P(X > x)` for a chi-squared distribution with `df` degrees of freedom.
///
/// # Errors
///
/// [`StatsError::NonFinite`] for NaN, [`StatsError::InvalidInput`] unless df is positive and finite.
pub fn chi_squared_sf(x: f64, df: f64) -> Result<Probability, StatsError> {
    if x.is_nan() || df.is_nan() {
        return Err(StatsError::NonFinite);
    }
    if x <= 0.0 {
        return Ok(Probability::ONE);
    }
    let distribution =
        ChiSquared::new(df).map_err(|_| StatsError::InvalidInput("degrees of freedom must be positive"))?;
    if x.is_infinite() {
        return Ok(Probability::ZERO);
    }
    let value = distribution.sf(x);
    Ok(if value > 1e-290 { Probability::from_value(value) } else { far_tail(0.5 * df, 0.5 * x) })
}

/// The upper incomplete gamma function, regularized, for x far above a: Legendre's continued fraction.
fn far_tail(a: f64, x: f64) -> Probability {
    const TERMS: u32 = 2_000;
    let fraction = (1..=TERMS).rev().fold(0.0, |rest, n| {
        let n = f64::from(n);
        n * (n - a) / (x + 2.0 * n + 1.0 - a - rest)
    });
    Probability::from_ln(a * x.ln() - x - libm::lgamma(a) - (x + 1.0 - a - fraction).ln())
}
