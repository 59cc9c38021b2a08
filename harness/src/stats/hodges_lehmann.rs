//! The shift between two arms.

use super::dist::normal_isf;
use super::dominance::Pairs;
use super::interval::alpha_of;
use super::mann_whitney::EXACT_PAIRS;
use super::rank_sum::{choose, null_counts};
use super::select::{kth_difference, median_by};
use super::{Interval, Sample, StatsError};

/// By how much the treatment is shifted against the control.
#[derive(Clone, Debug, PartialEq)]
pub struct HodgesLehmann {
    /// The median of all differences of an observation of the treatment and one of the control, in their unit.
    pub shift: f64,
    treatment: Sample,
    control: Sample,
    pairs: Pairs,
}

/// The confidence interval of a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftInterval {
    /// The interval, with the level that was asked for.
    pub interval: Interval,
    /// The rank of its lower limit among all differences, from 1; the upper limit has the same from above.
    pub rank: u64,
    /// The level that it has: below the wanted one for a handful of observations. `None` where it is only known
    /// asymptotically.
    pub achieved: Option<f64>,
}

/// Estimates the shift between two arms (Hodges and Lehmann 1963): what the Mann-Whitney test is about if both have
/// the same shape. O(n log n).
pub fn hodges_lehmann(treatment: &Sample, control: &Sample) -> HodgesLehmann {
    let (x, y) = Sample::sorted_both(treatment, control);
    let total = x.len() as u64 * y.len() as u64;
    HodgesLehmann {
        shift: median_by(total, |k| kth_difference(x, y, k)),
        treatment: treatment.clone(),
        control: control.clone(),
        pairs: Pairs::count(treatment, control),
    }
}

impl HodgesLehmann {
    fn total(&self) -> u64 {
        self.treatment.len() as u64 * self.control.len() as u64
    }

    fn limits(&self, rank: u64, level: f64, achieved: Option<f64>) -> ShiftInterval {
        let (x, y) = (self.treatment.sorted(), self.control.sorted());
        let interval = Interval {
            lower: kth_difference(x, y, rank),
            upper: kth_difference(x, y, self.total() + 1 - rank),
            level,
        };
        ShiftInterval { interval, rank, achieved }
    }

    /// Returns the confidence interval of the shift that belongs to the Mann-Whitney test: exact without ties and up
    /// to 10,000 pairs, otherwise asymptotic (Bauer 1972).
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<ShiftInterval, StatsError> {
        if self.pairs.tie_term > 0 || self.total() > EXACT_PAIRS {
            return self.asymptotic_interval(level);
        }
        let half = 0.5 * alpha_of(level)?;
        let (n, m) = (self.treatment.len(), self.control.len());
        let all = choose(n + m, n.min(m));
        let (mut below, mut rank) = (0.0, 0);
        for (u, count) in null_counts(n, m, n * m / 2).into_iter().enumerate() {
            rank = u as u64;
            if (below + count) / all >= half {
                if u == 0 {
                    // Even the widest interval misses the level.
                    (below, rank) = (count, 1);
                }
                break;
            }
            below += count;
        }
        Ok(self.limits(rank, level, Some(1.0 - 2.0 * below / all)))
    }

    /// Returns the interval from the normal distribution of U, with the variance corrected for ties.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn asymptotic_interval(&self, level: f64) -> Result<ShiftInterval, StatsError> {
        let z = normal_isf(0.5 * alpha_of(level)?)?;
        let n = (self.treatment.len() + self.control.len()) as f64;
        let total = self.total() as f64;
        let tied = if n > 1.0 { self.pairs.tie_term as f64 / (n * (n - 1.0)) } else { 0.0 };
        let sigma = (total / 12.0 * ((n + 1.0) - tied)).max(0.0).sqrt();
        let rank = (0.5 * total - z * sigma).floor().max(1.0) as u64;
        Ok(self.limits(rank, level, None))
    }
}
