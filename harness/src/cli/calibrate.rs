//! `harness calibrate`: what this host makes of an experiment's control against itself.

use super::args::{Calibrate, Format};
use super::failure::{Exit, Failure};
use super::gate;
use super::project::Project;
use super::run::programs;
use super::scratch::Scratch;
use super::session::now;
use super::table::Table;
use super::ui::Ui;
use crate::decide::{Calibrated, Calibration, Share, calibrate, twin};
use crate::exchange::calibrations;
use crate::host;
use crate::measure::{self, Interrupt, Stop};
use crate::plan::Plan;
use crate::prereg::Prereg;
use crate::stats::rng::mix64;
use crate::store::SampleSet;
use crate::vocab::significant;
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

pub(super) fn run(args: &Calibrate, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let prereg = project.load(&args.experiment)?;
    let twin = twin(&prereg, args.samples).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("`{}` has no control that could be calibrated with", prereg.id))
    })?;
    let interrupt = Interrupt::on_signals()
        .map_err(|it| Failure::chain(Exit::Failed, &it).context("failed to listen for signals"))?;
    gate::gate(&twin, args.wait, &interrupt, ui)?;
    let comparisons = measured(&twin, args.comparisons, project, &interrupt, ui)?;
    let host = host::fingerprint();
    let calibration = Calibration {
        id: Uuid::now_v7(),
        host: host.host,
        experiment: prereg.id.clone(),
        registration: prereg.digest(),
        at: now(),
        harness: env!("CARGO_PKG_VERSION").to_owned(),
        samples: twin.design.samples,
        places: calibrate(&twin, &comparisons),
    };
    show(ui, &calibration)?;
    if args.samples.is_some_and(|it| it != prereg.design.samples) {
        ui.note("not kept: it is of another number of samples than registered");
        return Ok(Exit::Done);
    }
    let Calibration { experiment, host, id, .. } = &calibration;
    let path = calibrations::write(&project.root, experiment, host, *id, &calibration)?;
    ui.note(&format!("kept in {}: later runs of {experiment} on this host cite it", project.shown(&path)));
    Ok(Exit::Done)
}

/// The newest calibration of this host for exactly what is registered.
pub(super) fn newest(project: &Project, prereg: &Prereg, host: &str) -> Result<Option<Calibration>, Failure> {
    let all: Vec<Calibration> = calibrations::read(&project.root, &prereg.id, host)?;
    let digest = prereg.digest();
    Ok(all.into_iter().rev().find(|it| it.registration == digest && it.host == host))
}

/// The samples of every comparison. Each has processes of its own, whose luck with addresses is part of the noise.
fn measured(
    twin: &Prereg,
    comparisons: u32,
    project: &Project,
    interrupt: &Interrupt,
    ui: &Ui,
) -> Result<Vec<Vec<SampleSet>>, Failure> {
    let programs = programs(twin, project, ui)?;
    let scratch = Scratch::of(project, &format!("calibration-{}", std::process::id()));
    let mut progress = ui.progress(comparisons as usize);
    let mut all = Vec::new();
    for number in 0..comparisons {
        let plan = Plan::new(twin, mix64(twin.design.seed ^ mix64(u64::from(number))) >> 1);
        let mut sets = Vec::new();
        let mut source =
            measure::source(twin, &plan, programs.clone(), &project.root, &scratch.0, interrupt)?;
        let result = measure::run(
            twin,
            &plan,
            &HashSet::new(),
            &[],
            &mut *source,
            |_, _| false,
            |_, measured| {
                if measured.aside.is_none() {
                    sets.extend(measured.sets.into_iter().filter(|it| !it.warmup));
                }
                Ok::<_, std::convert::Infallible>(())
            },
        );
        match result {
            Ok(()) => {}
            Err(Stop::Failure(failure)) => {
                progress.finish();
                return Err(Failure::from(&failure).context("the calibration failed"));
            }
            Err(Stop::Sink(never)) => match never {},
        }
        all.push(sets);
        progress.step("comparisons of the control with itself", true);
    }
    progress.finish();
    Ok(all)
}

fn show(ui: &mut Ui, calibration: &Calibration) -> Result<(), Failure> {
    if ui.format == Format::Json {
        return ui.result(&format!("{:#}", json!(calibration)));
    }
    let slowdowns = crate::decide::INJECTED.map(|it| format!("{} % slower", it * 100.0));
    let columns = ["metric", "cell", "comparisons", "false accepts", "called different", "noise floor"]
        .map(str::to_owned)
        .into_iter()
        .chain(slowdowns)
        .chain(["80 % power".to_owned(), "95 % power".to_owned()]);
    let mut table = Table::new(columns);
    for it in &calibration.places {
        table.row(row(it));
    }
    ui.result(&table.show(ui.format))?;
    if ui.format == Format::Text {
        ui.result(
            "\nThe control against itself, judged by the registered test; intervals are of 95 % (Wilson). Below the noise \
             floor\nlie the gains of 95 % of the comparisons. A slowdown is injected by scaling the samples of one copy.",
        )?;
    }
    Ok(())
}

fn row(it: &Calibrated) -> Vec<Value> {
    let percent = |it: f64| significant(it * 100.0, 3);
    let share = |it: &Share| {
        let [low, high] = it.interval.map(percent);
        let found = percent(f64::from(it.hits) / f64::from(it.of.max(1)));
        Value::from(format!("{found} % [{low}, {high}]"))
    };
    let smallest = |it: Option<f64>| {
        Value::from(it.map_or("beyond 100 %".to_owned(), |it| format!("{} %", percent(it))))
    };
    let mut row = vec![
        it.metric.clone().into(),
        it.cell.clone().into(),
        it.comparisons.into(),
        share(&it.false_accepts),
        share(&it.different),
        format!("{} %", percent(it.noise_floor)).into(),
    ];
    row.extend(it.power.iter().map(|it| share(&it.found)));
    row.extend([smallest(it.smallest_80), smallest(it.smallest_95)]);
    row
}
