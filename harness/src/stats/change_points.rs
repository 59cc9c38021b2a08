//! Where the mean of a series changes.

use super::dist::normal_isf;
use super::moments::{Sum, scale_for};
use super::quantile::median_of;
use super::rank_sum::doubled_midranks;
use super::{Moments, PValue, Sample, StatsError};

/// The shortest segment between two change points.
const MIN_SEGMENT: usize = 2;

/// The segments of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePoints {
    /// Standard deviation within segments, from the differences of neighbors and thus hardly moved by the changes.
    pub sigma: f64,
    /// What another segment costs.
    pub penalty: f64,
    /// Indices at which a new segment starts, from 0, ascending.
    pub starts: Vec<usize>,
    /// Sum of squares within segments plus the penalties: the smallest there is.
    pub objective: f64,
}

/// Divides a series into segments of different mean: the exact minimum of the squares within segments plus
/// `factor * sigma^2 * ln n` a change point (Killick, Fearnhead and Eckley 2012; 3 is a usual factor).
///
/// Segments have at least 2 observations. O(n) for series with many changes, O(n^2) at worst.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 4 observations, [`StatsError::InvalidInput`] unless the factor is positive.
pub fn change_points(series: &Sample, factor: f64) -> Result<ChangePoints, StatsError> {
    series.require(2 * MIN_SEGMENT)?;
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(StatsError::InvalidInput("the factor of the penalty must be positive"));
    }
    let moments = Moments::of(series)?;
    let unit = scale_for(moments.sd());
    let values: Vec<f64> = series.values().iter().map(|value| moments.deviation(*value) * unit).collect();
    let n = values.len();
    let sigma = neighbor_sigma(&values)?;
    let penalty = factor * sigma * sigma * (n as f64).ln();
    let (starts, objective) = segment(&values, penalty);
    let square = unit * unit;
    Ok(ChangePoints { sigma: sigma / unit, penalty: penalty / square, starts, objective: objective / square })
}

/// Median deviation of the differences of neighbors; their mean deviation if most of them are equal.
fn neighbor_sigma(values: &[f64]) -> Result<f64, StatsError> {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let median = median_of(steps.iter().copied());
    let deviation = median_of(steps.iter().map(|step| (step - median).abs()));
    let of_normal = normal_isf(0.25)?;
    if deviation > 0.0 {
        return Ok(deviation / of_normal / std::f64::consts::SQRT_2);
    }
    let mean = Sum::of(steps.iter().map(|step| (step - median).abs())) / steps.len() as f64;
    Ok(mean * (0.5 * std::f64::consts::PI).sqrt() / std::f64::consts::SQRT_2)
}

/// The best segmentation by dynamic programming over the last change point, with candidates that can never win again
/// left out.
fn segment(values: &[f64], penalty: f64) -> (Vec<usize>, f64) {
    let n = values.len();
    let (mut sum, mut square) = (Sum::default(), Sum::default());
    let mut prefixes = vec![(0.0, 0.0)];
    for value in values {
        sum.add(*value);
        square.add(value * value);
        prefixes.push((sum.value(), square.value()));
    }
    let cost = |start: usize, end: usize| {
        let total = prefixes[end].0 - prefixes[start].0;
        let squares = prefixes[end].1 - prefixes[start].1;
        (squares - total * total / (end - start) as f64).max(0.0)
    };
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut previous = vec![0; n + 1];
    // Starts of the last segment, each with the first end at which it need no longer be tried.
    let mut candidates = vec![(0, usize::MAX)];
    for end in MIN_SEGMENT..=n {
        if end >= 2 * MIN_SEGMENT {
            candidates.push((end - MIN_SEGMENT, usize::MAX));
        }
        let total = |start: usize| best[start] + cost(start, end);
        let totals: Vec<f64> = candidates.iter().map(|(start, _)| total(*start)).collect();
        for ((start, _), total) in candidates.iter().zip(&totals) {
            if total + penalty < best[end] {
                best[end] = total + penalty;
                previous[end] = *start;
            }
        }
        // A start that loses by more than a penalty loses for good, from where a segment can start here.
        for ((_, expiry), total) in candidates.iter_mut().zip(&totals) {
            if *total > best[end] {
                *expiry = (*expiry).min(end + MIN_SEGMENT);
            }
        }
        candidates.retain(|(_, expiry)| end + 1 < *expiry);
    }
    let mut starts = Vec::new();
    let mut end = n;
    while previous[end] > 0 {
        end = previous[end];
        starts.push(end);
    }
    starts.reverse();
    (starts, best[n])
}

/// The result of Pettitt's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pettitt {
    /// The largest excess of rising over falling pairs across one point, or the reverse.
    pub k: u64,
    /// The number of observations before that point.
    pub before: usize,
    /// The approximate p-value of "there is no change".
    pub p: PValue,
}

/// Tests for a single change of level by ranks (Pettitt 1979), O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations.
pub fn pettitt(series: &Sample) -> Result<Pettitt, StatsError> {
    series.require(2)?;
    let ranks = doubled_midranks(series.values());
    let n = ranks.len();
    let (mut sum, mut k, mut before) = (0i64, 0, 1);
    for (index, rank) in ranks[..n - 1].iter().enumerate() {
        sum += *rank as i64 - (n as i64 + 1);
        if sum.unsigned_abs() > k {
            k = sum.unsigned_abs();
            before = index + 1;
        }
    }
    let (size, k_size) = (n as f64, k as f64);
    let ln = std::f64::consts::LN_2 - 6.0 * k_size * k_size / (size * size * size + size * size);
    Ok(Pettitt { k, before, p: PValue::from_ln(ln.min(0.0))? })
}
