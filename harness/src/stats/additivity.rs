//! Whether any number of switches together do what they promise one by one.

use super::factorial::contrast_ratio;
use super::moments::Sum;
use super::{Cell, ContrastRatio, StatsError};

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
