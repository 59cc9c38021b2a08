//! A decision as the store keeps it: a JSON document, and a row for each hypothesis and guard.

use super::{Criterion, Decision, Judged, Kind, Outlook};
use crate::analyse::{Analysis, Caveat, Undefined};
use crate::prereg::Prereg;
use crate::stats::PValue;
use crate::store::{StoredFinding, Subject};
use crate::vocab::{Claim, Test};
use serde_json::{Value, json};

/// The whole decision as JSON. What does not exist is `null`, with its reason beside it.
pub fn document(prereg: &Prereg, decision: &Decision, analysis: &Analysis) -> Value {
    json!({
        "verdict": decision.verdict,
        "reasons": decision.reasons,
        "criteria": decision.criteria.iter().map(criterion).collect::<Vec<_>>(),
        "hypotheses": decision.hypotheses.iter().map(|it| judged(prereg, it)).collect::<Vec<_>>(),
        "guards": decision.guards.iter().map(|it| judged(prereg, it)).collect::<Vec<_>>(),
        "sham": decision.sham.iter().map(|it| json!({
            "metric": it.comparison.metric,
            "cell": it.comparison.cell,
            "passed": it.passed,
            "decisive": it.decisive,
            "result": it.result,
        })).collect::<Vec<_>>(),
        "caveats": analysis.caveats.iter().map(caveat).collect::<Vec<_>>(),
        "gaps": analysis.gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// A row for each hypothesis and guard in each cell.
pub fn findings(prereg: &Prereg, decision: &Decision) -> Vec<StoredFinding> {
    decision.hypotheses.iter().chain(&decision.guards).map(|it| finding(prereg, it)).collect()
}

fn criterion(it: &Criterion) -> Value {
    json!({ "name": it.name, "threshold": it.threshold, "result": it.result, "finding": it.finding })
}

fn caveat(it: &Caveat) -> Value {
    let place = it.place().map(|it| json!({ "metric": it.metric, "cell": it.cell, "arm": it.arm }));
    json!({ "code": it.code(), "place": place, "text": it.to_string() })
}

fn judged(prereg: &Prereg, it: &Judged) -> Value {
    let row = finding(prereg, it);
    let undefined = |it: Option<&Undefined>| it.map(|it| it.0.clone());
    json!({
        "id": it.id,
        "metric": row.metric,
        "cell": row.cell,
        "treatment": row.treatment,
        "control": row.control,
        "claim": it.claim,
        "margin": it.margin.value(),
        "finding": it.finding,
        "reason": it.reason,
        "n": [row.n_treatment, row.n_control],
        "mean": [row.mean_treatment, row.mean_control],
        "gain": row.gain,
        "gain_interval": it.gain.as_ref().ok().map(|it| json!({
            "low": it.interval.lower, "high": it.interval.upper, "level": it.interval.level,
        })),
        "gain_undefined": undefined(it.gain.as_ref().err()),
        "statistic": row.statistic,
        "df": row.df,
        "p": row.p_value,
        "ln_p": row.ln_p,
        "p_adjusted": row.p_adjusted,
        "p_undefined": undefined(it.p.as_ref().err()),
        "cohens_d": row.effect_size,
        "cliffs_delta": it.comparison.statistics.as_ref().ok().map(|it| it.delta.delta),
        "outlook": it.outlook.map(|Outlook { detectable, needed_n }| {
            json!({ "detectable": detectable, "needed_n": needed_n })
        }),
    })
}

fn finding(prereg: &Prereg, it: &Judged) -> StoredFinding {
    let comparison = &it.comparison;
    let statistics = comparison.statistics.as_ref().ok();
    let (gain, p) = (it.gain.as_ref().ok(), it.p.as_ref().ok());
    // The statistic that belongs to the p-value; the tests of a margin have two of their own.
    let test = match (it.claim, prereg.decision.test) {
        (Claim::Superior, Test::Welch) => {
            statistics.and_then(|it| it.welch.test).map(|it| (it.t, Some(it.df)))
        }
        (Claim::Superior, Test::MannWhitney) => statistics.map(|it| (it.mann_whitney.u_treatment, None)),
        _ => None,
    };
    // A sample has at most 100,000 numbers.
    let n = |it: Option<usize>| it.unwrap_or(0) as u32;
    StoredFinding {
        subject: match it.kind {
            Kind::Hypothesis => Subject::Hypothesis,
            Kind::Guard => Subject::Guard,
        },
        id: it.id.clone(),
        metric: comparison.metric.clone(),
        cell: comparison.cell.clone(),
        treatment: comparison.treatment.clone(),
        control: comparison.control.clone(),
        finding: it.finding,
        n_control: n(statistics.map(|it| it.control.n())),
        n_treatment: n(statistics.map(|it| it.treatment.n())),
        mean_control: statistics.map(|it| it.control.mean()),
        mean_treatment: statistics.map(|it| it.treatment.mean()),
        gain: gain.map(|it| it.value),
        gain_low: gain.map(|it| it.interval.lower),
        gain_high: gain.map(|it| it.interval.upper),
        statistic: test.map(|(it, _)| it),
        df: test.and_then(|(_, df)| df),
        p_value: p.map(|it| it.value()),
        ln_p: p.map(|it: &PValue| it.ln()).filter(|it| it.is_finite()),
        p_adjusted: it.p_adjusted.as_ref().ok().map(|it| it.value()),
        effect_size: statistics.and_then(|it| it.cohens_d().ok()),
    }
}
