//! Exact distributions of rank sums under the null hypothesis.
//!
//! Recurrences are exact or only add positive numbers, so that counts far beyond 2^53 keep nearly all digits.

use super::dist::Probability;
use super::moments::Sum;
use super::{PValue, Sample, Tails, radix};

/// Returns `P(U <= u)` for arms of two sizes without ties.
pub(super) fn null_cdf(n_a: usize, n_b: usize, u: usize) -> Probability {
    let total = n_a * n_b;
    if u >= total {
        return Probability::ONE;
    }
    let mirrored = total - 1 - u;
    if mirrored < u {
        return null_cdf(n_a, n_b, mirrored).complement();
    }
    let sum = Sum::of(null_counts(n_a, n_b, u));
    Probability::from_value(sum / choose(n_a + n_b, n_a.min(n_b)))
}

/// Returns `P(U <= u)` and `P(U < u)` for arms of two sizes without ties and a u in the lower half.
pub(super) fn null_cdf_and_below(n_a: usize, n_b: usize, u: usize) -> (Probability, Probability) {
    let counts = null_counts(n_a, n_b, u);
    let all = choose(n_a + n_b, n_a.min(n_b));
    let share = |counts: &[f64]| Probability::from_value(Sum::of(counts.iter().copied()) / all);
    let (at_most, below) = (share(&counts), share(&counts[..u]));
    // Rounding must not take the middle of the distribution above certainty.
    (if at_most.value < 1.0 { at_most } else { Probability::ONE }, below)
}

/// Returns how many of the divisions of the ranks give U = 0, 1, ... `last`.
pub(super) fn null_counts(n_a: usize, n_b: usize, last: usize) -> Vec<f64> {
    let (smaller, ranks) = (n_a.min(n_b), n_a + n_b);
    let width = last + 1;
    if choose(ranks, smaller) < LARGEST_WHOLE {
        return whole_counts(smaller, n_a.max(n_b), width);
    }
    // counts[j * width + u]: ways to choose j of the ranks so far with rank sum u above the lowest possible.
    let mut counts = vec![0.0; (smaller + 1) * width];
    counts[0] = 1.0;
    for rank in 1..=ranks {
        for chosen in (1..=smaller.min(rank)).rev() {
            let shift = rank - chosen;
            if shift >= width {
                continue;
            }
            let (fewer, own) = counts.split_at_mut(chosen * width);
            let fewer = &fewer[(chosen - 1) * width..];
            for (count, less) in own[shift..width].iter_mut().zip(fewer) {
                *count += less;
            }
        }
    }
    counts.split_off(smaller * width)
}

/// Below this number of divisions, all counts are exact in 128 bits: up to 65 against 65.
const LARGEST_WHOLE: f64 = 1.5e38;

/// The same in O(n U): with one more observation in the smaller arm, the generating function of U is multiplied by
/// `(1 - x^(m + i)) / (1 - x^i)`. Differences of floats would lose digits; whole numbers modulo 2^128 lose nothing, whatever
/// becomes of them in between.
fn whole_counts(smaller: usize, larger: usize, width: usize) -> Vec<f64> {
    let mut counts = vec![0_u128; width];
    counts[0] = 1;
    for own in 1..=smaller {
        let both = larger + own;
        for u in (both..width).rev() {
            counts[u] = counts[u].wrapping_sub(counts[u - both]);
        }
        for u in own..width {
            counts[u] = counts[u].wrapping_add(counts[u - own]);
        }
    }
    counts.into_iter().map(|it| it as f64).collect()
}

/// Returns the binomial coefficient, exactly while it is below 2^53.
pub(super) fn choose(n: usize, k: usize) -> f64 {
    let k = k.min(n - k);
    let mut result = 1.0;
    for i in 1..=k {
        result = result * (n - k + i) as f64 / i as f64;
    }
    result
}

/// Returns twice the midranks of both arms together, treatment first.
pub(super) fn doubled_midranks(values: &[f64]) -> Vec<u64> {
    // Zero has two signs and one rank.
    let mut order: Vec<(u64, usize)> = values.iter().map(|value| radix::key(value + 0.0)).zip(0..).collect();
    radix::sort_by_key(&mut order, |(key, _)| *key);
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|(a, _), (b, _)| a == b) {
        for (_, index) in group {
            ranks[*index] = (2 * start + group.len() + 1) as u64;
        }
        start += group.len();
    }
    ranks
}

/// Returns the p-values of the rank sum of the treatment over all divisions of the observed midranks.
pub(super) fn conditional(treatment: &Sample, control: &Sample) -> Tails {
    if treatment.len() > control.len() {
        let Tails { two_sided, less, greater } = conditional(control, treatment);
        return Tails { two_sided, less: greater, greater: less };
    }
    let n = treatment.len();
    let all: Vec<f64> = treatment.values().iter().chain(control.values()).copied().collect();
    let ranks = doubled_midranks(&all);
    let lowest = ranks.iter().copied().min().unwrap_or(0);
    let weights: Vec<usize> = ranks.iter().map(|rank| (rank - lowest) as usize).collect();
    let observed: usize = weights[..n].iter().sum();
    let mut sorted = weights.clone();
    sorted.sort_unstable();
    let width = sorted[sorted.len() - n..].iter().sum::<usize>() + 1;
    let mut counts = vec![0.0; (n + 1) * width];
    counts[0] = 1.0;
    for (seen, weight) in weights.iter().enumerate() {
        for chosen in (1..=n.min(seen + 1)).rev() {
            let (fewer, own) = counts.split_at_mut(chosen * width);
            let fewer = &fewer[(chosen - 1) * width..];
            for (count, less) in own[*weight..width].iter_mut().zip(fewer) {
                *count += less;
            }
        }
    }
    let counts = &counts[n * width..];
    // Twice the mean of the sum, times the number of observations, so that everything stays whole.
    let sum: usize = weights.iter().sum();
    let distance = |value: usize| (value * all.len()).abs_diff(n * sum);
    tails(counts, observed, |value| distance(value) >= distance(observed))
}

/// Adds up the counts of a whole-numbered statistic at, below and above an observed value.
pub(super) fn tails(counts: &[f64], observed: usize, as_far: impl Fn(usize) -> bool) -> Tails {
    let total = Sum::of(counts.iter().copied());
    let share = |of: &mut dyn Iterator<Item = f64>| Sum::of(of) / total;
    let below = share(&mut counts[..observed].iter().copied());
    let above = share(&mut counts[observed + 1..].iter().copied());
    let at = counts[observed] / total;
    let one_sided = |toward: f64, away: f64| {
        let p = toward + at;
        PValue::from(if p <= 0.5 {
            Probability::from_value(p)
        } else {
            Probability::from_value(away).complement()
        })
    };
    let far = share(&mut (0..counts.len()).filter(|value| as_far(*value)).map(|value| counts[value]));
    let near = share(&mut (0..counts.len()).filter(|value| !as_far(*value)).map(|value| counts[value]));
    let two_sided = if near == 0.0 {
        PValue::ONE
    } else if far <= 0.5 {
        Probability::from_value(far).into()
    } else {
        Probability::from_value(near).complement().into()
    };
    Tails { two_sided, less: one_sided(below, above), greater: one_sided(above, below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_counts_are_those_of_all_divisions() {
        for (n_a, n_b) in [(1, 1), (2, 3), (3, 2), (5, 5)] {
            let counts = null_counts(n_a, n_b, n_a * n_b);
            let mut expected = vec![0.0; n_a * n_b + 1];
            for chosen in (0_u32..1 << (n_a + n_b)).filter(|it| it.count_ones() as usize == n_a) {
                let ranks = (0..n_a + n_b).filter(|it| chosen >> it & 1 == 1).sum::<usize>();
                expected[ranks - n_a * (n_a - 1) / 2] += 1.0;
            }
            assert_eq!(counts, expected, "{n_a} {n_b}");
        }
        // At the limit of 128 bits and beyond it, all divisions are counted.
        for (n_a, n_b) in [(30, 30), (65, 65), (66, 66), (1, 10_000)] {
            let all = Sum::of(null_counts(n_a, n_b, n_a * n_b));
            assert!((all / choose(n_a + n_b, n_a) - 1.0).abs() < 1e-13, "{n_a} {n_b}");
        }
    }
}
