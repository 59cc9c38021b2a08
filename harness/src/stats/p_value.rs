//! Probabilities that do not vanish.

use std::cmp::Ordering;
use std::f64::consts::{LN_2, LN_10};
use std::fmt;

use super::StatsError;
use super::dist::Probability;

/// The tail of the null distribution that a test looks at, always about `treatment - control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The treatment differs from the control.
    TwoSided,
    /// The treatment is less than the control.
    Less,
    /// The treatment is greater than the control.
    Greater,
}

/// A p-value with its natural logarithm, so that a p far below the smallest `f64` keeps its digits.
///
/// It displays in scientific form below 0.001, from the logarithm: `2.3e-52`, `1.2e-1076`; a precision sets
/// the number of decimals. It never displays as `0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PValue {
    value: f64,
    ln: f64,
}

impl PValue {
    /// The p-value of an observation that the null hypothesis expects.
    pub const ONE: Self = Self { value: 1.0, ln: 0.0 };

    /// Takes a p-value computed elsewhere. Zero is accepted, as something below the smallest `f64`.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`] for NaN and infinities, [`StatsError::InvalidProbability`] outside `0..=1`.
    pub fn new(p: f64) -> Result<Self, StatsError> {
        if !p.is_finite() {
            Err(StatsError::NonFinite)
        } else if !(0.0..=1.0).contains(&p) {
            Err(StatsError::InvalidProbability { p })
        } else {
            Ok(Self { value: p, ln: p.ln() })
        }
    }

    /// Takes the natural logarithm of a p-value.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`] for NaN, [`StatsError::InvalidProbability`] above 0.
    pub fn from_ln(ln: f64) -> Result<Self, StatsError> {
        if ln.is_nan() {
            Err(StatsError::NonFinite)
        } else if ln > 0.0 {
            Err(StatsError::InvalidProbability { p: ln.exp() })
        } else {
            Ok(Self { value: ln.exp(), ln })
        }
    }

    /// Returns p. It is 0 or subnormal where p is below 2.3e-308; use [`PValue::ln`] there.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Returns ln p, at most 0.
    pub fn ln(self) -> f64 {
        self.ln
    }

    /// Returns `min(1, factor * p)` for a factor above 0.
    pub(super) fn times(self, factor: f64) -> Self {
        if factor == 1.0 {
            self
        } else if self.value > f64::MIN_POSITIVE {
            // While p is a normal number it has more digits than its logarithm.
            let value = self.value * factor;
            if value >= 1.0 { Self::ONE } else { Self { value, ln: value.ln() } }
        } else {
            let ln = (self.ln + factor.ln()).min(0.0);
            Self { value: ln.exp(), ln }
        }
    }

    /// Returns the smaller of two p-values.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Returns the larger of two p-values.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl From<Probability> for PValue {
    fn from(probability: Probability) -> Self {
        Self { value: probability.value.clamp(0.0, 1.0), ln: probability.ln.min(0.0) }
    }
}

impl PartialOrd for PValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.ln.partial_cmp(&other.ln)
    }
}

impl PValue {
    fn text(self, precision: Option<usize>) -> String {
        if self.value >= 0.001 {
            return format!("{:.*}", precision.unwrap_or(4), self.value);
        }
        let decimals = precision.unwrap_or(1);
        if self.value > f64::MIN_POSITIVE {
            return format!("{:.decimals$e}", self.value);
        }
        if self.ln < -1e15 {
            // Also a p that came as 0 from elsewhere: all that is known is an upper limit.
            return "<4.9e-324".to_owned();
        }
        let log10 = self.ln / LN_10;
        let mut exponent = log10.floor();
        let mut digits = format!("{:.decimals$}", 10f64.powf(log10 - exponent));
        if digits.starts_with("10") {
            exponent += 1.0;
            digits = format!("{:.decimals$}", 1.0);
        }
        format!("{digits}e{exponent}")
    }
}

impl fmt::Display for PValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, width) = (self.text(f.precision()), f.width().unwrap_or(0));
        match f.align() {
            Some(fmt::Alignment::Left) => write!(f, "{text:<width$}"),
            Some(fmt::Alignment::Center) => write!(f, "{text:^width$}"),
            Some(fmt::Alignment::Right) | None => write!(f, "{text:>width$}"),
        }
    }
}

/// The p-values of one test for its three tails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Against "the treatment equals the control".
    pub two_sided: PValue,
    /// For "the treatment is less".
    pub less: PValue,
    /// For "the treatment is greater".
    pub greater: PValue,
}

impl Tails {
    /// The p-values when there is nothing to tell apart.
    pub(super) const ONES: Self = Self { two_sided: PValue::ONE, less: PValue::ONE, greater: PValue::ONE };

    /// Returns the p-value of a tail.
    pub fn get(&self, tail: Tail) -> PValue {
        match tail {
            Tail::TwoSided => self.two_sided,
            Tail::Less => self.less,
            Tail::Greater => self.greater,
        }
    }

    /// Joins the two tails of a continuous statistic that is symmetric under the null hypothesis.
    pub(super) fn symmetric(less: Probability, greater: Probability) -> Self {
        let (less, greater) = (PValue::from(less), PValue::from(greater));
        Self { two_sided: less.min(greater).doubled(), less, greater }
    }
}

impl PValue {
    /// Returns `min(1, 2p)`.
    pub(super) fn doubled(self) -> Self {
        if self.value >= 0.5 {
            Self::ONE
        } else {
            Self { value: 2.0 * self.value, ln: (self.ln + LN_2).min(0.0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ln: f64, expected: &str) {
        assert_eq!(PValue::from_ln(ln).unwrap().to_string(), expected);
    }

    #[test]
    fn displays_from_the_logarithm() {
        check(0.0, "1.0000");
        check(0.04807606324467703f64.ln(), "0.0481");
        check(-118.885_957_240_251_78, "2.3e-52");
        check(-1076.0 * LN_10 + 1.2f64.ln(), "1.2e-1076");
        check(-1076.0 * LN_10 + 9.97f64.ln(), "1.0e-1075");
        check(f64::NEG_INFINITY, "<4.9e-324");
        assert_eq!(format!("{:.3}", PValue::from_ln(-2478.0).unwrap()), "6.581e-1077");
        assert_eq!(
            format!("{:>9}|{:<9}|", PValue::ONE, PValue::from_ln(-50.0).unwrap()),
            "   1.0000|1.9e-22  |"
        );
    }

    #[test]
    fn refuses_what_is_no_probability() {
        assert_eq!(PValue::new(f64::NAN), Err(StatsError::NonFinite));
        assert_eq!(PValue::new(1.5), Err(StatsError::InvalidProbability { p: 1.5 }));
        assert_eq!(PValue::from_ln(0.1).map_err(StatsError::code), Err("invalid_probability"));
    }
}
