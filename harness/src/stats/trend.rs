//! Drift over the order in which observations were made.

use super::dist::{Probability, normal_isf, normal_sf};
use super::interval::alpha_of;
use super::moments::Sum;
use super::rank_sum::doubled_midranks;
use super::{Interval, PValue, Sample, StatsError, median};

/// The largest sample without ties whose p-value is also computed exactly.
const EXACT_N: usize = 10;

/// The largest sample whose pairwise slopes are computed.
const MAX_N: usize = 10_000;

/// A test for a monotone trend, with the size of the trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's score: pairs that rise minus pairs that fall.
    pub score: i64,
    /// Variance of the score under the null hypothesis, corrected for ties; 0 if all observations are equal.
    pub variance: f64,
    /// The score, 1 closer to 0, by its deviation; 0 if all observations are equal.
    pub z: f64,
    /// The two-sided p-value of "no trend", from the normal distribution; 1 if all observations are equal.
    pub p: PValue,
    /// The exact two-sided p-value, for at most 10 observations without ties.
    pub p_exact: Option<PValue>,
    /// Kendall's tau, between -1 and 1.
    pub tau: f64,
    /// Sen's slope: the median slope of all pairs, in the unit of the observations per observation.
    pub slope: f64,
    /// The slope over the whole series by the magnitude of the median: 0.01 is a drift of 1 %. `None` for a median of
    /// 0.
    pub relative_drift: Option<f64>,
    /// The level of the fitted line at the first observation.
    pub intercept: f64,
    /// The confidence interval of the slope, from the ranks of the pairwise slopes; `None` if all observations are
    /// equal.
    pub slope_interval: Option<Interval>,
}

/// Tests for drift by Mann and Kendall (Mann 1945; Kendall 1975) and measures it by Sen's slope (Theil 1950; Sen
/// 1968), with a confidence interval of that slope at `level`. O(n^2) time and memory: 4 n^2 bytes while it runs.
///
/// Assumes that the observations are independent under the null hypothesis: positively autocorrelated ones are
/// declared to drift too often.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 3 observations, [`StatsError::InvalidInput`] above 10,000,
/// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
pub fn trend(sample: &Sample, level: f64) -> Result<Trend, StatsError> {
    let quantile = normal_isf(0.5 * alpha_of(level)?)?;
    sample.require(3)?;
    let values = sample.values();
    let n = values.len();
    if n > MAX_N {
        return Err(StatsError::InvalidInput("the trend test takes at most 10,000 observations"));
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (index, earlier) in values.iter().enumerate() {
        let later = values[index + 1..].iter().enumerate();
        slopes.extend(later.map(|(distance, later)| (later - earlier) / (distance + 1) as f64));
    }
    let MannKendall { score, variance, ties, z, p } = MannKendall::of(values);
    let slope = median_in_place(&mut slopes);
    let pairs = slopes.len() as f64;
    let slope_interval = (variance > 0.0).then(|| {
        let reach = quantile * variance.sqrt();
        let lower = ((0.5 * (pairs - reach)).round_ties_even() - 1.0).max(0.0) as usize;
        let upper = (0.5 * (pairs + reach)).round_ties_even().min(pairs - 1.0) as usize;
        Interval { lower: kth_in_place(&mut slopes, lower), upper: kth_in_place(&mut slopes, upper), level }
    });
    Ok(Trend {
        score,
        variance,
        z,
        p,
        p_exact: (n <= EXACT_N && !ties).then(|| exact(n, score.unsigned_abs() as usize)),
        tau: score as f64 / pairs,
        slope,
        relative_drift: Some(slope * (n as f64 - 1.0) / median(sample).abs())
            .filter(|drift| drift.is_finite()),
        intercept: median(sample) - slope * (n as f64 - 1.0) / 2.0,
        slope_interval,
    })
}

/// The p-value of [`trend`] alone, in O(n log n) and without its limit of size.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 3 observations.
pub fn trend_p(sample: &Sample) -> Result<PValue, StatsError> {
    sample.require(3)?;
    Ok(MannKendall::of(sample.values()).p)
}

/// The test of Mann and Kendall, as [`Trend`] has it.
struct MannKendall {
    score: i64,
    variance: f64,
    ties: bool,
    z: f64,
    p: PValue,
}

impl MannKendall {
    fn of(values: &[f64]) -> Self {
        let score = score(&mut values.to_vec());
        let (variance, ties) = score_variance(values);
        let z = if variance > 0.0 { (score - score.signum()) as f64 / variance.sqrt() } else { 0.0 };
        let p = if variance > 0.0 { PValue::from(normal_sf(z.abs())).doubled() } else { PValue::ONE };
        Self { score, variance, ties, z, p }
    }
}

/// Pairs that rise minus pairs that fall: within each half, and, once both are sorted, between them. Sorts the values.
fn score(values: &mut [f64]) -> i64 {
    if values.len() < 2 {
        return 0;
    }
    let (earlier, later) = values.split_at_mut(values.len() / 2);
    let mut sum = score(earlier) + score(later);
    let (mut below, mut up_to) = (0, 0);
    for value in &*earlier {
        below += later[below..].iter().take_while(|it| *it < value).count();
        up_to += later[up_to..].iter().take_while(|it| *it <= value).count();
        sum += (later.len() - up_to) as i64 - below as i64;
    }
    // Two runs in order, which a stable sort merges.
    values.sort_by(f64::total_cmp);
    sum
}

/// The variance of the score, and whether there are ties.
fn score_variance(values: &[f64]) -> (f64, bool) {
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut ranks = doubled_midranks(values);
    ranks.sort_unstable();
    let groups = ranks.chunk_by(|a, b| a == b);
    let tied = Sum::of(groups.map(|group| term(group.len() as f64)));
    (((term(values.len() as f64) - tied) / 18.0).max(0.0), tied > 0.0)
}

/// The two-sided p-value from the distribution of the number of inversions of a permutation.
fn exact(n: usize, score: usize) -> PValue {
    let mut counts = vec![1.0];
    for length in 2..=n {
        let mut longer = vec![0.0; counts.len() + length - 1];
        for (inversions, count) in counts.iter().enumerate() {
            longer[inversions..inversions + length].iter_mut().for_each(|sum| *sum += count);
        }
        counts = longer;
    }
    let pairs = counts.len() - 1;
    let extreme: f64 =
        (0..counts.len()).filter(|inversions| pairs >= 2 * inversions + score).map(|i| counts[i]).sum();
    let total: f64 = counts.iter().sum();
    PValue::from(Probability::from_value(extreme / total)).doubled()
}

/// The k-th smallest value, from 0.
fn kth_in_place(values: &mut [f64], k: usize) -> f64 {
    *values.select_nth_unstable_by(k, f64::total_cmp).1
}

fn median_in_place(values: &mut [f64]) -> f64 {
    let upper = kth_in_place(values, values.len() / 2);
    if values.len() % 2 == 1 { upper } else { 0.5 * kth_in_place(values, values.len() / 2 - 1) + 0.5 * upper }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn the_score_is_that_of_all_pairs() {
        let mut rng = Rng::new(4);
        for n in [0, 1, 2, 3, 10, 77] {
            let values: Vec<f64> = (0..n).map(|_| rng.below(12) as f64 - 5.0).collect();
            let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let sign =
                |(i, j): (usize, usize)| i64::from(values[j] > values[i]) - i64::from(values[j] < values[i]);
            assert_eq!(score(&mut values.clone()), pairs.map(sign).sum::<i64>(), "{values:?}");
        }
        assert_eq!(score(&mut [-0.0, 0.0, -0.0]), 0);
    }
}
