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
use crate::spool::{self, Held, SpoolError};
use crate::verify::counted;
use serde_json::{Value, json};
use uuid::Uuid;

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
    let mut store = match session::open_store(global, project, ui) {
        Ok(store) => store,
        Err(failure) => {
            // What is safe without the store is what one wants to know now.
            for it in waiting(project)? {
                ui.note(&format!("the spool keeps run {}: {}", it.run, it.says()));
            }
            return Err(failure);
        }
    };
    let experiments = store.experiments()?.len();
    let runs = store.runs(None)?;
    let samples: u64 = runs.iter().map(|it| it.samples).sum();
    let waiting = waiting(project)?;
    let mut table = Table::new(["store", "server", "experiments", "runs", "samples", "in the spool"]);
    let server = format!("PostgreSQL {}", store.server_version());
    table.row([
        json!(store.location()),
        json!(server),
        json!(experiments),
        json!(runs.len()),
        json!(samples),
        json!(waiting.len()),
    ]);
    store.close()?;
    ui.result(&table.show(ui.format))?;
    for it in waiting {
        ui.note(&format!("the spool keeps run {}: {}", it.run, it.says()));
    }
    Ok(Exit::Done)
}

/// A run that the spool keeps, because it is being measured or the store has not all of it.
struct Kept {
    run: Uuid,
    held: Result<Held, SpoolError>,
}

impl Kept {
    fn says(&self) -> String {
        match &self.held {
            Ok(Held { data: Some(data), .. }) => {
                let samples = data.sets.iter().map(|it| it.values.len()).sum();
                let state = data.events.last().map_or("not begun", |it| it.state.as_str());
                format!("`{}`, {}, {state}", data.run.experiment, counted(samples, "sample"))
            }
            Ok(_) => "not begun".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

fn waiting(project: &Project) -> Result<Vec<Kept>, Failure> {
    let runs = spool::runs(&project.root)?.into_iter();
    Ok(runs.map(|run| Kept { run, held: spool::read(&project.root, run) }).collect())
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
