use super::args::{Format, Global, Show};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::table::Table;
use super::ui::Ui;
use super::{report, session};
use crate::render::{Experiment, RecordedRun};
use crate::store::RunLine;
use crate::vocab::{RunState, Verdict};
use serde_json::json;
use uuid::Uuid;

pub(super) fn run(args: &Show, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut records = session::open(global, project, ui)?;
    let run_id = Uuid::parse_str(&args.subject).ok();
    let id = match run_id {
        Some(run) => records
            .experiment_of(run)?
            .ok_or_else(|| Failure::new(Exit::Usage, format!("no run {run} in the store")))?,
        None => project.id(&args.subject).to_owned(),
    };
    let versions = session::versions(&mut records, &id)?;
    let Some((newest, in_force)) = versions.last() else {
        // An unknown name has its own message.
        project.load(&id)?;
        return Err(Failure::new(
            Exit::Failed,
            format!("`{id}` is not registered yet, so there is nothing to show"),
        )
        .hint(format!("measure it: harness run {id}")));
    };
    // Of the other runs, what was stored of their verdicts is enough: a store holds many.
    let lines = records.runs(Some(&id))?;
    let runs: Vec<Facts> = lines.iter().map(Facts::of_line).collect();
    let deciding = deciding(&runs, newest.version);
    let wanted = run_id.or(deciding).or(lines.last().map(|it| it.run.id));
    let shown = wanted.map(|it| records.run(it)).transpose()?.flatten();
    let mut labels = Vec::with_capacity(lines.len());
    for (line, facts) in lines.iter().zip(&runs) {
        labels.push(if facts.over { records.label(in_force, line)? } else { None });
    }
    records.close()?;
    match shown {
        Some(data) => {
            let prereg = versions.iter().find(|(it, _)| it.version == data.run.version).or(versions.last());
            let Some((_, prereg)) = prereg else { return nothing(&id, ui).map(|()| Exit::Done) };
            let run = RecordedRun::new(prereg, data);
            // Before a registered look nobody sees what a run measures.
            let hidden = !run.is_over() && prereg.design.looks.is_some();
            let part = Facts::of_run(&run).part(deciding, newest.version);
            match hidden {
                true => unseen(&id, &run, ui)?,
                false => report::show(ui, prereg, &run, part)?,
            }
        }
        None => nothing(&id, ui)?,
    }
    if ui.format == Format::Text && !lines.is_empty() {
        ui.result("")?;
        ui.result(&table(&lines, labels, deciding, newest.version).show(Format::Text))?;
    }
    Ok(Exit::Done)
}

fn unseen(id: &str, run: &RecordedRun, ui: &mut Ui) -> Result<(), Failure> {
    let (run, state) = (run.data.run.id, run.state.as_str());
    match ui.format {
        Format::Json => ui.result(&format!(
            "{:#}",
            json!({ "experiment": id, "run": run, "state": state, "decision": null })
        )),
        Format::Text | Format::Csv | Format::Markdown => {
            ui.note(&format!(
                "run {run} of `{id}` is {state}: it has registered looks, and nothing of it is shown before it stops"
            ));
            Ok(())
        }
    }
}

/// An experiment that was registered and not run yet.
fn nothing(id: &str, ui: &mut Ui) -> Result<(), Failure> {
    match ui.format {
        Format::Json => ui.result(&format!("{:#}", json!({ "experiment": id, "run": null }))),
        Format::Text => ui.result(&format!("{id}: registered, not run yet")),
        Format::Csv | Format::Markdown => {
            ui.note(&format!("{id}: registered, not run yet"));
            Ok(())
        }
    }
}

/// What decides about the part of a run in its experiment.
struct Facts {
    id: Uuid,
    version: u32,
    over: bool,
    verdict: Option<Verdict>,
    invalidated: bool,
}

impl Facts {
    fn of_line(it: &RunLine) -> Self {
        Self {
            id: it.run.id,
            version: it.run.version,
            over: matches!(it.state, RunState::Done | RunState::Failed),
            verdict: it.verdict,
            invalidated: it.invalidated.is_some(),
        }
    }

    fn of_run(it: &RecordedRun) -> Self {
        Self {
            id: it.data.run.id,
            version: it.data.run.version,
            over: it.is_over(),
            verdict: Some(it.decision.verdict),
            invalidated: it.is_invalidated(),
        }
    }

    fn part(&self, deciding: Option<Uuid>, newest: u32) -> &'static str {
        if self.invalidated {
            "invalidated"
        } else if self.over && self.verdict == Some(Verdict::Invalid) {
            "set aside"
        } else if deciding == Some(self.id) {
            "the run that decides"
        } else if self.version < newest {
            "measured before the amendment"
        } else if !self.over {
            "not complete"
        } else {
            "a replication"
        }
    }
}

/// The run that decides, by the stored verdicts; see [`Experiment::deciding`].
fn deciding(runs: &[Facts], newest: u32) -> Option<Uuid> {
    let over = || runs.iter().filter(|it| it.version == newest && it.over && !it.invalidated);
    over().find(|it| it.verdict != Some(Verdict::Invalid)).or_else(|| over().next()).map(|it| it.id)
}

/// What a run is to its experiment.
pub(super) fn part(experiment: &Experiment, run: &RecordedRun) -> &'static str {
    let deciding = experiment.deciding().map(|it| it.data.run.id);
    Facts::of_run(run).part(deciding, experiment.registration().version)
}

fn table(lines: &[RunLine], labels: Vec<Option<String>>, deciding: Option<Uuid>, newest: u32) -> Table {
    let mut table = Table::new(["run", "version", "measured", "host", "state", "verdict", "part"]);
    for (it, label) in lines.iter().zip(labels) {
        table.row([
            json!(it.run.id.to_string()),
            json!(it.run.version),
            json!(it.run.started_at.strftime("%F %T UTC").to_string()),
            json!(it.run.host),
            json!(it.state.as_str()),
            json!(label),
            json!(match &it.invalidated {
                Some(reason) => format!("invalidated: {reason}"),
                None => Facts::of_line(it).part(deciding, newest).to_owned(),
            }),
        ]);
    }
    table
}
