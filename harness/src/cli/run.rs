use super::args::{Format, Global, Run};
use super::begun::{Begun, begin, hint_at_unfinished, resume};
use super::failure::{Exit, Failure};
use super::progress::Progress;
use super::project::Project;
use super::rehearsal::rehearse;
use super::report;
use super::scratch::Scratch;
use super::session::{self, now};
use super::show::part;
use super::ui::Ui;
use crate::decide::{document, findings, is_over};
use crate::exchange::evidence::{self, Evidence};
use crate::host;
use crate::measure::{self, Interrupt, Measured, Program, Stop, Workers};
use crate::plan::Plan;
use crate::prereg::{Launch, Prereg};
use crate::render::{Experiment, RecordedRun};
use crate::store::{Event, Store, StoreError, StoredVerdict};
use crate::vocab::{Cell, RunState, Verdict};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::time::Duration;
use uuid::Uuid;

/// How long `--wait` waits for a quiet host.
const WAIT: Duration = Duration::from_secs(30 * 60);
/// How often, and after which pause, a lost store is asked again.
const RECONNECTS: u32 = 10;
const PAUSE: Duration = Duration::from_secs(1);

pub(super) fn run(args: &Run, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let prereg = project.load(&args.experiment)?;
    let interrupt = Interrupt::on_signals()
        .map_err(|it| Failure::chain(Exit::Failed, &it).context("failed to listen for signals"))?;
    let programs = programs(&prereg, project, ui)?;
    if args.quick {
        return rehearse(&prereg, programs, project, &interrupt, ui);
    }
    let mut store = session::open(global, project, ui)?;
    let registration = session::freeze(&mut store, project, ui, &prereg)?;
    let ready = |ui: &Ui| gate(&prereg, args.wait, &interrupt, ui);
    let begun = if args.resume {
        resume(&mut store, project, &prereg, &programs, ready, ui)?
    } else {
        ready(ui)?;
        hint_at_unfinished(&mut store, project, &prereg, ui)?;
        begin(&mut store, project, &prereg, &registration, &programs)?
    };
    let mut recording = Recording { store: &mut store, project, prereg: &prereg, interrupt: &interrupt };
    let exit = match recording.measure(programs, &begun, ui)? {
        None => recording.conclude(begun.id, args.gate, true, ui)?,
        Some(failure) => {
            // The run is on record: its ledger says INVALID, and why.
            recording.conclude(begun.id, false, ui.format != Format::Text, ui)?;
            ui.failure(&failure);
            failure.exit
        }
    };
    begun.lock.remove(project, begun.id);
    store.close()?;
    Ok(exit)
}

/// The programs of all arms, built where they are packages.
fn programs(prereg: &Prereg, project: &Project, ui: &Ui) -> Result<Vec<Program>, Failure> {
    let resolve = |launch: &Launch| {
        if let Launch::Package(package) = launch {
            ui.note(&format!("building worker {package}"));
        }
        measure::resolve(launch, &project.root)
    };
    let shared = match prereg.arms.iter().all(|it| it.command.is_some()) {
        true => None,
        false => Some(resolve(&prereg.worker.launch)?),
    };
    let mut programs = Vec::new();
    for arm in &prereg.arms {
        programs.push(match (&arm.command, &shared) {
            (Some(command), _) => resolve(&Launch::Command(command.clone()))?,
            (None, Some(shared)) => shared.clone(),
            (None, None) => {
                return Err(Failure::new(Exit::Failed, format!("arm `{}` has no worker", arm.name)));
            }
        });
    }
    Ok(programs)
}

/// Refuses, or waits for, a host that is not as quiet as registered.
fn gate(prereg: &Prereg, wait: bool, interrupt: &Interrupt, ui: &Ui) -> Result<(), Failure> {
    let Some(max) = prereg.environment.max_load else { return Ok(()) };
    let Some(load) = host::load_average() else {
        ui.warning("the registered limit of the load cannot be checked: the host keeps no load average");
        return Ok(());
    };
    if load <= max {
        return Ok(());
    }
    let unfit = |load: f64| {
        Failure::new(
            Exit::Host,
            format!("the host is too busy: its load is {load:.2}, registered is at most {max}"),
        )
        .hint("end what else is running, or wait for it: --wait")
    };
    if !wait {
        return Err(unfit(load));
    }
    ui.note(&format!("waiting: the load is {load:.2}, registered is at most {max}"));
    match host::wait_until_quiet(max, WAIT, |pause| !interrupt.wait(pause)) {
        _ if interrupt.is_set() => Err(Failure::new(
            Exit::Failed,
            "interrupted while waiting for a quiet host; nothing was measured",
        )),
        Some(load) if load > max => Err(unfit(load)),
        _ => Ok(()),
    }
}

/// What a run is recorded with.
struct Recording<'a> {
    store: &'a mut Store,
    project: &'a Project,
    prereg: &'a Prereg,
    interrupt: &'a Interrupt,
}

impl Recording<'_> {
    /// Measures what is missing of a run. Gives the reason when the run is INVALID for it.
    fn measure(
        &mut self,
        programs: Vec<Program>,
        begun: &Begun,
        ui: &Ui,
    ) -> Result<Option<Failure>, Failure> {
        let prereg = self.prereg;
        let plan = Plan::new(prereg, begun.seed);
        let scratch = Scratch::of(self.project, &begun.id.to_string());
        let result = {
            let root = &self.project.root;
            let mut workers = Workers::new(prereg, programs, root, &scratch.0, self.interrupt);
            let mut progress = Steps::new(ui.progress(plan.len()), &plan);
            let stored = RefCell::new(begun.sets.clone());
            let enough = |cell: &Cell, blocks: u32| is_over(prereg, cell, &stored.borrow(), blocks);
            let keep = |index: usize, measured: Measured| {
                let Measured { sets, cells } = measured;
                self.persist(|store| store.append_block(begun.id, &sets, &cells))?;
                // Without looks nobody asks for them.
                if prereg.design.looks.is_some() {
                    stored.borrow_mut().extend(sets);
                }
                progress.step(index);
                Ok(())
            };
            let result = measure::run(prereg, &plan, &begun.done, &begun.cells, &mut workers, enough, keep);
            progress.finish();
            result
        };
        drop(scratch);
        let next = begun.events + 1;
        match result {
            Ok(()) => {
                self.append_event(begun.id, next, RunState::Done, None)
                    .map_err(|it| self.lost(it, begun.id))?;
                Ok(None)
            }
            Err(Stop::Sink(error)) => Err(self.lost(error, begun.id)),
            Err(Stop::Failure(measure::Failure::Interrupted)) => {
                let detail = json!({ "reason": "interrupted" });
                self.append_event(begun.id, next, RunState::Aborted, Some(detail))
                    .map_err(|it| self.lost(it, begun.id))?;
                let message = format!("interrupted; all finished blocks of run {} are stored", begun.id);
                Err(Failure::new(Exit::Failed, message).hint(self.how_to_resume()))
            }
            Err(Stop::Failure(failure)) => {
                let shown = Failure::from(&failure);
                let detail = json!({ "reason": shown.message, "stderr": failure.stderr() });
                let message = format!("run {} is INVALID: {}", begun.id, shown.message);
                let shown = Failure { message, ..shown };
                match self.append_event(begun.id, next, RunState::Failed, Some(detail)) {
                    Ok(()) => Ok(Some(shown)),
                    Err(error) => {
                        let lost = Failure::from(error).context("and the store could not be told");
                        let details = shown.details.into_iter().chain([lost.message]).collect();
                        Err(Failure { details, hint: lost.hint.or(shown.hint), ..shown })
                    }
                }
            }
        }
    }

    fn append_event(
        &mut self,
        run: Uuid,
        seq: u32,
        state: RunState,
        detail: Option<Value>,
    ) -> Result<(), StoreError> {
        let event = Event { seq, at: now(), state, detail };
        self.persist(|store| store.append_event(run, &event))
    }

    /// Stores something, asking a lost store again for a while. What is stored twice is stored once.
    fn persist(
        &mut self,
        mut write: impl FnMut(&mut Store) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut result = write(self.store);
        for _ in 0..RECONNECTS {
            match result {
                Err(ref error) if error.is_lost() => {}
                result => return result,
            }
            if self.store.reconnect().is_ok() {
                result = write(self.store);
            } else if self.interrupt.wait(PAUSE) {
                break;
            }
        }
        result
    }

    fn lost(&self, error: StoreError, run: Uuid) -> Failure {
        let resumable = error.is_lost();
        let failure = Failure::from(error);
        let failure = failure.context(&format!("run {run} stopped, all blocks before this one are stored"));
        if resumable {
            failure.hint(format!("when the store is back, {}", self.how_to_resume()))
        } else {
            failure
        }
    }

    fn how_to_resume(&self) -> String {
        format!("go on with it: harness run {} --resume", self.prereg.id)
    }

    /// Decides a run that is over, writes everything that follows from it, and shows it if `shown`.
    fn conclude(&mut self, id: Uuid, gate: bool, shown: bool, ui: &mut Ui) -> Result<Exit, Failure> {
        let project = self.project;
        let experiment = load(self.store, project, &self.prereg.id)?;
        let run = find(&experiment, id)?;
        let prereg = experiment.prereg();
        let verdict = StoredVerdict {
            run: id,
            seq: 1,
            verdict: run.decision.verdict,
            doc: document(prereg, &run.decision, &run.analysis),
            harness: env!("CARGO_PKG_VERSION").to_owned(),
            decided_at: now(),
        };
        let findings = findings(prereg, &run.decision);
        self.persist(|store| store.append_verdict(&verdict, &findings))?;
        let evidence = evidence::write_run(
            &project.root,
            &Evidence { data: run.data.clone(), verdicts: vec![(verdict, findings)] },
        )?;
        let written = super::render::write(self.store, project, ui, &prereg.ledger)?;
        if shown {
            report::show(ui, prereg, run, part(&experiment, run))?;
            ui.note("");
        }
        for (name, path) in [("evidence", Some(&evidence)), ("ledger", written.first())] {
            if let Some(path) = path {
                ui.note(&format!("{name:9} {}", project.shown(path)));
            }
        }
        let folder = format!("plots/{}/", prereg.id);
        let plots = written.iter().filter(|it| project.shown(it).starts_with(&folder)).count();
        if plots > 0 {
            ui.note(&format!("{:9} {folder} ({plots} SVG)", "plots"));
        }
        Ok(match run.decision.verdict {
            Verdict::Reject if gate => Exit::Reject,
            Verdict::Inconclusive if gate => Exit::Inconclusive,
            Verdict::Invalid => Exit::Failed,
            _ => Exit::Done,
        })
    }
}

fn load(store: &mut Store, project: &Project, id: &str) -> Result<Experiment, Failure> {
    session::experiment(store, project, id)?
        .ok_or_else(|| Failure::new(Exit::Failed, format!("`{id}` is gone from the store")))
}

fn find(experiment: &Experiment, id: Uuid) -> Result<&RecordedRun, Failure> {
    let found = experiment.runs.iter().find(|it| it.data.run.id == id);
    found.ok_or_else(|| StoreError::UnknownRun(id).into())
}

/// Progress by cell.
struct Steps<'a> {
    progress: Progress,
    plan: &'a Plan,
    next: usize,
}

impl<'a> Steps<'a> {
    fn new(progress: Progress, plan: &'a Plan) -> Self {
        Self { progress, plan, next: 0 }
    }

    fn step(&mut self, index: usize) {
        for index in self.next..=index {
            let step = self.plan.step(index);
            let cell = self.plan.cells()[step.cell].to_string();
            let heading = if cell.is_empty() { "measured".to_owned() } else { cell };
            self.progress.step(&heading, index >= self.next);
        }
        self.next = index + 1;
    }

    fn finish(self) {
        self.progress.finish();
    }
}
