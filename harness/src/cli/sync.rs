//! Loading what waits in the spool into the store.

use super::failure::{Exit, Failure};
use super::project::Project;
use super::records::judgements;
use crate::exchange::evidence::{self, Evidence};
use crate::spool::{self, Registrations, Spool};
use crate::store::{RunData, Store};
use crate::vocab::RunState;
use uuid::Uuid;

/// What became of a run that waited.
pub(super) struct Waiting {
    pub(super) run: Uuid,
    /// Unknown if its spool cannot be read, or is another process's.
    pub(super) data: Option<RunData>,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    /// Something of it is new in the store.
    Loaded,
    /// The store had all of it.
    Known,
    /// Another process measures it.
    Busy,
    Failed(Failure),
}

impl Outcome {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Known => "in the store already",
            Self::Busy => "being measured",
            Self::Failed(_) => "failed",
        }
    }
}

/// Loads registrations, then runs, the oldest first. Twice is once; one that fails does not keep the others.
pub(super) fn sync(store: &mut Store, project: &Project) -> Result<Vec<Waiting>, Failure> {
    load_registrations(store, project)?;
    let mut all = Vec::new();
    for run in spool::runs(&project.root)? {
        let spool = match Spool::take(&project.root, run) {
            Ok(Some(spool)) => spool,
            // Gone in the meantime, if it is not there any more.
            Ok(None) if !spool::runs(&project.root)?.contains(&run) => continue,
            Ok(None) => {
                all.push(Waiting { run, data: None, outcome: Outcome::Busy });
                continue;
            }
            Err(error) => {
                all.push(Waiting { run, data: None, outcome: Outcome::Failed(error.into()) });
                continue;
            }
        };
        all.extend(
            load(store, project, run, spool).unwrap_or_else(|failure| {
                Some(Waiting { run, data: None, outcome: Outcome::Failed(failure) })
            }),
        );
    }
    Ok(all)
}

fn load_registrations(store: &mut Store, project: &Project) -> Result<(), Failure> {
    if !spool::has_registrations(&project.root) {
        return Ok(());
    }
    let registrations = Registrations::open(&project.root)?;
    for registration in registrations.all()? {
        store.register(&registration)?;
    }
    Ok(registrations.remove()?)
}

fn load(store: &mut Store, project: &Project, run: Uuid, spool: Spool) -> Result<Option<Waiting>, Failure> {
    let held = spool.held()?;
    let Some(data) = held.data else {
        // It was killed before it began.
        spool.remove()?;
        return Ok(None);
    };
    let before = (store.run(run)?, store.verdicts(run)?.len());
    store.import(&data, &held.registrations, &held.verdicts)?;
    let stored = holds(store.run(run)?, &data)?;
    let verdicts = judgements(store, run)?;
    let known = before.0.as_ref() == Some(&stored) && before.1 == verdicts.len();
    let over = matches!(stored.events.last().map(|it| it.state), Some(RunState::Done | RunState::Failed));
    if over && !verdicts.is_empty() {
        evidence::write_run(&project.root, &Evidence { data: stored, verdicts })?;
        spool.remove()?;
    }
    let outcome = if known { Outcome::Known } else { Outcome::Loaded };
    Ok(Some(Waiting { run, data: Some(data), outcome }))
}

/// What the store has of a run, if that is all that its spool holds: every number to the bit.
pub(super) fn holds(stored: Option<RunData>, spooled: &RunData) -> Result<RunData, Failure> {
    let id = spooled.run.id;
    let lacks = || {
        let message = format!("the store does not hold all that the spool of run {id} holds");
        Failure::new(Exit::Integrity, message)
            .hint("the spool stays where it is; load it again: harness db sync")
    };
    let stored = stored.ok_or_else(lacks)?;
    if stored.clone().union(spooled)? == stored { Ok(stored) } else { Err(lacks()) }
}
