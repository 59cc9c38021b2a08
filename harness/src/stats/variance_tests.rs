//! Does one arm scatter more than the other?

use super::dist::f_sf;
use super::moments::{largest_of, level_out};
use super::welch::pooled_sd;
use super::{Moments, PValue, Sample, StatsError, Status};

/// An F statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FTest {
    /// The statistic, without unit.
    pub f: f64,
    /// Degrees of freedom of the numerator.
    pub df1: f64,
    /// Degrees of freedom of the denominator.
    pub df2: f64,
    /// The p-value of "both arms scatter alike".
    pub p: PValue,
}

/// The comparison of two spreads; for information, because no test here assumes equal variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceTest {
    /// [`Status::ZeroVarianceBoth`] if there is nothing to compare.
    pub status: Status,
    /// The test; `None` if there is nothing to compare.
    pub test: Option<FTest>,
}

impl VarianceTest {
    fn new(test: Option<FTest>) -> Self {
        let status = if test.is_some() { Status::Regular } else { Status::ZeroVarianceBoth };
        Self { status, test }
    }
}

/// Compares the spreads of two arms by an analysis of variance of the distances from the median (Brown and Forsythe
/// 1974), which stays close to its level for skewed observations. O(n), for few observations O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn brown_forsythe(treatment: &Sample, control: &Sample) -> Result<VarianceTest, StatsError> {
    let from_median = |sample: &Sample| {
        let median = sample.quick_median();
        sample.values().iter().map(|value| (value - median).abs()).collect()
    };
    analyse(treatment, control, from_median)
}

/// Compares the spreads of two arms by an analysis of variance of the distances from the mean (Levene 1960). O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn levene(treatment: &Sample, control: &Sample) -> Result<VarianceTest, StatsError> {
    let from_mean = |sample: &Sample| {
        let moments = Moments::of_values(sample.values());
        sample.values().iter().map(|value| moments.deviation(*value).abs()).collect()
    };
    analyse(treatment, control, from_mean)
}

/// One-way analysis of variance of two groups of distances, as the square of a pooled t.
fn analyse(
    treatment: &Sample,
    control: &Sample,
    distances: impl Fn(&Sample) -> Vec<f64>,
) -> Result<VarianceTest, StatsError> {
    treatment.require(2)?;
    control.require(2)?;
    let moments = |sample: &Sample| {
        let mut distances = distances(sample);
        level_out(&mut distances, largest_of(sample.values(), |value| value));
        Moments::of_values(&distances)
    };
    let (treatment, control) = (moments(treatment), moments(control));
    let pooled = pooled_sd(&treatment, &control);
    if pooled == 0.0 {
        return Ok(VarianceTest::new(None));
    }
    let (n, m) = (treatment.size(), control.size());
    let t = treatment.difference(&control) / pooled;
    if !(t * t).is_finite() {
        return Ok(VarianceTest::new(None));
    }
    let (f, df2) = (t * t * (n * m / (n + m)), n + m - 2.0);
    Ok(VarianceTest::new(Some(FTest { f, df1: 1.0, df2, p: f_sf(f, 1.0, df2)?.into() })))
}

/// Compares the variances of two arms by their ratio, treatment over control; exact for normal observations and far
/// off for others. The p-value doubles the smaller tail. There is no test unless both arms vary. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn variance_ratio(treatment: &Sample, control: &Sample) -> Result<VarianceTest, StatsError> {
    let (treatment, control) = (Moments::of(treatment)?, Moments::of(control)?);
    let ratio = treatment.sd() / control.sd();
    let f = ratio * ratio;
    if !f.is_normal() {
        return Ok(VarianceTest::new(None));
    }
    let (df1, df2) = (treatment.size() - 1.0, control.size() - 1.0);
    let upper = PValue::from(f_sf(f, df1, df2)?);
    let lower = PValue::from(f_sf(f.recip(), df2, df1)?);
    Ok(VarianceTest::new(Some(FTest { f, df1, df2, p: upper.min(lower).doubled() })))
}
