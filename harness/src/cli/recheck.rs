//! `harness recheck`: whether what was accepted is still so.

use super::args::{Global, Recheck};
use super::begun::begin;
use super::failure::{Exit, Failure};
use super::gate::{complete, gate};
use super::project::Project;
use super::recording::Recording;
use super::records::Records;
use super::run::programs;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::measure::Interrupt;
use crate::prereg::Prereg;
use crate::render::{Experiment, Standing};
use crate::vocab::Verdict;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;
use uuid::Uuid;

/// An accepted experiment, and how long the run took that decided it.
struct Accepted {
    prereg: Prereg,
    took: SignedDuration,
}

/// What became of one.
enum Outcome {
    Rechecked { run: Uuid, standing: Standing },
    NotRechecked(&'static str),
}

pub(super) fn run(args: &Recheck, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let interrupt = Interrupt::on_signals()
        .map_err(|it| Failure::chain(Exit::Failed, &it).context("failed to listen for signals"))?;
    let mut records = session::open(global, project, ui)?;
    let accepted = accepted(args, &mut records, project, ui)?;
    let begun = Instant::now();
    let mut outcomes = Vec::new();
    let mut stopped = None;
    for it in &accepted {
        let spent = SignedDuration::try_from(begun.elapsed()).unwrap_or(SignedDuration::MAX);
        let outcome = if stopped.is_some() {
            Outcome::NotRechecked("stopped before")
        } else if args.budget.is_some_and(|budget| spent.saturating_add(it.took) > budget) {
            Outcome::NotRechecked("beyond the budget")
        } else {
            ui.note(&format!("rechecking {}", it.prereg.id));
            match again(&mut records, project, &it.prereg, args.wait, &interrupt, ui) {
                Ok((run, standing)) => Outcome::Rechecked { run, standing },
                Err(failure) => {
                    stopped = Some(failure);
                    Outcome::NotRechecked("failed")
                }
            }
        };
        outcomes.push(outcome);
    }
    let mut table = Table::new(["experiment", "ledger", "claim", "rechecked", "run", "seconds to decide"]);
    for (it, outcome) in accepted.iter().zip(&outcomes) {
        let history = session::experiment(&mut records, project, &it.prereg.id)?;
        table.row(row(it, outcome, history.as_ref()));
    }
    records.close()?;
    ui.result(&table.show(ui.format))?;
    let any = |wanted| {
        outcomes.iter().any(|it| matches!(it, Outcome::Rechecked { standing, .. } if *standing == wanted))
    };
    match stopped {
        Some(failure) => Err(failure),
        None if any(Standing::Lost) => Ok(Exit::Reject),
        None if any(Standing::Undecided) => Ok(Exit::Inconclusive),
        None => Ok(Exit::Done),
    }
}

/// What is to be rechecked, cheapest first. Files that are not what was registered are refused before anything is measured.
fn accepted(
    args: &Recheck,
    records: &mut Records,
    project: &Project,
    ui: &Ui,
) -> Result<Vec<Accepted>, Failure> {
    let named: Vec<&str> = args.experiments.iter().map(|it| project.id(it)).collect();
    for id in &named {
        project.file(id)?;
    }
    let (mut accepted, mut ledgers) = (Vec::new(), BTreeSet::new());
    for id in project.experiments()? {
        let experiment = session::experiment(records, project, &id)?;
        if let Some(it) = &experiment {
            ledgers.insert(it.prereg().ledger.clone());
        }
        let of_ledger = |it: &Experiment| args.ledger.as_ref().is_none_or(|name| *name == it.prereg().ledger);
        let wanted = if named.is_empty() {
            experiment.as_ref().is_some_and(of_ledger)
        } else {
            named.contains(&id.as_str())
        };
        if !wanted {
            continue;
        }
        let deciding = experiment.as_ref().and_then(Experiment::deciding);
        match deciding.filter(|it| it.decision.verdict == Verdict::Accept) {
            Some(run) => {
                let prereg = project.load(&id)?;
                session::freeze(records, project, ui, &prereg)?;
                let ended = run.data.events.iter().map(|it| it.at).max().unwrap_or(run.data.run.started_at);
                accepted.push(Accepted { prereg, took: ended.duration_since(run.data.run.started_at) });
            }
            None if named.is_empty() => {}
            None => {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("`{id}` was not accepted, so nothing of it can be lost"),
                )
                .hint(format!("measure it: harness run {id}")));
            }
        }
    }
    if let Some(wanted) = args.ledger.as_ref().filter(|it| !ledgers.contains(*it)) {
        return Err(super::render::unknown(wanted, ledgers.iter().map(String::as_str)));
    }
    accepted.sort_by(|a, b| a.took.cmp(&b.took).then_with(|| a.prereg.id.cmp(&b.prereg.id)));
    Ok(accepted)
}

/// Measures a replication and decides it.
fn again(
    records: &mut Records,
    project: &Project,
    prereg: &Prereg,
    wait: bool,
    interrupt: &Interrupt,
    ui: &mut Ui,
) -> Result<(Uuid, Standing), Failure> {
    let programs = programs(prereg, project, ui)?;
    complete(prereg, &programs, project, interrupt)?;
    let registration = session::freeze(records, project, ui, prereg)?;
    gate(prereg, wait, interrupt, ui)?;
    let begun = begin(records, project, prereg, &registration, &programs, ui)?;
    let id = begun.id;
    let mut recording = Recording::new(records, project, prereg, interrupt, begun);
    if let Some(failure) = recording.measure(programs, ui)? {
        ui.failure(&failure);
    }
    let exit = recording.conclude(true, false, ui)?;
    recording.finish()?;
    let standing = match exit {
        Exit::Done => Standing::Holds,
        Exit::Reject => Standing::Lost,
        // INVALID says nothing about the claim.
        _ => Standing::Undecided,
    };
    Ok((id, standing))
}

fn row(it: &Accepted, outcome: &Outcome, history: Option<&Experiment>) -> [Value; 6] {
    let (claim, run) = match outcome {
        Outcome::Rechecked { run, standing } => (json!(standing.word()), json!(run)),
        Outcome::NotRechecked(why) => (json!(format!("not rechecked: {why}")), Value::Null),
    };
    let rechecked = match history.map(Experiment::replications) {
        Some((agreeing, all, _)) if all > 0 => json!(format!("{agreeing} of {all}")),
        _ => Value::Null,
    };
    [json!(it.prereg.id), json!(it.prereg.ledger), claim, rechecked, run, json!(it.took.as_secs())]
}
