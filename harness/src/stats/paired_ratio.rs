//! Ratios of two arms whose observations belong together in pairs.

use super::dist::student_t_isf;
use super::interval::alpha_of;
use super::moments::{Sum, scale_for};
use super::ratio::Bounds;
use super::signed_rank::usual_rank;
use super::{Interval, Moments, Sample, StatsError};

/// The ratio of two means, `mean(treatment) / mean(control)`, of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// `mean(treatment) / mean(control)`, without unit.
    pub ratio: f64,
    /// `ratio - 1`, from the difference of the means.
    pub change: f64,
    /// `difference / |mean(control)|`: it keeps the sign of the difference when the control is below zero.
    pub relative_difference: f64,
    /// Number of pairs.
    pub n: usize,
    /// Standard error of `mean(treatment) - ratio mean(control)`, and of the control's mean, in units of the latter; and
    /// what both have in common.
    error: f64,
    base: f64,
    common: f64,
}

/// Estimates the ratio of two means from pairs, the i-th of the treatment with the i-th of the control. O(n).
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs, [`StatsError::ZeroBaseline`] if the mean of the
/// control is 0.
pub fn paired_ratio(treatment: &Sample, control: &Sample) -> Result<PairedRatio, StatsError> {
    if treatment.len() != control.len() {
        return Err(StatsError::UnequalLength { treatment: treatment.len(), control: control.len() });
    }
    let (t, c) = (Moments::of(treatment)?, Moments::of(control)?);
    if c.mean() == 0.0 {
        return Err(StatsError::ZeroBaseline);
    }
    let n = treatment.len() as f64;
    let ratio = t.mean() / c.mean();
    // Deviations in units of the control's mean, so that nothing overflows and units do not matter.
    let scale = scale_for(c.mean());
    let mean = c.mean() * scale;
    let pairs = || {
        let of = |(x, y): (&f64, &f64)| {
            let (x, y) = (t.deviation(*x) * scale / mean, c.deviation(*y) * scale / mean);
            (x - ratio * y, y)
        };
        treatment.values().iter().zip(control.values()).map(of)
    };
    let part = |f: fn((f64, f64)) -> f64| Sum::of(pairs().map(f)) / (n * (n - 1.0));
    let difference = t.difference(&c);
    Ok(PairedRatio {
        ratio,
        change: difference / c.mean(),
        relative_difference: difference / c.mean().abs(),
        n: treatment.len(),
        error: part(|(e, _)| e * e),
        base: part(|(_, y)| y * y),
        common: part(|(e, y)| e * y),
    })
}

impl PairedRatio {
    /// Returns the confidence set of `ratio - 1` by Fieller's method for pairs (Fieller 1954); `None` if treatment and
    /// control are proportional, up to rounding.
    ///
    /// The ratios r at which the mean of `treatment - r control` does not differ from zero by more than t standard errors,
    /// with `n - 1` degrees of freedom: the inversion of the paired t-test.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn fieller_change(&self, level: f64) -> Result<Option<Bounds>, StatsError> {
        let alpha = alpha_of(level)?;
        let rounding = 4.0 * f64::EPSILON * self.ratio.abs().max(1.0);
        if self.error <= rounding * rounding / self.n as f64 {
            return Ok(None);
        }
        let t = student_t_isf(0.5 * alpha, self.n as f64 - 1.0)?;
        let q = t * t;
        // With u = r - ratio: u^2 <= q (error - 2 u common + u^2 base).
        let (center, middle) = (1.0 - q * self.base, -q * self.common);
        let discriminant = middle * middle + center * q * self.error;
        Ok(Some(Bounds::of(center, middle, discriminant).affine(1.0, self.change)))
    }
}

/// The ratio at which the signed ranks of the pairs are in balance.
#[derive(Clone, Debug, PartialEq)]
pub struct WalshRatio {
    /// The median of `(x_i + x_j) / (y_i + y_j)` over all two pairs, and each alone, without unit.
    pub ratio: f64,
    pairs: Vec<(f64, f64)>,
}

/// Estimates by what the control has to be multiplied for Wilcoxon's signed ranks of `treatment - r control` to be in balance:
/// the estimate of Hodges and Lehmann (1963) for ratios. With it the signed-rank test has an interval of a relative change
/// that is its inversion: it excludes 0 where the test of the differences does. O(n log n).
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs, [`StatsError::NonPositive`] unless all observations of
/// the control are above zero.
pub fn walsh_ratio(treatment: &Sample, control: &Sample) -> Result<WalshRatio, StatsError> {
    if treatment.len() != control.len() {
        return Err(StatsError::UnequalLength { treatment: treatment.len(), control: control.len() });
    }
    treatment.require(2)?;
    if control.min() <= 0.0 {
        return Err(StatsError::NonPositive);
    }
    // Sums of two must not overflow, and units not matter.
    let scale = scale_for(control.max().max(treatment.max().abs()).max(treatment.min().abs()));
    let scaled = |(x, y): (&f64, &f64)| (x * scale, y * scale);
    let pairs = treatment.values().iter().zip(control.values()).map(scaled).collect();
    let mut it = WalshRatio { ratio: 0.0, pairs };
    let all = it.all();
    it.ratio = if all % 2 == 1 { it.kth(all / 2 + 1) } else { 0.5 * (it.kth(all / 2) + it.kth(all / 2 + 1)) };
    Ok(it)
}

impl WalshRatio {
    /// Returns the confidence interval of `ratio - 1` that belongs to the signed-rank test, exact up to 60 pairs without
    /// ties (Bauer 1972), by the normal distribution of the rank sum beyond, as the test is.
    ///
    /// So few pairs that no interval has the level make the whole range of the ratios, whose level is `1 - 2 / 2^n`.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn change_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let (rank, all) = (usual_rank(self.pairs.len(), half)?, self.all());
        let (lower, upper) = (self.kth(rank), self.kth(all + 1 - rank));
        Ok(Interval { lower: lower - 1.0, upper: upper - 1.0, level })
    }

    /// How many ratios of two pairs there are.
    fn all(&self) -> u64 {
        let n = self.pairs.len() as u64;
        n * (n + 1) / 2
    }

    /// The k-th smallest ratio, from 1, to the last bit or two: by halving among the floats, each step a count.
    fn kth(&self, k: u64) -> f64 {
        let own = || self.pairs.iter().map(|(x, y)| x / y);
        let (mut low, mut high) =
            (own().fold(f64::INFINITY, f64::min), own().fold(f64::NEG_INFINITY, f64::max));
        let mut differences = vec![0.0; self.pairs.len()];
        // Ratios of sums lie between the smallest and the largest of single pairs.
        while low < high {
            let middle = 0.5 * low + 0.5 * high;
            if middle >= high || middle < low {
                break;
            }
            if self.not_above(middle, &mut differences) >= k {
                high = middle;
            } else if middle == low {
                break;
            } else {
                low = middle;
            }
        }
        high
    }

    /// How many ratios are at most `ratio`: two pairs whose `x - ratio y` add up to zero or less.
    fn not_above(&self, ratio: f64, differences: &mut [f64]) -> u64 {
        for (difference, (x, y)) in differences.iter_mut().zip(&self.pairs) {
            *difference = x - ratio * y;
        }
        differences.sort_unstable_by(f64::total_cmp);
        let (mut count, mut end) = (0, differences.len());
        for (start, own) in differences.iter().enumerate() {
            while end > 0 && own + differences[end - 1] > 0.0 {
                end -= 1;
            }
            if end <= start {
                break;
            }
            count += (end - start) as u64;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;
    use crate::stats::{RankMethod, paired_t, signed_rank};

    fn arms(rng: &mut Rng, n: usize, ratio: f64) -> (Sample, Sample) {
        let mut one = || 1.0 + rng.below(1 << 20) as f64 / f64::from(1 << 20);
        let control: Vec<f64> = (0..n).map(|_| one()).collect();
        let treatment = control.iter().map(|y| ratio * (0.7 * y + 0.3 * one())).collect();
        (Sample::new(treatment).unwrap(), Sample::new(control).unwrap())
    }

    fn scaled(sample: &Sample, factor: f64) -> Sample {
        Sample::new(sample.values().iter().map(|it| it * factor).collect()).unwrap()
    }

    #[test]
    fn fieller_is_the_inversion_of_the_paired_t() {
        let mut rng = Rng::new(1);
        for n in [4, 12, 40] {
            let (t, c) = arms(&mut rng, n, 0.9);
            let bounds = paired_ratio(&t, &c).unwrap().fieller_change(0.95).unwrap().unwrap();
            let interval = bounds.interval(0.95).unwrap();
            for limit in [interval.lower, interval.upper] {
                let p = paired_t(&t, &scaled(&c, 1.0 + limit)).unwrap().test.unwrap().p.two_sided;
                assert!((p.value() - 0.05).abs() < 1e-9, "{p} at {limit}");
            }
        }
    }

    #[test]
    fn an_offset_costs_no_digit_and_units_do_not_matter() {
        let (t, c) = arms(&mut Rng::new(2), 30, 0.9);
        let of = |t: &Sample, c: &Sample| paired_ratio(t, c).unwrap().fieller_change(0.95).unwrap().unwrap();
        assert_eq!(of(&t, &c), of(&scaled(&t, 1024.0), &scaled(&c, 1024.0)));
        let far = |it: &Sample| Sample::new(it.values().iter().map(|it| it + 1e9).collect()).unwrap();
        let near = of(&far(&t), &far(&c)).interval(0.95).unwrap();
        let plain = paired_t(&far(&t), &far(&c)).unwrap().interval(0.95).unwrap().unwrap();
        assert!(
            (near.lower * 1e9 - plain.lower).abs() < 1e-6 && (near.upper * 1e9 - plain.upper).abs() < 1e-6
        );
        assert_eq!(paired_ratio(&scaled(&c, 0.5), &c).unwrap().fieller_change(0.95).unwrap(), None);
    }

    #[test]
    fn walsh_ratios_are_those_of_all_pairs() {
        let mut rng = Rng::new(3);
        for n in [2, 3, 9, 20] {
            let (t, c) = arms(&mut rng, n, 0.8);
            let found = walsh_ratio(&t, &c).unwrap();
            let (x, y) = (t.values(), c.values());
            let mut all: Vec<f64> =
                (0..n).flat_map(|i| (i..n).map(move |j| (x[i] + x[j]) / (y[i] + y[j]))).collect();
            all.sort_by(f64::total_cmp);
            for (k, expected) in (1..).zip(&all) {
                assert!((found.kth(k) / expected - 1.0).abs() < 1e-14, "{n} {k}");
            }
        }
    }

    #[test]
    fn the_interval_of_ratios_is_the_inversion_of_the_signed_ranks() {
        let mut rng = Rng::new(4);
        for n in [6, 15, 40, 61, 200] {
            let (t, c) = arms(&mut rng, n, 0.97);
            let interval = walsh_ratio(&t, &c).unwrap().change_interval(0.95).unwrap();
            let p = |change: f64| {
                let found = signed_rank(&t, &scaled(&c, 1.0 + change), RankMethod::Auto).unwrap();
                found.test.unwrap().p.two_sided.value()
            };
            let step = 1e-9;
            assert!(p(interval.lower - step) < 0.05 && p(interval.lower + step) >= 0.05, "{n}");
            assert!(p(interval.upper + step) < 0.05 && p(interval.upper - step) >= 0.05, "{n}");
        }
    }
}
