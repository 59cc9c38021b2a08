//! Yuen's test: two means without the extremes of either arm.

use super::{Moments, Sample, StatsError, Welch, welch_of_moments};

/// The comparison of two trimmed means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yuen {
    /// The share that was cut off at either end of each arm.
    pub trim: f64,
    /// Observations of the treatment that are left.
    pub kept_treatment: usize,
    /// Observations of the control that are left.
    pub kept_control: usize,
    /// The difference of the trimmed means in the unit of the observations, its standard error from the winsorized
    /// variances, test and interval.
    pub trimmed: Welch,
}

/// Compares two trimmed means (Yuen 1974), which a few gross outliers move neither in the estimate nor in its error.
///
/// `g = floor(trim n)` observations are cut off at either end of an arm, `h = n - 2 g` are left. The squared standard
/// error of an arm is `(n - 1) s_w^2 / (h (h - 1))` with the variance `s_w^2` of the sample whose cut-off observations
/// are replaced by the nearest one left, and the degrees of freedom are those of Welch's test with `h` for `n`.
/// Assumes independent observations; with symmetric ones the trimmed means are means. A trim of 0 is Welch's test; 0.2
/// is usual. O(n log n).
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 <= trim < 0.5`, [`StatsError::TooFew`] if fewer than 2 observations of an arm
/// are left.
pub fn yuen(treatment: &Sample, control: &Sample, trim: f64) -> Result<Yuen, StatsError> {
    if !(0.0..0.5).contains(&trim) {
        return Err(StatsError::InvalidLevel { level: trim });
    }
    Sample::sorted_both(treatment, control);
    let (treatment, control) = (trimmed(treatment, trim)?, trimmed(control, trim)?);
    Ok(Yuen {
        trim,
        kept_treatment: treatment.n(),
        kept_control: control.n(),
        trimmed: welch_of_moments(&treatment, &control)?,
    })
}

/// The moments of `h` observations whose standard error is that of the trimmed mean.
fn trimmed(sample: &Sample, trim: f64) -> Result<Moments, StatsError> {
    sample.require(2)?;
    let sorted = sample.sorted();
    let n = sorted.len();
    let cut = (trim * n as f64) as usize;
    let kept = &sorted[cut..n - cut];
    if kept.len() < 2 {
        // The share left grows with n, but not at every step.
        let needed = (n + 1..).find(|n| n - 2 * (trim * *n as f64) as usize >= 2).unwrap_or(n + 1);
        return Err(StatsError::TooFew { needed, found: n });
    }
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    let winsorized: Vec<f64> = sorted.iter().map(|value| value.clamp(low, high)).collect();
    let widened = ((n - 1) as f64 / (kept.len() - 1) as f64).sqrt();
    Ok(Moments::of_values(kept).with_sd(Moments::of_values(&winsorized).sd() * widened))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::welch;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn no_trim_is_welch() {
        let (x, y) = (sample(&[1.0, 2.5, 4.0, 4.5]), sample(&[2.0, 5.0, 6.0]));
        assert_eq!(yuen(&x, &y, 0.0).unwrap().trimmed, welch(&x, &y).unwrap());
    }

    #[test]
    fn an_outlier_moves_nothing() {
        let near = sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let far = sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 1e9]);
        let control = sample(&[2.0, 3.0, 5.0, 7.0, 8.0, 8.5]);
        assert_eq!(yuen(&near, &control, 0.2), yuen(&far, &control, 0.2));
    }

    #[test]
    fn what_is_left_must_have_a_variance() {
        let x = sample(&[1.0, 2.0, 3.0]);
        assert_eq!(yuen(&x, &x, 0.4), Err(StatsError::TooFew { needed: 4, found: 3 }));
        assert_eq!(yuen(&x, &x, 0.5), Err(StatsError::InvalidLevel { level: 0.5 }));
        assert_eq!(yuen(&x, &x, f64::NAN).map_err(StatsError::code), Err("invalid_level"));
    }
}
