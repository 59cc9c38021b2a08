//! Power, needed n and smallest detectable effect of Welch's test.

use super::dist::{noncentral_t_cdf, noncentral_t_sf, student_t_isf};
use super::interval::checked_alpha;
use super::root::root;
use super::welch::StandardError;
use super::{Moments, StatsError};

/// The largest n that is searched for.
const MAX_N: usize = 1 << 40;

/// A planned comparison of two means by Welch's test.
///
/// Deviations are guesses before the experiment, or those observed when the smallest detectable effect is stated
/// beside a result. The power of the *observed* difference says nothing that p does not say and is not offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Standard deviation of the treatment, in the unit of the observations.
    pub sd_treatment: f64,
    /// Standard deviation of the control, in the same unit.
    pub sd_control: f64,
    /// Level of the test: the chance of a false claim.
    pub alpha: f64,
    /// Whether both directions are tested.
    pub two_sided: bool,
}

/// The power of a test with what it follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Chance of p < alpha.
    pub power: f64,
    /// Degrees of freedom after Satterthwaite.
    pub df: f64,
    /// Noncentrality: effect by standard error.
    pub noncentrality: f64,
}

impl Design {
    fn standard_error(&self, n_treatment: usize, n_control: usize) -> Result<StandardError, StatsError> {
        checked_alpha(self.alpha)?;
        let treatment = Moments::from_summary(0.0, self.sd_treatment, n_treatment)?;
        let control = Moments::from_summary(0.0, self.sd_control, n_control)?;
        StandardError::of(&treatment, &control, 1.0).ok_or(StatsError::ZeroVarianceBoth)
    }

    fn power_at(&self, noncentrality: f64, df: f64) -> Result<f64, StatsError> {
        let tail = if self.two_sided { 0.5 * self.alpha } else { self.alpha };
        let critical = student_t_isf(tail, df)?;
        let upper = noncentral_t_sf(critical, df, noncentrality)?.value;
        let lower = if self.two_sided { noncentral_t_cdf(-critical, df, noncentrality)?.value } else { 0.0 };
        Ok((upper + lower).min(1.0))
    }

    /// Returns the power against a true difference, in the unit of the deviations; a one-sided test looks in its
    /// direction.
    ///
    /// From the noncentral t with Satterthwaite's degrees of freedom at the planned deviations.
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 2 in an arm, [`StatsError::ZeroVarianceBoth`] without any spread,
    /// [`StatsError::InvalidLevel`] for alpha, [`StatsError::InvalidSummary`] for a negative deviation.
    pub fn power(&self, difference: f64, n_treatment: usize, n_control: usize) -> Result<Power, StatsError> {
        if !difference.is_finite() {
            return Err(StatsError::NonFinite);
        }
        let error = self.standard_error(n_treatment, n_control)?;
        let noncentrality = error.divide(difference.abs());
        Ok(Power { power: self.power_at(noncentrality, error.df)?, df: error.df, noncentrality })
    }

    /// Returns the smallest n per arm, at least 2, with at least the wanted power against a true difference.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidEffect`] for a difference of 0 or one that no feasible n shows; otherwise as
    /// [`Design::power`].
    pub fn needed_n(&self, difference: f64, power: f64) -> Result<usize, StatsError> {
        checked_alpha(power)?;
        if difference == 0.0 {
            return Err(StatsError::InvalidEffect);
        }
        let reaches = |n: usize| Ok::<bool, StatsError>(self.power(difference, n, n)?.power >= power);
        if reaches(2)? {
            return Ok(2);
        }
        let (mut low, mut high) = (2, 4);
        while !reaches(high)? {
            low = high;
            high *= 2;
            if high > MAX_N {
                return Err(StatsError::InvalidEffect);
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if reaches(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    /// Returns the smallest true difference, in the unit of the deviations, against which the test has the wanted
    /// power.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `alpha < power < 1`; otherwise as [`Design::power`].
    pub fn detectable(&self, power: f64, n_treatment: usize, n_control: usize) -> Result<f64, StatsError> {
        checked_alpha(power)?;
        let error = self.standard_error(n_treatment, n_control)?;
        if power <= self.alpha {
            return Err(StatsError::InvalidLevel { level: power });
        }
        let excess = |noncentrality: f64| {
            self.power_at(noncentrality, error.df).map_or(f64::NAN, |found| found - power)
        };
        let mut high = 4.0;
        while excess(high) < 0.0 && high < 1e12 {
            high *= 2.0;
        }
        Ok(root(0.0, high, excess) * error.value())
    }
}
