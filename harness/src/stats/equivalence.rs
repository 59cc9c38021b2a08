//! Equivalence, non-inferiority and superiority by a margin.

use super::dist::{student_t_cdf, student_t_sf};
use super::welch::StandardError;
use super::{Moments, PValue, Sample, StatsError, Status};

/// Tests of a difference against both ends of a margin.
///
/// "p is not below alpha" does not show that nothing got worse. What does is [`Limit::within`] at the end that is
/// worse: `above` for a metric where lower is better, `below` otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// `mean(treatment) - mean(control)`, in the unit of the observations; for [`equivalence_geometric`] the
    /// difference of the mean logarithms.
    pub difference: f64,
    /// [`Status::ZeroVarianceBoth`] when neither arm varies: [`Equivalence::deterministic`] then says all.
    pub status: Status,
    /// The tests; `None` when neither arm varies.
    pub tests: Option<Limits>,
    lower_limit: f64,
    upper_limit: f64,
}

/// The tests at both ends of a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Against the lower end, `-margin`.
    pub below: Limit,
    /// Against the upper end, `+margin`.
    pub above: Limit,
}

/// The test of a difference against one end of a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The statistic: distance of the difference from this end by its standard error, with the usual sign.
    pub t: f64,
    /// Degrees of freedom after Satterthwaite.
    pub df: f64,
    /// For "the difference lies on the inner side of this end": non-inferiority.
    pub within: PValue,
    /// For "the difference lies beyond this end": it is shown to be worse, or better, by more than the margin.
    pub beyond: PValue,
}

impl Limits {
    /// Returns the p-value for "the difference lies within the margin" by two one-sided tests (Schuirmann 1987).
    ///
    /// It is below alpha exactly if the interval of level `1 - 2 alpha` lies inside the margin.
    pub fn equivalent(&self) -> PValue {
        self.below.within.max(self.above.within)
    }
}

impl Equivalence {
    /// Says, for arms that do not vary, whether the difference lies strictly within the margin; `None` for arms
    /// that do vary.
    pub fn deterministic(&self) -> Option<bool> {
        (self.status == Status::ZeroVarianceBoth)
            .then_some(self.lower_limit < self.difference && self.difference < self.upper_limit)
    }
}

/// Tests the difference of two means against `-margin` and `margin`, in the unit of the observations, by Welch's
/// test. O(n).
///
/// # Errors
///
/// [`StatsError::InvalidMargin`] unless `margin > 0`, [`StatsError::TooFew`] below 2 observations in an arm.
pub fn equivalence_absolute(
    treatment: &Sample,
    control: &Sample,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    equivalence_absolute_of_moments(&Moments::of(treatment)?, &Moments::of(control)?, margin)
}

/// Tests a difference against an absolute margin from moments; see [`equivalence_absolute`].
///
/// # Errors
///
/// [`StatsError::InvalidMargin`] unless `margin > 0`.
pub fn equivalence_absolute_of_moments(
    treatment: &Moments,
    control: &Moments,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    check_margin(margin)?;
    test(treatment, control, [-margin, margin], [1.0, 1.0])
}

/// Tests the difference of two means against `-margin` and `margin` times the mean of the control, a relative
/// margin: 0.02 is 2 %. O(n).
///
/// The mean of the control is as uncertain as the other, so the statistic is
/// `(mean_t - theta mean_c) / sqrt(se_t^2 + theta^2 se_c^2)` with `theta = 1 -+ margin` (Sasabuchi 1988; Hauschke,
/// Kieser, Diletti and Burke 1999). With a control below zero, the margin is one of its magnitude.
///
/// # Errors
///
/// [`StatsError::InvalidMargin`] unless `margin > 0`, [`StatsError::ZeroBaseline`] for a control of mean 0,
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn equivalence_relative(
    treatment: &Sample,
    control: &Sample,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    equivalence_relative_of_moments(&Moments::of(treatment)?, &Moments::of(control)?, margin)
}

/// Tests a difference against a relative margin from moments; see [`equivalence_relative`].
///
/// # Errors
///
/// [`StatsError::InvalidMargin`] unless `margin > 0`, [`StatsError::ZeroBaseline`] for a control of mean 0.
pub fn equivalence_relative_of_moments(
    treatment: &Moments,
    control: &Moments,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    check_margin(margin)?;
    if control.mean() == 0.0 {
        return Err(StatsError::ZeroBaseline);
    }
    let absolute = margin * control.mean().abs();
    let signed = margin.copysign(control.mean());
    test(treatment, control, [-absolute, absolute], [1.0 - signed, 1.0 + signed])
}

/// Tests the ratio of two geometric means against `1 - margin` and `1 + margin` by Welch's test on the
/// logarithms. O(n).
///
/// # Errors
///
/// [`StatsError::InvalidMargin`] unless `0 < margin < 1`, [`StatsError::NonPositive`] unless all observations are
/// above zero, [`StatsError::TooFew`] below 2 observations in an arm.
pub fn equivalence_geometric(
    treatment: &Sample,
    control: &Sample,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    check_margin(margin)?;
    if margin >= 1.0 {
        return Err(StatsError::InvalidMargin { margin });
    }
    let pivot = control.values()[0];
    let logarithms = |sample: &Sample| Moments::of(&sample.ln_relative_to(pivot)?);
    let (treatment, control) = (logarithms(treatment)?, logarithms(control)?);
    test(&treatment, &control, [(-margin).ln_1p(), margin.ln_1p()], [1.0, 1.0])
}

fn check_margin(margin: f64) -> Result<(), StatsError> {
    if margin > 0.0 && margin.is_finite() { Ok(()) } else { Err(StatsError::InvalidMargin { margin }) }
}

/// Tests against two limits of the difference; `factors` weigh the error of the control at each.
fn test(
    treatment: &Moments,
    control: &Moments,
    [lower_limit, upper_limit]: [f64; 2],
    factors: [f64; 2],
) -> Result<Equivalence, StatsError> {
    let difference = treatment.difference(control);
    let statistic = |factor: f64, limit: f64| {
        let error = StandardError::of(treatment, control, factor)?;
        // A t beyond every number is that of arms that do not vary.
        Some((error.divide(difference - limit), error.df)).filter(|(t, _)| t.is_finite())
    };
    let [below, above] = factors;
    let tests = match (statistic(below, lower_limit), statistic(above, upper_limit)) {
        (Some(below), Some(above)) => {
            let ((t, df), (u, dg)) = (below, above);
            let (within, beyond) = (student_t_sf(t, df)?.into(), student_t_cdf(t, df)?.into());
            let below = Limit { t, df, within, beyond };
            let (within, beyond) = (student_t_cdf(u, dg)?.into(), student_t_sf(u, dg)?.into());
            Some(Limits { below, above: Limit { t: u, df: dg, within, beyond } })
        }
        _ => None,
    };
    let status = if tests.is_some() { Status::Regular } else { Status::ZeroVarianceBoth };
    Ok(Equivalence { difference, status, tests, lower_limit, upper_limit })
}
