mod install;
mod migrate;
mod psql;
mod roles;
mod upgrade;

use super::args::{Db, DbAction, Format, Global};
use super::failure::{Exit, Failure};
use super::load;
use super::project::Project;
use super::session;
use super::sync::{Outcome, sync};
use super::table::Table;
use super::ui::Ui;
use serde_json::{Value, json};

pub(super) fn run(args: &Db, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    match args.action {
        DbAction::Status => status(global, project, ui),
        DbAction::Url => {
            let store = session::open_store(global, project, ui)?;
            ui.result(&store.url())?;
            // Other programs come after this one: the server stays.
            store.leave();
            Ok(Exit::Done)
        }
        DbAction::Psql => psql::run(global, project, ui),
        DbAction::Sync => synchronise(global, project, ui),
        DbAction::Stop => stop(global, project, ui),
        DbAction::Migrate => migrate::run(global, project, ui),
        DbAction::Roles(it) => roles::run(it, global, project, ui),
        DbAction::Upgrade => upgrade::run(global, project, ui),
        DbAction::Install => install::run(ui),
    }
}

fn synchronise(global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut store = session::connect(global, project, ui)?;
    load::registrations(&mut store, &load::Selection::of_project(project)?, project)?;
    let all = sync(&mut store, project)?;
    let location = store.location();
    store.close()?;
    let mut table = Table::new(["run", "experiment", "samples", "state", "outcome"]);
    let mut exit = Exit::Done;
    for it in &all {
        let (mut experiment, mut samples, mut state) = (Value::Null, Value::Null, Value::Null);
        if let Some(data) = &it.data {
            let measured = data.sets.iter().filter(|it| !it.warmup);
            experiment = json!(data.run.experiment);
            samples = json!(measured.map(|it| it.values.len()).sum::<usize>());
            state = json!(data.events.last().map(|it| it.state.as_str()));
        }
        table.row([json!(it.run.to_string()), experiment, samples, state, json!(it.outcome.as_str())]);
        if let Outcome::Failed(failure) = &it.outcome {
            ui.failure(failure);
            exit = if exit == Exit::Integrity { exit } else { failure.exit };
        }
    }
    if all.is_empty() && ui.format == Format::Text {
        ui.note(&format!("nothing waits in the spool: {location} has all of it"));
    } else {
        ui.result(&table.show(ui.format))?;
    }
    Ok(exit)
}

fn status(global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut store = session::open_store(global, project, ui)?;
    let experiments = store.experiments()?.len();
    let runs = store.runs(None)?;
    let samples: u64 = runs.iter().map(|it| it.samples).sum();
    let mut table = Table::new(["store", "server", "experiments", "runs", "samples"]);
    let server = format!("PostgreSQL {}", store.server_version());
    table.row([
        json!(store.location()),
        json!(server),
        json!(experiments),
        json!(runs.len()),
        json!(samples),
    ]);
    store.close()?;
    ui.result(&table.show(ui.format))?;
    Ok(Exit::Done)
}

fn stop(global: &Global, project: &Project, ui: &Ui) -> Result<Exit, Failure> {
    if session::database_url(global).is_none() && !project.root.join(".harness/pg").exists() {
        ui.note("there is no private server yet");
        return Ok(Exit::Done);
    }
    let store = session::connect(global, project, ui)?;
    if !store.is_private() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} is not the harness's own to stop", store.location()),
        ));
    }
    if store.stop()? {
        ui.note("the private server is stopped");
    } else {
        ui.note("the private server goes on: another harness uses it");
    }
    Ok(Exit::Done)
}
