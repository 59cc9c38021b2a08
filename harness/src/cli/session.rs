//! The store of the project, with its evidence loaded.

use super::args::Global;
use super::failure::{Exit, Failure};
use super::files::Files;
use super::load;
use super::project::Project;
use super::records::Records;
use super::sync::{Outcome, sync};
use super::ui::Ui;
use crate::exchange::chain;
use crate::exchange::evidence::{self, Evidence};
use crate::host;
use crate::prereg::{Prereg, parse_canonical};
use crate::render::{Experiment, RecordedRun};
use crate::store::{Registration, RunData, Store, StoreError, StoreOptions};
use jiff::Timestamp;
use std::path::PathBuf;

/// Opens what is on record: the store, or, where no Postgres is to be had, the files of the project.
pub(super) fn open(global: &Global, project: &Project, ui: &Ui) -> Result<Records, Failure> {
    match attempt(global, project, ui)? {
        Ok(mut store) => {
            catch_up(&mut store, project, ui)?;
            Ok(Records::Store(Box::new(store)))
        }
        Err(error) if is_none(&error, project) => {
            let failure = Failure::from(error);
            ui.warning(&format!("{failure}"));
            let files = "ledgers/evidence and .harness/spool stand in for the store; runs that only a store has are \
                         not there";
            ui.note(files);
            if let Some(hint) = failure.hint {
                ui.note(&format!("for a store: {hint}"));
            }
            Ok(Records::Files(Files::of(&project.root)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Opens the store and loads the evidence of the project, and what its spool keeps, that it does not have yet.
pub(super) fn open_store(global: &Global, project: &Project, ui: &Ui) -> Result<Store, Failure> {
    let mut store = connect(global, project, ui)?;
    catch_up(&mut store, project, ui)?;
    Ok(store)
}

/// Opens the store as it is.
pub(super) fn connect(global: &Global, project: &Project, ui: &Ui) -> Result<Store, Failure> {
    Ok(attempt(global, project, ui)??)
}

/// Whether there is no store, and none that the project has used before: one that is only out of reach may hold
/// what the project's files do not.
fn is_none(error: &StoreError, project: &Project) -> bool {
    matches!(error, StoreError::NoPostgres { needed: None, .. } | StoreError::Install { .. })
        && !project.root.join(".harness/pg/data/PG_VERSION").exists()
}

fn attempt(global: &Global, project: &Project, ui: &Ui) -> Result<Result<Store, StoreError>, Failure> {
    let notice = |line: &str| ui.note(line);
    let store = Store::open(&options(global, project, &notice)?);
    if let Ok(store) = &store {
        ui.detail(&format!("store: {}, PostgreSQL {}", store.location(), store.server_version()));
    }
    Ok(store)
}

/// Which store the user means.
pub(super) fn options<'a>(
    global: &Global,
    project: &Project,
    notice: &'a dyn Fn(&str),
) -> Result<StoreOptions<'a>, Failure> {
    let url = database_url(global);
    if url.is_none() {
        project.state()?;
    }
    Ok(StoreOptions {
        project: project.root.clone(),
        url,
        pg_bin: global.pg_bin.clone(),
        data_home: data_home(),
        autoinstall: global.pg_autoinstall,
        notice,
    })
}

fn catch_up(store: &mut Store, project: &Project, ui: &Ui) -> Result<(), Failure> {
    let selection = load::Selection::of_project(project)?;
    load::registrations(store, &selection, project)?;
    // What cannot be loaded is no reason to refuse everything else.
    match sync(store, project) {
        Ok(all) => {
            for it in all {
                match it.outcome {
                    Outcome::Loaded => ui.detail(&format!("loaded the spool of run {}", it.run)),
                    Outcome::Known | Outcome::Busy => {}
                    Outcome::Failed(failure) => {
                        ui.warning(&format!("the spool of run {} cannot be loaded: {failure}", it.run));
                    }
                }
            }
        }
        Err(failure) => ui.warning(&format!("the spool cannot be loaded: {failure}")),
    }
    load::runs(store, &selection, project, ui)?.warn(ui);
    Ok(())
}

/// The server that the user names: by option or variable; an empty one is none.
pub(super) fn database_url(global: &Global) -> Option<String> {
    let general = || std::env::var("DATABASE_URL").ok();
    global.database_url.as_ref().map(|it| it.0.clone()).or_else(general).filter(|it| !it.is_empty())
}

/// The user's data folder.
pub(super) fn data_home() -> PathBuf {
    let given = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || std::env::var_os("HOME").map(|it| PathBuf::from(it).join(".local/share"));
    given.or_else(home).unwrap_or_else(std::env::temp_dir)
}

/// What is registered of the experiment; the newest last.
pub(super) fn versions(records: &mut Records, id: &str) -> Result<Vec<(Registration, Prereg)>, Failure> {
    let registrations = records.registrations(id)?;
    registrations
        .into_iter()
        .map(|it| {
            let prereg = parse_canonical(&it.canonical).map_err(|problems| {
                let details = problems.to_string().lines().map(str::to_owned).collect();
                let message = format!(
                    "version {} of `{id}` in the store is not a registration of this harness",
                    it.version
                );
                Failure { details, ..Failure::new(Exit::Integrity, message) }
            })?;
            Ok((it, prereg))
        })
        .collect()
}

/// An experiment with all its runs; `None` if it is not registered.
pub(super) fn experiment(
    records: &mut Records,
    project: &Project,
    id: &str,
) -> Result<Option<Experiment>, Failure> {
    let versions = versions(records, id)?;
    if versions.is_empty() {
        return Ok(None);
    }
    let mut runs = Vec::new();
    for line in records.runs(Some(id))? {
        let prereg = versions.iter().find(|(it, _)| it.version == line.run.version).map(|(_, it)| it);
        if let (Some(prereg), Some(data)) = (prereg, records.run(line.run.id)?) {
            runs.push(RecordedRun::new(prereg, data));
        }
    }
    Ok(Some(Experiment { versions, runs, notes: project.notes(id) }))
}

/// Registers `prereg` as `version`, in the store and beside the ledgers.
pub(super) fn register(
    records: &mut Records,
    project: &Project,
    prereg: &Prereg,
    version: u32,
    reason: Option<String>,
) -> Result<Registration, Failure> {
    let registration = Registration {
        experiment: prereg.id.clone(),
        title: prereg.title.clone(),
        version,
        canonical: prereg.canonical(),
        doc: prereg.to_json(),
        digest: prereg.digest(),
        git: host::git(&project.root),
        registered_at: now(),
        reason,
    };
    records.register(&registration)?;
    // Another process may have registered the same text a moment earlier: what is stored counts.
    let stored = records.registrations(&prereg.id)?.into_iter().find(|it| it.version == version);
    let registration = stored.unwrap_or(registration);
    evidence::write_registration(&project.root, &registration)?;
    write_chain(records, project, &prereg.id)?;
    Ok(registration)
}

/// Writes the chain of an experiment beside its evidence. Without a store nothing is sealed: the store that loads the
/// files does it.
pub(super) fn write_chain(records: &mut Records, project: &Project, id: &str) -> Result<(), Failure> {
    if let Records::Store(store) = records {
        chain::write(&evidence::base(&project.root), id, &store.chain(id)?)?;
    }
    Ok(())
}

/// A run with its verdicts, as it travels.
pub(super) fn evidence(records: &mut Records, data: RunData) -> Result<Evidence, Failure> {
    let verdicts = records.verdicts(data.run.id)?;
    Ok(Evidence { data, verdicts })
}

/// Makes sure that the evidence of a registration is there: who wrote it may have been killed before.
pub(super) fn keep(project: &Project, registration: &Registration) -> Result<(), Failure> {
    evidence::write_registration(&project.root, registration)?;
    Ok(())
}

/// This instant, to the microsecond: what the store keeps, so that evidence and store agree.
pub(super) fn now() -> Timestamp {
    crate::store::micros(Timestamp::now())
}

/// The registration that a run of the file's text belongs to, made if there is none yet.
pub(super) fn freeze(
    records: &mut Records,
    project: &Project,
    ui: &Ui,
    prereg: &Prereg,
) -> Result<Registration, Failure> {
    let versions = versions(records, &prereg.id)?;
    let Some((newest, frozen)) = versions.last() else {
        let registration = register(records, project, prereg, 1, None)?;
        ui.note(&format!("registered {} as version 1, SHA-256 {}", prereg.id, registration.digest));
        return Ok(registration);
    };
    if newest.digest == prereg.digest() {
        keep(project, newest)?;
        return Ok(newest.clone());
    }
    Err(changed(prereg, frozen, newest.version))
}

/// The refusal of a file that is not what was registered.
pub(super) fn changed(prereg: &Prereg, frozen: &Prereg, version: u32) -> Failure {
    let id = &prereg.id;
    Failure {
        details: differences(&frozen.canonical(), &prereg.canonical()),
        hint: Some(format!(
            "restore the file, or say why it changed: harness register {id} --amend --reason \"...\""
        )),
        ..Failure::new(
            Exit::Integrity,
            format!("`experiments/{id}.toml` is not what was registered as version {version}"),
        )
    }
}

/// Lines that differ, at most ten.
fn differences(registered: &str, now: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (registered, now) = (lines(registered), lines(now));
    let gone = registered.iter().filter(|it| !now.contains(it)).map(|it| format!("- {it}"));
    let new = now.iter().filter(|it| !registered.contains(it)).map(|it| format!("+ {it}"));
    let mut all: Vec<String> = gone.chain(new).collect();
    if all.len() > 10 {
        all.truncate(9);
        all.push("...".to_owned());
    }
    if all.is_empty() {
        all.push("the same lines stand in another order".to_owned());
    }
    all
}
