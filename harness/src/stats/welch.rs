//! Welch's t-test: two means whose variances may differ.

use super::dist::{student_t_cdf, student_t_isf, student_t_sf};
use super::interval::alpha_of;
use super::moments::scale_for;
use super::{Interval, Moments, Sample, StatsError, Status, Tails};

/// A t statistic with its degrees of freedom and p-values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// The statistic, without unit; negative when the treatment is less.
    pub t: f64,
    /// Degrees of freedom, not rounded.
    pub df: f64,
    /// The p-values for all three tails.
    pub p: Tails,
}

impl TTest {
    /// Looks up the p-values of a t statistic.
    pub(super) fn new(t: f64, df: f64) -> Result<Self, StatsError> {
        Ok(Self { t, df, p: Tails::symmetric(student_t_cdf(t, df)?, student_t_sf(t, df)?) })
    }
}

/// The comparison of two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// `mean(treatment) - mean(control)`, in the unit of the observations.
    pub difference: f64,
    /// Standard error of the difference, `sqrt(sd_t^2 / n_t + sd_c^2 / n_c)`.
    pub standard_error: f64,
    /// [`Status::ZeroVarianceBoth`] when neither arm varies: the difference is then a fact and not an estimate.
    pub status: Status,
    /// The test of "no difference"; `None` when neither arm varies.
    pub test: Option<TTest>,
}

/// Compares two means by Welch's t-test (Welch 1947), with degrees of freedom after Satterthwaite (1946).
///
/// `t = difference / standard error`, `df = (a + b)^2 / (a^2 / (n_t - 1) + b^2 / (n_c - 1))` with the squared
/// standard errors a and b. Assumes independent observations and means that are about normal; the variances
/// may differ, and one of them may be zero. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn welch(treatment: &Sample, control: &Sample) -> Result<Welch, StatsError> {
    welch_of_moments(&Moments::of(treatment)?, &Moments::of(control)?)
}

/// Compares two means of which only mean, deviation and n are known; see [`welch`].
///
/// # Errors
///
/// [`StatsError::NonFinite`] if the moments are too large for an `f64`.
pub fn welch_of_moments(treatment: &Moments, control: &Moments) -> Result<Welch, StatsError> {
    let difference = treatment.difference(control);
    let standard_error = StandardError::of(treatment, control, 1.0);
    // A t beyond every number is that of arms that do not vary.
    let t = standard_error.map(|error| (error.divide(difference), error.df));
    let test = t.filter(|(t, _)| t.is_finite()).map(|(t, df)| TTest::new(t, df)).transpose()?;
    Ok(Welch {
        difference,
        standard_error: standard_error.map_or(0.0, StandardError::value),
        status: if test.is_some() { Status::Regular } else { Status::ZeroVarianceBoth },
        test,
    })
}

/// Compares two means by Student's t-test with a pooled variance. For information beside [`welch`]: it assumes
/// equal variances and errs when they and the sample sizes differ (Delacre, Lakens and Leys 2017).
///
/// `None` when neither arm varies.
///
/// # Errors
///
/// [`StatsError::NonFinite`] if the moments are too large for an `f64`.
pub fn student(treatment: &Moments, control: &Moments) -> Result<Option<TTest>, StatsError> {
    let (n_treatment, n_control) = (treatment.size(), control.size());
    let pooled = pooled_sd(treatment, control);
    if pooled == 0.0 {
        return Ok(None);
    }
    let error = (n_treatment.recip() + n_control.recip()).sqrt();
    let t = treatment.difference(control) / pooled / error;
    if !t.is_finite() {
        return Ok(None);
    }
    TTest::new(t, n_treatment + n_control - 2.0).map(Some)
}

/// The root of the variances of two arms, pooled by their degrees of freedom.
pub(super) fn pooled_sd(treatment: &Moments, control: &Moments) -> f64 {
    let (df_treatment, df_control) = (treatment.size() - 1.0, control.size() - 1.0);
    let scale = scale_for(treatment.sd().max(control.sd()));
    let square = |sd: f64| (sd * scale) * (sd * scale);
    let sum = df_treatment * square(treatment.sd()) + df_control * square(control.sd());
    (sum / (df_treatment + df_control)).sqrt() / scale
}

impl Welch {
    /// Says, for arms that do not vary at all, whether they differ; `None` for arms that do vary.
    pub fn deterministic_difference(&self) -> Option<bool> {
        (self.status == Status::ZeroVarianceBoth).then_some(self.difference != 0.0)
    }

    /// Returns the two-sided confidence interval of the difference; `None` when neither arm varies.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        self.half_width(0.5 * alpha_of(level)?)
            .map(|half| half.map(|half| Interval::around(self.difference, half, level)))
    }

    /// Returns the limit that the difference stays below with the confidence `level`.
    ///
    /// # Errors
    ///
    /// As [`Welch::interval`].
    pub fn upper_limit(&self, level: f64) -> Result<Option<f64>, StatsError> {
        self.half_width(alpha_of(level)?).map(|half| half.map(|half| self.difference + half))
    }

    /// Returns the limit that the difference stays above with the confidence `level`.
    ///
    /// # Errors
    ///
    /// As [`Welch::interval`].
    pub fn lower_limit(&self, level: f64) -> Result<Option<f64>, StatsError> {
        self.half_width(alpha_of(level)?).map(|half| half.map(|half| self.difference - half))
    }

    /// Tests whether the difference is `margin`, in the unit of the observations, instead of zero.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`] for a margin that is not finite.
    pub fn against(&self, margin: f64) -> Result<Option<TTest>, StatsError> {
        if !margin.is_finite() {
            return Err(StatsError::NonFinite);
        }
        let t = (self.difference - margin) / self.standard_error;
        self.test.filter(|_| t.is_finite()).map(|test| TTest::new(t, test.df)).transpose()
    }

    fn half_width(&self, alpha: f64) -> Result<Option<f64>, StatsError> {
        self.test.map(|test| Ok(student_t_isf(alpha, test.df)? * self.standard_error)).transpose()
    }
}

/// The standard error of `mean(treatment) - factor * mean(control)` with its degrees of freedom.
///
/// It is kept scaled by a power of two, so that no square over- or underflows.
#[derive(Clone, Copy)]
pub(super) struct StandardError {
    scaled: f64,
    scale: f64,
    pub(super) df: f64,
}

impl StandardError {
    /// Returns `None` if there is no error at all.
    pub(super) fn of(treatment: &Moments, control: &Moments, factor: f64) -> Option<Self> {
        let control_sd = control.sd() * factor.abs();
        let scale = scale_for(treatment.sd().max(control_sd));
        let part = |sd: f64, n: f64| (sd * scale) * (sd * scale) / n;
        let (a, b) = (part(treatment.sd(), treatment.size()), part(control_sd, control.size()));
        if a + b == 0.0 {
            return None;
        }
        let df = (a + b) * (a + b) / (a * a / (treatment.size() - 1.0) + b * b / (control.size() - 1.0));
        Some(Self { scaled: (a + b).sqrt(), scale, df })
    }

    /// Returns the standard error in the unit of the observations.
    pub(super) fn value(self) -> f64 {
        self.scaled / self.scale
    }

    /// Returns `numerator / standard error`.
    pub(super) fn divide(self, numerator: f64) -> f64 {
        numerator * self.scale / self.scaled
    }
}
