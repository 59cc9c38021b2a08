//! What one comparison says of one claim: the rule of the table in the module above.

use super::judge::Rule;
use super::method::{Method, blocks, is_fact};
use crate::analyse::{Comparison, Gain, Statistics, Undefined};
use crate::prereg::Prereg;
use crate::stats::{PValue, RankMethod, mann_whitney_smallest_p, signed_rank};
use crate::vocab::{Claim, Finding, Test};

/// All that a finding follows from.
pub(super) struct Facts<'a> {
    pub(super) prereg: &'a Prereg,
    pub(super) rule: &'a Rule<'a>,
    pub(super) comparison: &'a Comparison,
    pub(super) method: Method,
    pub(super) gain: &'a Result<Gain, Undefined>,
    /// Adjusted for the family.
    pub(super) p: &'a Result<PValue, Undefined>,
    /// The alpha of one interval of the family.
    pub(super) interval_alpha: f64,
}

/// A finding, why, and whether more samples could change it.
pub(super) type Found = (Finding, String, bool);

/// Judges a claim.
pub(super) fn judge(facts: &Facts<'_>) -> Found {
    let statistics = match &facts.comparison.statistics {
        Ok(it) => it,
        Err(undefined) => return (Finding::Undecided, format!("nothing can be said: {undefined}"), false),
    };
    let exact = is_fact(facts.prereg, facts.comparison, facts.method);
    if facts.method == Method::Constant
        && !exact
        && facts.p.is_ok()
        && let Some(found) = too_few_constants(facts, statistics)
    {
        return found;
    }
    let gain = match facts.gain {
        Ok(gain) => gain,
        Err(undefined) => {
            return without_gain(facts, statistics)
                .unwrap_or_else(|| (Finding::Undecided, format!("its gain is {undefined}"), false));
        }
    };
    if exact {
        return of_facts(facts, gain);
    }
    let p = match facts.p {
        Ok(p) => *p,
        Err(undefined) => return (Finding::Undecided, format!("its p-value is {undefined}"), false),
    };
    match facts.rule.claim {
        Claim::Superior => superior(facts, statistics, gain, p),
        Claim::NonInferior => non_inferior(facts, gain, p),
        Claim::Equivalent => equivalent(facts, gain, p),
    }
}

/// An exact metric repeated itself as registered, so its gain is a fact that no number of samples would change.
fn of_facts(facts: &Facts<'_>, gain: &Gain) -> Found {
    let margin = facts.rule.margin.value();
    let (holds, yes, no) = match facts.rule.claim {
        Claim::Superior => (
            gain.value > margin,
            "the gain of an exact metric is above the margin",
            "the gain of an exact metric is not above the margin",
        ),
        Claim::NonInferior => (
            gain.value >= -margin,
            "an exact metric is not worse by more than the margin",
            "an exact metric is worse by more than the margin",
        ),
        Claim::Equivalent => (
            gain.value.abs() <= margin,
            "the arms of an exact metric differ by no more than the margin",
            "the arms of an exact metric differ by more than the margin",
        ),
    };
    match holds {
        true => (Finding::Supported, yes.to_owned(), false),
        false => (Finding::Refuted, no.to_owned(), false),
    }
}

/// Arms that do not vary are taken for constants only if that many equal samples are no accident.
fn too_few_constants(facts: &Facts<'_>, statistics: &Statistics) -> Option<Found> {
    let (n, m) = (statistics.treatment.n(), statistics.control.n());
    let smallest = mann_whitney_smallest_p(n, m).ok()?;
    // One-sided claims have twice the alpha, as their intervals do.
    let alpha = match facts.rule.claim {
        Claim::Superior => facts.interval_alpha,
        Claim::NonInferior | Claim::Equivalent => 2.0 * facts.interval_alpha,
    };
    (smallest.value() >= alpha).then(|| {
        let reason = format!("neither arm varies, but {n} and {m} samples are too few to rely on that");
        (Finding::Undecided, reason, true)
    })
}

/// A share of a control that is zero, or cannot be told from zero, does not exist; that it got worse may still
/// be plain.
fn without_gain(facts: &Facts<'_>, statistics: &Statistics) -> Option<Found> {
    // Means and their intervals are no part of the signs, and their level is that of a single look.
    if facts.method == Method::SignEProcess {
        return None;
    }
    let two_sided = facts.rule.claim == Claim::Superior;
    let level = 1.0 - if two_sided { facts.interval_alpha } else { 2.0 * facts.interval_alpha };
    let absolute = facts.comparison.absolute_gain(level).ok()?;
    let always_zero = statistics.control.mean() == 0.0 && statistics.control.sd() == 0.0;
    let worse = absolute.interval.upper < 0.0;
    match facts.rule.claim {
        Claim::Superior if worse => Some((Finding::Refuted, "it is significantly worse".to_owned(), false)),
        Claim::NonInferior if worse && always_zero => Some((
            Finding::Refuted,
            "the control is always zero and the treatment is worse, which no share of zero allows".to_owned(),
            false,
        )),
        Claim::Equivalent if always_zero && !absolute.interval.contains(0.0) => {
            Some((Finding::Refuted, "the control is always zero and the treatment is not".to_owned(), false))
        }
        _ => None,
    }
}

fn superior(facts: &Facts<'_>, statistics: &Statistics, gain: &Gain, p: PValue) -> Found {
    let (margin, interval, alpha) = (facts.rule.margin.value(), gain.interval, facts.prereg.decision.alpha);
    // The direction in which the registered test points; a test of ranks may contradict the means.
    let direction = match facts.prereg.decision.test {
        _ if facts.method == Method::SignEProcess => gain.value,
        test => direction(facts, statistics, test),
    };
    let contradiction = "the registered test of ranks and the means point in opposite directions";
    // The gain of signed ranks is theirs, and one that the means contradict decides nothing.
    if facts.method == Method::Wilcoxon
        && facts.comparison.better.gain(statistics.welch.difference) * gain.value < 0.0
    {
        return (Finding::Undecided, contradiction.to_owned(), false);
    }
    let constants_equal = facts.method == Method::Constant && gain.value <= margin;
    if interval.upper < margin || constants_equal {
        let reason = if margin == 0.0 && interval.upper < 0.0 {
            "it is significantly worse"
        } else if facts.method == Method::Constant {
            "neither arm varies, and the gain is not above the margin"
        } else {
            "the whole interval of the gain lies below the margin"
        };
        return (Finding::Refuted, reason.to_owned(), false);
    }
    let significant = p.value() < alpha;
    if significant && gain.value < 0.0 && direction < 0.0 {
        return (Finding::Refuted, "it is significantly worse".to_owned(), false);
    }
    if !significant {
        return (Finding::Undecided, not_significant(facts, statistics, p), true);
    }
    if gain.value * direction < 0.0 {
        return (Finding::Undecided, contradiction.to_owned(), false);
    }
    if interval.lower <= margin {
        let reason = if margin == 0.0 {
            "p is below α, but the interval of the gain reaches zero"
        } else {
            "the interval of the gain reaches the margin"
        };
        return (Finding::Undecided, reason.to_owned(), true);
    }
    match statistics.cohens_d() {
        Ok(d) if d.abs() < facts.rule.min_effect => {
            let reason = format!(
                "|d| = {:.2} is below the registered minimum effect of {}, which more samples would not change",
                d.abs(),
                facts.rule.min_effect
            );
            (Finding::Undecided, reason, false)
        }
        // Arms that differ and do not vary are as far apart as can be.
        _ => (Finding::Supported, "the whole interval of the gain lies above the margin".to_owned(), false),
    }
}

/// The direction in which a test points, above zero where the treatment is better.
fn direction(facts: &Facts<'_>, statistics: &Statistics, test: Test) -> f64 {
    facts.comparison.better.gain(match test {
        Test::MannWhitney => statistics.delta.delta,
        Test::Wilcoxon => signed_ranks(facts.comparison).unwrap_or(0.0),
        Test::Welch | Test::PairedT | Test::Bootstrap => statistics.welch.difference,
    })
}

/// Above zero where the ranks of the pairs say that the treatment is greater; `None` without pairs.
fn signed_ranks(comparison: &Comparison) -> Option<f64> {
    let pair = blocks(comparison).ok()?;
    // The sums are the same whatever the p-value comes from.
    let method = RankMethod::Asymptotic { continuity: true };
    let found = signed_rank(&pair.treatment, &pair.control, method).ok()?;
    Some(found.w_plus - found.w_minus)
}

fn not_significant(facts: &Facts<'_>, statistics: &Statistics, p: PValue) -> String {
    let (n, m) = (statistics.treatment.n(), statistics.control.n());
    let alpha = facts.prereg.decision.alpha;
    if facts.prereg.decision.test == Test::MannWhitney
        && let Ok(smallest) = mann_whitney_smallest_p(n, m)
        && smallest.value() >= alpha
    {
        return format!(
            "n is too small: with {n} and {m} samples, the smallest p that the exact Mann-Whitney test can give \
             is {smallest}"
        );
    }
    if facts.prereg.decision.test == Test::Wilcoxon && smallest_signed_rank_p(n) >= alpha {
        let smallest = smallest_signed_rank_p(n);
        return format!(
            "n is too small: with {n} blocks, the smallest p that Wilcoxon's signed ranks can give is {smallest}"
        );
    }
    format!("a difference is not shown, since p = {p} is not below α = {alpha}")
}

/// The p-value if the differences of all `pairs` have the same sign.
pub(super) fn smallest_signed_rank_p(pairs: usize) -> f64 {
    // Beyond the range of an exponent, it is zero.
    0.5_f64.powi(i32::try_from(pairs).unwrap_or(i32::MAX) - 1)
}

fn non_inferior(facts: &Facts<'_>, gain: &Gain, p: PValue) -> Found {
    let floor = -facts.rule.margin.value();
    if gain.interval.upper < floor {
        (Finding::Refuted, "it is worse by more than the margin".to_owned(), false)
    } else if p.value() < facts.prereg.decision.alpha && gain.interval.lower > floor {
        (Finding::Supported, "it is not worse by more than the margin".to_owned(), false)
    } else {
        (Finding::Undecided, "a loss beyond the margin cannot be excluded".to_owned(), true)
    }
}

fn equivalent(facts: &Facts<'_>, gain: &Gain, p: PValue) -> Found {
    let (margin, interval) = (facts.rule.margin.value(), gain.interval);
    if interval.upper < -margin || interval.lower > margin {
        (Finding::Refuted, "the difference is larger than the margin".to_owned(), false)
    } else if p.value() < facts.prereg.decision.alpha && interval.lower > -margin && interval.upper < margin {
        (Finding::Supported, "the difference is smaller than the margin".to_owned(), false)
    } else {
        (Finding::Undecided, "a difference beyond the margin cannot be excluded".to_owned(), true)
    }
}
