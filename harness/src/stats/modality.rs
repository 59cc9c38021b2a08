//! Whether a sample is plausibly of one piece.

use super::moments::scale_for;
use super::permutation::monte_carlo_p;
use super::rng::Rng;
use super::{PValue, Resolution, Sample, StatsError, parallel};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Simulated samples behind a p-value.
const SAMPLES: usize = 2_000;

/// Samples beyond this size are simulated at it: `sqrt(n) dip` hardly depends on n any more.
const LARGEST_SIMULATED: usize = 1_000;

/// Pieces of work that are worth a thread.
const GRAIN: usize = 100;

/// The result of a dip test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modality {
    /// The largest distance of the sample's distribution function from the nearest one with a single mode, between
    /// `1 / (2 n)` and 1/4.
    pub dip: f64,
    /// The p-value of "there is one mode"; small means two or more. 1 if all observations are equal.
    pub p: PValue,
    /// The simulated samples behind it.
    pub resamples: u64,
    /// The seed that makes them.
    pub seed: u64,
}

/// Tests a sample for unimodality by Hartigan's dip (Hartigan and Hartigan 1985), computed by their algorithm AS 217, with
/// a p-value from 2,000 uniform samples of the same size.
///
/// The uniform distribution is the least favorable one with a single mode, so that a sharper mode is rejected less often
/// than alpha; with 50 observations two modes that lie six of their deviations apart are seen nearly always, at four and a half not half
/// of the time. Equal observations
/// are first spread evenly over the step in which they were measured, because the steps of a clock are no modes. Beyond
/// 1,000 observations the simulation has 1,000 and scales the dip by `sqrt n`. The seed decides the p-value, the number
/// of threads does not. O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 8 observations.
pub fn modality(sample: &Sample, seed: u64) -> Result<Modality, StatsError> {
    sample.require(8)?;
    let n = sample.len();
    if sample.is_constant() {
        let dip = 0.5 / n as f64;
        return Ok(Modality { dip, p: PValue::ONE, resamples: 0, seed });
    }
    let dip = dip(&without_ties(sample));
    let size = n.min(LARGEST_SIMULATED);
    let threshold = dip * (n as f64 / size as f64).sqrt();
    let least = threshold * (1.0 - 1e-12);
    let null = null_dips(size, seed);
    let extreme = (null.len() - null.partition_point(|dip| *dip < least)) as u64;
    Ok(Modality { dip, p: monte_carlo_p(extreme, SAMPLES as u64), resamples: SAMPLES as u64, seed })
}

/// Simulations that are kept, of 16 KB each.
const KEPT: usize = 32;

/// The ascending dips of uniform samples. They depend on nothing but size and seed, and the samples of one experiment
/// have both in common: simulated once, and kept for the next.
fn null_dips(size: usize, seed: u64) -> Arc<[f64]> {
    type Simulation = ((usize, u64), Arc<[f64]>);
    static NEWEST: Mutex<VecDeque<Simulation>> = Mutex::new(VecDeque::new());
    let kept = || NEWEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, dips)) = kept().iter().find(|(of, _)| *of == (size, seed)) {
        return Arc::clone(dips);
    }
    // Not under the lock: who simulates the same meanwhile finds the same.
    let mut dips = simulated_dips(size, seed);
    dips.sort_unstable_by(f64::total_cmp);
    let dips: Arc<[f64]> = dips.into();
    let mut kept = kept();
    kept.push_back(((size, seed), Arc::clone(&dips)));
    if kept.len() > KEPT {
        kept.pop_front();
    }
    dips
}

fn simulated_dips(size: usize, seed: u64) -> Vec<f64> {
    parallel::map(SAMPLES, GRAIN, |index| {
        let mut rng = Rng::stream(seed, index as u64);
        let mut values: Vec<u64> = (0..size).map(|_| rng.next_u64() >> 11).collect();
        values.sort_unstable();
        let values: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
        dip(&values)
    })
}

/// The ascending sample in units of about its range, with equal observations spread over the step of the clock.
fn without_ties(sample: &Sample) -> Vec<f64> {
    let sorted = sample.sorted();
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    let unit = scale_for(0.5 * high - 0.5 * low);
    let middle = sorted[sorted.len() / 2];
    let resolution = Resolution::of(sample);
    let step = resolution.quantum.or(resolution.smallest_step).unwrap_or(0.0) * unit;
    let tied = resolution.tied_share > 0.0;
    let mut values = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a == b) {
        let value = (0.5 * group[0] - 0.5 * middle) * unit * 2.0;
        let size = group.len() as f64;
        for place in 0..group.len() {
            let share = if tied { (place as f64 + 0.5) / size - 0.5 } else { 0.0 };
            values.push(value + step * share);
        }
    }
    values
}

/// The dip of ascending values: at least 2, not all equal.
fn dip(x: &[f64]) -> f64 {
    let n = x.len();
    let (minorant, majorant) = (minorant(x), majorant(x));
    // Everything in units of 1 / (2 n).
    let mut dip: f64 = 1.0;
    let (mut low, mut high) = (0, n - 1);
    loop {
        // The touching points of both hulls between the limits: of the minorant from above, of the majorant from below.
        let lower = chain(high, |point| (point > low).then(|| minorant[point]));
        let upper = chain(low, |point| (point < high).then(|| majorant[point]));
        let Gap { distance, lower_end, upper_end } = widest_gap(x, &lower, &upper);
        if distance < dip {
            break;
        }
        let outside = below_minorant(x, &lower[lower_end..]).max(above_majorant(x, &upper[upper_end..]));
        dip = dip.max(outside);
        if low == lower[lower_end] && high == upper[upper_end] {
            break;
        }
        (low, high) = (lower[lower_end], upper[upper_end]);
    }
    0.5 * dip / n as f64
}

fn chain(start: usize, next: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    std::iter::successors(Some(start), |point| next(*point)).collect()
}

/// For each point the one before it on the greatest convex minorant of the points up to it.
fn minorant(x: &[f64]) -> Vec<usize> {
    let mut before = vec![0; x.len()];
    for point in 1..x.len() {
        let mut last = point - 1;
        while last > 0 {
            let earlier = before[last];
            let (run, earlier_run) = ((point - last) as f64, (last - earlier) as f64);
            if (x[point] - x[last]) * earlier_run < (x[last] - x[earlier]) * run {
                break;
            }
            last = earlier;
        }
        before[point] = last;
    }
    before
}

/// For each point the one after it on the least concave majorant of the points from it on.
fn majorant(x: &[f64]) -> Vec<usize> {
    let end = x.len() - 1;
    let mut after = vec![end; x.len()];
    for point in (0..end).rev() {
        let mut next = point + 1;
        while next < end {
            let later = after[next];
            let (run, later_run) = ((next - point) as f64, (later - next) as f64);
            if (x[next] - x[point]) * later_run < (x[later] - x[next]) * run {
                break;
            }
            next = later;
        }
        after[point] = next;
    }
    after
}

/// Where the hulls are farthest apart, as positions in their chains.
struct Gap {
    distance: f64,
    lower_end: usize,
    upper_end: usize,
}

fn widest_gap(x: &[f64], lower: &[usize], upper: &[usize]) -> Gap {
    let mut gap = Gap { distance: 0.0, lower_end: lower.len() - 1, upper_end: upper.len() - 1 };
    if lower.len() == 2 && upper.len() == 2 {
        gap.distance = 1.0;
        return gap;
    }
    let (mut i, mut j) = (lower.len() - 2, 1);
    loop {
        let (own, other) = (lower[i], upper[j]);
        if own > other {
            let from = lower[i + 1];
            let share = (x[other] - x[from]) / (x[own] - x[from]);
            let distance = (other + 1 - from) as f64 - share * (own - from) as f64;
            j += 1;
            if distance >= gap.distance {
                gap = Gap { distance, lower_end: i + 1, upper_end: j - 1 };
            }
        } else {
            let from = upper[j - 1];
            let share = (x[own] - x[from]) / (x[other] - x[from]);
            let distance = share * (other - from) as f64 - (own as f64 - from as f64 - 1.0);
            if distance >= gap.distance {
                gap = Gap { distance, lower_end: i, upper_end: j };
            }
            i = i.saturating_sub(1);
        }
        j = j.min(upper.len() - 1);
        if lower[i] == upper[j] {
            return gap;
        }
    }
}

/// How far the sample lies from the minorant, over the descending points of its chain.
fn below_minorant(x: &[f64], chain: &[usize]) -> f64 {
    farthest(x, chain.windows(2).map(|pair| (pair[1], pair[0])), |place, height| place as f64 + 1.0 - height)
}

/// How far the sample lies from the majorant, over the ascending points of its chain.
fn above_majorant(x: &[f64], chain: &[usize]) -> f64 {
    farthest(x, chain.windows(2).map(|pair| (pair[0], pair[1])), |place, height| {
        height - (place as f64 - 1.0)
    })
}

/// The largest distance of the points of some edges from the line between their ends, at least 1.
fn farthest(
    x: &[f64],
    edges: impl Iterator<Item = (usize, usize)>,
    distance: impl Fn(usize, f64) -> f64,
) -> f64 {
    let mut largest: f64 = 1.0;
    for (start, end) in edges {
        if end - start > 1 && x[end] > x[start] {
            let slope = (end - start) as f64 / (x[end] - x[start]);
            for point in start..=end {
                largest = largest.max(distance(point - start, (x[point] - x[start]) * slope));
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests;
