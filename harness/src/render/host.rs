//! What the host did while the deciding run was measured, where it matters.

use super::experiment::RecordedRun;
use super::figures::Figure;
use super::markdown::{Align, Table, escape};
use super::section::picture;
use crate::analyse::set_aside;
use crate::prereg::Prereg;
use crate::vocab::significant;
use serde_json::Value;
use std::fmt::{self, Write};

/// The file of the plot.
pub(super) const PLOT: &str = "/telemetry.svg";

/// A share of stolen time above this in any block stands out.
const STOLEN: f64 = 0.05;

/// Rows of the table of blocks; the others are counted, and are all in the evidence.
const LISTED: usize = 10;

/// A picture by block; a table of the quantities, and one of the blocks that do not count, if a rule is registered or something
/// stood out. Nothing where nothing was recorded.
pub(super) fn write(
    page: &mut String,
    prereg: &Prereg,
    run: &RecordedRun,
    figures: &[Figure],
) -> fmt::Result {
    let quantities = quantities(run);
    let stolen = quantities.iter().any(|(name, _, values)| name == "steal" && most(values) > STOLEN);
    let aside = set_aside(&run.data);
    let tables = prereg.environment.blocks.is_some() || stolen;
    let figure = figures.iter().find(|it| it.path.ends_with(PLOT));
    if !tables && figure.is_none() {
        return Ok(());
    }
    writeln!(page, "### The host while it was measured\n")?;
    figure.map_or(Ok(()), |it| picture(page, it))?;
    if !tables {
        return Ok(());
    }
    let mut table = Table::new([
        ("quantity", Align::Left),
        ("median of the blocks", Align::Right),
        ("highest", Align::Right),
        ("registered for a block", Align::Right),
    ]);
    for (name, unit, values) in &quantities {
        let show = |value: f64| match unit.as_str() {
            "share" => format!("{} %", significant(value * 100.0, 3)),
            "" => significant(value, 3),
            unit => format!("{} {unit}", significant(value, 4)),
        };
        let rule = limit(prereg, name);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let limit = rule.map_or_else(String::new, |it| format!("≤ {}", show(it)));
        table.row([name.as_str().into(), show(median).into(), show(most(values)).into(), limit.into()]);
    }
    writeln!(page, "{table}")?;
    let Some(rule) = prereg.environment.blocks else { return Ok(()) };
    let excluded = aside.iter().filter(|it| it.excluded).count();
    writeln!(
        page,
        "A block that breaks a limit is {}: {} measured again, {excluded} excluded. Their samples are in the evidence.\n",
        match rule.then {
            crate::vocab::Then::Remeasure => "measured again",
            crate::vocab::Then::Exclude => "excluded from every arm",
        },
        aside.len() - excluded,
    )?;
    if aside.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([
        ("cell", Align::Left),
        ("block", Align::Right),
        ("attempt", Align::Right),
        ("broken", Align::Left),
        ("then", Align::Left),
    ]);
    for it in aside.iter().take(LISTED) {
        table.row([
            it.cell.as_str().into(),
            it.block.to_string().into(),
            it.attempt.to_string().into(),
            it.reasons.join("; ").into(),
            if it.excluded { "excluded" } else { "measured again" }.into(),
        ]);
    }
    writeln!(page, "{table}")?;
    if aside.len() > LISTED {
        writeln!(page, "{}\n", escape(&format!("And {} more.", aside.len() - LISTED)))?;
    }
    Ok(())
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// What the run's events tell of the host.
#[derive(Default)]
pub(super) struct Recorded {
    /// The step of the plan of each row; of neighbors that were joined the first.
    pub(super) steps: Vec<u64>,
    /// Name, unit and a value for each row, `None` where the kernel told none.
    pub(super) quantities: Vec<(String, String, Vec<Option<f64>>)>,
}

/// All parts of a run, one after the other.
pub(super) fn recorded(run: &RecordedRun) -> Recorded {
    let mut all = Recorded::default();
    for event in &run.data.events {
        let Some(part) = event.detail.as_ref().and_then(|it| it.get("telemetry")) else { continue };
        let list = |it: Option<&Value>| it.and_then(Value::as_array).cloned().unwrap_or_default();
        let before = all.steps.len();
        all.steps.extend(list(part.get("steps")).iter().filter_map(Value::as_u64));
        let rows = all.steps.len();
        for (name, column) in part.get("quantities").and_then(Value::as_object).into_iter().flatten() {
            let unit = column.get("unit").and_then(Value::as_str).unwrap_or_default();
            let values = list(column.get("values"));
            let known = match all.quantities.iter_mut().find(|(it, ..)| it == name) {
                Some((_, _, known)) => known,
                None => {
                    all.quantities.push((name.clone(), unit.to_owned(), vec![None; before]));
                    let Some((_, _, new)) = all.quantities.last_mut() else { continue };
                    new
                }
            };
            known.resize(before, None);
            known.extend(values.iter().map(Value::as_f64));
        }
        all.quantities.iter_mut().for_each(|(.., values)| values.resize(rows, None));
    }
    all
}

/// Name, unit and known values of each quantity that has any.
fn quantities(run: &RecordedRun) -> Vec<(String, String, Vec<f64>)> {
    let all = recorded(run).quantities.into_iter();
    all.map(|(name, unit, values)| (name, unit, values.into_iter().flatten().collect::<Vec<_>>()))
        .filter(|(.., values)| !values.is_empty())
        .collect()
}

/// The highest value that a rule has registered of a quantity in each block.
pub(super) fn limit(prereg: &Prereg, name: &str) -> Option<f64> {
    let rule = prereg.environment.blocks?;
    match name {
        "load" => rule.max_load,
        "steal" => rule.max_steal,
        "pressure" => rule.max_pressure,
        _ => None,
    }
}
