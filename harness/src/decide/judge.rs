use super::claim::{self, Facts};
use super::clock;
use super::dependence;
use super::method::{Method, Tested, counted, is_fact, method, test};
use super::paired;
use super::position::{Claimed, Position};
use super::power::{Outlook, Question, outlook};
use super::resampled;
use super::robustness::{self, Robustness};
use super::sequence::Sequence;
use super::signs;
use crate::analyse::{Analysis, Comparison, Gain, Undefined};
use crate::prereg::{self as registered, Contrast, Guard, Hypothesis, Prereg};
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
    /// Where it stands against its boundary; only with registered looks.
    pub position: Option<Position>,
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
        let Hypothesis { id, metric, condition, contrast, claim, margin, min_effect, .. } = it;
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
    judge(
        prereg,
        members(prereg, |metric, cell, it| analysis.find(metric, cell, it), &rules),
        prereg.decision.correction,
    )
}

/// Judges every guard in every cell that it speaks of, each by itself.
pub(super) fn guards(prereg: &Prereg, analysis: &Analysis) -> Vec<Judged> {
    let rules: Vec<Rule<'_>> = prereg.guards.iter().map(Rule::from).collect();
    judge(
        prereg,
        members(prereg, |metric, cell, it| analysis.find(metric, cell, it), &rules),
        Correction::None,
    )
}

/// Judges what is claimed of one cell from `comparisons` of it, whatever other cells say: where the family is corrected,
/// each hypothesis has its equal share of alpha. What that decides, the correction over the whole family decides as well.
pub(super) fn one_cell(prereg: &Prereg, comparisons: &[Comparison]) -> Vec<Judged> {
    let rules: Vec<Rule<'_>> = prereg.hypotheses.iter().map(Rule::from).collect();
    let family = match prereg.decision.correction {
        Correction::None => 1,
        Correction::Holm | Correction::BenjaminiHochberg => {
            let cells = prereg.cells();
            let speaks_of = |it: &Rule<'_>| cells.iter().filter(|cell| cell.matches(it.condition)).count();
            rules.iter().map(speaks_of).sum()
        }
    };
    let share = prereg.decision.alpha / family as f64;
    let find = |metric: &str, cell: &str, contrast: &Contrast| {
        comparisons.iter().find(|it| it.is_of(metric, cell, contrast))
    };
    let claimed = members(prereg, find, &rules).into_iter().map(|member| {
        let raw = member.p();
        let padded: Vec<PValue> = [raw].into_iter().chain((1..family).map(|_| PValue::ONE)).collect();
        let adjusted = stats::Correction::Bonferroni.adjust(&padded)[0];
        finish(prereg, member, adjusted, share)
    });
    let guarded: Vec<Rule<'_>> = prereg.guards.iter().map(Rule::from).collect();
    let guards = judge(prereg, members(prereg, find, &guarded), Correction::None);
    claimed.chain(guards).collect()
}

/// A hypothesis or guard in one cell, tested.
struct Member<'a> {
    rule: &'a Rule<'a>,
    comparison: &'a Comparison,
    sequence: Sequence,
    method: Method,
    tested: Result<Tested, Undefined>,
}

impl Member<'_> {
    /// What has no p-value still counts in the size of the family.
    fn p(&self) -> PValue {
        self.tested.as_ref().map_or(PValue::ONE, |it| it.p)
    }
}

fn members<'a>(
    prereg: &Prereg,
    find: impl Fn(&str, &str, &Contrast) -> Option<&'a Comparison>,
    rules: &'a [Rule<'a>],
) -> Vec<Member<'a>> {
    let cells = prereg.cells();
    let mut members = Vec::new();
    for rule in rules {
        for cell in cells.iter().filter(|it| it.matches(rule.condition)) {
            let cell = cell.to_string();
            let found = find(rule.metric, &cell, rule.contrast);
            // The registration was checked: every contrast is of registered arms in registered cells.
            if let Some(comparison) = found {
                let method = method(prereg, rule, comparison);
                let sequence = Sequence::of(&prereg.design, comparison);
                let tested = test(prereg, rule, comparison, method)
                    .and_then(|it| Ok(Tested { p: sequence.p(it.p, rule.claim)?, ..it }));
                members.push(Member { rule, comparison, sequence, method, tested });
            }
        }
    }
    members
}

fn judge(prereg: &Prereg, family: Vec<Member<'_>>, correction: Correction) -> Vec<Judged> {
    let raw: Vec<PValue> = family.iter().map(Member::p).collect();
    let adjusted = to_stats(correction).adjust(&raw);
    let interval_alpha =
        interval_alpha(&registered::Rule { correction, ..prereg.decision.clone() }, &adjusted);
    let judged = family.into_iter().zip(adjusted);
    judged.map(|(member, adjusted)| finish(prereg, member, adjusted, interval_alpha)).collect()
}

/// The alpha of one interval of a family, so that all of them hold together as registered.
pub(super) fn interval_alpha(decision: &registered::Rule, adjusted: &[PValue]) -> f64 {
    let (alpha, family) = (decision.alpha, adjusted.len() as f64);
    match decision.correction {
        Correction::None => alpha,
        Correction::Holm => alpha / family,
        Correction::BenjaminiHochberg => {
            let passing = adjusted.iter().filter(|it| it.value() < alpha).count();
            alpha * passing.max(1) as f64 / family
        }
    }
}

pub(super) fn to_stats(correction: Correction) -> stats::Correction {
    match correction {
        Correction::Holm => stats::Correction::Holm,
        Correction::BenjaminiHochberg => stats::Correction::BenjaminiHochberg,
        Correction::None => stats::Correction::None,
    }
}

/// Whether the gain is counted as a share of another gain, which is no share of one side.
pub(super) fn shares_a_gain(comparison: &Comparison, counted: Margin) -> bool {
    comparison.additivity.is_some() && matches!(counted, Margin::Relative(_))
}

fn finish(prereg: &Prereg, member: Member<'_>, adjusted: PValue, alpha: f64) -> Judged {
    let Member { rule, comparison, sequence, method, tested } = member;
    let tails = if rule.claim == Claim::Superior { 1.0 } else { 2.0 };
    // A look without a boundary decides nothing.
    let boundary = sequence.boundary(alpha, rule.claim);
    let interval_alpha = boundary.as_ref().map_or(0.0, |(alpha, _)| *alpha);
    let level = 1.0 - tails * interval_alpha;
    let position = prereg.design.looks.as_ref().map(|looks| {
        let z = boundary.as_ref().ok().and_then(|(_, z)| *z);
        let claimed = Claimed { claim: rule.claim, margin: rule.margin, comparison };
        claimed.position(looks.stopping, z, 0.5 * tails * alpha)
    });
    let counted = counted(rule, comparison, level);
    let gain = boundary.and_then(|_| match method {
        // The share of a gain is no ratio of two sides.
        Method::Bootstrap if !shares_a_gain(comparison, counted) => {
            resampled::gain(comparison, counted, level, robustness::seed(prereg, rule, comparison))
        }
        Method::PairedT => paired::of_t(comparison, counted, level),
        Method::Wilcoxon => paired::of_ranks(comparison, counted, level),
        Method::SignEProcess => signs::gain(comparison, counted, 0.5 * tails * interval_alpha),
        _ => comparison.gain(counted, level),
    });
    // The level over all looks, which is what the interval promises.
    let gain = gain.map(|mut it| {
        it.interval.level = 1.0 - tails * alpha;
        it
    });
    let p = tested.as_ref().map(|it| it.p).map_err(Clone::clone);
    let p_adjusted = p.clone().map(|_| adjusted);
    let facts = Facts { prereg, rule, comparison, method, gain: &gain, p: &p_adjusted, interval_alpha };
    let robustness =
        // A fact is the same by every method.
        (rule.kind == Kind::Hypothesis && !is_fact(prereg, comparison, method)).then(|| Robustness::of(prereg, rule, comparison, counted));
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
    // How many blocks the signs would need does not follow from means and deviations.
    let sample_more = sample_more && method != Method::SignEProcess;
    let undecided = gain.as_ref().ok().filter(|_| finding == Finding::Undecided && sample_more);
    let undecided = undecided.filter(|_| !shares_a_gain(comparison, counted));
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
        position,
        robustness,
        finding,
        reason,
        outlook,
    }
}
