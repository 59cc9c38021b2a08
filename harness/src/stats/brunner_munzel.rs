//! The Brunner-Munzel test: does one arm tend to larger values, whatever the shapes?

use super::dist::student_t_isf;
use super::dominance::each_placement;
use super::interval::alpha_of;
use super::moments::Sum;
use super::quantile::sorted;
use super::welch::TTest;
use super::{Interval, Sample, StatsError, Status};

/// The result of a Brunner-Munzel test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrunnerMunzel {
    /// The estimate of `P(T > C) + P(T = C) / 2`.
    pub superiority: f64,
    /// Variance of the placements of the treatment's observations.
    pub variance_treatment: f64,
    /// Variance of the placements of the control's observations.
    pub variance_control: f64,
    /// [`Status::DegenerateSeparation`] if both variances are 0: the arms do not overlap, or all observations are
    /// equal. The exact Mann-Whitney test then says what can be said.
    pub status: Status,
    /// The statistic (positive when the treatment tends to larger values) with p-values from the t distribution;
    /// `None` if degenerate.
    pub test: Option<TTest>,
    /// Standard error of the superiority; 0 if degenerate.
    pub standard_error: f64,
}

/// Tests "an observation of either arm is as likely the larger one" without assuming equal shapes or spreads (Brunner
/// and Munzel 2000). O(n log n).
///
/// Below about 10 observations an arm, take its permutation version
/// ([`PermutationStatistic::BrunnerMunzel`](super::PermutationStatistic)).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm.
pub fn brunner_munzel(treatment: &Sample, control: &Sample) -> Result<BrunnerMunzel, StatsError> {
    treatment.require(2)?;
    control.require(2)?;
    let (own, other) = Sample::sorted_both(treatment, control);
    let placements = Placements::of_sorted(own, other);
    let (n, m) = (treatment.len() as f64, control.len() as f64);
    let (own, other) = (placements.treatment, placements.control);
    let (a, b) = (n * own.variance, m * other.variance);
    let test = placements
        .statistic()
        .map(|t| TTest::new(t, (a + b) * (a + b) / (a * a / (n - 1.0) + b * b / (m - 1.0))))
        .transpose()?;
    Ok(BrunnerMunzel {
        superiority: own.mean / m,
        variance_treatment: own.variance,
        variance_control: other.variance,
        status: if test.is_some() { Status::Regular } else { Status::DegenerateSeparation },
        test,
        standard_error: (own.variance / (n * m * m) + other.variance / (m * n * n)).sqrt(),
    })
}

impl BrunnerMunzel {
    /// Returns the confidence interval of the superiority, not cut to `0..=1`; `None` if degenerate.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        self.test
            .map(|test| {
                let reach = student_t_isf(half, test.df)? * self.standard_error;
                Ok(Interval::around(self.superiority, reach, level))
            })
            .transpose()
    }
}

/// Mean and variance of the numbers of observations of the other arm below one's own, ties as halves.
#[derive(Clone, Copy)]
struct Placement {
    mean: f64,
    variance: f64,
}

impl Placement {
    /// Walks once through both ascending arms.
    fn of(own: &[f64], other: &[f64]) -> Self {
        let mut values = Vec::with_capacity(own.len());
        each_placement(own, other, |below, not_above| values.push(0.5 * (below + not_above) as f64));
        let n = values.len() as f64;
        let mean = Sum::over(&values, |value| value).value() / n;
        let squares = Sum::over(&values, |value| (value - mean) * (value - mean)).value();
        Self { mean, variance: squares / (n - 1.0) }
    }
}

/// The placements of both arms.
pub(super) struct Placements {
    treatment: Placement,
    control: Placement,
    n: f64,
    m: f64,
}

impl Placements {
    /// The placements of arms in any order.
    pub(super) fn of(treatment: &[f64], control: &[f64]) -> Self {
        Self::of_sorted(&sorted(treatment.iter().copied()), &sorted(control.iter().copied()))
    }

    /// The placements of ascending arms.
    fn of_sorted(treatment: &[f64], control: &[f64]) -> Self {
        Self {
            treatment: Placement::of(treatment, control),
            control: Placement::of(control, treatment),
            n: treatment.len() as f64,
            m: control.len() as f64,
        }
    }

    /// The statistic; `None` if neither placement varies.
    pub(super) fn statistic(&self) -> Option<f64> {
        let (n, m) = (self.n, self.m);
        let spread = n * self.treatment.variance + m * self.control.variance;
        // Half the sum of both excess mean ranks, from the placements.
        let shift = self.treatment.mean + 0.5 * (n + 1.0) - self.control.mean - 0.5 * (m + 1.0);
        (spread > 0.0).then(|| n * m * shift / ((n + m) * spread.sqrt()))
    }
}
