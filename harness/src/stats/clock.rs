//! Whether the clock was fine enough for what it measured.

use super::{Sample, median};

/// Fewer ticks than these in a typical observation, and one tick is more than 1 %.
pub const ENOUGH_QUANTA: f64 = 100.0;

/// A larger share of tied observations than this is more than chance gives to a fine clock.
pub const MANY_TIES: f64 = 0.5;

/// Steps this many times above the rounding of the observations can be told from it.
const ABOVE_ROUNDING: f64 = 1_024.0;

/// What a sample tells about the steps in which it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Number of observations.
    pub n: usize,
    /// Number of different values among them.
    pub distinct: usize,
    /// Observations that equal another one, as a share of all.
    pub tied_share: f64,
    /// The smallest difference of two observations that is not 0, in their unit: the quantum is at most this. `None`
    /// if all are equal.
    pub smallest_step: Option<f64>,
    /// The step of which all differences are multiples, in the unit of the observations; `None` if there is none above
    /// the rounding of an `f64`, or fewer than 3 different values to tell it from.
    pub quantum: Option<f64>,
    /// The magnitude of the median in quanta; `None` without a quantum.
    pub quanta: Option<f64>,
}

impl Resolution {
    /// Estimates the resolution of the clock, or of any other measure, behind a sample: the greatest common divisor of
    /// all differences, up to rounding.
    ///
    /// A sample of fractions, such as means over many operations, has no quantum. O(n log n).
    pub fn of(sample: &Sample) -> Self {
        let sorted = sample.sorted();
        let n = sorted.len();
        let groups = sorted.chunk_by(|a, b| a == b);
        let (mut distinct, mut tied) = (Vec::with_capacity(n), 0);
        for group in groups {
            distinct.push(group[0]);
            tied += if group.len() > 1 { group.len() } else { 0 };
        }
        let gaps: Vec<f64> = distinct.windows(2).map(|pair| 0.5 * pair[1] - 0.5 * pair[0]).collect();
        let largest = sorted[0].abs().max(sorted[n - 1].abs());
        let smallest_step = gaps.iter().copied().min_by(f64::total_cmp).map(|half| 2.0 * half);
        let quantum = (gaps.len() > 1)
            .then(|| common_step(&gaps, f64::EPSILON * largest))
            .flatten()
            .map(|half| 2.0 * half);
        Self {
            n,
            distinct: distinct.len(),
            tied_share: tied as f64 / n as f64,
            smallest_step,
            quantum,
            quanta: quantum.map(|quantum| median(sample).abs() / quantum).filter(|quanta| quanta.is_finite()),
        }
    }

    /// Says whether a typical observation has fewer than `quanta` steps; [`ENOUGH_QUANTA`] is a usual number. False
    /// if the quantum is not known.
    pub fn is_below(&self, quanta: f64) -> bool {
        self.quanta.is_some_and(|found| found < quanta)
    }

    /// Says whether more than `share` of the observations are tied, [`MANY_TIES`] for example: ranks then carry little,
    /// and tests of a shape reject because of the steps.
    pub fn is_tied(&self, share: f64) -> bool {
        self.tied_share > share
    }
}

/// The greatest common divisor of positive gaps that are each wrong by at most `rounding`, by Euclid's algorithm with the
/// error of every remainder carried along.
fn common_step(gaps: &[f64], rounding: f64) -> Option<f64> {
    let mut step = Step { size: gaps.iter().copied().min_by(f64::total_cmp)?, error: rounding };
    for gap in gaps {
        let (mut a, mut b) = (Step { size: *gap, error: rounding }, step);
        loop {
            if b.size < ABOVE_ROUNDING * b.error {
                return None;
            }
            let times = (a.size / b.size).round();
            let rest = Step { size: (a.size - times * b.size).abs(), error: a.error + times * b.error };
            if rest.size <= rest.error {
                break;
            }
            (a, b) = (b, rest);
        }
        // The gap is a multiple, and the more steps it has, the better it tells the size of one.
        let times = (gap / b.size).round();
        step = if times * b.error < 0.25 * b.size && rounding / times < b.error {
            Step { size: gap / times, error: rounding / times }
        } else {
            b
        };
    }
    // The whole range tells it best.
    let range: f64 = gaps.iter().sum();
    Some(range / (range / step.size).round()).filter(|step| step.is_finite() && *step > 0.0)
}

/// A difference and how wrong it may be.
#[derive(Clone, Copy)]
struct Step {
    size: f64,
    error: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    fn resolution(values: Vec<f64>) -> Resolution {
        Resolution::of(&Sample::new(values).unwrap())
    }

    fn ticks(n: usize, level: f64, spread: usize, quantum: f64) -> Vec<f64> {
        let mut rng = Rng::new(3);
        (0..n).map(|_| (level + rng.below(spread) as f64) * quantum).collect()
    }

    #[test]
    fn finds_the_step_of_a_clock() {
        // Nanoseconds in milliseconds, ticks of 41.666 ns in seconds, whole milliseconds, a quarter.
        for quantum in [1e-6, 41.666e-9, 1.0, 0.25] {
            for (level, spread) in [(30.0, 7), (1e4, 900), (8e6, 100_000)] {
                let found = resolution(ticks(60, level, spread, quantum));
                let step = found.quantum.unwrap_or_else(|| panic!("{quantum} {level} {found:?}"));
                assert!((step / quantum - 1.0).abs() < 1e-6, "{quantum} {level}: {found:?}");
                assert_eq!(found.is_below(ENOUGH_QUANTA), level < 100.0);
            }
        }
    }

    #[test]
    fn a_fine_measure_has_no_step() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let values = (0..20).map(|_| 8.0 + (rng.next_u64() >> 12) as f64 / (1u64 << 52) as f64).collect();
            let found = resolution(values);
            assert_eq!((found.quantum, found.tied_share), (None, 0.0));
            assert!(!found.is_below(ENOUGH_QUANTA) && !found.is_tied(MANY_TIES));
        }
    }

    #[test]
    fn ties_are_counted() {
        let found = resolution(vec![3.0, 4.0, 3.0, 5.0, 3.0, 6.0]);
        assert_eq!((found.distinct, found.tied_share, found.smallest_step), (4, 0.5, Some(1.0)));
        assert!(found.is_below(5.0) && !found.is_tied(0.5) && found.is_tied(0.4));
        let found = resolution(vec![7.0; 4]);
        assert_eq!((found.distinct, found.tied_share, found.quantum), (1, 1.0, None));
    }
}
