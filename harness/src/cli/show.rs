use super::args::{Format, Global, Show};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::table::Table;
use super::ui::Ui;
use super::{report, session};
use crate::decide::label;
use crate::render::{Experiment, RecordedRun};
use crate::vocab::Verdict;
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) fn run(args: &Show, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut store = session::open(global, project, ui)?;
    let run_id = Uuid::parse_str(&args.subject).ok();
    let id = match run_id {
        Some(run) => {
            let line = store.runs(None)?.into_iter().find(|it| it.run.id == run);
            line.ok_or_else(|| Failure::new(Exit::Usage, format!("no run {run} in the store")))?
                .run
                .experiment
        }
        None => project.id(&args.subject).to_owned(),
    };
    let Some(experiment) = session::experiment(&mut store, project, &id)? else {
        // An unknown name has its own message.
        project.load(&id)?;
        return Err(Failure::new(
            Exit::Failed,
            format!("`{id}` is not registered yet, so there is nothing to show"),
        )
        .hint(format!("measure it: harness run {id}")));
    };
    store.close()?;
    let run = match run_id {
        Some(id) => experiment.runs.iter().find(|it| it.data.run.id == id),
        None => experiment.deciding().or(experiment.runs.last()),
    };
    match run {
        Some(run) if !run.is_over() && between_looks(&experiment, run) => unseen(&id, run, ui)?,
        Some(run) => {
            let prereg = experiment.versions.iter().find(|(it, _)| it.version == run.data.run.version);
            let prereg = prereg.map_or(experiment.prereg(), |(_, it)| it);
            report::show(ui, prereg, run, part(&experiment, run))?;
        }
        None => nothing(&id, ui)?,
    }
    if ui.format == Format::Text && !experiment.runs.is_empty() {
        ui.result("")?;
        ui.result(&runs(&experiment).show(Format::Text))?;
    }
    Ok(Exit::Done)
}

/// Whether a run may still go on to a registered look, before which nobody sees what it measures.
fn between_looks(experiment: &Experiment, run: &RecordedRun) -> bool {
    let version = experiment.versions.iter().find(|(it, _)| it.version == run.data.run.version);
    version.is_some_and(|(_, prereg)| prereg.design.looks.is_some())
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

/// What a run is to its experiment.
pub(super) fn part(experiment: &Experiment, run: &RecordedRun) -> &'static str {
    let this = run.data.run.id;
    if run.is_over() && run.decision.verdict == Verdict::Invalid {
        "set aside"
    } else if experiment.deciding().is_some_and(|it| it.data.run.id == this) {
        "the run that decides"
    } else if run.data.run.version < experiment.registration().version {
        "measured before the amendment"
    } else if !run.is_over() {
        "not complete"
    } else {
        "a replication"
    }
}

fn runs(experiment: &Experiment) -> Table {
    let mut table = Table::new(["run", "version", "measured", "host", "state", "verdict", "part"]);
    for it in &experiment.runs {
        let run = &it.data.run;
        let verdict =
            if it.is_over() { Value::from(label(experiment.prereg(), &it.decision)) } else { Value::Null };
        table.row([
            json!(run.id.to_string()),
            json!(run.version),
            json!(run.started_at.strftime("%F %T UTC").to_string()),
            json!(run.host),
            json!(it.state.as_str()),
            verdict,
            json!(part(experiment, it)),
        ]);
    }
    table
}
