//! How often an observation of one arm exceeds one of the other.

use super::dist::{normal_isf, student_t_isf};
use super::interval::alpha_of;
use super::root::root;
use super::{Interval, Magnitude, Sample, StatsError};

/// Outcomes of all `n_t * n_c` comparisons of an observation of the treatment with one of the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    pub(super) wins: u64,
    pub(super) losses: u64,
    pub(super) ties: u64,
    /// The sum of `t^3 - t` over groups of t equal observations of both arms.
    pub(super) tie_term: u64,
}

impl Pairs {
    /// Counts by one walk through both sorted arms.
    pub(super) fn count(treatment: &Sample, control: &Sample) -> Self {
        let (x, y) = Sample::sorted_both(treatment, control);
        let mut pairs = Self { wins: 0, losses: 0, ties: 0, tie_term: 0 };
        let (mut i, mut j) = (0, 0);
        while i < x.len() && j < y.len() {
            let (own, other) = (x[i], y[j]);
            let alone_x = own < other && (i + 1 == x.len() || x[i + 1] != own);
            let alone_y = other < own && (j + 1 == y.len() || y[j + 1] != other);
            if alone_x | alone_y {
                // The usual step, without a branch on which arm makes it, which nobody could guess.
                pairs.wins += u64::from(alone_x) * j as u64;
                pairs.losses += u64::from(alone_y) * i as u64;
                i += usize::from(alone_x);
                j += usize::from(alone_y);
            } else {
                pairs.step(x, y, &mut i, &mut j);
            }
        }
        while i < x.len() || j < y.len() {
            pairs.step(x, y, &mut i, &mut j);
        }
        pairs
    }

    /// Goes on past all observations that equal the lowest one left.
    fn step(&mut self, x: &[f64], y: &[f64], i: &mut usize, j: &mut usize) {
        let value = match (x.get(*i), y.get(*j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(value), None) | (None, Some(value)) => *value,
            (None, None) => return,
        };
        let equal_x = x[*i..].iter().take_while(|other| **other == value).count();
        let equal_y = y[*j..].iter().take_while(|other| **other == value).count();
        self.wins += equal_x as u64 * *j as u64;
        self.losses += equal_y as u64 * *i as u64;
        self.ties += equal_x as u64 * equal_y as u64;
        let group = (equal_x + equal_y) as u64;
        self.tie_term += group * (group * group - 1);
        *i += equal_x;
        *j += equal_y;
    }
}

/// Cliff's delta and the probability of superiority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CliffsDelta {
    /// Pairs in which the treatment is greater.
    pub wins: u64,
    /// Pairs in which the treatment is less.
    pub losses: u64,
    /// Pairs of equal observations.
    pub ties: u64,
    /// `(wins - losses) / pairs`, from -1 (every observation of the treatment is less) to 1.
    pub delta: f64,
    /// `P(treatment > control) + P(equal) / 2`, Vargha and Delaney's A.
    pub a12: f64,
    n_treatment: f64,
    n_control: f64,
    row_variance: Option<f64>,
    column_variance: Option<f64>,
}

/// Estimates Cliff's delta (Cliff 1993). Ordinal: no transformation that keeps the order changes it.
///
/// O(n log n).
pub fn cliffs_delta(treatment: &Sample, control: &Sample) -> CliffsDelta {
    let Pairs { wins, losses, ties, .. } = Pairs::count(treatment, control);
    let (n_treatment, n_control) = (treatment.len() as f64, control.len() as f64);
    let delta = (wins as f64 - losses as f64) / (n_treatment * n_control);
    CliffsDelta {
        wins,
        losses,
        ties,
        delta,
        a12: (wins as f64 + 0.5 * ties as f64) / (n_treatment * n_control),
        n_treatment,
        n_control,
        row_variance: dominance_variance(treatment, control, delta),
        column_variance: dominance_variance(control, treatment, -delta),
    }
}

/// Tells, for every observation of one ascending arm, how many of the other are below it and how many are not above it.
pub(super) fn each_placement(own: &[f64], other: &[f64], mut tell: impl FnMut(usize, usize)) {
    let (mut index, mut below) = (0, 0);
    while index < own.len() {
        let value = own[index];
        let step = below < other.len() && other[below] < value;
        if step {
            below += 1;
            continue;
        }
        let mut not_above = below;
        while not_above < other.len() && other[not_above] <= value {
            not_above += 1;
        }
        while index < own.len() && own[index] == value {
            tell(below, not_above);
            index += 1;
        }
        below = not_above;
    }
}

/// The variance, over observations of one arm, of their mean dominance over the other arm.
fn dominance_variance(own: &Sample, other: &Sample, delta: f64) -> Option<f64> {
    if own.len() < 2 {
        return None;
    }
    let n = other.len() as f64;
    let mut sum = super::moments::Sum::default();
    each_placement(own.sorted(), other.sorted(), |below, not_above| {
        let dominance = (below as f64 - (n - not_above as f64)) / n;
        sum.add((dominance - delta) * (dominance - delta));
    });
    Some(sum.value() / (own.len() as f64 - 1.0))
}

impl CliffsDelta {
    /// Returns the usual word for the size of delta.
    pub fn magnitude(&self) -> Magnitude {
        Magnitude::of_delta(self.delta)
    }

    /// Returns the confidence interval of delta by Newcombe's method 5 (Newcombe 2006), mapped from the
    /// probability of superiority. It exists, and is honest, also for arms that do not overlap at all.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn newcombe_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let z = normal_isf(0.5 * alpha_of(level)?)?;
        let estimate = self.a12;
        let mean_n = 0.5 * (self.n_treatment + self.n_control) - 1.0;
        // The score equation, divided by what vanishes at an estimate of 0 or 1.
        let excess = |theta: f64| {
            let factor = z * z / (self.n_treatment * self.n_control)
                * (1.0 + mean_n * (1.0 - theta) / (2.0 - theta) + mean_n * theta / (1.0 + theta));
            if estimate == 0.0 {
                theta - factor * (1.0 - theta)
            } else if estimate == 1.0 {
                (1.0 - theta) - factor * theta
            } else {
                (estimate - theta) * (estimate - theta) - factor * theta * (1.0 - theta)
            }
        };
        let lower = if estimate == 0.0 { 0.0 } else { root(0.0, estimate, excess) };
        let upper = if estimate == 1.0 { 1.0 } else { root(estimate, 1.0, excess) };
        Ok(Interval { lower, upper, level }.map(|theta| 2.0 * theta - 1.0))
    }

    /// Returns Cliff's consistent estimate of the variance of delta (Cliff 1996); `None` below 2 observations in
    /// an arm. It is 0 for arms that do not overlap.
    pub fn consistent_variance(&self) -> Option<f64> {
        let (m, n) = (self.n_treatment, self.n_control);
        let (rows, columns) = (self.row_variance?, self.column_variance?);
        Some(((n - 1.0) * rows + (m - 1.0) * columns + self.cell_variance()) / (m * n))
    }

    /// Returns the unbiased estimate of the variance of delta, which can be negative; `None` below 2
    /// observations in an arm.
    pub fn unbiased_variance(&self) -> Option<f64> {
        let (m, n) = (self.n_treatment, self.n_control);
        let (rows, columns) = (self.row_variance? * (m - 1.0), self.column_variance? * (n - 1.0));
        let cells = self.cell_variance() * (m - 1.0) * (n - 1.0);
        Some((n * n * rows + m * m * columns - cells) / (m * n * (m - 1.0) * (n - 1.0)))
    }

    /// Returns the asymmetric interval of delta from the consistent variance (Feng and Cliff 2004); `None` where
    /// that variance is 0 or does not exist. Too narrow close to -1 and 1.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn cliff_interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        let z = normal_isf(0.5 * alpha_of(level)?)?;
        Ok(self.asymmetric(self.consistent_variance(), z, level))
    }

    /// Returns the asymmetric interval from the unbiased variance and a t quantile, as R's `effsize` has it;
    /// `None` where that variance is not positive.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn unbiased_interval(&self, level: f64) -> Result<Option<Interval>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let df = self.n_treatment + self.n_control - 2.0;
        if df < 1.0 {
            return Ok(None);
        }
        let t = student_t_isf(half, df)?;
        Ok(self.asymmetric(self.unbiased_variance(), t, level))
    }

    fn asymmetric(&self, variance: Option<f64>, z: f64, level: f64) -> Option<Interval> {
        let variance = variance.filter(|variance| *variance > 0.0 && self.delta.abs() < 1.0)?;
        let rest = 1.0 - self.delta * self.delta;
        let half = z * variance.sqrt() * (rest * rest + z * z * variance).sqrt();
        let scale = rest + z * z * variance;
        Some(Interval::around(self.delta * rest, half, level).map(|limit| limit / scale))
    }

    /// The variance of the outcomes of single pairs.
    fn cell_variance(&self) -> f64 {
        let square = |outcome: f64| (outcome - self.delta) * (outcome - self.delta);
        let sum = self.wins as f64 * square(1.0)
            + self.losses as f64 * square(-1.0)
            + self.ties as f64 * square(0.0);
        sum / ((self.n_treatment - 1.0) * (self.n_control - 1.0))
    }
}
