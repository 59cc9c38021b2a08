use super::judge::{interval_alpha, to_stats};
use crate::analyse::{Analysis, Comparison, Undefined};
use crate::prereg::{Contrast, Effect, Prereg};
use crate::stats::PValue;

/// Every effect of a factorial in one metric and cell, whether something is claimed of it or not.
///
/// Main effects and interactions are a family of `2^k - 1`, corrected as the hypotheses are and apart from them.
#[derive(Clone, Debug)]
pub struct Effects {
    /// The metric.
    pub metric: String,
    /// The cell; may be empty.
    pub cell: String,
    /// The level of the intervals, which are simultaneous as those of the hypotheses are.
    pub level: f64,
    /// Main effects, then interactions of two, three and four factors.
    pub family: Vec<EffectRow>,
    /// The last combination against the baseline.
    pub total: Option<Comparison>,
    /// All factors together against the sum of each; not of a single factor.
    pub additivity: Option<Comparison>,
}

/// One effect.
#[derive(Clone, Debug)]
pub struct EffectRow {
    /// Which.
    pub effect: Effect,
    /// Its two sides.
    pub comparison: Comparison,
    /// Welch's p of "no effect", two-sided, adjusted for the family.
    pub p_adjusted: Result<PValue, Undefined>,
    /// Whether a hypothesis is about it.
    pub registered: bool,
}

/// The effects of every metric and cell, in the order of the registration.
pub(super) fn effects(prereg: &Prereg, analysis: &Analysis) -> Vec<Effects> {
    let Some(factorial) = &prereg.factors else { return Vec::new() };
    let [Some(first), Some(last)] = [factorial.arms.first(), factorial.arms.last()] else {
        return Vec::new();
    };
    let total = Contrast { treatment: last.clone(), control: first.clone() };
    let cells: Vec<_> = prereg.cells();
    let places = prereg.metrics.iter().flat_map(|metric| cells.iter().map(move |cell| (&metric.name, cell)));
    places
        .map(|(metric, cell)| {
            let name = cell.to_string();
            let here = |effect: &Effect| {
                let mut found = analysis.effects.iter().filter(|it| it.effect == *effect);
                found.find(|it| it.comparison.metric == *metric && it.comparison.cell == name)
            };
            let mut kinds = factorial.effects();
            kinds.retain(|it| *it != Effect::Additivity);
            let found: Vec<_> = kinds.iter().filter_map(here).collect();
            let p = |it: &Comparison| {
                let statistics = it.statistics.as_ref().map_err(Clone::clone)?;
                let test =
                    statistics.welch.test.ok_or_else(|| Undefined("neither side varies".to_owned()))?;
                Ok(test.p.two_sided)
            };
            let tested: Vec<Result<PValue, Undefined>> = found.iter().map(|it| p(&it.comparison)).collect();
            let raw: Vec<PValue> = tested.iter().map(|it| it.clone().unwrap_or(PValue::ONE)).collect();
            let adjusted = to_stats(prereg.decision.correction).adjust(&raw);
            let level = 1.0 - interval_alpha(&prereg.decision, &adjusted);
            let registered = |effect: &Effect| {
                let mut about = prereg.hypotheses.iter().filter(|it| it.effect.as_ref() == Some(effect));
                about.any(|it| it.metric == *metric && cell.matches(&it.condition))
            };
            let rows = found.iter().zip(tested).zip(adjusted).map(|((it, tested), adjusted)| EffectRow {
                registered: registered(&it.effect),
                effect: it.effect.clone(),
                comparison: it.comparison.clone(),
                p_adjusted: tested.map(|_| adjusted),
            });
            Effects {
                metric: metric.clone(),
                level,
                family: rows.collect(),
                total: analysis.find(metric, &name, &total).cloned(),
                additivity: here(&Effect::Additivity).map(|it| it.comparison.clone()),
                cell: name,
            }
        })
        .collect()
}
