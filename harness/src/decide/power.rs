use super::claim::smallest_signed_rank_p;
use crate::analyse::{Comparison, Gain, Statistics};
use crate::stats::{Design, Moments, Sample, mann_whitney_smallest_p};
use crate::vocab::{Claim, Margin, Test};

/// The power that is planned with.
const POWER: f64 = 0.8;

/// What an undecided comparison could have shown, and what would decide it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// How far from the margin, counted as the gain is, a true gain must lie for this n to decide with 80 % power.
    pub detectable: f64,
    /// Samples of each arm that would decide with 80 % power, if gain and spread are what they seem to be.
    /// `None`: the gain lies on the margin, so no feasible n would.
    pub needed_n: Option<usize>,
}

/// What is asked of a comparison.
pub(super) struct Question {
    pub(super) claim: Claim,
    /// How gain and margin are counted.
    pub(super) counted: Margin,
    pub(super) margin: f64,
    /// Of one interval of the family.
    pub(super) alpha: f64,
    pub(super) test: Test,
    /// Whether differences within blocks decide.
    pub(super) paired: bool,
}

/// The deviation of `treatment - factor control` within blocks; `None` without blocks, or without any.
pub(super) fn paired_sd(comparison: &Comparison, factor: f64) -> Option<f64> {
    let pair = comparison.samples.as_ref().filter(|it| it.by_block)?;
    let differences = pair.treatment.values().iter().zip(pair.control.values()).map(|(t, c)| t - factor * c);
    let sd = Moments::of(&Sample::new(differences.collect()).ok()?).ok()?.sd();
    (sd > 0.0).then_some(sd)
}

/// The outlook of `comparison`, whose gain is `gain`.
pub(super) fn outlook(comparison: &Comparison, gain: &Gain, question: &Question) -> Option<Outlook> {
    let statistics = comparison.statistics.as_ref().ok()?;
    let (treatment, control) = (&statistics.treatment, &statistics.control);
    // The limit of the claim, as a gain: for "no difference" the nearer of its two.
    let threshold = match question.claim {
        Claim::Superior => question.margin,
        Claim::NonInferior => -question.margin,
        Claim::Equivalent => question.margin.copysign(gain.value),
    };
    // A relative limit is a multiple of the control's mean, and so is the control's part of the error.
    let (scale, factor) = match question.counted {
        Margin::Relative(_) => {
            let mean = control.mean();
            (mean.abs(), 1.0 + comparison.better.gain(threshold) * mean.signum())
        }
        Margin::Absolute(_) => (1.0, 1.0),
    };
    let [sd_treatment, sd_control] = match question.paired {
        // One arm of differences, and another that does not vary.
        true => [paired_sd(comparison, factor)?, 0.0],
        false => [treatment.sd(), control.sd() * factor.abs()],
    };
    let two_sided = question.claim == Claim::Superior;
    let design = Design { sd_treatment, sd_control, alpha: question.alpha, two_sided };
    // Both of two one-sided tests must succeed.
    let power = if question.claim == Claim::Equivalent { 0.5 * (1.0 + POWER) } else { POWER };
    let least = least_n(statistics, question);
    let detectable = design.detectable(power, treatment.n(), control.n()).ok()? / scale;
    let needed = design.needed_n((gain.value - threshold) * scale, power).ok();
    detectable.is_finite().then(|| Outlook { detectable, needed_n: needed.map(|n| n.max(least)) })
}

/// Fewer samples than this cannot decide: no fewer than there are, and as many as the exact test of ranks needs.
fn least_n(statistics: &Statistics, question: &Question) -> usize {
    let had = statistics.treatment.n().min(statistics.control.n());
    let possible = |n: &usize| match question.test {
        _ if question.claim != Claim::Superior => true,
        Test::MannWhitney => mann_whitney_smallest_p(*n, *n).is_ok_and(|it| it.value() < question.alpha),
        Test::Wilcoxon => smallest_signed_rank_p(*n) < question.alpha,
        Test::Welch | Test::PairedT | Test::Bootstrap => true,
    };
    (had + 1..).find(possible).unwrap_or(had + 1)
}
