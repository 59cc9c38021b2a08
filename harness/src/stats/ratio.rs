//! The ratio of two means, and by how much one mean differs from the other.

use super::dist::student_t_isf;
use super::interval::alpha_of;
use super::welch::StandardError;
use super::{Interval, Moments, Sample, StatsError, Welch, welch};

/// The ratio of two means, `mean(treatment) / mean(control)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// `mean(treatment) / mean(control)`, without unit.
    pub ratio: f64,
    /// `ratio - 1`, from the difference of the means and thus exact also where the ratio is close to 1.
    pub change: f64,
    /// `difference / |mean(control)|`: like `change`, but it keeps the sign of the difference when the control
    /// is below zero.
    pub relative_difference: f64,
    treatment: Moments,
    control: Moments,
}

/// Estimates the ratio of two means. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm, [`StatsError::ZeroBaseline`] if the mean of the control
/// is 0.
pub fn ratio(treatment: &Sample, control: &Sample) -> Result<Ratio, StatsError> {
    ratio_of_moments(&Moments::of(treatment)?, &Moments::of(control)?)
}

/// Estimates the ratio of two means from their moments; see [`ratio`].
///
/// # Errors
///
/// [`StatsError::ZeroBaseline`] if the mean of the control is 0.
pub fn ratio_of_moments(treatment: &Moments, control: &Moments) -> Result<Ratio, StatsError> {
    if control.mean() == 0.0 {
        return Err(StatsError::ZeroBaseline);
    }
    let difference = treatment.difference(control);
    Ok(Ratio {
        ratio: treatment.mean() / control.mean(),
        change: difference / control.mean(),
        relative_difference: difference / control.mean().abs(),
        treatment: *treatment,
        control: *control,
    })
}

/// What Fieller's method says about a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// The ratio lies between two limits.
    Interval {
        /// The lower limit.
        lower: f64,
        /// The upper limit.
        upper: f64,
    },
    /// The ratio lies *outside* of two limits: the control cannot be told from zero, but its direction can.
    Complement {
        /// The lower limit of the excluded gap.
        lower: f64,
        /// The upper limit of the excluded gap.
        upper: f64,
    },
    /// Every ratio is compatible with the data: the control cannot be told from zero.
    Unbounded,
}

impl Bounds {
    /// The values at which `center x^2 - 2 middle x + constant` is negative, given `middle^2 - center constant`.
    pub(super) fn of(center: f64, middle: f64, discriminant: f64) -> Self {
        let half = discriminant.max(0.0).sqrt();
        let (first, second) = ((middle - half) / center, (middle + half) / center);
        if (center <= 0.0 && discriminant <= 0.0) || !first.is_finite() || !second.is_finite() {
            return Self::Unbounded;
        }
        if center > 0.0 {
            Self::Interval { lower: first, upper: second }
        } else {
            Self::Complement { lower: second, upper: first }
        }
    }

    /// Returns the limits if the ratio lies between them.
    pub fn interval(self, level: f64) -> Option<Interval> {
        match self {
            Self::Interval { lower, upper } => Some(Interval { lower, upper, level }),
            Self::Complement { .. } | Self::Unbounded => None,
        }
    }

    /// Says whether a value is compatible with the data.
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::Interval { lower, upper } => lower <= value && value <= upper,
            Self::Complement { lower, upper } => value <= lower || upper <= value,
            Self::Unbounded => true,
        }
    }

    /// Returns the stable name of the kind.
    pub fn code(self) -> &'static str {
        match self {
            Self::Interval { .. } => "interval",
            Self::Complement { .. } => "complement",
            Self::Unbounded => "all_reals",
        }
    }

    /// Applies an affine function `factor * x + constant` to the limits.
    pub fn affine(self, factor: f64, constant: f64) -> Self {
        let ends = |lower: f64, upper: f64| {
            let (a, b) = (factor * lower + constant, factor * upper + constant);
            if factor < 0.0 { (b, a) } else { (a, b) }
        };
        match self {
            Self::Interval { lower, upper } => {
                let (lower, upper) = ends(lower, upper);
                Self::Interval { lower, upper }
            }
            Self::Complement { lower, upper } => {
                let (lower, upper) = ends(lower, upper);
                Self::Complement { lower, upper }
            }
            Self::Unbounded => Self::Unbounded,
        }
    }
}

/// The confidence set of a ratio by Fieller's method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fieller {
    /// Degrees of freedom after Satterthwaite, at the estimated ratio.
    pub df: f64,
    /// Square of the relative half-width of the control's own interval; from 1 on no interval exists.
    pub g: f64,
    /// The confidence set of the ratio.
    pub ratio: Bounds,
    /// The confidence set of `ratio - 1`.
    pub change: Bounds,
    /// The level of both.
    pub level: f64,
}

impl Ratio {
    /// Returns `mean(control) / mean(treatment)`: how many times as fast, for a time. `None` for a treatment of
    /// mean 0.
    pub fn inverse(&self) -> Option<f64> {
        (self.treatment.mean() != 0.0).then(|| self.control.mean() / self.treatment.mean())
    }

    /// Returns the confidence set of the ratio by Fieller's method (Fieller 1954) with degrees of freedom after
    /// Satterthwaite (Hasler, Vonk and Hothorn 2008); `None` when neither arm varies.
    ///
    /// The ratios r at which `mean(treatment) - r mean(control)` does not differ from zero by more than `t`
    /// standard errors. Assumes independent arms with means that are about normal; holds its level also for
    /// skewed samples of 5.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn fieller(&self, level: f64) -> Result<Option<Fieller>, StatsError> {
        let alpha = alpha_of(level)?;
        let Some(error) = StandardError::of(&self.treatment, &self.control, self.ratio) else {
            return Ok(None);
        };
        let t = student_t_isf(0.5 * alpha, error.df)?;
        let relative = |moments: &Moments| t * moments.standard_error() / self.control.mean();
        let (own, base) = (relative(&self.treatment), relative(&self.control));
        // Everything in units of the control: roots of (1 - g) r^2 - 2 ratio r + ratio^2 - own^2.
        let g = base * base;
        let discriminant = own * own + self.ratio * self.ratio * g - own * own * g;
        let bounds = |middle: f64| Bounds::of(1.0 - g, middle, discriminant);
        Ok(Some(Fieller {
            df: error.df,
            g,
            ratio: bounds(self.ratio),
            change: bounds(self.change + g),
            level,
        }))
    }

    /// Returns the confidence interval of the ratio by the delta method on its logarithm; `None` unless both
    /// means are above zero and an arm varies.
    ///
    /// `ratio * exp(-+ t sqrt(se_t^2 / mean_t^2 + se_c^2 / mean_c^2))`.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn log_delta(&self, level: f64) -> Result<Option<LogDelta>, StatsError> {
        let alpha = alpha_of(level)?;
        if self.treatment.mean() <= 0.0 || self.control.mean() <= 0.0 {
            return Ok(None);
        }
        let Some(error) = StandardError::of(&self.treatment, &self.control, self.ratio) else {
            return Ok(None);
        };
        let relative = |moments: &Moments| moments.standard_error() / moments.mean();
        let standard_error = relative(&self.treatment).hypot(relative(&self.control));
        let half = student_t_isf(0.5 * alpha, error.df)? * standard_error;
        let center = if self.change.abs() < 0.5 { self.change.ln_1p() } else { self.ratio.ln() };
        Ok(Some(LogDelta {
            df: error.df,
            standard_error,
            ratio: Interval { lower: (center - half).exp(), upper: (center + half).exp(), level },
            change: Interval { lower: (center - half).exp_m1(), upper: (center + half).exp_m1(), level },
        }))
    }
}

/// The confidence interval of a ratio by the delta method on its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDelta {
    /// Degrees of freedom after Satterthwaite.
    pub df: f64,
    /// Standard error of the logarithm of the ratio.
    pub standard_error: f64,
    /// The interval of the ratio.
    pub ratio: Interval,
    /// The interval of `ratio - 1`.
    pub change: Interval,
}

/// The ratio of two geometric means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricRatio {
    /// `geometric mean(treatment) / geometric mean(control)`.
    pub ratio: f64,
    /// `ratio - 1`.
    pub change: f64,
    /// Welch's test on the logarithms, which also tests "the ratio is 1".
    pub logarithms: Welch,
}

/// Estimates the ratio of two geometric means, the natural one for multiplicative noise. O(n).
///
/// # Errors
///
/// [`StatsError::NonPositive`] unless all observations are above zero, [`StatsError::TooFew`] below 2 in an arm.
pub fn geometric_ratio(treatment: &Sample, control: &Sample) -> Result<GeometricRatio, StatsError> {
    let pivot = control.values()[0];
    let logarithms = welch(&treatment.ln_relative_to(pivot)?, &control.ln_relative_to(pivot)?)?;
    Ok(GeometricRatio {
        ratio: logarithms.difference.exp(),
        change: logarithms.difference.exp_m1(),
        logarithms,
    })
}

impl GeometricRatio {
    /// Returns the confidence interval of the ratio; `None` when neither arm varies.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        Ok(self.logarithms.interval(level)?.map(|interval| interval.map(f64::exp)))
    }

    /// Returns the confidence interval of `ratio - 1`; `None` when neither arm varies.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn change_interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        Ok(self.logarithms.interval(level)?.map(|interval| interval.map(f64::exp_m1)))
    }
}
