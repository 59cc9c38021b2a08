//! The beta function and its regularized incomplete integral.

use super::{LN_SQRT_2PI, Probability};
use crate::stats::StatsError;

/// Returns Stirling's remainder: `ln gamma(x) - ((x - 1/2) ln x - x + ln sqrt(2 pi))`, for x >= 10.
pub(super) fn stirling_remainder(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let inverse = x.recip();
    let square = inverse * inverse;
    inverse * COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient)
}

/// Returns ln B(a, b) for positive arguments.
///
/// Large arguments go through Stirling remainders, because there the difference of three log-gammas cancels.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a <= b { (a, b) } else { (b, a) };
    let sum = small + large;
    if small >= 10.0 {
        let share = small / sum;
        LN_SQRT_2PI - 0.5 * large.ln() + stirling_remainder(small) + stirling_remainder(large)
            - stirling_remainder(sum)
            + (small - 0.5) * share.ln()
            + large * (-share).ln_1p()
    } else if large >= 10.0 {
        libm::lgamma(small) + stirling_remainder(large) - stirling_remainder(sum) + small - small * sum.ln()
            + (large - 0.5) * (-(small / sum)).ln_1p()
    } else {
        libm::lgamma(small) + libm::lgamma(large) - libm::lgamma(sum)
    }
}

/// A point `x` of the unit interval with `y = 1 - x` and the logarithms of both, each to full precision.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) ln_x: f64,
    pub(super) ln_y: f64,
}

impl Point {
    /// Returns `x = 1 / (1 + s^2)`, given s >= 0, which may be infinite.
    pub(super) fn of_root(s: f64) -> Self {
        if s <= 1.0 {
            let square = s * s;
            let sum = 1.0 + square;
            let ln_sum = square.ln_1p();
            Self { x: sum.recip(), y: square / sum, ln_x: -ln_sum, ln_y: 2.0 * s.ln() - ln_sum }
        } else {
            Self::of_root(s.recip()).mirrored()
        }
    }

    /// Exchanges x and y.
    pub(super) fn mirrored(self) -> Self {
        Self { x: self.y, y: self.x, ln_x: self.ln_y, ln_y: self.ln_x }
    }
}

/// Evaluates the continued fraction K of `I_x(a, b) = x^a y^b / B(a, b) * K`, for `x <= a / (a + b)`.
///
/// DiDonato and Morris (1992), evaluated forwards by the modified method of Lentz.
fn continued_fraction(a: f64, b: f64, at: Point) -> f64 {
    const TINY: f64 = 1e-300;
    // Fewer than 200 steps are needed for a and b up to 1e12.
    const STEPS: u32 = 10_000;
    let nonzero = |value: f64| if value == 0.0 { TINY } else { value };
    let lambda = a * at.y - b * at.x;
    let mut value = nonzero(a * (lambda + 1.0) / (a + 1.0));
    let mut c = value;
    let mut d = 0.0;
    for step in 1..STEPS {
        let n = f64::from(step);
        let (below, above) = (a + 2.0 * n - 1.0, a + 2.0 * n + 1.0);
        let product = n * (b - n) * at.x;
        let numerator = ((a + n - 1.0) / below) * ((a + b + n - 1.0) / below) * product * at.x;
        let denominator = n + product / below + (a + n) * (lambda + 1.0 + n * (1.0 + at.y)) / above;
        d = nonzero(denominator + numerator * d).recip();
        c = nonzero(denominator + numerator / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON / 2.0 {
            break;
        }
    }
    value.recip()
}

/// Returns `I_x(a, b)` at a point whose coordinates were found without cancellation.
pub(super) fn incomplete(a: f64, b: f64, at: Point) -> Probability {
    if at.ln_x == f64::NEG_INFINITY {
        return Probability::ZERO;
    }
    if at.ln_y == f64::NEG_INFINITY {
        return Probability::ONE;
    }
    let ln_front = a * at.ln_x + b * at.ln_y - ln_beta(a, b);
    if at.x * (a + b) <= a {
        Probability::from_ln(ln_front + continued_fraction(a, b, at).ln())
    } else {
        let rest = (ln_front + continued_fraction(b, a, at.mirrored()).ln()).exp();
        Probability { value: 1.0 - rest, ln: (-rest).ln_1p() }
    }
}

/// Returns the regularized incomplete beta function `I_x(a, b)`, for `0 <= x <= 1` and positive a, b.
///
/// Relative error about 1e-13 down to and below the smallest `f64` (the logarithm stays exact).
///
/// # Errors
///
/// [`StatsError::NonFinite`] for NaN, [`StatsError::InvalidInput`] outside the ranges.
pub fn incomplete_beta(x: f64, a: f64, b: f64) -> Result<Probability, StatsError> {
    if x.is_nan() || a.is_nan() || b.is_nan() {
        return Err(StatsError::NonFinite);
    }
    if !(0.0..=1.0).contains(&x) || a <= 0.0 || b <= 0.0 || a.is_infinite() || b.is_infinite() {
        return Err(StatsError::InvalidInput("the incomplete beta function needs 0 <= x <= 1 and a, b > 0"));
    }
    Ok(incomplete(a, b, Point { x, y: 1.0 - x, ln_x: x.ln(), ln_y: (-x).ln_1p() }))
}
