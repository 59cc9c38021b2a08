//! Runs: begun once, with what they are made of.

use super::register::{self, experiment_id, stored_digest};
use super::transact::Failure;
use super::{Event, Git, Run, RunArm, Store, StoreError, chain, check, events, micros};
use crate::vocab::{Digest, RunState, Seal};
use postgres::types::Type;
use postgres::{Row, Transaction};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

impl Store {
    /// Stores a run, its arms and its first event, `running`, in one transaction.
    ///
    /// On the private cluster everything pending is written out too, so that the server is quiet from here on.
    pub fn begin_run(&mut self, run: &Run, arms: &[RunArm]) -> Result<(), StoreError> {
        check::run(run, arms)?;
        let first = Event { seq: 1, at: run.started_at, state: RunState::Running, detail: None };
        self.transact("begin the run", |transaction| {
            insert(transaction, run, arms, false)?;
            events::insert(transaction, run.id, &first, false)
        })?;
        self.settle();
        Ok(())
    }

    /// The experiment of a run; `None` if there is no such run.
    pub fn experiment_of(&mut self, run: Uuid) -> Result<Option<String>, StoreError> {
        match self.transact("look for the run", |transaction| chain::experiment_of(transaction, run)) {
            Err(StoreError::UnknownRun(_)) => Ok(None),
            result => result.map(Some),
        }
    }
}

/// The columns of a run, for [`read`].
pub(super) const COLUMNS: &str = "r.run_id, e.slug, r.version, p.sha256, r.host, env.doc, r.harness, r.seed, \
                                  r.git_commit, r.git_dirty, r.started_at";

/// Where [`COLUMNS`] come from.
pub(super) const TABLES: &str = "harness.runs r \
                                 join harness.experiments e using (experiment_id) \
                                 join harness.preregistrations p using (experiment_id, version) \
                                 join harness.environments env using (env_sha256)";

pub(super) fn insert(
    transaction: &mut Transaction<'_>,
    run: &Run,
    arms: &[RunArm],
    found: bool,
) -> Result<(), Failure> {
    match register::digest(transaction, &run.experiment, run.version)? {
        None => {
            let (experiment, version) = (run.experiment.clone(), run.version);
            return Err(StoreError::NotRegistered { experiment, version }.into());
        }
        Some(stored) if stored != run.registration => {
            return Err(StoreError::Conflict {
                experiment: run.experiment.clone(),
                version: run.version,
                stored,
                given: run.registration,
            }
            .into());
        }
        Some(_) => {}
    }
    let environment = Digest::of(run.environment.to_string());
    transaction.execute(
        "insert into harness.environments (env_sha256, doc) values ($1, $2) on conflict do nothing",
        &[&environment.0.as_slice(), &run.environment],
    )?;
    let inserted = transaction.execute(
        "insert into harness.runs (run_id, experiment_id, version, env_sha256, host, harness, seed, git_commit, \
         git_dirty, started_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing",
        &[
            &run.id,
            &experiment_id(&run.experiment),
            &check::whole("version", run.version)?,
            &environment.0.as_slice(),
            &run.host,
            &run.harness,
            &run.seed.cast_signed(),
            &run.git.commit,
            &run.git.dirty,
            &micros(run.started_at),
        ],
    )?;
    if inserted == 0 {
        let stored = find(transaction, run.id)?.ok_or(Failure::Again)?;
        compare(&stored, run)?;
    }
    for arm in arms {
        let env =
            Value::Object(arm.env.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect());
        let inserted = transaction.execute(
            "insert into harness.run_arms (run_id, arm, command, env, binary_sha256, build) values ($1, $2, $3, $4, $5, $6) \
             on conflict do nothing",
            &[
                &run.id,
                &arm.arm,
                &Value::from(arm.command.clone()),
                &env,
                &arm.binary.map(|it| it.0.to_vec()),
                &arm.build,
            ],
        )?;
        if inserted == 0 {
            let stored = arms_of(transaction, run.id)?;
            let stored = stored.iter().find(|it| it.arm == arm.arm).ok_or(Failure::Again)?;
            differ(&format!("arm {} of run {}", arm.arm, run.id), stored, arm)?;
        }
    }
    let body = chain::body::begun(run, arms);
    chain::seal(transaction, &run.experiment, Seal::Begun, run.id.to_string(), run.started_at, found, body)
}

/// An error when the two differ.
pub(super) fn differ<T: PartialEq + std::fmt::Debug>(
    what: &str,
    stored: &T,
    given: &T,
) -> Result<(), StoreError> {
    if stored == given {
        return Ok(());
    }
    Err(StoreError::Contradiction { difference: format!("{what}: stored {stored:?}, given {given:?}") })
}

fn compare(stored: &Run, given: &Run) -> Result<(), StoreError> {
    let of = |field: &str| format!("{field} of run {}", given.id);
    differ(&of("experiment"), &stored.experiment, &given.experiment)?;
    differ(&of("version"), &stored.version, &given.version)?;
    differ(&of("registration"), &stored.registration, &given.registration)?;
    differ(&of("host"), &stored.host, &given.host)?;
    differ(&of("environment"), &stored.environment, &given.environment)?;
    differ(&of("harness"), &stored.harness, &given.harness)?;
    differ(&of("seed"), &stored.seed, &given.seed)?;
    differ(&of("git"), &stored.git, &given.git)?;
    differ(&of("started_at"), &stored.started_at, &micros(given.started_at))
}

/// The run of that id.
pub(super) fn find(transaction: &mut Transaction<'_>, id: Uuid) -> Result<Option<Run>, Failure> {
    let row = transaction.query_typed_opt(
        &format!("select {COLUMNS} from {TABLES} where r.run_id = $1"),
        &[(&id, Type::UUID)],
    )?;
    row.as_ref().map(read).transpose()
}

/// Whether the environment of a run is the one that its digest names.
pub(super) fn environment_holds(transaction: &mut Transaction<'_>, run: &Run) -> Result<(), Failure> {
    let row = transaction
        .query_typed_one("select env_sha256 from harness.runs where run_id = $1", &[(&run.id, Type::UUID)])?;
    if stored_digest(row.try_get(0)?, "an environment")? == Digest::of(run.environment.to_string()) {
        return Ok(());
    }
    let problem = format!("the environment of run {} does not have its digest", run.id);
    Err(StoreError::Damaged { problem }.into())
}

pub(super) fn arms_of(transaction: &mut Transaction<'_>, id: Uuid) -> Result<Vec<RunArm>, Failure> {
    let rows = transaction.query_typed(
        "select arm, command, env, binary_sha256, build from harness.run_arms where run_id = $1 \
         order by arm collate \"C\"",
        &[(&id, Type::UUID)],
    )?;
    rows.iter()
        .map(|row| {
            let command: Value = row.try_get(1)?;
            let env: Value = row.try_get(2)?;
            let binary: Option<&[u8]> = row.try_get(3)?;
            Ok(RunArm {
                arm: row.try_get(0)?,
                command: texts(&command),
                env: pairs(&env),
                binary: binary.map(|it| stored_digest(it, "a program")).transpose()?,
                build: row.try_get(4)?,
            })
        })
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

fn pairs(value: &Value) -> BTreeMap<String, String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, it)| it.as_str().map(|it| (key.clone(), it.to_owned())))
        .collect()
}

/// A run from a row that begins with [`COLUMNS`].
pub(super) fn read(row: &Row) -> Result<Run, Failure> {
    Ok(Run {
        id: row.try_get(0)?,
        experiment: row.try_get(1)?,
        version: row.try_get::<_, i32>(2)?.unsigned_abs(),
        registration: stored_digest(row.try_get(3)?, "a registration")?,
        host: row.try_get(4)?,
        environment: row.try_get(5)?,
        harness: row.try_get(6)?,
        seed: row.try_get::<_, i64>(7)?.cast_unsigned(),
        git: Git { commit: row.try_get(8)?, dirty: row.try_get(9)? },
        started_at: row.try_get(10)?,
    })
}
