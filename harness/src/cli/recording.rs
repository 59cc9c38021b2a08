//! A run while it is measured, and what follows from it.

use super::begun::Begun;
use super::failure::{Exit, Failure};
use super::files::Files;
use super::progress::Progress;
use super::project::Project;
use super::records::Records;
use super::report;
use super::scratch::Scratch;
use super::session::{self, now};
use super::show::part;
use super::telemetry::{Telemetry, set_aside};
use super::ui::Ui;
use crate::decide::{document, findings, is_over};
use crate::exchange::evidence::{self, Evidence};
use crate::measure::{self, Interrupt, Measured, Program, Stop};
use crate::plan::Plan;
use crate::prereg::Prereg;
use crate::render::{Experiment, RecordedRun};
use crate::store::{Event, RunData, StoreError, StoredVerdict};
use crate::vocab::{Cell, RunState, Verdict};
use serde_json::{Value, json};
use std::cell::RefCell;
use uuid::Uuid;

/// What a run is recorded with.
pub(super) struct Recording<'a> {
    records: &'a mut Records,
    project: &'a Project,
    prereg: &'a Prereg,
    interrupt: &'a Interrupt,
    begun: Begun,
    telemetry: Telemetry,
    /// The run as its verdict was computed from it.
    concluded: Option<RunData>,
}

impl<'a> Recording<'a> {
    pub(super) fn new(
        records: &'a mut Records,
        project: &'a Project,
        prereg: &'a Prereg,
        interrupt: &'a Interrupt,
        begun: Begun,
    ) -> Self {
        Self { records, project, prereg, interrupt, begun, telemetry: Telemetry::default(), concluded: None }
    }

    /// Measures what is missing of the run. Gives the reason when the run is INVALID for it.
    pub(super) fn measure(&mut self, programs: Vec<Program>, ui: &Ui) -> Result<Option<Failure>, Failure> {
        let prereg = self.prereg;
        let id = self.begun.id;
        let plan = Plan::new(prereg, self.begun.seed);
        let scratch = Scratch::of(self.project, &id.to_string());
        let result = {
            let root = &self.project.root;
            let mut source = measure::source(prereg, &plan, programs, root, &scratch.0, self.interrupt)?;
            let mut progress = Steps::new(ui.progress(plan.len()), &plan);
            let Begun { done, cells, sets, events, outbox, .. } = &mut self.begun;
            let telemetry = &mut self.telemetry;
            let records = &mut *self.records;
            let kept = RefCell::new(std::mem::take(sets));
            let enough = |cell: &Cell, blocks: u32| is_over(prereg, cell, &kept.borrow(), blocks);
            let keep = |index: usize, mut measured: Measured| {
                telemetry.add(index, measured.conditions);
                if let Some(aside) = measured.aside.take() {
                    // What does not count is on record nonetheless, in an event of its own.
                    let detail =
                        set_aside(index, &aside, &std::mem::take(&mut measured.sets), &measured.conditions);
                    *events += 1;
                    let state = RunState::Running;
                    let event = Event { seq: *events, at: now(), state, detail: Some(detail) };
                    outbox.block(records, measured, ui)?;
                    outbox.event(records, &event, ui)?;
                    if aside.excluded {
                        progress.step(index);
                    }
                    return Ok(());
                }
                // Without looks nobody asks for them.
                if prereg.design.looks.is_some() {
                    kept.borrow_mut().extend(measured.sets.iter().cloned());
                }
                outbox.block(records, measured, ui)?;
                progress.step(index);
                Ok::<_, Failure>(())
            };
            let result = measure::run(prereg, &plan, done, cells, &mut *source, enough, keep);
            progress.finish();
            source.remarks().iter().for_each(|it| ui.warning(it));
            // What is cleaned up after a failure cannot hide it.
            let ended = source.end().map_err(Stop::Failure);
            result.and(ended)
        };
        drop(scratch);
        match result {
            Ok(()) => {
                self.end(RunState::Done, None, ui)?;
                Ok(None)
            }
            Err(Stop::Sink(failure)) => Err(self.stopped(failure)),
            Err(Stop::Failure(measure::Failure::Interrupted)) => {
                self.end(RunState::Aborted, Some(json!({ "reason": "interrupted" })), ui)?;
                self.settle(ui)?;
                let message = format!("interrupted; all finished blocks of run {id} are stored");
                Err(Failure::new(Exit::Failed, message).hint(self.how_to_resume()))
            }
            Err(Stop::Failure(failure @ measure::Failure::Unfit { .. })) => {
                let shown = Failure::from(&failure);
                self.end(RunState::Aborted, Some(json!({ "reason": shown.message })), ui)?;
                self.settle(ui)?;
                let message = format!("the host is not fit, run {id} stopped: {}", shown.message);
                Err(Failure::new(Exit::Host, message).hint(self.how_to_resume()))
            }
            Err(Stop::Failure(failure)) => {
                let shown = Failure::from(&failure);
                let detail = json!({ "reason": shown.message, "stderr": failure.stderr() });
                let message = format!("run {id} is INVALID: {}", shown.message);
                let shown = Failure { message, ..shown };
                match self.end(RunState::Failed, Some(detail), ui) {
                    Ok(()) => Ok(Some(shown)),
                    Err(error) => {
                        let lost = error.context("and that could not be written down");
                        let details = shown.details.into_iter().chain([lost.message]).collect();
                        Err(Failure { details, hint: lost.hint.or(shown.hint), ..shown })
                    }
                }
            }
        }
    }

    fn end(&mut self, state: RunState, mut detail: Option<Value>, ui: &Ui) -> Result<(), Failure> {
        if let Some(telemetry) = self.telemetry.detail() {
            detail.get_or_insert_with(|| json!({}))["telemetry"] = telemetry;
        }
        let event = Event { seq: self.begun.events + 1, at: now(), state, detail };
        let ended = self.begun.outbox.event(self.records, &event, ui);
        ended.map_err(|it| self.stopped(it))
    }

    fn stopped(&self, failure: Failure) -> Failure {
        let id = self.begun.id;
        let failure = failure.context(&format!("run {id} stopped, all blocks before this one are stored"));
        let next = self.how_to_resume();
        let hint = failure.hint.as_ref().map_or_else(|| next.clone(), |it| format!("{it}; then {next}"));
        failure.hint(hint)
    }

    fn how_to_resume(&self) -> String {
        format!("go on with it: harness run {} --resume", self.prereg.id)
    }

    /// Loads what a store that failed in the middle has missed, or leaves it for the files of the project.
    fn settle(&mut self, ui: &Ui) -> Result<(), Failure> {
        if !self.begun.outbox.catch_up(self.records, ui)? {
            *self.records = Records::Files(Files::of(&self.project.root));
            let kept = self.project.shown(self.begun.outbox.folder());
            let id = self.begun.id;
            ui.warning(&format!("run {id} is kept in `{kept}` until a store has it: harness db sync"));
        }
        Ok(())
    }

    /// Decides a run that is over, writes everything that follows from it, and shows it if `shown`.
    pub(super) fn conclude(&mut self, gate: bool, shown: bool, ui: &mut Ui) -> Result<Exit, Failure> {
        self.settle(ui)?;
        match self.decided(gate, shown, ui) {
            // Between the last sample and now.
            Err(failure) if failure.away && matches!(self.records, Records::Store(_)) => {
                self.begun.outbox.gone(&failure, ui);
                self.settle(ui)?;
                self.decided(gate, shown, ui)
            }
            other => other,
        }
    }

    fn decided(&mut self, gate: bool, shown: bool, ui: &mut Ui) -> Result<Exit, Failure> {
        let project = self.project;
        let id = self.begun.id;
        let experiment = load(self.records, project, &self.prereg.id)?;
        let run = find(&experiment, id)?;
        let prereg = experiment.prereg();
        let (verdict, findings) = self.begun.outbox.verdict(self.records, || {
            let verdict = StoredVerdict {
                run: id,
                seq: 1,
                verdict: run.decision.verdict,
                doc: document(prereg, &run.decision, &run.analysis),
                harness: env!("CARGO_PKG_VERSION").to_owned(),
                decided_at: now(),
            };
            (verdict, findings(prereg, &run.decision))
        })?;
        let evidence = evidence::write_run(
            &project.root,
            &Evidence { data: run.data.clone(), verdicts: vec![(verdict, findings)] },
        )?;
        let written = super::render::write(self.records, project, ui, &prereg.ledger)?;
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
        self.concluded = Some(run.data.clone());
        Ok(match run.decision.verdict {
            Verdict::Reject if gate => Exit::Reject,
            Verdict::Inconclusive if gate => Exit::Inconclusive,
            Verdict::Invalid => Exit::Failed,
            _ => Exit::Done,
        })
    }

    /// Gives the lock back, and removes the spool of a run that the store has.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Begun { id, lock, outbox, .. } = self.begun;
        let removed = match (self.records, self.concluded) {
            (Records::Store(_), Some(stored)) => outbox.finish(&stored),
            _ => Ok(()),
        };
        lock.remove(self.project, id);
        removed
    }
}

fn load(records: &mut Records, project: &Project, id: &str) -> Result<Experiment, Failure> {
    session::experiment(records, project, id)?
        .ok_or_else(|| Failure::new(Exit::Failed, format!("`{id}` is gone from the records")))
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
