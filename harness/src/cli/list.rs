use super::args::{Global, List};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::prereg::{Prereg, parse_canonical};
use crate::store::RunLine;
use crate::vocab::{RunState, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(super) fn run(args: &List, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut records = session::open(global, project, ui)?;
    let mut ids: BTreeSet<String> = project.experiments()?.into_iter().collect();
    ids.extend(records.experiments()?.into_iter().map(|it| it.experiment));
    let mut runs: BTreeMap<String, Vec<RunLine>> = BTreeMap::new();
    for line in records.runs(None)? {
        runs.entry(line.run.experiment.clone()).or_default().push(line);
    }
    let mut rows = Vec::new();
    let mut ledgers = BTreeSet::new();
    for id in ids {
        let file = Path::new("experiments").join(format!("{id}.toml"));
        let file = file.exists().then(|| Prereg::load(&file));
        let registered = records.registrations(&id)?.pop();
        let frozen = registered.as_ref().and_then(|it| parse_canonical(&it.canonical).ok());
        let prereg = frozen.as_ref().or(file.as_ref().and_then(|it| it.as_ref().ok()));
        ledgers.extend(prereg.map(|it| it.ledger.clone()));
        if args.ledger.is_some() && prereg.map(|it| &it.ledger) != args.ledger.as_ref() {
            continue;
        }
        let state = match (&file, &registered) {
            (Some(Err(_)), _) => "invalid file".to_owned(),
            (None, Some(it)) => format!("version {}, no file", it.version),
            (Some(Ok(prereg)), Some(it)) if prereg.digest() != it.digest => {
                format!("version {}, file changed", it.version)
            }
            (_, Some(it)) => format!("version {}", it.version),
            (_, None) => "not registered".to_owned(),
        };
        let runs = runs.remove(&id).unwrap_or_default();
        let state = match runs.iter().filter(|it| it.invalidated.is_some()).count() {
            0 => state,
            1 => format!("{state}, 1 run invalidated"),
            n => format!("{state}, {n} runs invalidated"),
        };
        let version = registered.as_ref().map_or(0, |it| it.version);
        let label = match (deciding(&runs, version), prereg) {
            (Some(line), Some(prereg)) => json!(records.label(prereg, line)?),
            _ => Value::Null,
        };
        let complete = runs.iter().filter(|it| it.state == RunState::Done).count();
        let ledger = prereg.map_or(Value::Null, |it| it.ledger.as_str().into());
        let title = prereg.map_or(Value::Null, |it| it.title.as_str().into());
        let samples: u64 = runs.iter().map(|it| it.samples).sum();
        let key = (
            prereg.map_or_else(String::new, |it| it.ledger.clone()),
            prereg.map_or(0, |it| it.order),
            id.clone(),
        );
        rows.push((key, [json!(id), title, ledger, json!(state), json!(complete), json!(samples), label]));
    }
    records.close()?;
    if let Some(wanted) = args.ledger.as_ref().filter(|it| !ledgers.contains(*it)) {
        return Err(super::render::unknown(wanted, ledgers.iter().map(String::as_str)));
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut table =
        Table::new(["experiment", "title", "ledger", "registration", "complete runs", "samples", "verdict"]);
    for (_, row) in rows {
        table.row(row);
    }
    ui.result(&table.show(ui.format))?;
    Ok(Exit::Done)
}

/// The deciding run, by the stored verdicts; see [`crate::render::Experiment::deciding`].
fn deciding(runs: &[RunLine], version: u32) -> Option<&RunLine> {
    let counts =
        |it: &&RunLine| it.run.version == version && it.invalidated.is_none() && it.verdict.is_some();
    let mut judged = runs.iter().filter(counts);
    let first = judged.clone().next();
    judged.find(|it| it.verdict != Some(Verdict::Invalid)).or(first)
}
