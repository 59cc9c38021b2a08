//! What the terminal shows of a run: the verdict and the table that led to it.

use super::args::Format;
use super::failure::Failure;
use super::table::Table;
use super::ui::{Tone, Ui};
use crate::decide::{Criterion, document, label};
use crate::prereg::{Contrast, Prereg};
use crate::render::{
    Grid, RecordedRun, adds_up, claimed_first, contrasts, criteria, effects, gain_95, mark, scorecard,
};
use crate::vocab::{Role, Verdict};
use serde_json::{Value, json};

/// Prints a run in the form that was asked for.
pub(super) fn show(ui: &mut Ui, prereg: &Prereg, run: &RecordedRun, part: &str) -> Result<(), Failure> {
    let decision = &run.decision;
    // A program that reads them gets a line for each, a person a row for each claim.
    let criteria = || lines(&decision.table(prereg));
    match ui.format {
        Format::Json => ui.result(&format!("{:#}", to_json(prereg, run, part))),
        Format::Csv => ui.result(&criteria().show(Format::Csv)),
        Format::Markdown => {
            let label = label(prereg, decision);
            ui.result(&format!(
                "**{}: {label}** ({part})\n\n{}",
                prereg.id,
                criteria().show(Format::Markdown)
            ))
        }
        Format::Text => text(ui, prereg, run, part),
    }
}

/// Prints what was measured and nothing that could be taken for a verdict.
pub(super) fn measurements_only(ui: &mut Ui, prereg: &Prereg, run: &RecordedRun) -> Result<(), Failure> {
    let table = measurements(prereg, run).show(ui.format);
    ui.result(&table)
}

/// The criteria, one by one.
fn lines(criteria: &[Criterion]) -> Table {
    let mut table = Table::new(["criterion", "threshold", "result", "finding"]);
    for it in criteria {
        table.row([json!(it.name()), json!(it.threshold), json!(it.result), json!(mark(it.finding))]);
    }
    table
}

fn laid_out(grid: Grid) -> Table {
    let mut table = Table::new(grid.columns);
    for row in grid.rows {
        table.row(row.into_iter().map(Value::from).collect::<Vec<_>>());
    }
    table
}

fn text(ui: &mut Ui, prereg: &Prereg, run: &RecordedRun, part: &str) -> Result<(), Failure> {
    let decision = &run.decision;
    let crowded =
        prereg.arms.iter().filter(|it| matches!(it.role, Role::Control | Role::Treatment)).count() > 2;
    // With nothing claimed, the samples themselves are the result.
    let table = if crowded || decision.verdict == Verdict::Recorded {
        summaries(prereg, run)
    } else {
        measurements(prereg, run)
    };
    ui.result(&table.show(Format::Text))?;
    let mut grids: Vec<(String, Grid)> = Vec::new();
    for it in &decision.effects {
        let grid = effects(it);
        grids.push((format!("effects in {}", grid.name), grid));
        grids.extend(adds_up(it).map(|it| (it, Grid::default())));
    }
    let claimed = contrasts(prereg, decision).into_iter();
    grids.extend(claimed.map(|it| (format!("gains in {}, as claimed", it.name), it)));
    grids.extend(scorecard(prereg, &run.analysis).map(|it| (format!("beside {}", it.name), it)));
    for (title, grid) in grids {
        ui.result(&format!("\n{title}"))?;
        if !grid.rows.is_empty() {
            ui.result(&laid_out(grid).show(Format::Text))?;
        }
    }
    let criteria = criteria(prereg, decision);
    for grid in criteria.grids {
        ui.result("")?;
        ui.result(&laid_out(grid).show(Format::Text))?;
    }
    ui.result("")?;
    ui.result(&lines(&criteria.lines).show(Format::Text))?;
    ui.result("")?;
    let tone = match decision.verdict {
        Verdict::Accept => Tone::Good,
        Verdict::Reject | Verdict::Invalid => Tone::Bad,
        Verdict::Inconclusive => Tone::Open,
        Verdict::Recorded => Tone::Strong,
    };
    let label = ui.tone(tone, label(prereg, decision));
    ui.result(&format!("{}: {label} ({part})", prereg.id))?;
    if let Some(it) = run.data.invalidated() {
        ui.result(&format!("  invalidated {}: {}", it.at.strftime("%F %T UTC"), it.reason))?;
    }
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

/// Every metric and cell with the mean of each arm and the gain of each treatment; what is claimed comes first.
fn measurements(prereg: &Prereg, run: &RecordedRun) -> Table {
    let several = prereg.cells().len() > 1;
    let treatments: Vec<&str> =
        prereg.arms.iter().filter(|it| it.role == Role::Treatment).map(|it| it.name.as_str()).collect();
    let mut columns = vec!["metric".to_owned()];
    columns.extend(several.then(|| "cell".to_owned()));
    columns.extend(prereg.arms.iter().map(|it| format!("{}, mean", it.name)));
    // What decides after several looks stands in the criteria.
    let interval = if prereg.design.looks.is_some() { "95 %, as of a single look" } else { "95 %" };
    columns.extend(treatments.iter().map(|it| match treatments.len() {
        1 => format!("gain [{interval}]"),
        _ => format!("gain of {it} [{interval}]"),
    }));
    let mut table = Table::new(columns);
    for metric in claimed_first(prereg) {
        for cell in prereg.cells() {
            let cell = cell.to_string();
            let mut row = vec![json!(metric.name)];
            row.extend(several.then(|| json!(cell)));
            row.extend(prereg.arms.iter().map(|arm| {
                let found = run
                    .analysis
                    .arms
                    .iter()
                    .find(|it| it.metric == metric.name && it.cell == cell && it.arm == arm.name);
                found.map_or(Value::Null, |it| it.unit.show(it.summary.mean).into())
            }));
            row.extend(treatments.iter().map(|treatment| {
                let found = run
                    .analysis
                    .comparisons
                    .iter()
                    .find(|it| it.metric == metric.name && it.cell == cell && it.treatment == *treatment);
                found.map_or(Value::Null, |it| gain_95(it).into())
            }));
            table.row(row);
        }
    }
    table
}

/// Every metric, cell and arm on a line of its own: what was measured, and the gain against each control.
fn summaries(prereg: &Prereg, run: &RecordedRun) -> Table {
    let several = prereg.cells().len() > 1;
    let controls: Vec<&str> =
        prereg.arms.iter().filter(|it| it.role == Role::Control).map(|it| it.name.as_str()).collect();
    let compared = !run.analysis.comparisons.is_empty();
    let mut columns = vec!["metric".to_owned()];
    columns.extend(several.then(|| "cell".to_owned()));
    columns.extend(["arm", "n", "mean", "SD", "median", "min", "max"].map(str::to_owned));
    columns.extend(controls.iter().filter(|_| compared).map(|it| format!("gain against {it} [95 %]")));
    let mut table = Table::new(columns);
    for metric in claimed_first(prereg) {
        for it in run.analysis.arms.iter().filter(|it| it.metric == metric.name) {
            let show = |value: f64| Value::from(it.unit.show(value));
            let mut row = vec![json!(it.metric)];
            row.extend(several.then(|| json!(it.cell)));
            row.extend([json!(it.arm), json!(it.summary.n), show(it.summary.mean)]);
            let sd = |sd: f64| it.unit.show_beside(sd, it.summary.mean).into();
            row.push(it.summary.spread.map_or(Value::Null, |it| sd(it.sd)));
            row.extend([it.summary.median, it.summary.min, it.summary.max].map(show));
            row.extend(controls.iter().filter(|_| compared).map(|control| {
                let contrast = Contrast { treatment: it.arm.clone(), control: (*control).to_owned() };
                let found = run.analysis.find(&it.metric, &it.cell, &contrast);
                found.map_or(Value::Null, |it| gain_95(it).into())
            }));
            table.row(row);
        }
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
        "invalidated": run.data.invalidated().map(|it| &it.reason),
        "state": run.state,
        "host": it.host,
        "started_at": it.started_at,
        "label": label(prereg, &run.decision),
        "decision": document(prereg, &run.decision, &run.analysis),
        "arms": arms.collect::<Vec<_>>(),
    })
}
