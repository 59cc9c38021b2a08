use super::judge::Rule;
use super::{resampled, robustness, signs};
use crate::analyse::{Comparison, Pair, Statistics, Undefined};
use crate::prereg::{Prereg, Stopping};
use crate::stats::{
    Equivalence, Limit, Limits, PValue, RankMethod, Status, equivalence_absolute_of_moments,
    equivalence_relative_of_moments, mann_whitney_smallest_p, paired_t, signed_rank,
};
use crate::vocab::{Claim, Direction, Margin, Nature, Test, UnitKind};
use std::f64::consts::LN_2;
use std::fmt;

/// The test that gives the p-value of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Welch's t of any difference.
    Welch,
    /// Mann and Whitney's U of any difference.
    MannWhitney,
    /// Student's t of the differences within blocks.
    PairedT,
    /// Wilcoxon's signed ranks of the differences within blocks.
    Wilcoxon,
    /// The bootstrap of the means.
    Bootstrap,
    /// Welch's t against the margin: one-sided, or two one-sided tests.
    WelchMargin,
    /// The evidence of the signs of the gains within blocks.
    SignEProcess,
    /// Neither arm varies: the chance that equal arms would be divided so, which only their sizes decide.
    Constant,
}

impl Method {
    /// A word for machines.
    pub fn code(self) -> &'static str {
        match self {
            Self::Welch => "welch",
            Self::MannWhitney => "mann-whitney",
            Self::PairedT => "paired-t",
            Self::Wilcoxon => "wilcoxon",
            Self::Bootstrap => "bootstrap",
            Self::WelchMargin => "welch-margin",
            Self::SignEProcess => "sign-e-process",
            Self::Constant => "constant",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Welch => "Welch",
            Self::MannWhitney => "Mann-Whitney",
            Self::PairedT => "paired t",
            Self::Wilcoxon => "Wilcoxon",
            Self::Bootstrap => "bootstrap",
            Self::WelchMargin => "Welch, against the margin",
            Self::SignEProcess => "sign e-process",
            Self::Constant => "exact, of constants",
        })
    }
}

/// A p-value with the statistic and the degrees of freedom that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The p-value, of this claim alone; valid over all looks where there are several.
    pub p: PValue,
    /// t, U, the rank sum W of the pairs in which the treatment is greater, or the blocks in which the gain is beyond zero
    /// or the margin, by which the sign e-process counts; none of constants and of the bootstrap.
    pub statistic: Option<f64>,
    /// Degrees of freedom of a t.
    pub df: Option<f64>,
}

impl Tested {
    pub(super) fn new(p: PValue, statistic: Option<f64>, df: Option<f64>) -> Self {
        Self { p, statistic, df }
    }
}

/// Which test the claim is decided by.
pub(super) fn method(prereg: &Prereg, rule: &Rule<'_>, comparison: &Comparison) -> Method {
    if prereg.design.looks.as_ref().is_some_and(|it| it.stopping == Stopping::SignEProcess) {
        return Method::SignEProcess;
    }
    let constant = comparison.statistics.as_ref().is_ok_and(constant);
    match (constant, rule.claim, prereg.decision.test) {
        (true, ..) => Method::Constant,
        (false, Claim::Superior, Test::Welch) => Method::Welch,
        (false, Claim::Superior, Test::MannWhitney) => Method::MannWhitney,
        (false, Claim::Superior, Test::PairedT) => Method::PairedT,
        (false, Claim::Superior, Test::Wilcoxon) => Method::Wilcoxon,
        (false, Claim::Superior, Test::Bootstrap) => Method::Bootstrap,
        (false, Claim::NonInferior | Claim::Equivalent, _) => Method::WelchMargin,
    }
}

/// Whether the comparison is of an exact metric that repeated itself: then its gain is a fact.
pub(super) fn is_fact(prereg: &Prereg, comparison: &Comparison, method: Method) -> bool {
    let nature = prereg.metric(&comparison.metric).map(|it| it.nature);
    method == Method::Constant && nature == Some(Nature::Exact)
}

/// The margin as the gain is counted at `level`.
///
/// A share of a control of zero does not exist. Whether there is any gain can still be said, and that there is none
/// where no sample differs from another.
pub(super) fn counted(rule: &Rule<'_>, comparison: &Comparison, level: f64) -> Margin {
    let equal = |it: &Statistics| constant(it) && it.welch.difference == 0.0;
    match rule.margin {
        Margin::Relative(margin)
            if (margin == 0.0 || comparison.statistics.as_ref().is_ok_and(equal))
                && comparison.relative_gain(level).is_err() =>
        {
            Margin::Absolute(margin)
        }
        margin => margin,
    }
}

fn constant(statistics: &Statistics) -> bool {
    statistics.welch.status == Status::ZeroVarianceBoth
}

/// The test of the claim: of any difference for superiority, of "within the margin" otherwise.
pub(super) fn test(
    prereg: &Prereg,
    rule: &Rule<'_>,
    comparison: &Comparison,
    method: Method,
) -> Result<Tested, Undefined> {
    let statistics = comparison.statistics.as_ref().map_err(Clone::clone)?;
    let no_spread = || Undefined("neither arm varies".to_owned());
    match method {
        Method::MannWhitney => {
            let it = &statistics.mann_whitney;
            Ok(Tested::new(it.p.two_sided, Some(it.u_treatment), None))
        }
        Method::Welch => {
            let test = statistics.welch.test.ok_or_else(no_spread)?;
            Ok(Tested::new(test.p.two_sided, Some(test.t), Some(test.df)))
        }
        Method::PairedT => {
            let Pair { treatment, control, .. } = blocks(comparison)?;
            let equal = || Undefined("all differences within blocks are equal".to_owned());
            let test = paired_t(treatment, control)?.test.ok_or_else(equal)?;
            Ok(Tested::new(test.p.two_sided, Some(test.t), Some(test.df)))
        }
        Method::Wilcoxon => {
            let Pair { treatment, control, .. } = blocks(comparison)?;
            let found = signed_rank(treatment, control, RankMethod::AutoConditional)?;
            let p = found.test.map_or(PValue::ONE, |it| it.p.two_sided);
            Ok(Tested::new(p, Some(found.w_plus), None))
        }
        Method::Bootstrap => {
            let seed = robustness::seed(prereg, rule, comparison);
            Ok(Tested::new(resampled::p_value(comparison, seed)?, None, None))
        }
        Method::WelchMargin => {
            let (tests, better) = limits(rule, comparison)?;
            let tests = tests.ok_or_else(no_spread)?;
            let of = |it: Limit| Tested::new(it.within, Some(it.t), Some(it.df));
            let (below, above) = (of(tests.below), of(tests.above));
            Ok(match (rule.claim, better) {
                (Claim::NonInferior, Direction::Lower) => above,
                (Claim::NonInferior, Direction::Higher) => below,
                _ if below.p > above.p => below,
                _ => above,
            })
        }
        Method::SignEProcess => signs::test(rule, comparison),
        Method::Constant => of_constants(rule, comparison, statistics),
    }
}

/// The samples, if those of a block belong together.
pub(super) fn blocks(comparison: &Comparison) -> Result<&Pair, Undefined> {
    let no_pairs =
        "the arms have not the same blocks, or were measured one after the other, so there are no pairs";
    let pair = comparison.samples.as_deref().filter(|it| it.by_block);
    pair.ok_or_else(|| Undefined(no_pairs.to_owned()))
}

/// The test of arms that do not vary, by the exact distribution of ranks: under the null hypothesis every
/// division of the samples among the arms is as likely as the one that separates them.
fn of_constants(
    rule: &Rule<'_>,
    comparison: &Comparison,
    statistics: &Statistics,
) -> Result<Tested, Undefined> {
    match comparison.unit.kind() {
        UnitKind::Bytes | UnitKind::Count => {}
        // No time is constant: what does not vary is the clock.
        UnitKind::Time | UnitKind::Rate => {
            return Err(Undefined("neither arm varies, so the clock is too coarse for this metric".into()));
        }
    }
    let two_sided = mann_whitney_smallest_p(statistics.treatment.n(), statistics.control.n())?;
    let one_sided = PValue::from_ln(two_sided.ln() - LN_2)?;
    let gain = comparison.gain(counted(rule, comparison, 0.5), 0.5).map(|it| it.value);
    let margin = rule.margin.value();
    let p = match rule.claim {
        Claim::Superior if statistics.welch.difference != 0.0 => Some(two_sided),
        Claim::NonInferior if gain.clone()? > -margin => Some(one_sided),
        Claim::Equivalent if gain.clone()?.abs() < margin => Some(one_sided),
        _ => None,
    };
    Ok(Tested::new(p.unwrap_or(PValue::ONE), None, None))
}

/// The tests at both ends of the margin, and in which direction of theirs it improves.
fn limits(rule: &Rule<'_>, comparison: &Comparison) -> Result<(Option<Limits>, Direction), Undefined> {
    match (&comparison.additivity, rule.margin) {
        (Some(additivity), Margin::Relative(share)) => {
            // Without a gain there is no share of it.
            comparison.relative_gain(0.5)?;
            Ok((additivity.limits(share)?, Direction::Higher))
        }
        _ => Ok((equivalence(rule, comparison)?.tests, comparison.better)),
    }
}

fn equivalence(rule: &Rule<'_>, comparison: &Comparison) -> Result<Equivalence, Undefined> {
    let statistics = comparison.statistics.as_ref().map_err(Clone::clone)?;
    let (treatment, control) = (&statistics.treatment, &statistics.control);
    Ok(match rule.margin {
        Margin::Relative(margin) => equivalence_relative_of_moments(treatment, control, margin)?,
        Margin::Absolute(margin) => equivalence_absolute_of_moments(treatment, control, margin)?,
    })
}
