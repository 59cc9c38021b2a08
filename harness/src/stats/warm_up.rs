//! How much of a series is warm-up.

use super::moments::Sum;
use super::{Moments, Sample, StatsError};

/// Observations averaged into one batch.
const BATCH: usize = 5;

/// Returns how many first observations to leave out so that the mean of the rest is known best: the rule MSER-5 (White
/// 1997) over means of 5, up to half of the series.
///
/// A check of a declared warm-up: more than 0 after it means that the series had not settled. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 10 observations.
pub fn warm_up_length(series: &Sample) -> Result<usize, StatsError> {
    series.require(2 * BATCH)?;
    let moments = Moments::of(series)?;
    let unit = super::moments::scale_for(moments.sd());
    let batches: Vec<f64> = series
        .values()
        .chunks_exact(BATCH)
        .map(|batch| Sum::of(batch.iter().map(|value| moments.deviation(*value) * unit)) / BATCH as f64)
        .collect();
    let m = batches.len();
    // Squares around the mean of everything from a batch on, built up from the last one.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (start, batch) in batches.iter().enumerate().rev() {
        count += 1.0;
        let distance = batch - mean;
        mean += distance / count;
        squares += distance * (batch - mean);
        let score = squares / (count * count);
        if start <= m / 2 && score <= best.0 {
            best = (score, start);
        }
    }
    Ok(BATCH * best.1)
}
