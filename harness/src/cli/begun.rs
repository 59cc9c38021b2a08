//! How a run begins: as a new one, or where an interrupted one stopped.

use super::failure::{Exit, Failure};
use super::lock::RunLock;
use super::outbox::Outbox;
use super::project::Project;
use super::records::Records;
use super::session::now;
use super::ui::Ui;
use crate::analyse::set_aside;
use crate::host;
use crate::measure::{self, Place, Program};
use crate::plan::Plan;
use crate::prereg::Prereg;
use crate::spool::Spool;
use crate::stats::rng::mix64;
use crate::store::{self, CellArm, Event, Registration, RunArm, RunLine, SampleSet, StoreError};
use crate::vocab::RunState;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// A run that is about to be measured.
pub(super) struct Begun {
    pub(super) id: Uuid,
    pub(super) seed: u64,
    /// What is stored already.
    pub(super) done: HashSet<Place>,
    pub(super) cells: Vec<CellArm>,
    /// The samples themselves.
    pub(super) sets: Vec<SampleSet>,
    /// The number of its last event.
    pub(super) events: u32,
    pub(super) lock: RunLock,
    pub(super) outbox: Outbox,
}

/// A new run, on record.
pub(super) fn begin(
    records: &mut Records,
    project: &Project,
    prereg: &Prereg,
    registration: &Registration,
    programs: &[Program],
    ui: &Ui,
) -> Result<Begun, Failure> {
    let mut host = host::fingerprint();
    let pinned = measure::cores(prereg.environment.pin.as_ref());
    if !pinned.is_empty() {
        host.environment["pinned"] = pinned.into();
    }
    if let Some(calibration) = super::calibrate::newest(project, prereg, &host.host)? {
        host.environment["calibration"] = json!(calibration);
    }
    let id = Uuid::now_v7();
    // A replication gets an order of its own; the inputs depend on the registered seed alone. Kept within what
    // SQL counts with.
    let salt = u64::from_be_bytes(id.as_bytes()[8..].try_into().unwrap_or_default());
    let seed = mix64(prereg.design.seed ^ mix64(salt)) >> 1;
    let run = store::Run {
        id,
        experiment: prereg.id.clone(),
        version: registration.version,
        registration: registration.digest,
        host: host.host,
        environment: host.environment,
        harness: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        git: host::git(&project.root),
        started_at: now(),
    };
    let arms: Vec<RunArm> = prereg
        .arms
        .iter()
        .zip(programs)
        .map(|(arm, program)| RunArm {
            arm: arm.name.clone(),
            command: program.shown.clone(),
            env: arm.env.iter().cloned().collect(),
            binary: program.binary,
            build: build(program),
        })
        .collect();
    let lock = RunLock::take(project, id)?;
    let mut outbox = Outbox::new(id, Spool::create(&project.root, registration, &run, &arms)?);
    match outbox.send(records, ui, |store| store.begin_run(&run, &arms)) {
        Ok(()) => Ok(Begun {
            id,
            seed,
            done: HashSet::new(),
            cells: Vec::new(),
            sets: Vec::new(),
            events: 1,
            lock,
            outbox,
        }),
        Err(failure) => {
            outbox.discard()?;
            Err(failure)
        }
    }
}

/// How a program was built; all of its builds, if there are several.
fn build(program: &Program) -> Option<Value> {
    let mut doc = serde_json::to_value(program.built.as_ref()?).ok()?;
    if !program.others.is_empty() {
        let one = |it: &Program| {
            let salt = it.built.as_ref().and_then(|it| it.salt);
            json!({ "salt": salt, "binary": it.binary.map(|it| it.to_string()) })
        };
        doc["builds"] = program.builds().map(one).collect();
    }
    Some(doc)
}

/// The newest run that waits for something: for samples, or only for its verdict.
fn unfinished(records: &mut Records, id: &str) -> Result<Option<RunLine>, Failure> {
    let runs = records.runs(Some(id))?;
    Ok(runs.into_iter().rev().filter(|it| it.invalidated.is_none()).find(|it| match it.state {
        RunState::Running | RunState::Resumed | RunState::Aborted => true,
        RunState::Done => it.verdict.is_none(),
        RunState::Failed => false,
    }))
}

/// Says that a run waits to be resumed, or is being measured, before a new one begins.
pub(super) fn hint_at_unfinished(
    records: &mut Records,
    project: &Project,
    prereg: &Prereg,
    ui: &Ui,
) -> Result<(), Failure> {
    let Some(RunLine { run, .. }) = unfinished(records, &prereg.id)? else { return Ok(()) };
    if run.host != host::fingerprint().host {
        return Ok(());
    }
    if RunLock::take(project, run.id).is_ok() {
        ui.note(&format!(
            "run {} was not finished and stays on record; --resume would go on with it, this is a new run",
            run.id
        ));
    } else {
        ui.warning(&format!("run {} of it is being measured right now: the two disturb each other", run.id));
    }
    Ok(())
}

/// The newest run that was interrupted, with what it has.
pub(super) fn resume(
    records: &mut Records,
    project: &Project,
    prereg: &Prereg,
    registration: &Registration,
    programs: &[Program],
    ready: impl Fn(&Ui) -> Result<(), Failure>,
    ui: &Ui,
) -> Result<Begun, Failure> {
    let start_anew = || format!("start a new run: harness run {}", prereg.id);
    let Some(line) = unfinished(records, &prereg.id)? else {
        return Err(Failure::new(Exit::Failed, format!("no run of `{}` waits to be resumed", prereg.id))
            .hint(start_anew()));
    };
    let id = line.run.id;
    let other = |what: &str| {
        Failure::new(Exit::Failed, format!("run {id} cannot be resumed: {what}")).hint(start_anew())
    };
    if line.run.registration != prereg.digest() {
        return Err(other("it belongs to another version of the registration"));
    }
    if line.run.host != host::fingerprint().host {
        return Err(other("it was measured on another host"));
    }
    let lock = RunLock::take(project, id)?;
    // Looked at again under the lock: who measured it may just have finished.
    if unfinished(records, &prereg.id)?.is_none_or(|it| it.run.id != id) {
        return Err(other("another process has finished it meanwhile"));
    }
    let data = records.run(id)?.ok_or(StoreError::UnknownRun(id))?;
    for (arm, program) in prereg.arms.iter().zip(programs) {
        let before = data.arms.iter().find(|it| it.arm == arm.name);
        let builds = |it: &Value| it.get("builds").cloned();
        if before.and_then(|it| it.binary) != program.binary
            || before.and_then(|it| builds(it.build.as_ref()?)) != build(program).as_ref().and_then(builds)
        {
            return Err(other(&format!("the worker of arm `{}` was built anew since", arm.name)));
        }
    }
    let mut done = complete(prereg, &data.sets);
    for it in set_aside(&data).into_iter().filter(|it| it.excluded) {
        done.extend(it.arms.into_iter().map(|arm| (it.cell.clone(), arm, false, it.block)));
    }
    let events = data.events.last().map_or(0, |it| it.seq);
    let (here, total) = (done.len(), Plan::new(prereg, data.run.seed).total());
    if (here as u64) < total {
        ready(ui)?;
    }
    let event = Event { seq: events + 1, at: now(), state: RunState::Resumed, detail: None };
    let mut outbox = Outbox::new(id, Spool::resume(&project.root, registration, &data)?);
    outbox.event(records, &event, ui)?;
    ui.note(&format!("resuming run {id}: {here} of {total} samples are there, warm-ups included"));
    Ok(Begun {
        id,
        seed: data.run.seed,
        done,
        cells: data.cells,
        sets: data.sets,
        events: events + 1,
        lock,
        outbox,
    })
}

/// The samples of which every metric is stored.
fn complete(prereg: &Prereg, sets: &[SampleSet]) -> HashSet<Place> {
    let mut metrics: HashMap<Place, usize> = HashMap::new();
    for set in sets {
        for block in (set.first_block..).take(set.values.len()) {
            *metrics.entry((set.cell.clone(), set.arm.clone(), set.warmup, block)).or_default() += 1;
        }
    }
    let all = prereg.metrics.len();
    metrics.into_iter().filter(|(_, n)| *n == all).map(|(place, _)| place).collect()
}
