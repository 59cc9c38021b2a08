//! Intervals of numbers, and arithmetic on them that never loses a possible result.

/// All numbers from `low` to `high`; infinite where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Range {
    /// Any number at all, or none: what an operation may give whose arguments it is not defined for.
    pub const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// A single number.
    pub fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// `value`, give or take `half`.
    pub fn around(value: f64, half: f64) -> Self {
        if half == 0.0 { Self::point(value) } else { Self::wide(value - half, value + half) }
    }

    /// Whether there are bounds on both sides.
    pub fn is_bounded(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Whether `value` lies within.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Bounds computed with rounding, made so wide that the exact ones lie within.
    fn wide(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() {
            Self::ANY
        } else {
            Self { low: low.next_down(), high: high.next_up() }
        }
    }

    /// The hull of what `f` gives at the ends.
    fn hull(values: [f64; 4]) -> Self {
        if values.iter().any(|it| it.is_nan()) {
            return Self::ANY;
        }
        Self::wide(
            values.into_iter().fold(f64::INFINITY, f64::min),
            values.into_iter().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    /// `-x`.
    pub fn negate(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// `x + y`.
    pub fn plus(self, other: Self) -> Self {
        Self::wide(self.low + other.low, self.high + other.high)
    }

    /// `x - y`.
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negate())
    }

    /// `x y`.
    pub fn times(self, other: Self) -> Self {
        Self::hull([
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ])
    }

    /// `x / y`; anything where y may be 0.
    pub fn over(self, other: Self) -> Self {
        if other.contains(0.0) || !other.is_bounded() {
            return Self::ANY;
        }
        Self::hull([
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ])
    }

    /// `sqrt x`; anything where x may be negative.
    pub fn sqrt(self) -> Self {
        if self.low < 0.0 { Self::ANY } else { Self::wide(self.low.sqrt(), self.high.sqrt()) }
    }

    /// `ln x`; anything where x may not be positive.
    pub fn ln(self) -> Self {
        if self.low <= 0.0 {
            return Self::ANY;
        }
        // A logarithm is within one unit in the last place.
        let wide = Self::wide(self.low.ln(), self.high.ln());
        Self::wide(wide.low, wide.high)
    }

    /// `|x|`.
    pub fn abs(self) -> Self {
        if self.contains(0.0) {
            Self { low: 0.0, high: self.high.max(-self.low) }
        } else if self.high < 0.0 {
            self.negate()
        } else {
            self
        }
    }
}
