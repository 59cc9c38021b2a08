//! Factorials: several switches, every combination measured.

use super::dist::student_t_isf;
use super::interval::alpha_of;
use super::moments::Sum;
use super::sample::{LARGEST, ln_quotient};
use super::welch::TTest;
use super::{Bounds, Interval, Moments, Sample, StatsError};

/// One combination of switches: its mean, and its spread if that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    mean: f64,
    moments: Option<Moments>,
}

impl Cell {
    /// Takes a sample.
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below 2 observations.
    pub fn of(sample: &Sample) -> Result<Self, StatsError> {
        Moments::of(sample).map(Self::of_moments)
    }

    /// Takes moments.
    pub fn of_moments(moments: Moments) -> Self {
        Self { mean: moments.mean(), moments: Some(moments) }
    }

    /// Takes a mean alone: estimates exist, tests and intervals do not.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`], [`StatsError::InvalidSummary`] beyond 1e300.
    pub fn of_mean(mean: f64) -> Result<Self, StatsError> {
        if !mean.is_finite() {
            Err(StatsError::NonFinite)
        } else if mean.abs() > LARGEST {
            Err(StatsError::InvalidSummary)
        } else {
            Ok(Self { mean, moments: None })
        }
    }

    /// Returns the mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The squared standard error and its degrees of freedom.
    fn variance(&self) -> Option<(f64, f64)> {
        self.moments.map(|moments| {
            let error = moments.standard_error();
            (error * error, moments.size() - 1.0)
        })
    }
}

/// A weighted sum of cell means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The sum, in the unit of the observations.
    pub estimate: f64,
    /// Its standard error; `None` if a cell is a mean alone.
    pub standard_error: Option<f64>,
    /// The test of "the sum is zero"; `None` without a standard error above zero.
    pub test: Option<TTest>,
}

impl Contrast {
    /// Sums cells by weights, with degrees of freedom after Satterthwaite.
    pub(super) fn of(cells: &[Cell], weights: &[f64]) -> Result<Self, StatsError> {
        let estimate = Sum::of(cells.iter().zip(weights).map(|(cell, weight)| weight * cell.mean));
        let spread = Spread::of(cells, weights);
        let standard_error = spread.map(|spread| spread.variance.sqrt());
        let test = match (spread, standard_error) {
            (Some(spread), Some(error)) if error > 0.0 && (estimate / error).is_finite() => {
                Some(TTest::new(estimate / error, spread.df)?)
            }
            _ => None,
        };
        Ok(Self { estimate, standard_error, test })
    }

    /// Returns the confidence interval of the sum; `None` without a test.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let Some((test, error)) = self.test.zip(self.standard_error) else { return Ok(None) };
        Ok(Some(Interval::around(self.estimate, student_t_isf(half, test.df)? * error, level)))
    }
}

/// The variance of a weighted sum of independent means.
#[derive(Clone, Copy)]
struct Spread {
    variance: f64,
    df: f64,
}

impl Spread {
    fn of(cells: &[Cell], weights: &[f64]) -> Option<Self> {
        let (mut variance, mut uncertainty) = (0.0, 0.0);
        for (cell, weight) in cells.iter().zip(weights) {
            let (square, df) = cell.variance()?;
            let part = weight * weight * square;
            variance += part;
            uncertainty += part * part / df;
        }
        Some(Self {
            variance,
            df: if variance > 0.0 { variance * variance / uncertainty } else { f64::INFINITY },
        })
    }
}

/// One effect of a factorial with any number of switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The switches involved: bit i stands for switch i. One bit is a main effect, several are an interaction.
    pub switches: usize,
    /// The effect: the mean over cells that count positive minus the mean over the others.
    pub contrast: Contrast,
}

/// Estimates all main effects and interactions of k switches (Box, Hunter and Hunter 2005).
///
/// The cells come in the order of the number whose bit i says whether switch i is on: for two switches neither, first,
/// second, both. O(4^k). Correct the p-values as a family of `2^k - 1`.
///
/// # Errors
///
/// [`StatsError::Empty`] without cells, [`StatsError::MissingCell`] unless there are 2, 4, 8, ... of them.
pub fn factorial(cells: &[Cell]) -> Result<Vec<Effect>, StatsError> {
    if cells.is_empty() {
        return Err(StatsError::Empty);
    }
    if cells.len() < 2 || !cells.len().is_power_of_two() {
        return Err(StatsError::MissingCell);
    }
    let share = 2.0 / cells.len() as f64;
    (1..cells.len())
        .map(|switches| {
            let weight = |cell: usize| {
                let off = (!cell & switches).count_ones();
                if off.is_multiple_of(2) { share } else { -share }
            };
            let weights: Vec<f64> = (0..cells.len()).map(weight).collect();
            Ok(Effect { switches, contrast: Contrast::of(cells, &weights)? })
        })
        .collect()
}

/// Two switches: what each does, and whether both together do what they promise.
///
/// Shares are fractions: 0.25 is 25 %. "Gain" is relative to neither switch and has the same sign for either direction
/// of the metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factorial2x2 {
    /// The effect of the first switch, averaged over both settings of the second.
    pub main_first: Contrast,
    /// The effect of the second switch, averaged over both settings of the first.
    pub main_second: Contrast,
    /// `both - first - second + neither`: what both do beyond their sum.
    pub interaction: Contrast,
    /// `first + second - neither`: what both should give if effects add.
    pub expected: f64,
    /// `(expected - both) / expected`; `None` for an expectation of 0. Small whenever effects are small against the
    /// level, additive or not.
    pub sub_additivity: Option<f64>,
    /// `expected - neither`.
    pub expected_gain: f64,
    /// `both - neither`.
    pub actual_gain: f64,
    /// `(expected - both) / (expected - neither)`: the share of the expected gain that is lost; `None` if no gain was
    /// expected. The honest measure of additivity.
    pub gain_shortfall: Option<f64>,
    /// `first * second / neither`: what both should give if effects multiply; `None` if that is no number.
    pub expected_multiplicative: Option<f64>,
    cells: [Cell; 4],
}

/// The confidence set of a ratio of contrasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContrastRatio {
    /// The estimate.
    pub value: f64,
    /// Degrees of freedom after Satterthwaite.
    pub df: f64,
    /// The set; it may be a complement or everything if the denominator cannot be told from zero.
    pub bounds: Bounds,
    /// Its level.
    pub level: f64,
}

/// Fieller's set of a ratio of two weighted sums of cells; `None` if a cell is a mean alone or nothing varies.
pub(super) fn contrast_ratio(
    cells: &[Cell],
    above: &[f64],
    below: &[f64],
    value: f64,
    level: f64,
) -> Result<Option<ContrastRatio>, StatsError> {
    let alpha = alpha_of(level)?;
    let at_estimate: Vec<f64> = above.iter().zip(below).map(|(above, below)| above - value * below).collect();
    let Some(spread) = Spread::of(cells, &at_estimate).filter(|spread| spread.variance > 0.0) else {
        return Ok(None);
    };
    let t = student_t_isf(0.5 * alpha, spread.df)?;
    let denominator = Sum::of(cells.iter().zip(below).map(|(cell, weight)| weight * cell.mean));
    // Variances and the covariance in units of the denominator, times t squared.
    let moment = |a: &[f64], b: &[f64]| {
        let parts = cells
            .iter()
            .enumerate()
            .filter_map(|(index, cell)| cell.variance().map(|(square, _)| a[index] * b[index] * square));
        let unit = t / denominator;
        parts.sum::<f64>() * unit * unit
    };
    let (v, g, c) = (moment(above, above), moment(below, below), moment(above, below));
    let discriminant = v - 2.0 * value * c + g * value * value + c * c - g * v;
    let bounds = Bounds::of(1.0 - g, value - c, discriminant);
    Ok(Some(ContrastRatio { value, df: spread.df, bounds, level }))
}

/// The interaction of effects that multiply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiplicativeInteraction {
    /// `both * neither / (first * second)`: 1 if effects multiply.
    pub ratio: f64,
    /// The interval of the ratio, by the delta method on its logarithm.
    pub interval: Interval,
    /// The test of "the ratio is 1".
    pub test: TTest,
}

/// Analyses two switches from the cells neither, first, second and both, in this order.
///
/// # Errors
///
/// [`StatsError::MissingCell`] unless there are four.
pub fn factorial_2x2(cells: &[Cell]) -> Result<Factorial2x2, StatsError> {
    let cells: [Cell; 4] = cells.try_into().map_err(|_| StatsError::MissingCell)?;
    let [neither, first, second, both] = cells.map(|cell| cell.mean);
    let sum = |terms: &[f64]| Sum::of(terms.iter().copied());
    let expected = sum(&[first, second, -neither]);
    let lost = sum(&[first, second, -neither, -both]);
    let expected_gain = sum(&[first, second, -neither, -neither]);
    Ok(Factorial2x2 {
        main_first: Contrast::of(&cells, &[-0.5, 0.5, -0.5, 0.5])?,
        main_second: Contrast::of(&cells, &[-0.5, -0.5, 0.5, 0.5])?,
        interaction: Contrast::of(&cells, &[1.0, -1.0, -1.0, 1.0])?,
        expected,
        sub_additivity: (expected != 0.0).then(|| lost / expected),
        expected_gain,
        actual_gain: both - neither,
        gain_shortfall: (expected_gain != 0.0).then(|| lost / expected_gain),
        expected_multiplicative: Some(first / neither * second).filter(|expected| expected.is_finite()),
        cells,
    })
}

impl Factorial2x2 {
    /// Returns the confidence set of [`Factorial2x2::sub_additivity`] by Fieller's method; `None` if a cell is a mean
    /// alone, nothing varies or the estimate does not exist.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn sub_additivity_set(&self, level: f64) -> Result<Option<ContrastRatio>, StatsError> {
        let Some(value) = self.sub_additivity else { return Ok(None) };
        contrast_ratio(&self.cells, &[-1.0, 1.0, 1.0, -1.0], &[-1.0, 1.0, 1.0, 0.0], value, level)
    }

    /// Returns the confidence set of [`Factorial2x2::gain_shortfall`] by Fieller's method with the covariance of
    /// numerator and denominator; `None` if a cell is a mean alone, nothing varies or the estimate does not exist.
    ///
    /// "Additive" may be said if it lies inside a registered limit.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn gain_shortfall_set(&self, level: f64) -> Result<Option<ContrastRatio>, StatsError> {
        let Some(value) = self.gain_shortfall else { return Ok(None) };
        contrast_ratio(&self.cells, &[-1.0, 1.0, 1.0, -1.0], &[-2.0, 1.0, 1.0, 0.0], value, level)
    }

    /// Returns the interaction of effects that multiply, the natural one for speed-ups; `None` if a cell is a mean
    /// alone, not above zero, or nothing varies.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn multiplicative_interaction(
        &self,
        level: f64,
    ) -> Result<Option<MultiplicativeInteraction>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let means = self.cells.map(|cell| cell.mean);
        if means.iter().any(|mean| *mean <= 0.0) {
            return Ok(None);
        }
        let inverse = means.map(f64::recip);
        let Some(spread) = Spread::of(&self.cells, &inverse).filter(|spread| spread.variance > 0.0) else {
            return Ok(None);
        };
        let [neither, first, second, both] = means;
        let estimate = ln_quotient(both, first) - ln_quotient(second, neither);
        let error = spread.variance.sqrt();
        let reach = student_t_isf(half, spread.df)? * error;
        let (ratio, t) = (estimate.exp(), estimate / error);
        if !ratio.is_normal() || !t.is_finite() {
            return Ok(None);
        }
        Ok(Some(MultiplicativeInteraction {
            ratio,
            interval: Interval::around(estimate, reach, level).map(f64::exp),
            test: TTest::new(t, spread.df)?,
        }))
    }
}
