use super::power::{Outlook, outlook};
use crate::analyse::{Analysis, Comparison, Gain, Statistics, Undefined};
use crate::prereg::{Contrast, Guard, Hypothesis, Prereg};
use crate::stats::{
    self, Equivalence, PValue, equivalence_absolute_of_moments, equivalence_relative_of_moments,
};
use crate::vocab::{Claim, Correction, Direction, Finding, Margin, Scalar, Test};

/// Whether something is claimed or guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A hypothesis.
    Hypothesis,
    /// A guard.
    Guard,
}

/// One hypothesis or guard in one cell, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Which of the two.
    pub kind: Kind,
    /// The hypothesis's id; the metric's name for a guard.
    pub id: String,
    /// The form of the claim; a guard claims non-inferiority.
    pub claim: Claim,
    /// The margin.
    pub margin: Margin,
    /// The smallest |d| that counts.
    pub min_effect: f64,
    /// The samples.
    pub comparison: Comparison,
    /// The gain, with the interval that decides.
    pub gain: Result<Gain, Undefined>,
    /// The p-value of the registered test for this claim.
    pub p: Result<PValue, Undefined>,
    /// The same, adjusted for the family.
    pub p_adjusted: Result<PValue, Undefined>,
    /// What follows.
    pub finding: Finding,
    /// Why, in words.
    pub reason: String,
    /// What would decide; only of what is undecided.
    pub outlook: Option<Outlook>,
}

struct Rule<'a> {
    kind: Kind,
    id: &'a str,
    metric: &'a str,
    condition: &'a [(String, Scalar)],
    contrast: &'a Contrast,
    claim: Claim,
    margin: Margin,
    min_effect: f64,
}

impl<'a> From<&'a Hypothesis> for Rule<'a> {
    fn from(it: &'a Hypothesis) -> Self {
        let Hypothesis { id, metric, condition, contrast, claim, margin, min_effect } = it;
        let (claim, margin, min_effect) = (*claim, *margin, *min_effect);
        Self { kind: Kind::Hypothesis, id, metric, condition, contrast, claim, margin, min_effect }
    }
}

impl<'a> From<&'a Guard> for Rule<'a> {
    fn from(it: &'a Guard) -> Self {
        let Guard { metric, condition, contrast, margin } = it;
        let (claim, margin) = (Claim::NonInferior, *margin);
        Self { kind: Kind::Guard, id: metric, metric, condition, contrast, claim, margin, min_effect: 0.0 }
    }
}

/// Judges every hypothesis in every cell that it speaks of, as one family.
pub(super) fn hypotheses(prereg: &Prereg, analysis: &Analysis) -> Vec<Judged> {
    let rules: Vec<Rule<'_>> = prereg.hypotheses.iter().map(Rule::from).collect();
    judge(prereg, analysis, &rules, prereg.decision.correction)
}

/// Judges every guard in every cell that it speaks of, each by itself.
pub(super) fn guards(prereg: &Prereg, analysis: &Analysis) -> Vec<Judged> {
    let rules: Vec<Rule<'_>> = prereg.guards.iter().map(Rule::from).collect();
    judge(prereg, analysis, &rules, Correction::None)
}

fn judge(prereg: &Prereg, analysis: &Analysis, rules: &[Rule<'_>], correction: Correction) -> Vec<Judged> {
    let cells = prereg.cells();
    let mut family: Vec<(&Rule<'_>, &Comparison, Result<PValue, Undefined>)> = Vec::new();
    for rule in rules {
        for cell in cells.iter().filter(|it| it.matches(rule.condition)) {
            let cell = cell.to_string();
            let found = analysis.comparisons.iter().find(|it| {
                it.metric == rule.metric
                    && it.cell == cell
                    && it.treatment == rule.contrast.treatment
                    && it.control == rule.contrast.control
            });
            // The registration was checked: every contrast is of registered arms in registered cells.
            if let Some(comparison) = found {
                family.push((rule, comparison, p_value(prereg, rule, comparison)));
            }
        }
    }
    // What has no p-value still counts in the size of the family.
    let raw: Vec<PValue> = family.iter().map(|(.., p)| p.clone().unwrap_or(PValue::ONE)).collect();
    let adjusted = to_stats(correction).adjust(&raw);
    let alpha = prereg.decision.alpha;
    let passing = adjusted.iter().filter(|it| it.value() < alpha).count();
    let interval_alpha = match correction {
        Correction::None => alpha,
        Correction::Holm => alpha / family.len() as f64,
        Correction::BenjaminiHochberg => alpha * passing.max(1) as f64 / family.len() as f64,
    };
    family
        .into_iter()
        .zip(adjusted)
        .map(|((rule, comparison, p), adjusted)| {
            finish(prereg, rule, comparison, p, adjusted, interval_alpha)
        })
        .collect()
}

fn to_stats(correction: Correction) -> stats::Correction {
    match correction {
        Correction::Holm => stats::Correction::Holm,
        Correction::BenjaminiHochberg => stats::Correction::BenjaminiHochberg,
        Correction::None => stats::Correction::None,
    }
}

/// The p-value of the claim: of any difference for superiority, of "within the margin" otherwise.
fn p_value(prereg: &Prereg, rule: &Rule<'_>, comparison: &Comparison) -> Result<PValue, Undefined> {
    let statistics = comparison.statistics.as_ref().map_err(Clone::clone)?;
    let no_spread = || Undefined("neither arm varies".to_owned());
    match rule.claim {
        Claim::Superior => match prereg.decision.test {
            Test::MannWhitney => Ok(statistics.mann_whitney.p.two_sided),
            Test::Welch => statistics.welch.test.map(|it| it.p.two_sided).ok_or_else(no_spread),
            // The parser refuses what is not available yet.
            Test::PairedT | Test::Wilcoxon | Test::Bootstrap => {
                Err(Undefined(format!("test `{}` is not available", prereg.decision.test)))
            }
        },
        Claim::NonInferior => {
            let tests = equivalence(rule, comparison)?.tests.ok_or_else(no_spread)?;
            Ok(match comparison.better {
                Direction::Lower => tests.above.within,
                Direction::Higher => tests.below.within,
            })
        }
        Claim::Equivalent => Ok(equivalence(rule, comparison)?.tests.ok_or_else(no_spread)?.equivalent()),
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

fn finish(
    prereg: &Prereg,
    rule: &Rule<'_>,
    comparison: &Comparison,
    p: Result<PValue, Undefined>,
    adjusted: PValue,
    interval_alpha: f64,
) -> Judged {
    let two_sided = rule.claim == Claim::Superior;
    let level = 1.0 - if two_sided { interval_alpha } else { 2.0 * interval_alpha };
    // A share of a baseline of zero does not exist; whether there is any gain can still be said.
    let margin = match rule.margin {
        Margin::Relative(0.0) if comparison.relative_gain(level).is_err() => Margin::Absolute(0.0),
        margin => margin,
    };
    let gain = comparison.gain(margin, level);
    let p_adjusted = p.clone().map(|_| adjusted);
    let (finding, reason) = match (&gain, &p_adjusted) {
        (Err(undefined), _) => (Finding::Undecided, format!("gain {undefined}")),
        (Ok(_), Err(undefined)) => (Finding::Undecided, format!("p-value {undefined}")),
        (Ok(gain), Ok(p)) => {
            let significant = p.value() < prereg.decision.alpha;
            match rule.claim {
                Claim::Superior => superior(rule, comparison, gain, significant),
                Claim::NonInferior => non_inferior(rule, gain, significant),
                Claim::Equivalent => equivalent(rule, gain, significant),
            }
        }
    };
    let threshold = match rule.claim {
        Claim::Superior => rule.margin.value(),
        Claim::NonInferior | Claim::Equivalent => -rule.margin.value(),
    };
    let undecided = gain.as_ref().ok().filter(|_| finding == Finding::Undecided);
    let outlook =
        undecided.and_then(|it| outlook(comparison, it, rule.margin, threshold, interval_alpha, two_sided));
    Judged {
        kind: rule.kind,
        id: rule.id.to_owned(),
        claim: rule.claim,
        margin: rule.margin,
        min_effect: rule.min_effect,
        comparison: comparison.clone(),
        gain,
        p,
        p_adjusted,
        finding,
        reason,
        outlook,
    }
}

fn superior(rule: &Rule<'_>, comparison: &Comparison, gain: &Gain, significant: bool) -> (Finding, String) {
    let (margin, interval) = (rule.margin.value(), gain.interval);
    // With a margin of zero, "below the margin" and "significantly worse" are the same.
    if interval.upper < margin {
        return (Finding::Refuted, "the interval of the gain lies below the margin".to_owned());
    }
    if significant && gain.value < 0.0 {
        return (Finding::Refuted, "it is significantly worse".to_owned());
    }
    if !significant {
        return (Finding::Undecided, "p is not below alpha".to_owned());
    }
    if interval.lower <= margin {
        return (Finding::Undecided, "the interval of the gain holds the margin".to_owned());
    }
    let effect = comparison.statistics.as_ref().map_err(Clone::clone).and_then(Statistics::cohens_d);
    match effect {
        Ok(d) if d.abs() < rule.min_effect => {
            (Finding::Undecided, format!("|d| = {:.2} is below the minimum effect", d.abs()))
        }
        Ok(_) => (Finding::Supported, "the interval of the gain lies above the margin".to_owned()),
        Err(undefined) => (Finding::Undecided, format!("effect size {undefined}")),
    }
}

fn non_inferior(rule: &Rule<'_>, gain: &Gain, significant: bool) -> (Finding, String) {
    let floor = -rule.margin.value();
    if gain.interval.upper < floor {
        (Finding::Refuted, "it is worse by more than the margin".to_owned())
    } else if significant && gain.interval.lower > floor {
        (Finding::Supported, "it is not worse by more than the margin".to_owned())
    } else {
        (Finding::Undecided, "a loss beyond the margin cannot be excluded".to_owned())
    }
}

fn equivalent(rule: &Rule<'_>, gain: &Gain, significant: bool) -> (Finding, String) {
    let (margin, interval) = (rule.margin.value(), gain.interval);
    if interval.upper < -margin || interval.lower > margin {
        (Finding::Refuted, "the difference is larger than the margin".to_owned())
    } else if significant && interval.lower > -margin && interval.upper < margin {
        (Finding::Supported, "the difference is smaller than the margin".to_owned())
    } else {
        (Finding::Undecided, "a difference beyond the margin cannot be excluded".to_owned())
    }
}
