//! Looking at any time: evidence that stays valid however often it is looked at.

use std::f64::consts::LN_2;

use super::dist::{Probability, incomplete_beta, ln_beta};
use super::interval::checked_alpha;
use super::root::root;
use super::{Interval, Moments, PValue, Sample, StatsError};

/// Evidence from the signs of interleaved pairs.
///
/// In each pair the treatment wins or loses; ties are left out before. If the arms are exchangeable within pairs, wins
/// are a fair coin whatever the distribution of the observations, and the evidence exceeds `1 / alpha` at any time with
/// a chance of at most alpha (Ville 1939): stop when it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignProcess {
    n: usize,
    wins: usize,
    max_ln_two_sided: f64,
    max_ln_better: f64,
    ln_two_sided: f64,
    ln_better: f64,
}

impl Default for SignProcess {
    fn default() -> Self {
        Self { n: 0, wins: 0, max_ln_two_sided: 0.0, max_ln_better: 0.0, ln_two_sided: 0.0, ln_better: 0.0 }
    }
}

impl SignProcess {
    /// Adds a pair. O(1).
    pub fn push(&mut self, win: bool) {
        self.n += 1;
        self.wins += usize::from(win);
        [self.ln_two_sided, self.ln_better] = ln_evidence(self.wins, self.n - self.wins);
        self.max_ln_two_sided = self.max_ln_two_sided.max(self.ln_two_sided);
        self.max_ln_better = self.max_ln_better.max(self.ln_better);
    }

    /// Returns the number of pairs.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of pairs that the treatment won.
    pub fn wins(&self) -> usize {
        self.wins
    }

    /// Returns the logarithm of the evidence for "one arm is better"; 0 before the first pair.
    pub fn ln_two_sided(&self) -> f64 {
        self.ln_two_sided
    }

    /// Returns the logarithm of the evidence for "the treatment is better".
    pub fn ln_better(&self) -> f64 {
        self.ln_better
    }

    /// Returns the logarithm of the strongest evidence so far for "one arm is better", at least 0.
    pub fn max_ln_two_sided(&self) -> f64 {
        self.max_ln_two_sided
    }

    /// Returns the logarithm of the strongest evidence so far for "the treatment is better", at least 0.
    pub fn max_ln_better(&self) -> f64 {
        self.max_ln_better
    }

    /// Returns the p-value of "no arm is better", valid at any time: one by the strongest evidence.
    pub fn p_two_sided(&self) -> PValue {
        Probability::from_ln(-self.max_ln_two_sided).into()
    }

    /// Returns the p-value of "the treatment is not better", valid at any time.
    pub fn p_better(&self) -> PValue {
        Probability::from_ln(-self.max_ln_better).into()
    }

    /// Returns the confidence interval of the chance to win, valid at any time (Robbins 1970).
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < alpha < 1`, [`StatsError::Empty`] before the first pair.
    pub fn win_interval(&self, alpha: f64) -> Result<Interval, StatsError> {
        checked_alpha(alpha)?;
        if self.n == 0 {
            return Err(StatsError::Empty);
        }
        let (n, k) = (self.n as f64, self.wins as f64);
        let front = ln_beta(1.0 + k, 1.0 + n - k) + alpha.ln();
        let share = k / n;
        // In the logit of the chance, so that limits close to 0 and 1 keep their digits.
        let excess = |logit: f64| {
            let ln_win = -(-logit).exp().ln_1p();
            let ln_loss = -logit.exp().ln_1p();
            front - k * ln_win - (n - k) * ln_loss
        };
        let chance = |logit: f64| (1.0 + (-logit).exp()).recip();
        let center = (share / (1.0 - share)).ln().clamp(-700.0, 700.0);
        let lower = if self.wins == 0 { 0.0 } else { chance(root(-700.0, center, excess)) };
        let upper = if self.wins == self.n { 1.0 } else { chance(root(center, 700.0, excess)) };
        Ok(Interval { lower, upper, level: 1.0 - alpha })
    }
}

/// The logarithms of the evidence for "one arm is better" and for "the treatment is better": likelihood ratios of a coin of
/// unknown bias, uniform over all of them or over those above 1/2.
fn ln_evidence(wins: usize, losses: usize) -> [f64; 2] {
    let (k, rest) = (wins as f64, losses as f64);
    let two_sided = (k + rest) * LN_2 + ln_beta(1.0 + k, 1.0 + rest);
    let above = incomplete_beta(0.5, 1.0 + rest, 1.0 + k).map_or(0.0, |above| above.ln);
    [two_sided, two_sided + LN_2 + above]
}

/// Returns the logarithm of the evidence for "the treatment is better" after so many pairs that it won and lost, in any
/// order: at least `ln(1 / alpha)` at any time with a chance of at most alpha while it wins no more than every second pair
/// (Ville 1939). 0 without pairs, below 0 where it loses more. O(1).
pub fn ln_sign_evidence(wins: usize, losses: usize) -> f64 {
    if wins + losses == 0 { 0.0 } else { ln_evidence(wins, losses)[1] }
}

/// Returns the ranks, from 1, between which the median of `n` differences lies, valid at any time: those that the evidence
/// of the signs does not reject at `alpha` a side, ties with the median on the side that keeps it. `None` if n is too small
/// to reject anything. O(log n).
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 < alpha < 1`.
pub fn sign_ranks(n: usize, alpha: f64) -> Result<Option<(usize, usize)>, StatsError> {
    let threshold = -checked_alpha(alpha)?.ln();
    // The evidence falls with every loss; how many losses are still enough to reject?
    let (mut enough, mut too_many) = (0, n + 1);
    if ln_sign_evidence(n, 0) < threshold {
        return Ok(None);
    }
    while too_many - enough > 1 {
        let losses = enough.midpoint(too_many);
        if ln_sign_evidence(n - losses.min(n), losses) >= threshold {
            enough = losses;
        } else {
            too_many = losses;
        }
    }
    Ok(Some((enough + 1, n - enough)))
}

/// Where a stream of pairs first reached the evidence to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignStream {
    /// The process after the whole stream.
    pub process: SignProcess,
    /// Pairs after which "one arm is better" reached `1 / alpha`.
    pub stop_two_sided: Option<usize>,
    /// Pairs after which "the treatment is better" reached `1 / alpha`.
    pub stop_better: Option<usize>,
}

/// Runs a stream of pairs, `true` where the treatment wins, through a [`SignProcess`]. O(n).
///
/// # Errors
///
/// [`StatsError::Empty`], [`StatsError::InvalidLevel`] unless `0 < alpha < 1`.
pub fn sign_stream(wins: &[bool], alpha: f64) -> Result<SignStream, StatsError> {
    checked_alpha(alpha)?;
    if wins.is_empty() {
        return Err(StatsError::Empty);
    }
    let threshold = -alpha.ln();
    let mut process = SignProcess::default();
    let (mut stop_two_sided, mut stop_better) = (None, None);
    for win in wins {
        process.push(*win);
        if process.ln_two_sided >= threshold {
            stop_two_sided = stop_two_sided.or(Some(process.n));
        }
        if process.ln_better >= threshold {
            stop_better = stop_better.or(Some(process.n));
        }
    }
    Ok(SignStream { process, stop_two_sided, stop_better })
}

/// The ranks between which a quantile lies, valid at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileRanks {
    /// The smallest number of observations below the quantile that is compatible with its order.
    pub fewest_below: usize,
    /// The largest such number.
    pub most_below: usize,
    /// Rank of the lower limit, from 1; `None` if there is none yet.
    pub lower: Option<usize>,
    /// Rank of the upper limit, from 1; `None` if there is none yet.
    pub upper: Option<usize>,
}

/// Returns the ranks of the observations between which the quantile of order `p` lies, after `n` independent ones and
/// valid at any time (Howard and Ramdas 2022). O(n).
///
/// # Errors
///
/// [`StatsError::Empty`] for n = 0, [`StatsError::InvalidLevel`] unless `0 < p < 1` and `0 < alpha < 1`.
pub fn quantile_ranks_anytime(p: f64, n: usize, alpha: f64) -> Result<QuantileRanks, StatsError> {
    checked_alpha(p)?;
    checked_alpha(alpha)?;
    if n == 0 {
        return Err(StatsError::Empty);
    }
    let (a, b) = (2.0 * p, 2.0 * (1.0 - p));
    let compatible = |k: &usize| {
        let (below, above) = (*k as f64, (n - k) as f64);
        let evidence = ln_beta(a + below, b + above) - ln_beta(a, b) - below * p.ln() - above * (-p).ln_1p();
        evidence < -alpha.ln()
    };
    let mut ranks = (0..=n).filter(compatible);
    let fewest_below = ranks.next().unwrap_or(0);
    let most_below = ranks.next_back().unwrap_or(fewest_below);
    Ok(QuantileRanks {
        fewest_below,
        most_below,
        lower: (fewest_below >= 1).then_some(fewest_below),
        upper: (most_below < n).then_some(most_below + 1),
    })
}

/// Returns the interval of a mean that is valid at any time for large n (Waudby-Smith et al. 2024), narrowest around
/// `planned` observations.
///
/// Asymptotic: it must not be looked at before about 30 observations. O(n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 2 observations, [`StatsError::InvalidLevel`] unless `0 < alpha < 1`,
/// [`StatsError::InvalidInput`] for 0 planned observations.
pub fn mean_interval_anytime(sample: &Sample, alpha: f64, planned: usize) -> Result<Interval, StatsError> {
    checked_alpha(alpha)?;
    if planned == 0 {
        return Err(StatsError::InvalidInput("the planned number of observations must be positive"));
    }
    let moments = Moments::of(sample)?;
    let n = moments.size();
    let doubt = -2.0 * alpha.ln();
    let rho2 = (doubt + doubt.ln_1p()) / planned as f64;
    let sd = moments.sd() * ((n - 1.0) / n).sqrt();
    let growth = n * rho2 + 1.0;
    let reach = sd * (2.0 * growth / (n * n * rho2) * (growth.sqrt() / alpha).ln()).sqrt();
    Ok(Interval::around(moments.mean(), reach, 1.0 - alpha))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_depends_on_the_counts_alone() {
        let mut process = SignProcess::default();
        for win in [true, false, true, true, true, true, true] {
            process.push(win);
        }
        assert_eq!(process.ln_better(), ln_sign_evidence(6, 1));
        assert_eq!(ln_sign_evidence(0, 0), 0.0);
        assert!(ln_sign_evidence(1, 6) < 0.0);
    }

    /// A rank is inside if and only if the evidence against a median beyond it falls short.
    #[test]
    fn ranks_are_those_that_the_evidence_keeps() {
        // Seven straight wins have evidence of 31.9, eight of 56.8.
        assert_eq!(sign_ranks(6, 0.05), Ok(None));
        assert_eq!(sign_ranks(7, 0.05), Ok(Some((1, 7))));
        assert_eq!(sign_ranks(7, 0.025), Ok(None));
        assert_eq!(sign_ranks(8, 0.025), Ok(Some((1, 8))));
        for n in [8, 20, 51, 200] {
            for alpha in [0.05, 0.025, 0.001] {
                let Some((lower, upper)) = sign_ranks(n, alpha).unwrap() else { continue };
                assert_eq!(lower + upper, n + 1);
                assert!(ln_sign_evidence(n - (lower - 1), lower - 1) >= -alpha.ln());
                assert!(ln_sign_evidence(n - lower, lower) < -alpha.ln());
                assert!(lower <= upper, "{n} {alpha}");
            }
        }
        assert_eq!(sign_ranks(0, 0.05), Ok(None));
        assert_eq!(sign_ranks(9, 0.0).map_err(StatsError::code), Err("invalid_level"));
    }
}
