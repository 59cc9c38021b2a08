//! The Mann-Whitney U test: does one arm tend to larger values?

use std::cmp::Ordering;

use super::dist::{Probability, ln_beta, normal_sf};
use super::dominance::Pairs;
use super::{PValue, Sample, StatsError, Tails, rank_sum};

/// How the distribution of U under the null hypothesis is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankMethod {
    /// [`RankMethod::Exact`] without ties and up to [`EXACT_PAIRS`] pairs, otherwise [`RankMethod::Asymptotic`] with
    /// correction.
    Auto,
    /// Like [`RankMethod::Auto`], but [`RankMethod::ExactConditional`] for samples with ties and up to
    /// [`CONDITIONAL_PAIRS`] pairs, where the normal distribution is a poor approximation.
    AutoConditional,
    /// The exact distribution without ties.
    Exact,
    /// The exact distribution given the ties: all ways to divide the observed midranks.
    ExactConditional,
    /// The normal distribution with the variance corrected for ties.
    Asymptotic {
        /// Whether 1/2 is taken from the distance to the mean.
        continuity: bool,
    },
}

/// Pairs up to which [`RankMethod::Auto`] is exact: 100 against 100.
pub const EXACT_PAIRS: u64 = 10_000;

/// Pairs up to which [`RankMethod::AutoConditional`] is exact although there are ties: 20 against 20.
pub const CONDITIONAL_PAIRS: u64 = 400;

/// Pairs above which the exact distribution is refused, because it would take minutes.
const FEASIBLE_PAIRS: u64 = 40_000;

/// Pairs above which the distribution given the ties is refused: it is wider by a factor.
const FEASIBLE_CONDITIONAL: u64 = 10_000;

impl RankMethod {
    /// Returns the stable name of the method.
    pub fn code(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::AutoConditional => "auto-conditional",
            Self::Exact => "exact",
            Self::ExactConditional => "exact-conditional",
            Self::Asymptotic { continuity: true } => "asymptotic",
            Self::Asymptotic { continuity: false } => "asymptotic-uncorrected",
        }
    }

    fn resolve(self, pairs: u64, ties: bool) -> Self {
        let asymptotic = Self::Asymptotic { continuity: true };
        match self {
            Self::Auto | Self::AutoConditional if !ties && pairs <= EXACT_PAIRS => Self::Exact,
            Self::AutoConditional if ties && pairs <= CONDITIONAL_PAIRS => Self::ExactConditional,
            Self::Auto | Self::AutoConditional => asymptotic,
            chosen => chosen,
        }
    }
}

/// The result of a Mann-Whitney test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the treatment is greater, plus half of the ties.
    pub u_treatment: f64,
    /// Pairs in which the control is greater, plus half of the ties.
    pub u_control: f64,
    /// The sum of `t^3 - t` over groups of t equal observations.
    pub tie_term: u64,
    /// The standard deviation of U under the null hypothesis, corrected for ties; 0 if all values are equal.
    pub sigma: f64,
    /// Distance of the larger U from its mean in units of sigma, for an asymptotic method; `None` if all values
    /// are equal or the method is exact.
    pub z: Option<f64>,
    /// The method that was used; never one of the automatic ones.
    pub method: RankMethod,
    /// The p-values: "less" is "the treatment tends to smaller values".
    pub p: Tails,
}

/// Tests whether one arm tends to larger values than the other (Mann and Whitney 1947).
///
/// It tests `P(T > C) + P(T = C) / 2 = 1/2` only if both arms have the same shape; with spreads of 5 : 1 and
/// sizes of 10 : 50 it errs far more often than alpha. Exact two-sided p-values double the smaller tail, or, given
/// ties, add all outcomes that are as far from the mean (Streitberg and Röhmel 1986). If all observations are
/// equal, p is 1. O(n log n), and for the exact methods O(N n U) with the smaller n and U.
///
/// # Errors
///
/// [`StatsError::TiesInExact`] for [`RankMethod::Exact`] with ties, [`StatsError::InvalidInput`] for an exact method
/// beyond 40,000 pairs,
/// or 10,000 given ties.
pub fn mann_whitney(
    treatment: &Sample,
    control: &Sample,
    method: RankMethod,
) -> Result<MannWhitney, StatsError> {
    let pairs = Pairs::count(treatment, control);
    let (n_treatment, n_control) = (treatment.len(), control.len());
    let total = n_treatment as u64 * n_control as u64;
    let ties = pairs.tie_term > 0;
    let method = method.resolve(total, ties);
    if method == RankMethod::Exact && ties {
        return Err(StatsError::TiesInExact);
    }
    let feasible = match method {
        RankMethod::Exact => FEASIBLE_PAIRS,
        RankMethod::ExactConditional => FEASIBLE_CONDITIONAL,
        RankMethod::Auto | RankMethod::AutoConditional | RankMethod::Asymptotic { .. } => u64::MAX,
    };
    if total > feasible {
        return Err(StatsError::InvalidInput("too many pairs for the exact distribution of U"));
    }
    let half_ties = 0.5 * pairs.ties as f64;
    let (u_treatment, u_control) = (pairs.wins as f64 + half_ties, pairs.losses as f64 + half_ties);
    let n = (n_treatment + n_control) as f64;
    let tied = if ties { pairs.tie_term as f64 / (n * (n - 1.0)) } else { 0.0 };
    let all_equal = pairs.wins == 0 && pairs.losses == 0;
    let sigma = if all_equal { 0.0 } else { (total as f64 / 12.0 * ((n + 1.0) - tied)).sqrt() };
    let mut z = None;
    let p = if all_equal {
        Tails::ONES
    } else {
        match method {
            RankMethod::Exact => exact(n_treatment, n_control, pairs.wins as usize),
            RankMethod::ExactConditional => rank_sum::conditional(treatment, control),
            RankMethod::Auto | RankMethod::AutoConditional | RankMethod::Asymptotic { .. } => {
                let correction =
                    if method == (RankMethod::Asymptotic { continuity: false }) { 0.0 } else { 0.5 };
                let score = |u: f64| (u - 0.5 * total as f64 - correction) / sigma;
                let larger = score(u_treatment.max(u_control));
                z = Some(larger);
                Tails {
                    two_sided: PValue::from(normal_sf(larger)).doubled(),
                    less: normal_sf(score(u_control)).into(),
                    greater: normal_sf(score(u_treatment)).into(),
                }
            }
        }
    };
    Ok(MannWhitney { u_treatment, u_control, tie_term: pairs.tie_term, sigma, z, method, p })
}

fn exact(n_treatment: usize, n_control: usize, u: usize) -> Tails {
    let mirrored = n_treatment * n_control - u;
    let (at_most, below) = rank_sum::null_cdf_and_below(n_treatment, n_control, u.min(mirrored));
    let (near, far) = (PValue::from(at_most), PValue::from(below.complement()));
    let (less, greater) = match u.cmp(&mirrored) {
        Ordering::Less => (near, far),
        Ordering::Equal => (near, near),
        Ordering::Greater => (far, near),
    };
    Tails { two_sided: near.doubled(), less, greater }
}

/// Returns the smallest two-sided p-value that the exact test without ties can have for arms of two sizes: that of
/// arms that do not overlap, `2 / (n_t + n_c over n_t)`. If it is above alpha, n is too small for this test.
///
/// # Errors
///
/// [`StatsError::Empty`] for an empty arm.
pub fn mann_whitney_smallest_p(n_treatment: usize, n_control: usize) -> Result<PValue, StatsError> {
    if n_treatment == 0 || n_control == 0 {
        return Err(StatsError::Empty);
    }
    let (n, m) = (n_treatment as f64, n_control as f64);
    let ways = rank_sum::choose(n_treatment + n_control, n_treatment);
    let one_sided = if ways.is_finite() {
        Probability::from_value(ways.recip())
    } else {
        Probability::from_ln((n + m + 1.0).ln() + ln_beta(n + 1.0, m + 1.0))
    };
    Ok(PValue::from(one_sided).doubled())
}

/// Returns `P(U <= u)` for arms without ties under the null hypothesis.
///
/// # Errors
///
/// [`StatsError::Empty`] for an empty arm, [`StatsError::InvalidInput`] above 40,000 pairs.
pub fn mann_whitney_null_cdf(n_treatment: usize, n_control: usize, u: usize) -> Result<PValue, StatsError> {
    if n_treatment == 0 || n_control == 0 {
        return Err(StatsError::Empty);
    }
    if n_treatment as u64 * n_control as u64 > FEASIBLE_PAIRS {
        return Err(StatsError::InvalidInput("too many pairs for the exact distribution of U"));
    }
    Ok(rank_sum::null_cdf(n_treatment, n_control, u).into())
}
