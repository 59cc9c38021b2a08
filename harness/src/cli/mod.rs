//! The command line: the only module that prints, and the one place where exit codes are made.
//!
//! Results go to standard output, everything else to standard error. One subcommand a file.

mod args;
mod audit;
mod begun;
mod calibrate;
mod check;
mod compare;
mod db;
mod doctor;
mod export;
mod failure;
mod files;
mod gate;
mod import;
mod invalidate;
mod list;
mod load;
mod lock;
mod new;
mod outbox;
mod power;
mod progress;
mod project;
mod recheck;
mod recording;
mod records;
mod register;
mod rehearsal;
mod render;
mod report;
mod run;
mod scratch;
mod secret;
mod session;
mod show;
mod sync;
mod table;
mod telemetry;
mod ui;
mod values;
mod verify;

pub use args::Args;
pub use failure::{Exit, Failure};

use args::Command;
use project::Project;
use std::process::ExitCode;
use ui::Ui;

/// Runs the program with its arguments and environment.
pub fn main() -> ExitCode {
    let args = match Args::of_process() {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Nothing is left to tell anyone if the terminal is gone.
            let _ = error.print();
            return code.into();
        }
    };
    let mut ui = Ui::new(&args.global);
    if args.global.password_typed {
        ui.warning(
            "every user of this machine can read the password in --database-url: put it into ~/.pgpass, PGPASSWORD or \
             HARNESS_DATABASE_URL",
        );
    }
    match dispatch(&args, &mut ui) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            ui.failure(&failure);
            failure.exit.into()
        }
    }
}

fn dispatch(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    // Their files may lie anywhere, also where no project is.
    match &args.command {
        Command::Audit(it) => return audit::run(it, &args.global, ui),
        Command::Compare(it) => return compare::run(it, &args.global, ui),
        Command::Power(it) => return power::run(it, &args.global, ui),
        Command::Doctor(it) => return doctor::run(it, ui),
        Command::Import(it) => return import::run(it, &args.global, ui),
        Command::Export(it) => return export::run(it, &args.global, ui),
        Command::Init => return new::init(args.global.project.as_deref(), ui),
        _ => {}
    }
    let project = Project::find(args.global.project.as_deref())?;
    match &args.command {
        Command::Init => new::init(args.global.project.as_deref(), ui),
        Command::New(it) => new::run(it, &project, ui),
        Command::Run(it) => run::run(it, &args.global, &project, ui),
        Command::Recheck(it) => recheck::run(it, &args.global, &project, ui),
        Command::Register(it) => register::run(it, &args.global, &project, ui),
        Command::Calibrate(it) => calibrate::run(it, &project, ui),
        Command::Check(it) => check::run(it, &project, ui),
        Command::List(it) => list::run(it, &args.global, &project, ui),
        Command::Show(it) => show::run(it, &args.global, &project, ui),
        Command::Render(it) => render::run(it, &args.global, &project, ui),
        Command::Audit(it) => audit::run(it, &args.global, ui),
        Command::Compare(it) => compare::run(it, &args.global, ui),
        Command::Doctor(it) => doctor::run(it, ui),
        Command::Power(it) => power::run(it, &args.global, ui),
        Command::Verify(it) => verify::run(it, &args.global, &project, ui),
        Command::Invalidate(it) => invalidate::run(it, &args.global, &project, ui),
        Command::Import(it) => import::run(it, &args.global, ui),
        Command::Export(it) => export::run(it, &args.global, ui),
        Command::Db(it) => db::run(it, &args.global, &project, ui),
    }
}
