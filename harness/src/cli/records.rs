use super::failure::{Exit, Failure};
use super::files::Files;
use crate::decide::spelling;
use crate::prereg::Prereg;
use crate::store::{
    ExperimentLine, Invalidation, Link, Registration, RunData, RunLine, Store, StoredFinding, StoredVerdict,
};
use crate::vocab::RunState;
use uuid::Uuid;

/// What is on record: in the store, or, where there is none, in the project's files.
pub(super) enum Records {
    Store(Box<Store>),
    Files(Files),
}

impl Records {
    /// All versions of an experiment's registration, in order. Empty when it is not registered.
    pub(super) fn registrations(&mut self, experiment: &str) -> Result<Vec<Registration>, Failure> {
        match self {
            Self::Store(store) => Ok(store.registrations(experiment)?),
            Self::Files(files) => files.registrations(experiment),
        }
    }

    /// Keeps a registration; another text for the same version is an error.
    pub(super) fn register(&mut self, registration: &Registration) -> Result<(), Failure> {
        match self {
            Self::Store(store) => Ok(store.register(registration)?),
            Self::Files(files) => files.register(registration),
        }
    }

    /// Every registered experiment, in order of the name.
    pub(super) fn experiments(&mut self) -> Result<Vec<ExperimentLine>, Failure> {
        match self {
            Self::Store(store) => Ok(store.experiments()?),
            Self::Files(files) => files.experiments(),
        }
    }

    /// The runs of an experiment, or all runs, in order of their beginning.
    pub(super) fn runs(&mut self, experiment: Option<&str>) -> Result<Vec<RunLine>, Failure> {
        match self {
            Self::Store(store) => Ok(store.runs(experiment)?),
            Self::Files(files) => files.runs(experiment),
        }
    }

    /// The experiment of a run; `None` if there is no such run.
    pub(super) fn experiment_of(&mut self, run: Uuid) -> Result<Option<String>, Failure> {
        match self {
            Self::Store(store) => Ok(store.experiment_of(run)?),
            Self::Files(files) => Ok(files.run(run)?.map(|it| it.data.run.experiment)),
        }
    }

    /// The newest complete run of an experiment.
    pub(super) fn latest_run(&mut self, experiment: &str) -> Result<Option<RunLine>, Failure> {
        Ok(self
            .runs(Some(experiment))?
            .into_iter()
            .rev()
            .find(|it| it.state == RunState::Done && it.invalidated.is_none()))
    }

    /// A run with everything that it stored.
    pub(super) fn run(&mut self, id: Uuid) -> Result<Option<RunData>, Failure> {
        match self {
            Self::Store(store) => Ok(store.run(id)?),
            Self::Files(files) => Ok(files.run(id)?.map(|it| it.data)),
        }
    }

    /// The verdicts of a run with their findings, in order.
    pub(super) fn verdicts(
        &mut self,
        run: Uuid,
    ) -> Result<Vec<(StoredVerdict, Vec<StoredFinding>)>, Failure> {
        match self {
            Self::Store(store) => judgements(store, run),
            Self::Files(files) => Ok(files.run(run)?.map(|it| it.verdicts).unwrap_or_default()),
        }
    }

    /// How the experiment spells the newest verdict of a run, as it was decided: STRONG GO where GO alone would be less.
    pub(super) fn label(&mut self, prereg: &Prereg, line: &RunLine) -> Result<Option<String>, Failure> {
        let Some(verdict) = line.verdict else { return Ok(None) };
        let stored = match self {
            _ if prereg.decision.thresholds.is_none() => None,
            Self::Store(store) => store.label(line.run.id)?,
            Self::Files(files) => {
                let newest = files.run(line.run.id)?.and_then(|mut it| it.verdicts.pop());
                newest.and_then(|(it, _)| it.doc["label"].as_str().map(str::to_owned))
            }
        };
        Ok(Some(stored.unwrap_or_else(|| spelling(prereg, verdict).to_owned())))
    }

    /// The chain of an experiment.
    pub(super) fn chain(&mut self, experiment: &str) -> Result<Vec<Link>, Failure> {
        match self {
            Self::Store(store) => Ok(store.chain(experiment)?),
            Self::Files(files) => files.chain(experiment),
        }
    }

    /// Sets a run aside, or takes that back.
    pub(super) fn invalidate(&mut self, run: Uuid, it: &Invalidation) -> Result<(), Failure> {
        match self {
            Self::Store(store) => Ok(store.invalidate(run, it)?),
            Self::Files(_) => {
                let message =
                    format!("run {run} cannot be set aside: only a store can seal that in the chain");
                Err(Failure::new(Exit::Failed, message).hint("get one: harness db install"))
            }
        }
    }

    pub(super) fn close(self) -> Result<(), Failure> {
        match self {
            Self::Store(store) => Ok(store.close()?),
            Self::Files(_) => Ok(()),
        }
    }
}

/// The verdicts of a stored run with their findings, in order.
pub(super) fn judgements(
    store: &mut Store,
    run: Uuid,
) -> Result<Vec<(StoredVerdict, Vec<StoredFinding>)>, Failure> {
    let mut verdicts = Vec::new();
    for verdict in store.verdicts(run)? {
        let findings = store.findings(run, verdict.seq)?;
        verdicts.push((verdict, findings));
    }
    Ok(verdicts)
}
