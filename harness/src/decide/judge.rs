use super::claim::{self, Facts};
use super::clock;
use super::dependence;
use super::method::{Method, Tested, counted, method, test};
use super::paired;
use super::power::{Outlook, Question, outlook};
use super::resampled;
use super::robustness::{self, Robustness};
use crate::analyse::{Analysis, Comparison, Gain, Undefined};
use crate::prereg::{Contrast, Guard, Hypothesis, Prereg};
use crate::stats::{self, PValue};
use crate::vocab::{Agreement, Claim, Correction, Finding, Margin, Scalar};

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
    /// The same as the gain is counted: in the metric's unit where the control is zero and the margin does not
    /// matter, otherwise as registered.
    pub counted: Margin,
    /// The smallest |d| that counts.
    pub min_effect: f64,
    /// The samples.
    pub comparison: Comparison,
    /// The gain, with the interval that decides.
    pub gain: Result<Gain, Undefined>,
    /// Which test decides.
    pub method: Method,
    /// What it gives, before it is adjusted for the family.
    pub tested: Result<Tested, Undefined>,
    /// The p-value, adjusted for the family.
    pub p_adjusted: Result<PValue, Undefined>,
    /// What other methods say; only of hypotheses.
    pub robustness: Option<Robustness>,
    /// What follows.
    pub finding: Finding,
    /// Why, in words.
    pub reason: String,
    /// What would decide; only of what is undecided and more samples can decide.
    pub outlook: Option<Outlook>,
}

impl Judged {
    /// Whose method the interval that decides is.
    pub fn interval_method(&self) -> &'static str {
        let positive = || self.comparison.samples.as_ref().is_some_and(|it| it.control.min() > 0.0);
        match (self.method, self.counted) {
            (Method::Constant, _) => "a point",
            (Method::Bootstrap, _) => "BCa bootstrap",
            (Method::Wilcoxon, Margin::Absolute(_)) => "Hodges-Lehmann by block",
            (Method::Wilcoxon, Margin::Relative(_)) if positive() => "Hodges-Lehmann by block",
            (Method::PairedT, Margin::Absolute(_)) => "paired t",
            (Method::PairedT | Method::Wilcoxon, _) => "Fieller by block",
            (_, Margin::Relative(_)) => "Fieller",
            (_, Margin::Absolute(_)) => "Welch",
        }
    }
}

/// A hypothesis or guard, as both are judged.
pub(super) struct Rule<'a> {
    kind: Kind,
    pub(super) id: &'a str,
    metric: &'a str,
    condition: &'a [(String, Scalar)],
    contrast: &'a Contrast,
    pub(super) claim: Claim,
    pub(super) margin: Margin,
    pub(super) min_effect: f64,
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
    let mut family: Vec<(&Rule<'_>, &Comparison, Result<Tested, Undefined>)> = Vec::new();
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
                let method = method(prereg, rule, comparison);
                family.push((rule, comparison, test(prereg, rule, comparison, method)));
            }
        }
    }
    // What has no p-value still counts in the size of the family.
    let raw: Vec<PValue> = family.iter().map(|(.., it)| it.as_ref().map_or(PValue::ONE, |it| it.p)).collect();
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
        .map(|((rule, comparison, tested), adjusted)| {
            finish(prereg, rule, comparison, tested, adjusted, interval_alpha)
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

fn finish(
    prereg: &Prereg,
    rule: &Rule<'_>,
    comparison: &Comparison,
    tested: Result<Tested, Undefined>,
    adjusted: PValue,
    interval_alpha: f64,
) -> Judged {
    let two_sided = rule.claim == Claim::Superior;
    let level = 1.0 - if two_sided { interval_alpha } else { 2.0 * interval_alpha };
    let counted = counted(rule, comparison, level);
    let method = method(prereg, rule, comparison);
    let gain = match method {
        Method::Bootstrap => {
            resampled::gain(comparison, counted, level, robustness::seed(prereg, rule, comparison))
        }
        Method::PairedT => paired::of_t(comparison, counted, level),
        Method::Wilcoxon => paired::of_ranks(comparison, counted, level),
        _ => comparison.gain(counted, level),
    };
    let p = tested.as_ref().map(|it| it.p).map_err(Clone::clone);
    let p_adjusted = p.clone().map(|_| adjusted);
    let facts = Facts { prereg, rule, comparison, method, gain: &gain, p: &p_adjusted, interval_alpha };
    let robustness =
        (rule.kind == Kind::Hypothesis).then(|| Robustness::of(prereg, rule, comparison, counted));
    let required = prereg.decision.agreement == Agreement::Require;
    let objection = || clock::objection(rule, comparison, counted, gain.as_ref().ok()?);
    let found = match claim::judge(&facts) {
        (Finding::Supported, reason, _) => match objection() {
            Some(reason) => (Finding::Undecided, reason, false),
            None => (Finding::Supported, reason, false),
        },
        found => found,
    };
    let dependent = gain
        .as_ref()
        .ok()
        .and_then(|gain| dependence::objection(found.0, rule, comparison, counted, gain, method));
    let found = dependent.map_or(found, |reason| (Finding::Undecided, reason, false));
    let (finding, reason, sample_more) = match (found, &robustness) {
        // The panel can only take support away.
        ((Finding::Supported, ..), Some(it)) if required && !it.is_full() => {
            (Finding::Undecided, it.disagreement(), false)
        }
        (found, _) => found,
    };
    let undecided = gain.as_ref().ok().filter(|_| finding == Finding::Undecided && sample_more);
    let question = Question {
        claim: rule.claim,
        counted,
        margin: rule.margin.value(),
        alpha: interval_alpha,
        test: prereg.decision.test,
        paired: matches!(method, Method::PairedT | Method::Wilcoxon),
    };
    let outlook = undecided.and_then(|it| outlook(comparison, it, &question));
    Judged {
        kind: rule.kind,
        id: rule.id.to_owned(),
        claim: rule.claim,
        margin: rule.margin,
        counted,
        min_effect: rule.min_effect,
        comparison: comparison.clone(),
        gain,
        method,
        tested,
        p_adjusted,
        robustness,
        finding,
        reason,
        outlook,
    }
}
