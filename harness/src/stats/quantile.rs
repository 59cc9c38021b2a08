//! Quantiles of a sample.

use super::{Sample, StatsError, radix};

/// Returns the quantile of order `p` by linear interpolation at `(n - 1) p`: type 7 of Hyndman and Fan (1996),
/// the default of R and NumPy.
///
/// O(n log n) for the first quantile of a sample, O(1) for further ones.
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 <= p <= 1`.
pub fn quantile(sample: &Sample, p: f64) -> Result<f64, StatsError> {
    check_order(p)?;
    Ok(type_7(sample.sorted(), p))
}

/// Returns the median, the quantile of order 1/2. O(n log n) at first.
pub fn median(sample: &Sample) -> f64 {
    type_7(sample.sorted(), 0.5)
}

/// Says whether a sample of `n` supports a quantile of order `p`: at least five observations are expected on
/// its thinner side. Otherwise the quantile is little more than an interpolation between the extremes.
pub fn supports_quantile(n: usize, p: f64) -> bool {
    n as f64 * p.min(1.0 - p) >= 5.0
}

/// Returns an error unless `p` is the order of a quantile.
pub(super) fn check_order(p: f64) -> Result<(), StatsError> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err(StatsError::InvalidLevel { level: p }) }
}

/// Type 7 on ascending values.
pub(super) fn type_7(sorted: &[f64], p: f64) -> f64 {
    interpolate(sorted, (sorted.len() - 1) as f64 * p)
}

/// Type 7 on values in any order, which it changes. O(n).
pub(super) fn type_7_of_any(values: &mut [f64], p: f64) -> f64 {
    let position = (values.len() - 1) as f64 * p;
    let below = (position.floor().max(0.0) as usize).min(values.len() - 1);
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*low);
    between(*low, high, position - below as f64)
}

/// The value at a fractional 0-based position among ascending values.
pub(super) fn interpolate(sorted: &[f64], position: f64) -> f64 {
    let last = sorted.len() - 1;
    let below = (position.floor().max(0.0) as usize).min(last);
    between(sorted[below], sorted[(below + 1).min(last)], position - below as f64)
}

fn between(low: f64, high: f64, share: f64) -> f64 {
    if low == high || share <= 0.0 {
        low
    } else if share == 0.5 && (high - low).is_infinite() {
        0.5 * low + 0.5 * high
    } else {
        low + share * (high - low)
    }
}

/// Sorts a copy of finite values.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    radix::sorted_in_place(values.into_iter().collect())
}

/// The median of values in any order, at least one.
pub(super) fn median_of(values: impl IntoIterator<Item = f64>) -> f64 {
    type_7(&sorted(values), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn selecting_a_quantile_is_sorting_for_it() {
        let mut rng = Rng::new(3);
        for n in [1, 2, 7, 50, 401] {
            let mut values: Vec<f64> = (0..n).map(|_| rng.below(9) as f64 - 4.0).collect();
            values[0] = -0.0;
            for p in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let expected = type_7(&sorted(values.iter().copied()), p);
                assert_eq!(type_7_of_any(&mut values, p).to_bits(), expected.to_bits(), "{n}, {p}");
            }
        }
    }
}
