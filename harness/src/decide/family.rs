use super::judge::{Judged, to_stats};
use crate::prereg::Prereg;
use crate::stats::{self, PValue};
use crate::vocab::Correction;

/// What chance alone would do to a family of hypotheses, beside what was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// How many hypotheses it has, each cell counted.
    pub size: usize,
    /// The registered alpha.
    pub alpha: f64,
    /// The registered correction.
    pub correction: Correction,
    /// How many have a p below alpha, each taken by itself, in whichever direction.
    pub alone: usize,
    /// How many still have after the registered correction.
    pub corrected: usize,
    /// How many have after Benjamini and Hochberg's, which bounds the share of false ones among them by alpha.
    pub discoveries: usize,
}

impl Family {
    /// How many would be below alpha, each taken by itself, if nothing differed anywhere; at most.
    pub fn by_chance(&self) -> f64 {
        self.size as f64 * self.alpha
    }

    /// How many of the discoveries are to be expected to be false; at most.
    pub fn false_discoveries(&self) -> f64 {
        self.discoveries as f64 * self.alpha
    }
}

/// The family of all hypotheses; `None` unless it has several.
pub(super) fn family(prereg: &Prereg, hypotheses: &[Judged]) -> Option<Family> {
    let alpha = prereg.decision.alpha;
    // What has no p-value still counts in the size of the family.
    let raw: Vec<PValue> =
        hypotheses.iter().map(|it| it.tested.as_ref().map_or(PValue::ONE, |it| it.p)).collect();
    let below = |correction: stats::Correction| {
        correction.adjust(&raw).iter().filter(|it| it.value() < alpha).count()
    };
    (raw.len() > 1).then(|| Family {
        size: raw.len(),
        alpha,
        correction: prereg.decision.correction,
        alone: below(stats::Correction::None),
        corrected: below(to_stats(prereg.decision.correction)),
        discoveries: below(stats::Correction::BenjaminiHochberg),
    })
}
