//! What the host did while the deciding run was measured, where it matters.

use super::experiment::RecordedRun;
use super::markdown::{Align, Table, escape};
use crate::analyse::set_aside;
use crate::prereg::Prereg;
use crate::vocab::significant;
use std::fmt::{self, Write};

/// A share of stolen time above this in any block stands out.
const STOLEN: f64 = 0.05;

/// Rows of the table of blocks; the others are counted, and are all in the evidence.
const LISTED: usize = 10;

/// A table of the quantities, and one of the blocks that do not count; nothing, if no rule is registered and nothing
/// stood out.
pub(super) fn write(page: &mut String, prereg: &Prereg, run: &RecordedRun) -> fmt::Result {
    let quantities = quantities(run);
    let stolen = quantities.iter().any(|(name, _, values)| name == "steal" && most(values) > STOLEN);
    let aside = set_aside(&run.data);
    if prereg.environment.blocks.is_none() && !stolen {
        return Ok(());
    }
    writeln!(page, "### The host while it was measured\n")?;
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
        let rule = prereg.environment.blocks.and_then(|it| match name.as_str() {
            "load" => it.max_load,
            "steal" => it.max_steal,
            "pressure" => it.max_pressure,
            _ => None,
        });
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

/// Name, unit and values of what the run's events tell, of all its parts.
fn quantities(run: &RecordedRun) -> Vec<(String, String, Vec<f64>)> {
    let mut all: Vec<(String, String, Vec<f64>)> = Vec::new();
    for event in &run.data.events {
        let columns = event.detail.as_ref().and_then(|it| it.pointer("/telemetry/quantities")?.as_object());
        for (name, column) in columns.into_iter().flatten() {
            let unit = column.get("unit").and_then(|it| it.as_str()).unwrap_or_default();
            let values = column.get("values").and_then(|it| it.as_array()).into_iter().flatten();
            let values: Vec<f64> = values.filter_map(serde_json::Value::as_f64).collect();
            match all.iter_mut().find(|(it, ..)| it == name) {
                Some((_, _, known)) => known.extend(values),
                None if values.is_empty() => {}
                None => all.push((name.clone(), unit.to_owned(), values)),
            }
        }
    }
    all
}
