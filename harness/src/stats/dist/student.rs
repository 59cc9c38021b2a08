//! Student's t distribution.

use super::beta::{Point, incomplete, ln_beta};
use super::{Probability, normal};
use crate::stats::StatsError;

/// A t distribution with known good degrees of freedom.
#[derive(Clone, Copy)]
struct Student {
    df: f64,
}

impl Student {
    fn new(df: f64) -> Result<Self, StatsError> {
        if df.is_nan() {
            Err(StatsError::NonFinite)
        } else if df <= 0.0 {
            Err(StatsError::InvalidInput("degrees of freedom must be positive"))
        } else {
            Ok(Self { df })
        }
    }

    /// `1 / (1 + t^2 / df)`, for t >= 0.
    fn point(self, t: f64) -> Point {
        Point::of_root(t / self.df.sqrt())
    }

    /// `P(0 < T < t)`, for t >= 0.
    fn central(self, t: f64) -> f64 {
        if t == 0.0 { 0.0 } else { 0.5 * incomplete(0.5, 0.5 * self.df, self.point(t).mirrored()).value }
    }

    fn sf(self, t: f64) -> Probability {
        if t < 0.0 {
            return self.sf(-t).complement();
        }
        if self.df.is_infinite() {
            return super::normal_sf(t);
        }
        if t.is_infinite() {
            return Probability::ZERO;
        }
        let point = self.point(t);
        if point.x * (0.5 * self.df + 0.5) <= 0.5 * self.df {
            incomplete(0.5 * self.df, 0.5, point).halved()
        } else {
            Probability::from_value(0.5 - self.central(t))
        }
    }

    fn ln_density(self, t: f64) -> f64 {
        -ln_beta(0.5 * self.df, 0.5) - 0.5 * self.df.ln() + 0.5 * (self.df + 1.0) * self.point(t.abs()).ln_x
    }

    /// The quantile for `0 < q < 1/2`.
    fn isf(self, q: f64) -> f64 {
        let ln_q = q.ln();
        let (mut low, mut high) = (0.0, 1.0);
        while self.sf(high).ln > ln_q {
            low = high;
            high *= 2.0;
            if high.is_infinite() {
                return high;
            }
        }
        if q > 0.25 { self.isf_central(0.5 - q, high) } else { self.isf_tail(ln_q, low, high) }
    }

    /// Solves `P(0 < T < t) = mass`, which does not cancel where q is close to 1/2.
    fn isf_central(self, mass: f64, mut high: f64) -> f64 {
        let mut low = 0.0;
        let mut t = (mass / self.ln_density(0.0).exp()).min(high);
        for _ in 0..200 {
            let found = self.central(t);
            if found < mass {
                low = t;
            } else {
                high = t;
            }
            let mut next = t - (found - mass) / self.ln_density(t).exp();
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            if (next - t).abs() <= 2e-16 * next.abs() {
                return next;
            }
            t = next;
        }
        t
    }

    /// Newton's method for ln P(T > t) in ln t, kept between two limits.
    fn isf_tail(self, ln_q: f64, mut low: f64, mut high: f64) -> f64 {
        let middle = |low: f64, high: f64| if low == 0.0 { 0.5 * high } else { low.sqrt() * high.sqrt() };
        let mut t = middle(low, high);
        for _ in 0..400 {
            let ln_sf = self.sf(t).ln;
            if ln_sf > ln_q {
                low = t;
            } else {
                high = t;
            }
            let slope = t * (self.ln_density(t) - ln_sf).exp();
            let mut next = t * ((ln_sf - ln_q) / slope).exp();
            if !(next > low && next < high) {
                next = middle(low, high);
            }
            if (next - t).abs() <= 2e-16 * next.abs() {
                return next;
            }
            t = next;
        }
        t
    }
}

/// Returns `P(T > t)` for Student's t with `df` degrees of freedom (any positive number, infinity is normal).
///
/// Half of the incomplete beta function at `1 / (1 + t^2 / df)`, formed so that neither that number nor its
/// distance from 1 loses digits.
///
/// # Errors
///
/// [`StatsError::NonFinite`] for NaN, [`StatsError::InvalidInput`] unless df > 0.
pub fn student_t_sf(t: f64, df: f64) -> Result<Probability, StatsError> {
    if t.is_nan() { Err(StatsError::NonFinite) } else { Ok(Student::new(df)?.sf(t)) }
}

/// Returns `P(T < t)`; see [`student_t_sf`].
///
/// # Errors
///
/// As [`student_t_sf`].
pub fn student_t_cdf(t: f64, df: f64) -> Result<Probability, StatsError> {
    student_t_sf(-t, df)
}

/// Returns the t with `P(T > t) = q`, for `0 < q < 1`.
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] for a q outside, otherwise as [`student_t_sf`].
pub fn student_t_isf(q: f64, df: f64) -> Result<f64, StatsError> {
    let student = Student::new(df)?;
    if !(q > 0.0 && q < 1.0) {
        return Err(StatsError::InvalidLevel { level: q });
    }
    Ok(if df.is_infinite() {
        normal::isf(q)
    } else if q == 0.5 {
        0.0
    } else if q > 0.5 {
        -student.isf(1.0 - q)
    } else {
        student.isf(q)
    })
}
