//! Permutation tests: what would have come out if the labels meant nothing?

use super::brunner_munzel::Placements;
use super::dist::Probability;
use super::moments::{Sum, scale_for};
use super::quantile::median_of;
use super::rank_sum::choose;
use super::rng::Rng;
use super::welch::StandardError;
use super::{Moments, PValue, Sample, StatsError, Tails, parallel};

/// Labelings up to which all are tried.
const ENUMERATED: f64 = 200_000.0;

/// Pieces of work that are worth a thread.
const GRAIN: usize = 500;

/// What is compared between labelings, of treatment minus control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermutationStatistic {
    /// The difference of the means; assumes equal variances.
    MeanDifference,
    /// Welch's t: valid for unequal variances too (Janssen 1997; Chung and Romano 2013). The one to take.
    WelchT,
    /// The difference of the medians.
    MedianDifference,
    /// The statistic of Brunner and Munzel (Neubert and Brunner 2007), for small samples.
    BrunnerMunzel,
}

impl PermutationStatistic {
    fn of(self, treatment: &[f64], control: &[f64]) -> f64 {
        let moments = || (Moments::of_values(treatment), Moments::of_values(control));
        match self {
            Self::MeanDifference => {
                let (treatment, control) = moments();
                treatment.difference(&control)
            }
            Self::WelchT => {
                let (treatment, control) = moments();
                let difference = treatment.difference(&control);
                StandardError::of(&treatment, &control, 1.0)
                    .map_or_else(|| without_spread(difference), |error| error.divide(difference))
            }
            Self::MedianDifference => {
                median_of(treatment.iter().copied()) - median_of(control.iter().copied())
            }
            Self::BrunnerMunzel => Placements::of(treatment, control)
                .statistic()
                .unwrap_or_else(|| without_spread(treatment[0] - control[0])),
        }
    }

    /// The size of a rounding error is about 1e-16 of this.
    fn unit(self, pooled: &[f64]) -> f64 {
        match self {
            Self::MeanDifference | Self::MedianDifference => {
                let largest = pooled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                largest - pooled.iter().copied().fold(f64::INFINITY, f64::min)
            }
            Self::WelchT | Self::BrunnerMunzel => 1.0,
        }
    }

    fn needs(self) -> usize {
        match self {
            Self::MeanDifference | Self::MedianDifference => 1,
            Self::WelchT | Self::BrunnerMunzel => 2,
        }
    }
}

/// A difference without any spread is infinitely many standard errors, unless it is none.
fn without_spread(difference: f64) -> f64 {
    if difference == 0.0 { 0.0 } else { f64::INFINITY.copysign(difference) }
}

/// How labelings were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labelings {
    /// All of them, once each.
    All(u64),
    /// Random ones, from a seed.
    Random {
        /// How many.
        resamples: u64,
        /// The seed that makes them.
        seed: u64,
    },
}

/// The result of a permutation test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Permutation {
    /// The statistic of the labels as they are; infinite for arms that differ without any spread.
    pub observed: f64,
    /// The labelings that it was compared with.
    pub labelings: Labelings,
    /// Labelings whose statistic is at least as far from zero.
    pub two_sided: u64,
    /// Labelings whose statistic is at most the observed one.
    pub less: u64,
    /// Labelings whose statistic is at least the observed one.
    pub greater: u64,
    /// The p-values: the share of such labelings, or [`monte_carlo_p`] of their number.
    pub p: Tails,
}

/// Returns the p-value of a statistic that `extreme` of some random labelings reach: `(extreme + 1) / (resamples + 1)`
/// (Phipson and Smyth 2010). It is never 0, because the observed labeling is one of those possible.
pub fn monte_carlo_p(extreme: u64, resamples: u64) -> PValue {
    Probability::from_value(((extreme + 1) as f64 / (resamples + 1) as f64).min(1.0)).into()
}

/// Tests two arms by relabeling their observations: all ways if there are at most 200,000, otherwise `resamples`
/// random ones from `seed`, on all cores; the result does not depend on their number.
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations in an arm for a statistic with a variance,
/// [`StatsError::InvalidInput`] for 0 resamples where they are needed.
pub fn permutation(
    treatment: &Sample,
    control: &Sample,
    statistic: PermutationStatistic,
    resamples: usize,
    seed: u64,
) -> Result<Permutation, StatsError> {
    treatment.require(statistic.needs())?;
    control.require(statistic.needs())?;
    let n = treatment.len();
    let pooled: Vec<f64> = treatment.values().iter().chain(control.values()).copied().collect();
    let observed = statistic.of(treatment.values(), control.values());
    let all = choose(pooled.len(), n);
    let mut tally = Tally::new(observed, statistic.unit(&pooled));
    let quick = (statistic == PermutationStatistic::WelchT).then(|| Quick::new(&pooled, observed)).flatten();
    if all <= ENUMERATED {
        let (mut own, mut other) = (Vec::with_capacity(n), Vec::with_capacity(pooled.len() - n));
        for_each_choice(pooled.len(), n, |chosen| {
            tally.count(quick.as_ref().and_then(|it| it.chosen(chosen)).unwrap_or_else(|| {
                divide(&pooled, chosen, &mut own, &mut other);
                statistic.of(&own, &other)
            }));
        });
        return Ok(tally.result(Labelings::All(all as u64)));
    }
    random(&mut tally, resamples, seed, |rng, shuffled| {
        if let Some(t) = quick.as_ref().and_then(|it| it.relabeled(&mut rng.clone(), shuffled, n)) {
            return t;
        }
        shuffled.clone_from(&pooled);
        rng.shuffle(shuffled);
        let (treatment, control) = shuffled.split_at(n);
        statistic.of(treatment, control)
    })
}

/// Tests pairs by exchanging the labels within them: all ways if there are at most 200,000, otherwise random ones.
/// The statistic is the paired t.
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs, [`StatsError::InvalidInput`] for 0 resamples
/// where they are needed.
pub fn permutation_paired(
    treatment: &Sample,
    control: &Sample,
    resamples: usize,
    seed: u64,
) -> Result<Permutation, StatsError> {
    let differences = super::paired::differences(treatment, control)?;
    let n = differences.len();
    let t = |values: &[f64]| {
        let moments = Moments::of_values(values);
        let error = moments.standard_error();
        if error > 0.0 { moments.mean() / error } else { without_spread(moments.mean()) }
    };
    let observed = t(&differences);
    let flipped = |flips: &mut dyn FnMut(usize) -> bool| {
        let signs = differences.iter().enumerate();
        signs.map(|(index, value)| if flips(index) { -value } else { *value }).collect::<Vec<f64>>()
    };
    let mut tally = Tally::new(observed, 1.0);
    if n < 18 {
        for mask in 0..1u64 << n {
            tally.count(t(&flipped(&mut |index| mask >> index & 1 == 1)));
        }
        return Ok(tally.result(Labelings::All(1 << n)));
    }
    random(&mut tally, resamples, seed, |rng, _| t(&flipped(&mut |_| rng.next_u64() >> 63 == 1)))
}

fn random(
    tally: &mut Tally,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&mut Rng, &mut Vec<f64>) -> f64 + Sync,
) -> Result<Permutation, StatsError> {
    if resamples == 0 {
        return Err(StatsError::InvalidInput("a random permutation test needs resamples"));
    }
    let replicates = parallel::map_with(resamples, GRAIN, Vec::new, |scratch, index| {
        statistic(&mut Rng::stream(seed, index as u64), scratch)
    });
    replicates.into_iter().for_each(|replicate| tally.count(replicate));
    Ok(tally.result(Labelings::Random { resamples: resamples as u64, seed }))
}

/// Welch's t from plain sums over one arm, to some seven digits: enough unless it comes close to the observed one.
struct Quick {
    /// Of each of the pooled observations from their mean, in a unit that brings it near 1.
    deviations: Vec<f64>,
    sum: f64,
    squares: f64,
    n: f64,
    observed: f64,
}

impl Quick {
    /// `None` where plain sums may not have seven digits.
    fn new(pooled: &[f64], observed: f64) -> Option<Self> {
        let moments = Moments::of_values(pooled);
        let (center, unit) = (moments.mean(), scale_for(moments.sd()));
        let deviations: Vec<f64> = pooled.iter().map(|value| (value - center) * unit).collect();
        let sum = Sum::over(&deviations, |it| it).value();
        let squares = Sum::over(&deviations, |it| it * it).value();
        let fine = pooled.len() <= 10_000 && observed.is_finite() && squares.is_finite() && squares > 0.0;
        fine.then_some(Self { deviations, sum, squares, n: pooled.len() as f64, observed })
    }

    /// As [`t`](Self::t) of a random labeling, whose first `n` are the treatment. A shuffle settles the last places first:
    /// when those of the control are, the treatment has what is left, in whichever order.
    fn relabeled(&self, rng: &mut Rng, shuffled: &mut Vec<f64>, n: usize) -> Option<f64> {
        shuffled.clone_from(&self.deviations);
        for last in (n..shuffled.len()).rev() {
            shuffled.swap(last, rng.below(last + 1));
        }
        let (sum, squares) = plain_sums(&shuffled[n..]);
        self.t(n as f64, self.sum - sum, self.squares - squares)
    }

    /// As [`t`](Self::t) of the labeling whose treatment has these places among the pooled observations.
    fn chosen(&self, places: &[usize]) -> Option<f64> {
        let deviations = places.iter().map(|place| self.deviations[*place]);
        let (sum, squares) = deviations.fold((0.0, 0.0), |(sum, square), it| (sum + it, square + it * it));
        self.t(places.len() as f64, sum, squares)
    }

    /// Returns t given the sums over the `n` observations of the treatment; `None` if it is close to the observed one or
    /// its digits are lost to cancellation, so that it must be computed in full.
    fn t(&self, n: f64, sum: f64, squares: f64) -> Option<f64> {
        let m = self.n - n;
        let (own, other) = (sum / n, (self.sum - sum) / m);
        let (own_weight, other_weight) = ((n * (n - 1.0)).recip(), (m * (m - 1.0)).recip());
        let variance = (squares - own * sum) * own_weight
            + (self.squares - squares - other * (self.sum - sum)) * other_weight;
        let error = self.n * f64::EPSILON * self.squares * (own_weight + other_weight);
        let t = (own - other) / variance.sqrt();
        let near = 1e-6 * self.observed.abs().max(1.0);
        let clear = variance > 1e8 * error && (t.abs() - self.observed.abs()).abs() > near;
        clear.then_some(t)
    }
}

/// The sum of values and that of their squares, in four sums side by side: adding up while drawing waits for both.
fn plain_sums(values: &[f64]) -> (f64, f64) {
    let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
    let (chunks, rest) = values.as_chunks::<4>();
    for chunk in chunks {
        for ((sum, square), value) in sums.iter_mut().zip(&mut squares).zip(chunk) {
            *sum += value;
            *square += value * value;
        }
    }
    let rest = rest.iter().fold((0.0, 0.0), |(sum, square), it| (sum + it, square + it * it));
    (sums.iter().sum::<f64>() + rest.0, squares.iter().sum::<f64>() + rest.1)
}

/// Counts labelings at least as extreme as the observed one; ties are ties although rounding parts them.
struct Tally {
    observed: f64,
    tolerance: f64,
    two_sided: u64,
    less: u64,
    greater: u64,
}

impl Tally {
    fn new(observed: f64, unit: f64) -> Self {
        let tolerance = if observed.is_finite() { 1e-12 * observed.abs().max(unit) } else { 0.0 };
        Self { observed, tolerance, two_sided: 0, less: 0, greater: 0 }
    }

    fn count(&mut self, statistic: f64) {
        self.two_sided += u64::from(statistic.abs() >= self.observed.abs() - self.tolerance);
        self.less += u64::from(statistic <= self.observed + self.tolerance);
        self.greater += u64::from(statistic >= self.observed - self.tolerance);
    }

    fn result(&self, labelings: Labelings) -> Permutation {
        let p = |count: u64| match labelings {
            Labelings::All(all) => Probability::from_value(count as f64 / all as f64).into(),
            Labelings::Random { resamples, .. } => monte_carlo_p(count, resamples),
        };
        Permutation {
            observed: self.observed,
            labelings,
            two_sided: self.two_sided,
            less: self.less,
            greater: self.greater,
            p: Tails { two_sided: p(self.two_sided), less: p(self.less), greater: p(self.greater) },
        }
    }
}

/// Visits every way to choose `n` of `all` places, in ascending order.
fn for_each_choice(all: usize, n: usize, mut visit: impl FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..n).collect();
    loop {
        visit(&chosen);
        // The last index that can move up does, and those behind it follow closely.
        let Some(movable) = (0..n).rev().find(|place| chosen[*place] < all - n + place) else {
            return;
        };
        chosen[movable] += 1;
        for place in movable + 1..n {
            chosen[place] = chosen[place - 1] + 1;
        }
    }
}

/// Parts values in those at some places, in ascending order, and the other ones.
fn divide(values: &[f64], places: &[usize], inside: &mut Vec<f64>, outside: &mut Vec<f64>) {
    inside.clear();
    outside.clear();
    let mut next = places.iter().peekable();
    for (index, value) in values.iter().enumerate() {
        let chosen = next.next_if(|chosen| **chosen == index).is_some();
        if chosen { inside.push(*value) } else { outside.push(*value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_t_counts_as_the_full_one() {
        let mut rng = Rng::new(11);
        for round in 0..60 {
            let mut arm = |n: usize, shift: f64| -> Vec<f64> {
                // Ties, offsets and gross outliers, by turns.
                let value = |rng: &mut Rng| rng.below(if round % 2 == 0 { 9 } else { 1 << 30 }) as f64 / 3.0;
                let mut values: Vec<f64> = (0..n).map(|_| value(&mut rng) + shift).collect();
                values[0] += [0.0, 1e9, 1e15][round % 3];
                values
            };
            let (x, y) = (Sample::new(arm(14, 1e6)).unwrap(), Sample::new(arm(17, 1e6 + 1.0)).unwrap());
            let found = permutation(&x, &y, PermutationStatistic::WelchT, 300, 5).unwrap();
            let pooled: Vec<f64> = x.values().iter().chain(y.values()).copied().collect();
            let mut full = Tally::new(found.observed, 1.0);
            for index in 0..300 {
                let mut shuffled = pooled.clone();
                Rng::stream(5, index).shuffle(&mut shuffled);
                let (treatment, control) = shuffled.split_at(14);
                full.count(PermutationStatistic::WelchT.of(treatment, control));
            }
            assert_eq!(found, full.result(found.labelings), "round {round}");
        }
    }
}
