use super::args::{Format, Global, Run};
use super::begun::{begin, hint_at_unfinished, resume};
use super::failure::{Exit, Failure};
use super::gate;
use super::project::Project;
use super::recording::Recording;
use super::rehearsal::rehearse;
use super::session;
use super::ui::Ui;
use crate::measure::{self, Interrupt, Program};
use crate::plan;
use crate::prereg::{Launch, Prereg};
use crate::vocab::Mode;
use std::collections::BTreeSet;

pub(super) fn run(args: &Run, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let prereg = project.load(&args.experiment)?;
    let interrupt = Interrupt::on_signals()
        .map_err(|it| Failure::chain(Exit::Failed, &it).context("failed to listen for signals"))?;
    if prereg.design.mode == Mode::Duet && measure::two_cores().is_none() {
        let message = "a duet takes two processors, and there are not two that this process may use";
        return Err(Failure::new(Exit::Host, message).hint(
            "measure on another host, give the process more processors, or register `mode = \"turns\"`",
        ));
    }
    let programs = programs(&prereg, project, ui)?;
    warn_of_variables(&prereg, ui);
    gate::complete(&prereg, &programs, project, &interrupt)?;
    if args.quick {
        return rehearse(&prereg, programs, project, &interrupt, ui);
    }
    let mut records = session::open(global, project, ui)?;
    let registration = session::freeze(&mut records, project, ui, &prereg)?;
    let ready = |ui: &Ui| gate::gate(&prereg, args.wait, &interrupt, ui);
    let begun = if args.resume {
        resume(&mut records, project, &prereg, &registration, &programs, ready, ui)?
    } else {
        ready(ui)?;
        hint_at_unfinished(&mut records, project, &prereg, ui)?;
        begin(&mut records, project, &prereg, &registration, &programs, ui)?
    };
    let mut recording = Recording::new(&mut records, project, &prereg, &interrupt, begun);
    let exit = match recording.measure(programs, ui)? {
        None => recording.conclude(args.gate, true, ui)?,
        Some(failure) => {
            // The run is on record: its ledger says INVALID, and why.
            recording.conclude(false, ui.format != Format::Text, ui)?;
            ui.failure(&failure);
            failure.exit
        }
    };
    recording.finish()?;
    records.close()?;
    Ok(exit)
}

/// The programs of all arms, built where they are packages, revisions or have a build of their own.
pub(super) fn programs(prereg: &Prereg, project: &Project, ui: &Ui) -> Result<Vec<Program>, Failure> {
    let salts = plan::salts(&prereg.design);
    let mut shared: Option<Program> = None;
    let mut programs = Vec::new();
    if let Launch::Plain(commands) = &prereg.worker.launch {
        measure::resolve_steps(commands, &project.root)?;
    }
    for arm in &prereg.arms {
        let is_shared = arm.command.is_none() && arm.git.is_none() && arm.build.is_none();
        if let (true, Some(program)) = (is_shared, &shared) {
            programs.push(program.clone());
            continue;
        }
        let mut note = |text: &str| ui.note(text);
        let program = measure::resolve_arm(&prereg.worker.launch, arm, &salts, &project.root, &mut note)
            .map_err(|it| Failure::from(it).context(&format!("arm `{}`", arm.name)))?;
        if is_shared {
            shared = Some(program.clone());
        }
        programs.push(program);
    }
    Ok(programs)
}

/// Says that an arm sets a variable which another leaves to chance: what is not set is not passed on.
fn warn_of_variables(prereg: &Prereg, ui: &Ui) {
    let names: BTreeSet<_> = prereg.arms.iter().flat_map(|it| it.env.iter().map(|(name, _)| name)).collect();
    for name in names {
        let (with, without): (Vec<_>, Vec<_>) =
            prereg.arms.iter().partition(|it| it.env.iter().any(|(own, _)| own == name));
        if let Some(first) = without.first() {
            ui.warning(&format!(
                "arm `{}` sets the variable {name} and arm `{}` does not: if only its value is meant to differ, set it in \
                 both",
                with[0].name, first.name
            ));
        }
    }
}
