//! Pairs: the difference within blocks, where what a block has in common drops out.

use super::dist::student_t_isf;
use super::interval::alpha_of;
use super::moments::level_out;
use super::welch::TTest;
use super::{Interval, Moments, Sample, StatsError, Status};

/// The comparison of two arms by the differences within pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Mean of `treatment - control` over the pairs, in the unit of the observations (or of their logarithms).
    pub difference: f64,
    /// Standard deviation of these differences.
    pub sd: f64,
    /// Number of pairs.
    pub n: usize,
    /// [`Status::ZeroVarianceDifference`] if all differences are equal.
    pub status: Status,
    /// The paired t-test; `None` if all differences are equal.
    pub test: Option<TTest>,
}

/// The differences within pairs, at least 2.
///
/// Differences that agree to within the rounding of the observations are made equal: `10.1 - 11.1` and `10.7 - 11.7`
/// must not become a spread, and that spread a p-value.
pub(super) fn differences(treatment: &Sample, control: &Sample) -> Result<Vec<f64>, StatsError> {
    if treatment.len() != control.len() {
        return Err(StatsError::UnequalLength { treatment: treatment.len(), control: control.len() });
    }
    treatment.require(2)?;
    let mut differences: Vec<f64> =
        treatment.values().iter().zip(control.values()).map(|(x, y)| x - y).collect();
    let largest = treatment.values().iter().chain(control.values()).fold(0.0, |a: f64, b| a.max(b.abs()));
    level_out(&mut differences, largest);
    Ok(differences)
}

/// Compares two arms whose observations belong together in pairs: the i-th of the treatment with the i-th of the
/// control, from one block. O(n).
///
/// Whether observations are paired follows from the design of the experiment and never from the data. Assumes that
/// the mean difference is about normal.
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs.
pub fn paired_t(treatment: &Sample, control: &Sample) -> Result<Paired, StatsError> {
    let moments = Moments::of_values(&differences(treatment, control)?);
    let t = Some(moments.mean() / moments.standard_error()).filter(|t| t.is_finite());
    let test = t.map(|t| TTest::new(t, moments.size() - 1.0)).transpose()?;
    Ok(Paired {
        difference: moments.mean(),
        sd: moments.sd(),
        n: moments.n(),
        status: if test.is_some() { Status::Regular } else { Status::ZeroVarianceDifference },
        test,
    })
}

/// Compares the logarithms of two arms in pairs: `exp(difference)` is the geometric mean of the ratios. O(n).
///
/// # Errors
///
/// [`StatsError::NonPositive`] unless all observations are above zero; otherwise as [`paired_t`].
pub fn paired_t_of_ratios(treatment: &Sample, control: &Sample) -> Result<Paired, StatsError> {
    let pivot = control.values()[0];
    paired_t(&treatment.ln_relative_to(pivot)?, &control.ln_relative_to(pivot)?)
}

impl Paired {
    /// Returns the mean difference by its standard deviation; `None` if all differences are equal.
    pub fn d_z(&self) -> Option<f64> {
        self.test.map(|_| self.difference / self.sd)
    }

    /// Returns the confidence interval of the mean difference; `None` if all differences are equal.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        self.test
            .map(|test| {
                let error = self.sd / (self.n as f64).sqrt();
                Ok(Interval::around(self.difference, student_t_isf(half, test.df)? * error, level))
            })
            .transpose()
    }

    /// Tests whether the mean difference is `margin` instead of zero; `None` if all differences are equal.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`] for a margin that is not finite.
    pub fn against(&self, margin: f64) -> Result<Option<TTest>, StatsError> {
        if !margin.is_finite() {
            return Err(StatsError::NonFinite);
        }
        let t = (self.difference - margin) / (self.sd / (self.n as f64).sqrt());
        self.test.filter(|_| t.is_finite()).map(|test| TTest::new(t, test.df)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_spread() {
        let sample = |values: [f64; 3]| Sample::new(values.to_vec()).unwrap();
        let found = paired_t(&sample([10.1, 10.7, 9.3]), &sample([11.1, 11.7, 10.3])).unwrap();
        assert_eq!((found.status, found.test), (Status::ZeroVarianceDifference, None));
    }
}
