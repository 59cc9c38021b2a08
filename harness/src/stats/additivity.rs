//! Whether any number of switches together do what they promise one by one.

use super::equivalence::{Limit, Limits};
use super::factorial::contrast_ratio;
use super::moments::Sum;
use super::{Cell, Contrast, ContrastRatio, StatsError};

/// What all switches together do, against the sum of what each does alone.
///
/// Shares are fractions: 0.25 is 25 %. For two switches, the same as in [`Factorial2x2`](super::Factorial2x2).
#[derive(Clone, Debug, PartialEq)]
pub struct Additivity {
    /// The mean without any switch plus the effects of the single switches.
    pub expected: f64,
    /// The mean with all switches.
    pub actual: f64,
    /// `(expected - actual) / expected`, as a share of the total; `None` for an expectation of 0.
    pub sub_additivity: Option<f64>,
    /// `(expected - actual) / (expected - none)`: the share of the expected gain that is lost; `None` if no gain was
    /// expected. The honest measure of additivity.
    pub gain_shortfall: Option<f64>,
    cells: Vec<Cell>,
}

/// Compares all switches together with the sum of the single ones, from the cells of [`factorial`](super::factorial).
/// Only the cells with no, one and all switches on are looked at. O(2^k).
///
/// # Errors
///
/// [`StatsError::Empty`] without cells, [`StatsError::MissingCell`] unless there are 4, 8, 16, ... of them.
pub fn additivity(cells: &[Cell]) -> Result<Additivity, StatsError> {
    if cells.is_empty() {
        return Err(StatsError::Empty);
    }
    if cells.len() < 4 || !cells.len().is_power_of_two() {
        return Err(StatsError::MissingCell);
    }
    let sum =
        |weights: Vec<f64>| Sum::of(cells.iter().zip(weights).map(|(cell, weight)| weight * cell.mean()));
    let switches = cells.len().trailing_zeros();
    let lost = sum(lost(cells.len()));
    let (expected, gain) = (sum(expected(cells.len(), switches - 1)), sum(expected(cells.len(), switches)));
    Ok(Additivity {
        expected,
        actual: cells[cells.len() - 1].mean(),
        sub_additivity: (expected != 0.0).then(|| lost / expected),
        gain_shortfall: (gain != 0.0).then(|| lost / gain),
        cells: cells.to_vec(),
    })
}

/// The weights of the sum of single switches minus some times the cell without any.
fn expected(cells: usize, times: u32) -> Vec<f64> {
    (0..cells)
        .map(|cell| match cell.count_ones() {
            0 => -f64::from(times),
            1 => 1.0,
            _ => 0.0,
        })
        .collect()
}

/// The weights of the expectation minus the cell with all switches.
fn lost(cells: usize) -> Vec<f64> {
    let mut weights = expected(cells, cells.trailing_zeros() - 1);
    weights[cells - 1] = -1.0;
    weights
}

impl Additivity {
    /// Returns `expected - none`: the sum of the effects of the single switches, in the unit of the observations.
    pub fn expected_gain(&self) -> f64 {
        let switches = self.cells.len().trailing_zeros();
        let weights = expected(self.cells.len(), switches);
        Sum::of(self.cells.iter().zip(weights).map(|(cell, weight)| weight * cell.mean()))
    }

    /// Returns the confidence set of [`Additivity::sub_additivity`] by Fieller's method; `None` if a cell is a mean alone,
    /// nothing varies or the estimate does not exist.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn sub_additivity_set(&self, level: f64) -> Result<Option<ContrastRatio>, StatsError> {
        let n = self.cells.len();
        let Some(value) = self.sub_additivity else { return Ok(None) };
        contrast_ratio(&self.cells, &lost(n), &expected(n, n.trailing_zeros() - 1), value, level)
    }

    /// Returns the confidence set of [`Additivity::gain_shortfall`] likewise.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn gain_shortfall_set(&self, level: f64) -> Result<Option<ContrastRatio>, StatsError> {
        let n = self.cells.len();
        let Some(value) = self.gain_shortfall else { return Ok(None) };
        contrast_ratio(&self.cells, &lost(n), &expected(n, n.trailing_zeros()), value, level)
    }

    /// Tests the share of the expected gain that all switches together give beyond it, minus
    /// [`Additivity::gain_shortfall`], against `-share` and `share`; `None` if a cell is a mean alone, nothing varies or
    /// no gain was expected.
    ///
    /// The contrasts `actual - expected +- share (expected - none)` by t with degrees of freedom after Satterthwaite, turned
    /// so that a gain is positive: what Fieller's set inverts. `below.within` is small if less than `share` of the gain is
    /// lost.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidMargin`] unless `share > 0`.
    pub fn limits(&self, share: f64) -> Result<Option<Limits>, StatsError> {
        if share.is_nan() || share <= 0.0 {
            return Err(StatsError::InvalidMargin { margin: share });
        }
        let n = self.cells.len();
        if self.gain_shortfall.is_none() {
            return Ok(None);
        }
        let (lost, gain) = (lost(n), expected(n, n.trailing_zeros()));
        // A gain of a metric that is better when lower is a difference below zero.
        let sign = if self.expected_gain() < 0.0 { -1.0 } else { 1.0 };
        let against = |limit: f64| {
            let weights: Vec<f64> =
                lost.iter().zip(&gain).map(|(lost, gain)| sign * (-lost - limit * gain)).collect();
            Contrast::of(&self.cells, &weights).map(|it| it.test)
        };
        Ok(against(-share)?.zip(against(share)?).map(|(below, above)| Limits {
            below: Limit { t: below.t, df: below.df, within: below.p.greater, beyond: below.p.less },
            above: Limit { t: above.t, df: above.df, within: above.p.less, beyond: above.p.greater },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Moments, factorial_2x2};

    fn cells(means: &[f64]) -> Vec<Cell> {
        means.iter().map(|mean| Cell::of_moments(Moments::from_summary(*mean, 0.5, 10).unwrap())).collect()
    }

    #[test]
    fn two_switches_are_the_two_by_two() {
        let cells = cells(&[43.8, 44.4, 44.9, 44.6]);
        let (found, square) = (additivity(&cells).unwrap(), factorial_2x2(&cells).unwrap());
        assert_eq!(
            (found.sub_additivity, found.gain_shortfall),
            (square.sub_additivity, square.gain_shortfall)
        );
        assert_eq!(found.gain_shortfall_set(0.9).unwrap(), square.gain_shortfall_set(0.9).unwrap());
        assert_eq!(found.sub_additivity_set(0.9).unwrap(), square.sub_additivity_set(0.9).unwrap());
    }

    /// A share of the gain is told from another one exactly where Fieller's set ends.
    #[test]
    fn limits_are_where_the_set_ends() {
        for means in [[100.0, 90.0, 80.0, 74.0], [10.0, 20.0, 30.0, 36.0]] {
            let found = additivity(&cells(&means)).unwrap();
            let set = found.gain_shortfall_set(0.9).unwrap().unwrap();
            let end = set.bounds.interval(0.9).unwrap().upper;
            let at = |share: f64| found.limits(share).unwrap().unwrap().below.within.value();
            // The degrees of freedom of the set are those at the estimate.
            assert!((at(end) - 0.05).abs() < 1e-3, "{} at {end}", at(end));
            assert!(at(end + 0.02) < 0.05 && at(end - 0.02) > 0.05, "{means:?}");
            assert!(found.limits(0.5).unwrap().unwrap().above.within.value() < 1e-3);
        }
        let found = additivity(&cells(&[5.0; 4])).unwrap();
        assert_eq!(found.limits(0.1), Ok(None));
        assert_eq!(found.limits(0.0).map_err(StatsError::code), Err("invalid_margin"));
    }

    #[test]
    fn three_switches_lose_a_share_of_their_gain() {
        // From 100: 10, 20 and 30 less alone, 45 less together instead of 60.
        let found = additivity(&cells(&[100.0, 90.0, 80.0, 75.0, 70.0, 65.0, 60.0, 55.0])).unwrap();
        assert_eq!((found.expected, found.actual, found.gain_shortfall), (40.0, 55.0, Some(0.25)));
        let set = found.gain_shortfall_set(0.95).unwrap().unwrap();
        assert!(set.bounds.contains(0.25) && !set.bounds.contains(0.3), "{set:?}");
        assert_eq!(additivity(&cells(&[1.0, 2.0])).map_err(StatsError::code), Err("missing_cell"));
        let means: Vec<Cell> = [1.0, 1.0, 1.0, 1.0].map(|mean| Cell::of_mean(mean).unwrap()).to_vec();
        let found = additivity(&means).unwrap();
        assert_eq!((found.gain_shortfall, found.sub_additivity_set(0.9).unwrap()), (None, None));
    }
}
