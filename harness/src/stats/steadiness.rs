//! Whether a series settles, and where.

use super::quantile::{sorted, type_7};
use super::{Moments, Sample, StatsError, change_points};

/// Observations around one that say whether it is an outlier.
const WINDOW: usize = 21;

/// The penalty of a change point in units of `sigma^2 ln n`.
const PENALTY: f64 = 3.0;

/// What a series does over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// One level from the first to the last observation.
    Flat,
    /// It settles at its best level.
    WarmingUp,
    /// It settles at a level worse than an earlier one.
    SlowingDown,
    /// Its last quarter has more than one level.
    NoSteadyState,
}

impl Steadiness {
    /// Returns the stable name of the class.
    pub fn code(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::WarmingUp => "warming-up",
            Self::SlowingDown => "slowing-down",
            Self::NoSteadyState => "no-steady-state",
        }
    }
}

/// A stretch of a series at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Index of its first observation.
    pub start: usize,
    /// Number of observations.
    pub len: usize,
    /// Their mean, in the unit of the observations, without single outliers.
    pub mean: f64,
    /// Their standard deviation, likewise.
    pub sd: f64,
}

/// A series in stretches.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// What the series does.
    pub class: Steadiness,
    /// The index from which it stays at its last level; `None` if it does not settle.
    pub steady_from: Option<usize>,
    /// The stretches between change points, in order.
    pub stretches: Vec<Stretch>,
}

/// Classifies a series as Barrett et al. (2017) do: change points divide it into stretches; a stretch equals the last one
/// if their means differ by no more than the larger of that one's standard deviation and `tolerance` (relative: 0.001 is
/// 0.1 %) of its mean.
///
/// All equal: flat. One in the last quarter not equal: no steady state. Otherwise the series warms up if no stretch is
/// better than the last, in the direction that `lower_is_better` says, and slows down if one is. Single outliers count as the
/// median of the 21 observations around them: those farther from it than three times the distance of the quantiles 0.1 and
/// 0.9, next to none on the same side. Three things differ from the paper: windows are shorter than its 200, for shorter series, the change points are those of the mean ([`change_points`] with the factor 3), and
/// the standard deviation takes the place of the variance, which has another unit than a mean. Assumes that
/// observations within a stretch are independent. O(n^2) at worst.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 12 observations, [`StatsError::InvalidLevel`] unless `0 <= tolerance < 1`.
pub fn steady_state(
    series: &Sample,
    lower_is_better: bool,
    tolerance: f64,
) -> Result<SteadyState, StatsError> {
    series.require(12)?;
    if !(0.0..1.0).contains(&tolerance) {
        return Err(StatsError::InvalidLevel { level: tolerance });
    }
    let values = without_outliers(series.values());
    let n = values.len();
    let starts = change_points(&Sample::new(values.clone())?, PENALTY)?.starts;
    let ends = starts.iter().copied().chain([n]);
    let stretches: Vec<Stretch> = [0]
        .into_iter()
        .chain(starts.iter().copied())
        .zip(ends)
        .map(|(start, end)| {
            let moments = Moments::of_values(&values[start..end]);
            Stretch { start, len: end - start, mean: moments.mean(), sd: moments.sd() }
        })
        .collect();
    let last = stretches[stretches.len() - 1];
    let reach = last.sd.max(tolerance * last.mean.abs());
    let equal = |stretch: &Stretch| (stretch.mean - last.mean).abs() <= reach;
    let other = stretches.iter().rposition(|stretch| !equal(stretch));
    let better = |stretch: &Stretch| {
        !equal(stretch) && if lower_is_better { stretch.mean < last.mean } else { stretch.mean > last.mean }
    };
    let class = match other {
        None => Steadiness::Flat,
        Some(index) if stretches[index].start + stretches[index].len > n - n / 4 => Steadiness::NoSteadyState,
        Some(_) if stretches.iter().any(better) => Steadiness::SlowingDown,
        Some(_) => Steadiness::WarmingUp,
    };
    let steady_from = match (class, other) {
        (Steadiness::NoSteadyState, _) => None,
        (_, None) => Some(0),
        (_, Some(index)) => Some(stretches[index].start + stretches[index].len),
    };
    Ok(SteadyState { class, steady_from, stretches })
}

/// Puts the median of its neighbors in the place of what is alone far from it.
fn without_outliers(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let width = WINDOW.min(n);
    let far = |index: usize| {
        let start = index.saturating_sub(width / 2).min(n - width);
        let window = sorted(values[start..start + width].iter().copied());
        let quantile = |p: f64| type_7(&window, p);
        let (median, reach) = (quantile(0.5), 3.0 * (quantile(0.9) - quantile(0.1)));
        let side =
            if (values[index] - median).abs() > reach { (values[index] - median).signum() } else { 0.0 };
        (side, median)
    };
    let places: Vec<(f64, f64)> = (0..n).map(far).collect();
    let alone = |index: usize| {
        let side = places[index].0;
        let same = |neighbor: Option<&(f64, f64)>| neighbor.is_some_and(|(other, _)| *other == side);
        side != 0.0 && !same(places.get(index + 1)) && !(index > 0 && same(places.get(index - 1)))
    };
    (0..n).map(|index| if alone(index) { places[index].1 } else { values[index] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    /// A series around levels, each for some time, with noise of about 1 and an outlier now and then.
    fn series(levels: &[(usize, f64)], seed: u64) -> Sample {
        let mut rng = Rng::new(seed);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut noise = || (0..6).map(|_| uniform() - 0.5).sum::<f64>() * std::f64::consts::SQRT_2;
        let mut values = Vec::new();
        for (n, level) in levels {
            values.extend((0..*n).map(|_| level + noise()));
        }
        for outlier in values.iter_mut().skip(17).step_by(41) {
            *outlier += 60.0;
        }
        Sample::new(values).unwrap()
    }

    #[track_caller]
    fn check(levels: &[(usize, f64)], expected: Steadiness, steady_from: Option<usize>) {
        let mut right = 0;
        for seed in 0..40 {
            let found = steady_state(&series(levels, seed), true, 0.001).unwrap();
            let near = match (found.steady_from, steady_from) {
                (Some(found), Some(expected)) => found.abs_diff(expected) <= 2,
                (found, expected) => found == expected,
            };
            right += i32::from(found.class == expected && near);
        }
        assert!(right >= 36, "{levels:?}: {right} of 40");
    }

    #[test]
    fn known_series_get_their_class() {
        check(&[(120, 100.0)], Steadiness::Flat, Some(0));
        check(&[(30, 100.0)], Steadiness::Flat, Some(0));
        check(&[(20, 140.0), (20, 112.0), (100, 100.0)], Steadiness::WarmingUp, Some(40));
        check(&[(50, 90.0), (70, 100.0)], Steadiness::SlowingDown, Some(50));
        check(&[(20, 120.0), (30, 90.0), (70, 100.0)], Steadiness::SlowingDown, Some(50));
        check(&[(60, 100.0), (45, 110.0), (15, 100.0)], Steadiness::NoSteadyState, None);
        check(&[(110, 100.0), (10, 120.0)], Steadiness::NoSteadyState, None);
    }

    #[test]
    fn the_direction_turns_the_class() {
        let falling = series(&[(40, 120.0), (80, 100.0)], 5);
        assert_eq!(steady_state(&falling, true, 0.001).unwrap().class, Steadiness::WarmingUp);
        assert_eq!(steady_state(&falling, false, 0.001).unwrap().class, Steadiness::SlowingDown);
    }

    #[test]
    fn a_constant_is_flat_and_too_few_are_refused() {
        let constant = Sample::new(vec![4.0; 12]).unwrap();
        assert_eq!(steady_state(&constant, true, 0.0).unwrap().class, Steadiness::Flat);
        let few = Sample::new(vec![4.0; 11]).unwrap();
        assert_eq!(steady_state(&few, true, 0.0), Err(StatsError::TooFew { needed: 12, found: 11 }));
        assert_eq!(steady_state(&constant, true, 1.0).map_err(StatsError::code), Err("invalid_level"));
    }
}
