//! The only loop that measures: over the steps of a plan, each sample from a [`Source`].
//!
//! `measure` knows no store: it hands each finished step to a closure before it begins the next, so that
//! what was measured is safe whatever happens later.

mod affinity;
mod aside;
mod build;
mod callgrind;
mod command;
mod conditions;
mod conversation;
mod cores;
mod failure;
mod interrupt;
mod launch;
mod pipe;
mod revision;
mod worker;

pub use affinity::{allowed, cores};
pub use aside::{Aside, breaches};
pub use build::{Built, resolve_arm};
pub use command::{Commands, serve_as_launcher};
pub use conditions::{Conditions, Meter};
pub use cores::two_cores;
pub use failure::{At, Failure, Who};
pub use interrupt::Interrupt;
pub use launch::{LaunchError, Program, described, resolve, resolve_steps};
pub use worker::Workers;

use crate::plan::{Plan, Step};
use crate::prereg::Prereg;
use crate::store::{CellArm, SampleSet};
use crate::vocab::{Cell, Mode, Role};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// One sample of every metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Values by metric, in the order of the registration.
    pub values: Vec<f64>,
    /// Identifies the result of the work.
    pub digest: String,
    /// The configuration that the worker runs with.
    pub effective: BTreeMap<String, Value>,
    /// When it was complete, in nanoseconds since the source was made.
    pub at_ns: i64,
}

/// Where samples come from: workers, or a script in a test.
pub trait Source {
    /// Makes one sample, or one slice of a sample, of the arm with index `arm` in `cell`.
    fn sample(&mut self, cell: &Cell, arm: usize, block: u32, warmup: bool) -> Result<Observation, Failure>;

    /// Makes one sample, or one slice, of two arms at once, the first on the one processor and the second on the other.
    fn pair(
        &mut self,
        _cell: &Cell,
        _arms: [usize; 2],
        _block: u32,
        _warmup: bool,
    ) -> Result<[Observation; 2], Failure> {
        Err(Failure::Duet { why: "these arms cannot be measured two at once".to_owned() })
    }

    /// Called when every slice of a block of `cell` was made.
    fn end_block(&mut self, _cell: &Cell) -> Result<(), Failure> {
        Ok(())
    }

    /// Begins to watch the host, for the block that follows.
    fn watch(&mut self) {}

    /// What the host did since [`watch`](Self::watch); a source that does not watch knows nothing.
    fn watched(&mut self) -> Conditions {
        Conditions::default()
    }

    /// Called when no more samples of `cell` will be asked for.
    fn leave(&mut self, _cell: &Cell) -> Result<(), Failure> {
        Ok(())
    }

    /// Called when no more samples will be asked for, even after a failure.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// What the user should know about the samples so far.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The source that the arms of `prereg` need: [`Commands`] or [`Workers`].
///
/// # Errors
/// As of [`Commands::new`] and [`Workers::counting`].
pub fn source<'a>(
    prereg: &'a Prereg,
    plan: &Plan,
    programs: Vec<Program>,
    root: &Path,
    scratch: &Path,
    interrupt: &'a Interrupt,
) -> Result<Box<dyn Source + 'a>, LaunchError> {
    if let Some(commands) = Commands::new(prereg, programs.clone(), root, scratch, interrupt)? {
        return Ok(Box::new(commands));
    }
    Ok(Box::new(Workers::new(prereg, programs, root, scratch, interrupt).padded(plan).counting()?))
}

/// Asks the workers of `prereg`, before anything is measured, whether the host has what they take.
///
/// # Errors
/// [`Failure::Refused`] with what is missing.
pub fn check(
    prereg: &Prereg,
    programs: &[Program],
    root: &Path,
    scratch: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    match Who::of(prereg) {
        Who::Worker => Workers::new(prereg, programs.to_vec(), root, scratch, interrupt).check(),
        Who::Command => Ok(()),
    }
}

/// A block that breaks the registered rule so often ends the run for now.
const MOST_ATTEMPTS: u32 = 10;

/// A sample that is stored already: cell, arm, warm-up, block.
pub type Place = (String, String, bool, u32);

/// What one step measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// One set a metric and arm, each of one block.
    pub sets: Vec<SampleSet>,
    /// Echoes and results of arms that were measured for the first time in this cell.
    pub cells: Vec<CellArm>,
    /// What the host did meanwhile.
    pub conditions: Conditions,
    /// Why the registered rule says that its samples do not count, if it does.
    pub aside: Option<Aside>,
}

/// Why measuring ended early.
#[derive(Debug)]
pub enum Stop<E> {
    /// The source failed.
    Failure(Failure),
    /// The closure failed.
    Sink(E),
}

/// Measures every step of `plan` that is not in `done`, in order, and hands each to `sink`.
///
/// `known` holds the results of cells and arms that an interrupted run stored before. A result that differs
/// from the cell's first is a [`Failure::Digest`]; the step in which it was found is handed over nonetheless. Before every
/// measured block but the first, `enough` is asked whether the blocks of the cell so far are all that are wanted; then the
/// rest of the cell is left out. A block that breaks the registered rule is handed over with its reasons, and measured again
/// or not as the rule says; after ten attempts that is a [`Failure::Unfit`].
pub fn run<E>(
    prereg: &Prereg,
    plan: &Plan,
    done: &HashSet<Place>,
    known: &[CellArm],
    source: &mut dyn Source,
    mut enough: impl FnMut(&Cell, u32) -> bool,
    mut sink: impl FnMut(usize, Measured) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut results = Results::new(known);
    // The cell that is left, if one is.
    let mut left = None;
    for index in 0..plan.len() {
        let step = plan.step(index);
        let cell = &plan.cells()[step.cell];
        if left == Some(step.cell) {
            continue;
        }
        if !step.warmup && step.block > 0 && enough(cell, step.block) {
            source.leave(cell).map_err(Stop::Failure)?;
            left = Some(step.cell);
            continue;
        }
        let wanted: Vec<usize> = step
            .arms()
            .iter()
            .copied()
            .filter(|it| !done.contains(&place(prereg, cell, *it, &step)))
            .collect();
        for attempt in 1.. {
            source.watch();
            let (mut measured, failure) = measure(prereg, cell, &step, done, source, &mut results);
            measured.conditions = source.watched();
            // A block that failed makes the run invalid, whatever the host did.
            if failure.is_none() && !wanted.is_empty() && !step.warmup {
                measured.aside = Aside::of(prereg, &measured.conditions, attempt);
            }
            let again = measured.aside.as_ref().is_some_and(|it| !it.excluded);
            let reasons = measured.aside.as_ref().map(|it| it.reasons.join(", "));
            if !measured.sets.is_empty() {
                sink(index, measured).map_err(Stop::Sink)?;
            }
            if let Some(failure) = failure {
                return Err(Stop::Failure(failure));
            }
            if !again {
                break;
            }
            if attempt == MOST_ATTEMPTS {
                let (cell, block) = (cell.to_string(), step.block);
                let reasons = reasons.unwrap_or_default();
                return Err(Stop::Failure(Failure::Unfit { cell, block, attempts: attempt, reasons }));
            }
        }
        if plan.is_last_of_cell(index) {
            source.leave(cell).map_err(Stop::Failure)?;
        }
    }
    Ok(())
}

/// Measures one step, slice by slice, and what it failed for, if it did.
///
/// A sample of which not every slice could be made is none.
fn measure(
    prereg: &Prereg,
    cell: &Cell,
    step: &Step,
    done: &HashSet<Place>,
    source: &mut dyn Source,
    results: &mut Results,
) -> (Measured, Option<Failure>) {
    let mut measured = Measured::default();
    let mut means: BTreeMap<usize, Mean> = BTreeMap::new();
    for round in &step.rounds {
        let wanted = |it: &usize| !done.contains(&place(prereg, cell, *it, step));
        let mut both = match (prereg.design.mode, round.as_slice()) {
            (Mode::Duet, &[a, b]) if wanted(&a) || wanted(&b) => {
                match source.pair(cell, [a, b], step.block, step.warmup) {
                    Ok([of_a, of_b]) => vec![(a, of_a), (b, of_b)],
                    Err(failure) => return (measured, Some(failure)),
                }
            }
            _ => Vec::new(),
        };
        for &arm in round.iter().filter(|it| wanted(it)) {
            let had = both.iter().position(|(it, _)| *it == arm).map(|it| both.swap_remove(it).1);
            let made = had.map_or_else(|| source.sample(cell, arm, step.block, step.warmup), Ok);
            let failure = match made {
                Ok(observation) => {
                    let failure = results.add(prereg, cell, arm, step, &observation, &mut measured.cells);
                    let mean = means.entry(arm).or_insert_with(|| Mean::new(prereg.metrics.len()));
                    mean.add(&observation);
                    if mean.slices == step.rounds.len() {
                        measured.sets.extend(sets(prereg, cell, arm, step, mean));
                    }
                    failure
                }
                Err(it) => Some(it),
            };
            if failure.is_some() {
                return (measured, failure);
            }
        }
    }
    let ended = if means.is_empty() { Ok(()) } else { source.end_block(cell) };
    (measured, ended.err())
}

/// A sample as the mean of its slices.
struct Mean {
    sums: Vec<f64>,
    slices: usize,
    /// When the last one was complete.
    at_ns: i64,
}

impl Mean {
    fn new(metrics: usize) -> Self {
        Self { sums: vec![0.0; metrics], slices: 0, at_ns: 0 }
    }

    fn add(&mut self, slice: &Observation) {
        for (sum, value) in self.sums.iter_mut().zip(&slice.values) {
            *sum += value;
        }
        self.slices += 1;
        self.at_ns = slice.at_ns;
    }
}

fn place(prereg: &Prereg, cell: &Cell, arm: usize, step: &Step) -> Place {
    (cell.to_string(), prereg.arms[arm].name.clone(), step.warmup, step.block)
}

fn sets<'a>(
    prereg: &'a Prereg,
    cell: &Cell,
    arm: usize,
    step: &'a Step,
    sample: &'a Mean,
) -> impl Iterator<Item = SampleSet> + use<'a> {
    let cell = cell.to_string();
    prereg.metrics.iter().zip(&sample.sums).map(move |(metric, &sum)| SampleSet {
        metric: metric.name.clone(),
        cell: cell.clone(),
        arm: prereg.arms[arm].name.clone(),
        warmup: step.warmup,
        first_block: step.block,
        unit: metric.unit.name().to_owned(),
        values: vec![sum / sample.slices as f64],
        at_ns: vec![sample.at_ns],
    })
}

/// The first result of each cell, and which arms were seen there.
struct Results {
    first: BTreeMap<String, (String, String)>,
    seen: HashSet<(String, String)>,
}

impl Results {
    fn new(known: &[CellArm]) -> Self {
        let mut first = BTreeMap::new();
        for it in known.iter().filter(|it| !it.result.is_empty()) {
            first.entry(it.cell.clone()).or_insert_with(|| (it.arm.clone(), it.result.clone()));
        }
        Self { first, seen: known.iter().map(|it| (it.cell.clone(), it.arm.clone())).collect() }
    }

    fn add(
        &mut self,
        prereg: &Prereg,
        cell: &Cell,
        arm: usize,
        step: &Step,
        observation: &Observation,
        new: &mut Vec<CellArm>,
    ) -> Option<Failure> {
        let (arm, cell) = (&prereg.arms[arm], cell.to_string());
        // A null arm does no work, so it has no result.
        let result = if arm.role == Role::Null { String::new() } else { observation.digest.clone() };
        if self.seen.insert((cell.clone(), arm.name.clone())) {
            new.push(CellArm {
                cell: cell.clone(),
                arm: arm.name.clone(),
                effective: observation.effective.clone().into_iter().collect(),
                result: result.clone(),
            });
        }
        if arm.role == Role::Null {
            return None;
        }
        let first = self.first.entry(cell.clone()).or_insert_with(|| (arm.name.clone(), result.clone()));
        (first.1 != result).then(|| Failure::Digest {
            at: Box::new(At {
                who: Who::of(prereg),
                arm: arm.name.clone(),
                cell,
                request: At::request(step.block, step.warmup),
            }),
            found: result,
            first_arm: first.0.clone(),
            expected: first.1.clone(),
        })
    }
}
