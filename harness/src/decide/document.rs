//! A decision as the store keeps it: a JSON document, and a row for each hypothesis and guard.

use super::{
    CellLooks, Criterion, Decision, EffectRow, Effects, Family, Judged, Kind, Look, Outlook, Overall,
    Robustness, Tested, Vote, label,
};
use crate::analyse::{Analysis, Caveat, Comparison, Gain, Score, Undefined};
use crate::prereg::Prereg;
use crate::stats::{Interval, PValue, PanelAnswer};
use crate::store::{StoredFinding, Subject};
use crate::vocab::Margin;
use serde_json::{Value, json};

/// The whole decision as JSON. What does not exist is `null`, with its reason beside it.
pub fn document(prereg: &Prereg, decision: &Decision, analysis: &Analysis) -> Value {
    let mut document = json!({
        "verdict": decision.verdict,
        "reasons": decision.reasons,
        "criteria": decision.table(prereg).iter().map(criterion).collect::<Vec<_>>(),
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
    });
    // Only of runs with looks, so that documents of all others stay what they were.
    if !decision.looks.is_empty() {
        document["looks"] = decision.looks.iter().map(looks).collect();
    }
    // What is registered by a later key stands in the document only then, so that older ones keep their bytes.
    if prereg.decision.thresholds.is_some() {
        document["label"] = label(prereg, decision).into();
    }
    if let Some(id) = decision.calibration {
        document["calibration"] = json!(id);
    }
    if let Some(it) = &decision.family {
        document["family"] = family(it);
    }
    if !decision.overall.is_empty() {
        document["overall"] = decision.overall.iter().map(overall).collect();
    }
    if prereg.factors.is_some() {
        document["effects"] = decision.effects.iter().map(effects).collect();
    }
    if let Some(reference) = &prereg.reference {
        let scores = analysis.scores.iter().map(score).collect::<Value>();
        document["scorecard"] = json!({ "reference": reference, "scores": scores });
    }
    document
}

fn looks(it: &CellLooks) -> Value {
    json!({
        "cell": it.cell,
        "planned": it.planned,
        "blocks": it.blocks,
        "stopped": it.stopped().map(|(_, blocks)| blocks),
        "looks": it.looks.iter().map(look).collect::<Vec<_>>(),
    })
}

fn look(it: &Look) -> Value {
    let claim = |it: &Judged| {
        json!({
            "name": it.name(),
            "observed": it.position.and_then(|it| it.observed),
            "boundary": it.position.and_then(|it| it.boundary),
            "p_adjusted": it.p_adjusted.as_ref().ok().map(|it| p_value(*it)),
            "gain": it.gain.as_ref().ok().map(|it| it.value),
            "gain_interval": it.gain.as_ref().ok().map(|it| interval(it.interval)),
            "finding": it.finding,
        })
    };
    json!({ "blocks": it.blocks, "stops": it.stops, "claims": it.judged.iter().map(claim).collect::<Vec<_>>() })
}

fn family(it: &Family) -> Value {
    json!({
        "size": it.size,
        "alpha": it.alpha,
        "correction": it.correction,
        "below_alpha": { "alone": it.alone, "corrected": it.corrected, "bh": it.discoveries },
        "expected_false": { "alone": it.by_chance(), "bh": it.false_discoveries() },
    })
}

fn overall(it: &Overall) -> Value {
    json!({
        "metric": it.metric,
        "treatment": it.treatment,
        "control": it.control,
        "cells": it.cells,
        "geometric_gain": gain(it.gain.clone()),
    })
}

fn effects(it: &Effects) -> Value {
    let row = |row: &EffectRow| {
        let mut value = side(&row.comparison, it.level);
        value["effect"] = row.effect.to_string().into();
        value["registered"] = row.registered.into();
        value["p_adjusted"] = row.p_adjusted.as_ref().map_or(Value::Null, |it| p_value(*it));
        value
    };
    json!({
        "metric": it.metric,
        "cell": it.cell,
        "family": it.family.iter().map(row).collect::<Vec<_>>(),
        "total": it.total.as_ref().map(|total| side(total, it.level)),
        "additivity": it.additivity.as_ref().map(|additivity| {
            let mut value = side(additivity, it.level);
            // Of the mean that was to be expected, and of the gain that was to be expected.
            let shares = [additivity.share_of_control(it.level), additivity.relative_gain(it.level)];
            let [of_total, of_gain] = shares.map(gain);
            (value["of_total"], value["of_gain"]) = (of_total, of_gain);
            value
        }),
    })
}

/// The two sides of an effect and their difference.
fn side(it: &Comparison, level: f64) -> Value {
    let statistics = it.statistics.as_ref().ok();
    json!({
        "treatment": it.treatment,
        "control": it.control,
        "mean": [statistics.map(|it| it.treatment.mean()), statistics.map(|it| it.control.mean())],
        "gain": gain(it.relative_gain(level)),
        "absolute_gain": gain(it.absolute_gain(level)),
        "p": statistics.and_then(|it| it.welch.test).map(|it| p_value(it.p.two_sided)),
    })
}

fn gain(it: Result<Gain, Undefined>) -> Value {
    match it {
        Ok(it) => json!({ "value": it.value, "interval": interval(it.interval) }),
        Err(undefined) => json!({ "undefined": undefined.0 }),
    }
}

fn score(it: &Score) -> Value {
    let mut value = json!({ "metric": it.metric, "cell": it.cell, "arm": it.arm, "mean": it.mean });
    match &it.share {
        Ok((share, range)) => {
            value["share"] = (*share).into();
            value["interval"] = interval(*range);
        }
        Err(undefined) => value["undefined"] = undefined.0.as_str().into(),
    }
    value
}

/// A row for each hypothesis and guard in each cell.
///
/// Like [`document`], of a registration; the rows need nothing of it that is not in the decision.
pub fn findings(_prereg: &Prereg, decision: &Decision) -> Vec<StoredFinding> {
    decision.hypotheses.iter().chain(&decision.guards).map(finding).collect()
}

fn criterion(it: &Criterion) -> Value {
    json!({ "name": it.name(), "threshold": it.threshold, "result": it.result, "finding": it.finding })
}

fn caveat(it: &Caveat) -> Value {
    let place = it.place().map(|it| json!({ "metric": it.metric, "cell": it.cell, "arm": it.arm }));
    json!({ "code": it.code(), "place": place, "text": it.to_string() })
}

fn judged(prereg: &Prereg, it: &Judged) -> Value {
    let row = finding(it);
    let undefined = |it: Option<&Undefined>| it.map(|it| it.0.clone());
    let margin = |it: Margin| match it {
        Margin::Relative(it) => json!({ "relative": it }),
        Margin::Absolute(it) => json!({ "absolute": it }),
    };
    json!({
        "id": it.id,
        "metric": row.metric,
        "unit": it.comparison.unit.name(),
        "better": it.comparison.better,
        "cell": row.cell,
        "treatment": row.treatment,
        "control": row.control,
        "claim": it.claim,
        "margin": margin(it.margin),
        "counted": margin(it.counted),
        "min_effect": it.min_effect,
        "finding": it.finding,
        "reason": it.reason,
        "n": [row.n_treatment, row.n_control],
        "mean": [row.mean_treatment, row.mean_control],
        "gain": row.gain,
        "gain_interval": it.gain.as_ref().ok().map(|it| interval(it.interval)),
        "gain_undefined": undefined(it.gain.as_ref().err()),
        "method": it.method.code(),
        "statistic": row.statistic,
        "df": row.df,
        "p": it.tested.as_ref().ok().map(|it| p_value(it.p)),
        "p_adjusted": it.p_adjusted.as_ref().ok().map(|it| p_value(*it)),
        "p_undefined": undefined(it.tested.as_ref().err()),
        "statistics": statistics(&it.comparison, 1.0 - prereg.decision.alpha),
        "robustness": it.robustness.as_ref().map(robustness),
        "outlook": it.outlook.map(|Outlook { detectable, needed_n }| {
            json!({ "detectable": detectable, "needed_n": needed_n })
        }),
    })
}

fn robustness(it: &Robustness) -> Value {
    let Some(panel) = it.panel() else { return Value::Null };
    let (agree, of) = it.agreement();
    let answer = |(answer, vote): (&PanelAnswer, Vote)| {
        json!({
            "id": answer.id,
            "label": answer.label,
            "meaning": answer.meaning.code(),
            "estimate": answer.estimate,
            "p": answer.p.map(p_value),
            "interval": answer.interval.map(interval),
            "answer": vote.code(),
            "undefined": match vote {
                Vote::Undefined(reason) => Some(reason.to_string()),
                _ => None,
            },
        })
    };
    json!({
        "claimed": it.claimed(),
        "agree": agree,
        "of": of,
        "alpha": panel.options.alpha,
        "resamples": panel.options.resamples,
        "seed": panel.options.seed,
        "paired": panel.options.paired,
        "methods": it.votes().into_iter().map(answer).collect::<Vec<_>>(),
    })
}

/// A p-value with its logarithm, which keeps its digits where p itself is below the smallest double.
fn p_value(p: PValue) -> Value {
    json!({ "p": p.value(), "ln_p": Some(p.ln()).filter(|it| it.is_finite()) })
}

fn interval(it: Interval) -> Value {
    json!({ "low": it.lower, "high": it.upper, "level": it.level })
}

/// Every statistic of a comparison, whichever of them decides.
fn statistics(comparison: &Comparison, level: f64) -> Value {
    let Ok(it) = &comparison.statistics else { return Value::Null };
    let welch = it
        .welch
        .test
        .map(|test| json!({ "t": test.t, "df": test.df, "two_sided": p_value(test.p.two_sided) }));
    let standardized = it.effect.standardized.as_ref();
    json!({
        "sd": [it.treatment.sd(), it.control.sd()],
        "difference": it.welch.difference,
        "difference_interval": it.welch.interval(level).ok().flatten().map(interval),
        "standard_error": it.welch.standard_error,
        "status": it.welch.status.code(),
        "relative_gain": comparison.relative_gain(level).ok().map(|it| it.value),
        "relative_gain_interval": comparison.relative_gain(level).ok().map(|it| interval(it.interval)),
        "welch": welch,
        "mann_whitney": {
            "u": it.mann_whitney.u_treatment,
            "method": it.mann_whitney.method.code(),
            "two_sided": p_value(it.mann_whitney.p.two_sided),
        },
        "cohens_d": standardized.map(|it| it.cohens_d),
        "cohens_d_interval": standardized.and_then(|it| it.bonett_interval(level).ok()).map(interval),
        "cliffs_delta": it.delta.delta,
        "cliffs_delta_interval": it.delta.newcombe_interval(level).ok().map(interval),
    })
}

fn finding(it: &Judged) -> StoredFinding {
    let comparison = &it.comparison;
    let statistics = comparison.statistics.as_ref().ok();
    let (gain, tested) = (it.gain.as_ref().ok(), it.tested.as_ref().ok());
    let p = tested.map(|it| it.p);
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
        statistic: tested.and_then(|it: &Tested| it.statistic),
        df: tested.and_then(|it| it.df),
        p_value: p.map(PValue::value),
        ln_p: p.map(PValue::ln).filter(|it| it.is_finite()),
        p_adjusted: it.p_adjusted.as_ref().ok().map(|it| it.value()),
        effect_size: statistics.and_then(|it| it.cohens_d().ok()),
    }
}
