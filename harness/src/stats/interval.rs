//! Confidence intervals and the levels they hold at.

use super::StatsError;

/// A confidence interval with its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower limit; minus infinity where there is none.
    pub lower: f64,
    /// The upper limit; infinity where there is none.
    pub upper: f64,
    /// The level it was asked for, between 0 and 1.
    pub level: f64,
}

impl Interval {
    /// Says whether a value lies between the limits, limits included.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Returns the distance of the limits.
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// Makes `center -+ half_width`.
    pub(super) fn around(center: f64, half_width: f64, level: f64) -> Self {
        Self { lower: center - half_width, upper: center + half_width, level }
    }

    /// Applies an increasing function to the limits.
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { lower: f(self.lower), upper: f(self.upper), level: self.level }
    }
}

/// Returns the probability outside a level, `1 - level`, if the level lies between 0 and 1, both excluded.
pub(super) fn alpha_of(level: f64) -> Result<f64, StatsError> {
    if level > 0.0 && level < 1.0 { Ok(1.0 - level) } else { Err(StatsError::InvalidLevel { level }) }
}

/// Returns `alpha` if it lies between 0 and 1, both excluded.
pub(super) fn checked_alpha(alpha: f64) -> Result<f64, StatsError> {
    if alpha > 0.0 && alpha < 1.0 { Ok(alpha) } else { Err(StatsError::InvalidLevel { level: alpha }) }
}
