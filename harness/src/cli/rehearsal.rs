//! `harness run --quick`: a few samples that are shown and forgotten.

use super::args::Format;
use super::failure::{Exit, Failure};
use super::project::Project;
use super::report;
use super::scratch::Scratch;
use super::session::now;
use super::ui::{Tone, Ui};
use crate::measure::{self, Interrupt, Program, Stop};
use crate::plan::Plan;
use crate::prereg::Prereg;
use crate::render::RecordedRun;
use crate::store::{self, RunData};
use serde_json::Value;
use std::collections::HashSet;
use uuid::Uuid;

/// A few samples of the first cell, shown and forgotten.
pub(super) fn rehearse(
    prereg: &Prereg,
    programs: Vec<Program>,
    project: &Project,
    interrupt: &Interrupt,
    ui: &mut Ui,
) -> Result<Exit, Failure> {
    let mut small = prereg.clone();
    small.design.warmups = 1;
    small.design.samples = 5;
    (small.design.processes, small.design.builds) = (1, 1);
    // Five samples are no look, and nothing is decided.
    small.design.looks = None;
    for (_, values) in &mut small.params {
        values.truncate(1);
    }
    let first = prereg.cells().swap_remove(0);
    let plan = Plan::new(&small, small.design.seed);
    let scratch = Scratch::of(project, &format!("rehearsal-{}", std::process::id()));
    let mut sets = Vec::new();
    let result = {
        let mut source = measure::source(&small, &plan, programs, &project.root, &scratch.0, interrupt)?;
        let result = measure::run(
            &small,
            &plan,
            &HashSet::new(),
            &[],
            &mut *source,
            |_, _| false,
            |_, measured| {
                sets.extend(measured.sets);
                Ok::<_, std::convert::Infallible>(())
            },
        );
        source.remarks().iter().for_each(|it| ui.warning(it));
        let ended = source.end().map_err(Stop::Failure);
        result.and(ended)
    };
    match result {
        Ok(()) => {}
        Err(Stop::Failure(failure)) => return Err(Failure::from(&failure).context("the rehearsal failed")),
        Err(Stop::Sink(never)) => match never {},
    }
    // Hypotheses speak of cells that were not measured.
    small.hypotheses.clear();
    small.guards.clear();
    let run = RecordedRun::new(&small, rehearsed(&small, sets));
    let cell = if first.0.is_empty() { String::new() } else { format!(" at {first}") };
    report::measurements_only(ui, &small, &run)?;
    let note = format!("A rehearsal{cell} with 5 samples: no verdict, nothing registered, nothing stored.");
    if ui.format == Format::Text {
        let note = ui.tone(Tone::Open, &note);
        ui.result(&note)?;
    } else {
        // The result is for a program, which must be able to read all of it.
        ui.note(&note);
    }
    Ok(Exit::Done)
}

fn rehearsed(prereg: &Prereg, sets: Vec<store::SampleSet>) -> RunData {
    RunData {
        run: store::Run {
            id: Uuid::nil(),
            experiment: prereg.id.clone(),
            version: 1,
            registration: prereg.digest(),
            host: String::new(),
            environment: Value::Null,
            harness: String::new(),
            seed: prereg.design.seed,
            git: store::Git { commit: String::new(), dirty: false },
            started_at: now(),
        },
        arms: Vec::new(),
        cells: Vec::new(),
        events: Vec::new(),
        sets,
        invalidations: Vec::new(),
    }
}
