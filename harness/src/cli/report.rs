//! What the terminal shows of a run: the verdict and the table that led to it.

use super::args::Format;
use super::failure::Failure;
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::decide::document;
use crate::prereg::Prereg;
use crate::render::{RecordedRun, label, mark};
use crate::vocab::Verdict;
use serde_json::{Value, json};

/// Prints a run in the form that was asked for.
pub(super) fn show(ui: &mut Ui, prereg: &Prereg, run: &RecordedRun, part: &str) -> Result<(), Failure> {
    let decision = &run.decision;
    let mut criteria = Table::new(["criterion", "threshold", "result", "finding"]);
    for it in &decision.criteria {
        criteria.row([json!(it.name), json!(it.threshold), json!(it.result), json!(mark(it.finding))]);
    }
    match ui.format {
        Format::Json => ui.result(&format!("{:#}", to_json(prereg, run, part))),
        Format::Csv => ui.result(&criteria.show(Format::Csv)),
        Format::Markdown => {
            let label = label(prereg, decision.verdict);
            ui.result(&format!("**{}: {label}** ({part})\n\n{}", prereg.id, criteria.show(Format::Markdown)))
        }
        Format::Text => text(ui, prereg, run, part, &criteria),
    }
}

/// Prints what was measured and nothing that could be taken for a verdict.
pub(super) fn measurements_only(ui: &mut Ui, run: &RecordedRun) -> Result<(), Failure> {
    let table = measurements(run).show(ui.format);
    ui.result(&table)
}

fn text(
    ui: &mut Ui,
    prereg: &Prereg,
    run: &RecordedRun,
    part: &str,
    criteria: &Table,
) -> Result<(), Failure> {
    let decision = &run.decision;
    ui.result(&measurements(run).show(Format::Text))?;
    ui.result("")?;
    ui.result(&criteria.show(Format::Text))?;
    ui.result("")?;
    let tone = match decision.verdict {
        Verdict::Accept => Tone::Good,
        Verdict::Reject | Verdict::Invalid => Tone::Bad,
        Verdict::Inconclusive => Tone::Open,
        Verdict::Recorded => Tone::Strong,
    };
    let label = ui.tone(tone, &label(prereg, decision.verdict));
    ui.result(&format!("{}: {label} ({part})", prereg.id))?;
    for reason in &decision.reasons {
        ui.result(&format!("  {reason}"))?;
    }
    let caveats = run.analysis.caveats.len();
    if caveats > 0 {
        let s = if caveats == 1 { "" } else { "s" };
        ui.result(&format!("  {caveats} caveat{s}, listed in the ledger"))?;
    }
    Ok(())
}

/// Mean, interval and gain of every metric and cell.
fn measurements(run: &RecordedRun) -> Table {
    let mut table =
        Table::new(["metric", "cell", "arm", "n", "mean", "95 % interval", "median", "gain, 95 %"]);
    for it in &run.analysis.arms {
        let interval =
            it.mean_interval.map(|ci| format!("{} to {}", it.unit.show(ci.lower), it.unit.show(ci.upper)));
        let comparison = run
            .analysis
            .comparisons
            .iter()
            .find(|that| that.metric == it.metric && that.cell == it.cell && that.treatment == it.arm);
        let gain = comparison.map(|that| match that.relative_gain(0.95) {
            Ok(gain) => {
                let percent = |it: f64| it * 100.0;
                let (low, high) = (percent(gain.interval.lower), percent(gain.interval.upper));
                format!("{:+.1} % [{low:+.1}, {high:+.1}]", percent(gain.value))
            }
            Err(undefined) => undefined.to_string(),
        });
        table.row([
            json!(it.metric),
            json!(it.cell),
            json!(it.arm),
            json!(it.summary.n),
            json!(it.unit.show(it.summary.mean)),
            interval.map_or(Value::Null, Value::from),
            json!(it.unit.show(it.summary.median)),
            gain.map_or(Value::Null, Value::from),
        ]);
    }
    table
}

fn to_json(prereg: &Prereg, run: &RecordedRun, part: &str) -> Value {
    let it = &run.data.run;
    let arms = run.analysis.arms.iter().map(|it| {
        json!({
            "metric": it.metric, "cell": it.cell, "arm": it.arm, "unit": it.unit.name(), "n": it.summary.n,
            "mean": it.summary.mean, "median": it.summary.median, "sd": it.summary.spread.map(|it| it.sd),
            "min": it.summary.min, "max": it.summary.max,
            "mean_interval": it.mean_interval.map(|it| [it.lower, it.upper]),
        })
    });
    json!({
        "experiment": it.experiment,
        "version": it.version,
        "sha256": it.registration,
        "run": it.id,
        "part": part,
        "state": run.state,
        "host": it.host,
        "started_at": it.started_at,
        "label": label(prereg, run.decision.verdict),
        "decision": document(prereg, &run.decision, &run.analysis),
        "arms": arms.collect::<Vec<_>>(),
    })
}
