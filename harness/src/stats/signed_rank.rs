//! Pairs by ranks and by signs.

use super::dist::{Probability, normal_isf, normal_sf};
use super::interval::alpha_of;
use super::mann_whitney::RankMethod;
use super::moments::Sum;
use super::paired::differences;
use super::quantile::sorted;
use super::rank_sum::{doubled_midranks, tails};
use super::select::{kth_mean, median_by};
use super::{Interval, PValue, Sample, StatsError, Status, Tails, radix};

/// Pairs up to which the automatic methods are exact.
const EXACT_PAIRS: usize = 60;

/// Pairs above which exact methods are refused.
const FEASIBLE_PAIRS: usize = 1_000;

/// The result of a signed-rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Pairs whose observations differ; the others are left out (Wilcoxon 1945).
    pub n_nonzero: usize,
    /// Pairs whose observations are equal.
    pub n_zero: usize,
    /// [`Status::AllZero`] if no pair differs.
    pub status: Status,
    /// Sum of the ranks of the pairs in which the treatment is greater.
    pub w_plus: f64,
    /// Sum of the ranks of the pairs in which the treatment is less.
    pub w_minus: f64,
    /// The test; `None` if no pair differs.
    pub test: Option<SignedRankTest>,
}

/// The p-values of a signed-rank test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRankTest {
    /// Distance of the larger sum from its mean by its standard deviation; `None` for an exact method.
    pub z: Option<f64>,
    /// The method that was used; never one of the automatic ones.
    pub method: RankMethod,
    /// The p-values: "less" is "the treatment tends to smaller values within pairs".
    pub p: Tails,
}

/// Tests whether one arm tends to larger values within pairs (Wilcoxon 1945), assuming differences that are symmetric
/// under the null hypothesis. O(n log n); exact methods O(n^3).
///
/// The automatic methods are exact up to 60 pairs, over all assignments of signs to the observed midranks if there
/// are ties or equal pairs.
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs, [`StatsError::TiesInExact`] for
/// [`RankMethod::Exact`] with ties or equal pairs, [`StatsError::InvalidInput`] for an exact method with more than
/// 1,000 pairs.
pub fn signed_rank(
    treatment: &Sample,
    control: &Sample,
    method: RankMethod,
) -> Result<SignedRank, StatsError> {
    let differences = differences(treatment, control)?;
    let nonzero: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let n = nonzero.len();
    let n_zero = differences.len() - n;
    let magnitudes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranks = doubled_midranks(&magnitudes);
    let ranked = || ranks.iter().zip(&nonzero);
    let doubled_plus: u64 = ranked().filter(|(_, difference)| **difference > 0.0).map(|(rank, _)| rank).sum();
    let doubled_all: u64 = ranks.iter().sum();
    let (w_plus, w_minus) = (0.5 * doubled_plus as f64, 0.5 * (doubled_all - doubled_plus) as f64);
    if n == 0 {
        return Ok(SignedRank { n_nonzero: 0, n_zero, status: Status::AllZero, w_plus, w_minus, test: None });
    }
    let mut groups = ranks.clone();
    radix::sort_by_key(&mut groups, |rank| *rank);
    let cube = |size: f64| size * size * size - size;
    let tie_term = Sum::of(groups.chunk_by(|a, b| a == b).map(|group| cube(group.len() as f64)));
    let plain = tie_term == 0.0 && n_zero == 0;
    let method = match method {
        RankMethod::Auto | RankMethod::AutoConditional if n > EXACT_PAIRS => {
            RankMethod::Asymptotic { continuity: true }
        }
        RankMethod::Auto | RankMethod::AutoConditional if plain => RankMethod::Exact,
        RankMethod::Auto | RankMethod::AutoConditional => RankMethod::ExactConditional,
        RankMethod::Exact if !plain => return Err(StatsError::TiesInExact),
        chosen => chosen,
    };
    let test = if let RankMethod::Asymptotic { continuity } = method {
        asymptotic(n as f64, tie_term, w_plus, w_minus, continuity)
    } else if n > FEASIBLE_PAIRS {
        return Err(StatsError::InvalidInput("too many pairs for the exact distribution"));
    } else {
        SignedRankTest { z: None, method, p: exact(&ranks, doubled_plus as usize) }
    };
    Ok(SignedRank { n_nonzero: n, n_zero, status: Status::Regular, w_plus, w_minus, test: Some(test) })
}

fn asymptotic(n: f64, tie_term: f64, w_plus: f64, w_minus: f64, continuity: bool) -> SignedRankTest {
    let sigma = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term / 48.0).sqrt();
    let correction = if continuity { 0.5 } else { 0.0 };
    let score = |w: f64| (w - 0.25 * n * (n + 1.0) - correction) / sigma;
    let larger = score(w_plus.max(w_minus));
    SignedRankTest {
        z: Some(larger),
        method: RankMethod::Asymptotic { continuity },
        p: Tails {
            two_sided: PValue::from(normal_sf(larger)).doubled(),
            less: normal_sf(score(w_minus)).into(),
            greater: normal_sf(score(w_plus)).into(),
        },
    }
}

/// The shares of the assignments of signs that give each doubled rank sum.
fn distribution(ranks: &[u64]) -> Vec<f64> {
    let total: u64 = ranks.iter().sum();
    let mut shares = vec![0.0; total as usize + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for rank in ranks.iter().map(|rank| *rank as usize) {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = 0.5 * (shares[sum] + with);
        }
    }
    shares
}

fn exact(ranks: &[u64], observed: usize) -> Tails {
    let shares = distribution(ranks);
    let total = shares.len() - 1;
    let distance = |sum: usize| (2 * sum).abs_diff(total);
    tails(&shares, observed, |sum| distance(sum) >= distance(observed))
}

/// The result of a sign test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignTest {
    /// Pairs in which the treatment is greater.
    pub positive: usize,
    /// Pairs in which the treatment is less.
    pub negative: usize,
    /// [`Status::AllZero`] if no pair differs.
    pub status: Status,
    /// The exact p-values; `None` if no pair differs.
    pub p: Option<Tails>,
}

/// Tests whether the treatment is as often greater as less within pairs. Exact, assumes nothing else. O(n).
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs.
pub fn sign_test(treatment: &Sample, control: &Sample) -> Result<SignTest, StatsError> {
    let differences = differences(treatment, control)?;
    let positive = differences.iter().filter(|difference| **difference > 0.0).count();
    let negative = differences.iter().filter(|difference| **difference < 0.0).count();
    if positive + negative == 0 {
        return Ok(SignTest { positive, negative, status: Status::AllZero, p: None });
    }
    let (low, high) = (positive.min(negative), positive.max(negative));
    let (near, far) = (PValue::from(at_least_half(high, low)?), PValue::from(at_least_half(low, high)?));
    let (less, greater) = if positive <= negative { (near, far) } else { (far, near) };
    let p = Tails { two_sided: near.doubled(), less, greater };
    Ok(SignTest { positive, negative, status: Status::Regular, p: Some(p) })
}

/// The chance of at least `k` heads in `k + rest` throws of a coin.
fn at_least_half(k: usize, rest: usize) -> Result<Probability, StatsError> {
    if k == 0 { Ok(Probability::ONE) } else { super::dist::incomplete_beta(0.5, k as f64, rest as f64 + 1.0) }
}

/// The rank, from 1, of the lower limit among the means of any two of `n` differences such that the signed-rank test rejects
/// what lies below it with a chance of at most `half`, and that chance; the first mean where there is no such rank.
fn lower_rank(n: usize, half: f64) -> (u64, f64) {
    let ranks: Vec<u64> = (1..=n as u64).collect();
    let shares = distribution(&ranks);
    let (mut below, mut rank) = (0.0, 0);
    while below + shares[rank] < half {
        below += shares[rank];
        rank += 1;
    }
    if rank == 0 { (1, shares[0]) } else { (rank as u64, below) }
}

/// The rank of the lower limit that belongs to the test as it is made automatically: exact up to 60 pairs, as if without ties.
pub(super) fn usual_rank(n: usize, half: f64) -> Result<u64, StatsError> {
    if n <= EXACT_PAIRS {
        return Ok(lower_rank(n, half).0);
    }
    let n = n as f64;
    let sigma = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    // The smallest rank sum that is not rejected, with the continuity correction of the test.
    let smallest = 0.25 * n * (n + 1.0) - 0.5 - normal_isf(half)? * sigma;
    Ok(smallest.ceil().max(1.0) as u64)
}

/// The center of the differences within pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Pseudomedian {
    /// The median of the means of any two differences (and of each alone), in the unit of the observations.
    pub value: f64,
    differences: Vec<f64>,
    plain: bool,
}

/// The exact confidence interval of a pseudomedian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudomedianInterval {
    /// The interval, with the level that was asked for.
    pub interval: Interval,
    /// The rank of its lower limit among all means, from 1; the upper limit has the same from above.
    pub rank: u64,
    /// The level that it has.
    pub achieved: f64,
}

/// Estimates the center of the differences within pairs (Hodges and Lehmann 1963), O(n log n).
///
/// # Errors
///
/// [`StatsError::UnequalLength`], [`StatsError::TooFew`] below 2 pairs.
pub fn pseudomedian(treatment: &Sample, control: &Sample) -> Result<Pseudomedian, StatsError> {
    let differences = sorted(differences(treatment, control)?);
    let n = differences.len() as u64;
    let value = median_by(n * (n + 1) / 2, |k| kth_mean(&differences, k));
    let magnitudes = sorted(differences.iter().map(|difference| difference.abs()));
    let plain = magnitudes[0] > 0.0 && magnitudes.windows(2).all(|pair| pair[0] < pair[1]);
    Ok(Pseudomedian { value, differences, plain })
}

impl Pseudomedian {
    /// Returns the confidence interval that belongs to the signed-rank test as it is made automatically: of as many pairs
    /// without ties up to 60 pairs, by the normal distribution of the rank sum beyond. O(n log n).
    ///
    /// So few pairs that no interval has the level make the whole range of the differences.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn usual_interval(&self, level: f64) -> Result<Interval, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let n = self.differences.len();
        let rank = usual_rank(n, half)?;
        let pairs = (n as u64) * (n as u64 + 1) / 2;
        let limit = |rank| kth_mean(&self.differences, rank);
        Ok(Interval { lower: limit(rank), upper: limit(pairs + 1 - rank), level })
    }

    /// Returns the confidence interval that belongs to the exact signed-rank test (Bauer 1972); `None` with ties, equal
    /// pairs or more than 1,000 pairs, for which that test does not exist here.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<Option<PseudomedianInterval>, StatsError> {
        let half = 0.5 * alpha_of(level)?;
        let n = self.differences.len();
        if !self.plain || n > FEASIBLE_PAIRS {
            return Ok(None);
        }
        let (rank, below) = lower_rank(n, half);
        let pairs = (n * (n + 1) / 2) as u64;
        let interval = Interval {
            lower: kth_mean(&self.differences, rank),
            upper: kth_mean(&self.differences, pairs + 1 - rank),
            level,
        };
        Ok(Some(PseudomedianInterval { interval, rank, achieved: 1.0 - 2.0 * below }))
    }
}
