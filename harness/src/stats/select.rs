//! The k-th smallest of all pairwise differences or means, without writing them down.

use super::radix::{key, value};

/// Returns the smallest value that at least `k` of a set do not exceed, where `count` says how many do not. The
/// result is an element of the set, to the bit, after at most 64 counts.
fn smallest(low: f64, high: f64, k: u64, count: impl Fn(f64) -> u64) -> f64 {
    let (mut low, mut high) = (key(low), key(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if count(value(middle)) >= k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    value(low)
}

/// Returns the `k`-th smallest (from 1) of all `x_i - y_j`, given ascending x and y. O(n + m).
pub(super) fn kth_difference(x: &[f64], y: &[f64], k: u64) -> f64 {
    let count = |limit: f64| {
        // Rounding keeps the order, so the differences that do not exceed the limit form a staircase.
        let mut first = 0;
        let mut count = 0;
        for value in x {
            while first < y.len() && value - y[first] > limit {
                first += 1;
            }
            count += (y.len() - first) as u64;
        }
        count
    };
    smallest(x[0] - y[y.len() - 1], x[x.len() - 1] - y[0], k, count)
}

/// Returns the `k`-th smallest (from 1) of all `(x_i + x_j) / 2` with `i <= j`, given ascending x. O(n).
pub(super) fn kth_mean(x: &[f64], k: u64) -> f64 {
    let mean = |a: f64, b: f64| 0.5 * a + 0.5 * b;
    let count = |limit: f64| {
        let mut end = x.len();
        let mut count = 0;
        for (index, value) in x.iter().enumerate() {
            while end > index && mean(*value, x[end - 1]) > limit {
                end -= 1;
            }
            if end <= index {
                break;
            }
            count += (end - index) as u64;
        }
        count
    };
    smallest(x[0], x[x.len() - 1], k, count)
}

/// Returns the median of a set of `n` of which any element can be selected.
pub(super) fn median_by(n: u64, select: impl Fn(u64) -> f64) -> f64 {
    let lower = select(n.div_ceil(2));
    if n % 2 == 1 { lower } else { 0.5 * lower + 0.5 * select(n / 2 + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn selects_what_sorting_would() {
        let mut rng = Rng::new(5);
        for _ in 0..50 {
            let mut draw = |n: usize| {
                let mut values: Vec<f64> = (0..n).map(|_| rng.below(40) as f64 / 8.0 - 2.0).collect();
                values.sort_unstable_by(f64::total_cmp);
                values
            };
            let (x, y) = (draw(7), draw(5));
            let mut differences: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| x - y)).collect();
            differences.sort_unstable_by(f64::total_cmp);
            for (index, expected) in differences.iter().enumerate() {
                assert_eq!(kth_difference(&x, &y, index as u64 + 1), *expected);
            }
            let pairs = (0..x.len()).flat_map(|i| (i..x.len()).map(move |j| (i, j)));
            let mut means: Vec<f64> = pairs.map(|(i, j)| 0.5 * x[i] + 0.5 * x[j]).collect();
            means.sort_unstable_by(f64::total_cmp);
            for (index, expected) in means.iter().enumerate() {
                assert_eq!(kth_mean(&x, index as u64 + 1), *expected);
            }
        }
    }
}
