//! Samples from plain commands, one process for each.

mod capture;
mod child;
mod launcher;
mod reading;

use super::callgrind::{self, Callgrind};
use super::failure::{At, Who};
use super::launch::{LaunchError, Program, line};
use super::worker::environments;
use super::{Conditions, Failure, Interrupt, Meter, Observation, Source};
use crate::prereg::{Commands as Registered, Launch, Metric, Output, Prereg, Steps, WorkResult, fill_in};
use crate::probe::{Counting, HardwareEvent, Probe};
use crate::vocab::{Cell, Scalar};
pub use launcher::serve_as_launcher;

use capture::Capture;
use child::{Ended, Exited};
use launcher::Launcher;
use reading::{Readings, Seen};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What swallows everything and says nothing.
const NULL: &str = "/dev/null";

/// Samples from plain commands: one process for each sample, with the registered steps around it.
pub struct Commands<'a> {
    prereg: &'a Prereg,
    registered: &'a Registered,
    /// By arm.
    programs: Vec<Program>,
    /// By arm; all of the same size.
    environments: Vec<Vec<(String, String)>>,
    before: Programs,
    after: Programs,
    root: PathBuf,
    null: File,
    interrupt: &'a Interrupt,
    since: Instant,
    /// The processors that commands may use; empty: all.
    cores: Vec<u32>,
    meter: Meter,
    readings: Readings<'a>,
    /// Only where a metric asks for instructions.
    callgrind: Option<Callgrind>,
    /// Only where a metric asks for the largest resident set.
    launcher: Option<Launcher>,
    /// What the processor is to count.
    events: Vec<&'static HardwareEvent>,
    /// The commands of the cell being measured, by arm.
    ready: BTreeMap<usize, Ready>,
    begun: bool,
    /// The block being measured.
    block: Option<(Cell, u32, bool)>,
    survivors: BTreeMap<String, u32>,
    ending: bool,
}

/// An arm's command in a cell.
struct Ready {
    command: Command,
    params: Vec<(String, Scalar)>,
    /// Which build of the arm it is.
    build: u32,
    /// How often the arm was run.
    runs: u32,
}

/// Programs of the registered steps.
struct Programs {
    run: Option<Program>,
    block: Option<Program>,
    sample: Option<Program>,
}

impl Programs {
    fn of(steps: &Steps, shell: bool, root: &Path) -> Result<Self, LaunchError> {
        let find =
            |step: &Option<Vec<String>>| step.as_ref().map(|it| line(it, shell, root, "command")).transpose();
        Ok(Self { run: find(&steps.run)?, block: find(&steps.block)?, sample: find(&steps.sample)? })
    }
}

impl<'a> Commands<'a> {
    /// The commands of the arms of `prereg`, which are run in the project's `root`, with their programs in the
    /// same order. `None` if its arms are no plain commands. Files of its own are kept below `scratch`.
    ///
    /// Once `interrupt` is set, every wait ends with [`Failure::Interrupted`].
    ///
    /// # Errors
    /// The program of a step, or one that a probe needs, is not there.
    pub fn new(
        prereg: &'a Prereg,
        programs: Vec<Program>,
        root: &Path,
        scratch: &Path,
        interrupt: &'a Interrupt,
    ) -> Result<Option<Self>, LaunchError> {
        let Launch::Plain(registered) = &prereg.worker.launch else { return Ok(None) };
        let events: Vec<_> = prereg
            .metrics
            .iter()
            .filter_map(|it| match &it.probe {
                Some(Probe::Hardware(event)) => Some(*event),
                _ => None,
            })
            .collect();
        for event in &events {
            event.count().map_err(|needs| LaunchError::Unsupported {
                what: format!("probe `{}`", event.name),
                needs,
            })?;
        }
        let null = File::options().read(true).write(true).open(NULL);
        Ok(Some(Self {
            registered,
            callgrind: Callgrind::wanted(prereg, scratch)?,
            launcher: launcher(prereg, &events, scratch)?,
            events,
            programs,
            environments: environments(&prereg.arms),
            before: Programs::of(&registered.before, registered.shell, root)?,
            after: Programs::of(&registered.after, registered.shell, root)?,
            root: root.to_owned(),
            null: null.map_err(|source| LaunchError::Read { path: NULL.into(), source })?,
            interrupt,
            since: Instant::now(),
            cores: super::cores(prereg.environment.pin.as_ref()),
            meter: Meter::of(prereg),
            readings: Readings::of(prereg),
            ready: BTreeMap::new(),
            begun: false,
            block: None,
            survivors: BTreeMap::new(),
            ending: false,
            prereg,
        }))
    }

    /// The build of an arm that is being measured.
    fn program(&self, arm: usize) -> &Program {
        let build =
            self.block.as_ref().map_or(0, |(_, block, warmup)| self.prereg.design.build_of(*block, *warmup));
        self.programs[arm].build(build)
    }

    /// Where an arm works: in the project, or in the work tree that it was built in.
    fn folder(&self, arm: Option<usize>) -> PathBuf {
        let own = arm.and_then(|it| self.program(it).folder.as_ref());
        let root = own.unwrap_or(&self.root);
        self.registered.dir.as_ref().map_or_else(|| root.clone(), |it| root.join(it))
    }

    fn command(&self, program: &Program, params: &[(String, Scalar)], arm: Option<usize>) -> Command {
        let mut command = Command::new(&program.path);
        command.args(program.args.iter().map(|it| fill_in(it, params)));
        self.surround(&mut command, arm);
        command
    }

    /// Gives a command its folder and variables, and no input or output.
    fn surround(&self, command: &mut Command, arm: Option<usize>) {
        // Variables of no arm are those of the first one without what it registers.
        let environment = self.environments.get(arm.unwrap_or(0)).map_or(&[][..], Vec::as_slice);
        let own = |name: &str| arm.is_none() && self.prereg.arms[0].env.iter().any(|(it, _)| it == name);
        command
            .current_dir(self.folder(arm))
            .env_clear()
            .envs(environment.iter().filter(|(name, _)| !own(name)).map(|(key, value)| (key, value)))
            .stdin(self.nothing())
            .stdout(self.nothing());
    }

    /// What is read from and written to where nothing is: opened once, not by every process that is started.
    fn nothing(&self) -> Stdio {
        self.null.try_clone().map_or_else(|_| Stdio::null(), Stdio::from)
    }

    /// Runs an untimed step.
    fn step(
        &self,
        name: &str,
        program: Option<&Program>,
        params: &[(String, Scalar)],
        arm: Option<usize>,
    ) -> Result<(), Failure> {
        let Some(program) = program else { return Ok(()) };
        let mut command = self.command(program, params, arm);
        let interrupt = (!self.ending).then_some(self.interrupt);
        let start = |source| Failure::Start { command: program.shown.clone(), source };
        let ended = child::run(&mut command, None, &self.cores, self.prereg.worker.timeout, interrupt)
            .map_err(start)?;
        let step = || format!("`{}` ({name})", program.shown.join(" "));
        match ended {
            Ended::Exited(it) if it.status.success() => Ok(()),
            Ended::Exited(it) => {
                let status = Some(it.status);
                Err(Failure::Step {
                    step: step(),
                    status,
                    after: self.prereg.worker.timeout,
                    stderr: it.stderr,
                })
            }
            Ended::TimedOut(stderr) => {
                Err(Failure::Step { step: step(), status: None, after: self.prereg.worker.timeout, stderr })
            }
            Ended::Interrupted => Err(Failure::Interrupted),
        }
    }

    /// Ends the block being measured, if there is one.
    fn end_block(&mut self) -> Result<(), Failure> {
        let Some((cell, ..)) = self.block.take() else { return Ok(()) };
        self.step("after.block", self.after.block.as_ref(), &self.prereg.params_of_cell(&cell), None)
    }

    fn begin_block(&mut self, cell: &Cell, block: u32, warmup: bool) -> Result<(), Failure> {
        if self.block.as_ref().is_some_and(|it| it.0 == *cell && (it.1, it.2) == (block, warmup)) {
            return Ok(());
        }
        self.end_block()?;
        if !self.begun {
            self.begun = true;
            self.step("before.run", self.before.run.as_ref(), &[], None)?;
        }
        self.block = Some((cell.clone(), block, warmup));
        self.step("before.block", self.before.block.as_ref(), &self.prereg.params_of_cell(cell), None)
    }

    fn ready(&mut self, cell: &Cell, arm: usize, build: u32) -> Ready {
        let had = self.ready.remove(&arm);
        let runs = had.as_ref().map_or(0, |it| it.runs);
        had.filter(|it| it.build == build).unwrap_or_else(|| {
            let params = self.prereg.params_of(&self.prereg.arms[arm], cell);
            let program = self.program(arm);
            let mut command = match &self.launcher {
                Some(launcher) => launcher.command(&program.path),
                None => Command::new(&program.path),
            };
            command.args(program.args.iter().map(|it| fill_in(it, &params)));
            self.surround(&mut command, Some(arm));
            Ready { command, params, build, runs }
        })
    }

    /// Opens the files that are its input and output.
    fn open(&self, command: &mut Command, params: &[(String, Scalar)]) -> Result<(), Failure> {
        if let Some(name) = &self.registered.stdin {
            let name = fill_in(name, params);
            let file = File::open(self.root.join(&name)).map_err(|source| Failure::Scratch {
                attempt: format!("open `{name}`, the standard input"),
                source,
            })?;
            command.stdin(file);
        }
        if let Output::File(name) = &self.registered.output {
            let file = File::create(self.root.join(name)).map_err(|source| Failure::Scratch {
                attempt: format!("create `{name}` for the standard output"),
                source,
            })?;
            command.stdout(file);
        }
        Ok(())
    }

    /// The result of the work, if one is registered.
    fn result(&self, capture: Option<Capture>) -> Result<String, String> {
        match (&self.registered.result, capture) {
            (WorkResult::Stdout, Some(capture)) => Ok(capture.digest().to_string()),
            (WorkResult::Files(files), _) => {
                let mut digests = Vec::new();
                for name in files {
                    let read = File::open(self.root.join(name)).and_then(crate::vocab::Digest::of_reader);
                    digests.push(
                        read.map_err(|it| format!("its result `{name}` cannot be read: {it}"))?.to_string(),
                    );
                }
                Ok(match digests.as_slice() {
                    [one] => one.clone(),
                    all => crate::vocab::Digest::of(all.join("\n")).to_string(),
                })
            }
            _ => Ok(String::new()),
        }
    }

    /// Counts the instructions of the command in a run of its own, with the steps around a sample.
    fn count(&self, at: &At, arm: usize, ready: &Ready) -> Result<Option<u64>, Failure> {
        let Some(callgrind) = &self.callgrind else { return Ok(None) };
        let unread = |why| Failure::Unread { at: Box::new(at.clone()), why, stderr: Vec::new() };
        self.step("before.sample", self.before.sample.as_ref(), &ready.params, Some(arm))?;
        let program = self.program(arm);
        let args = program.args.iter().map(|it| fill_in(it, &ready.params));
        let mut command = callgrind.command(program, args, false);
        self.surround(&mut command, Some(arm));
        self.open(&mut command, &ready.params)?;
        callgrind.begin().map_err(unread)?;
        let limit = self.prereg.worker.timeout.saturating_mul(callgrind::SLOWDOWN);
        match child::run(&mut command, None, &[], limit, Some(self.interrupt)) {
            Ok(Ended::Exited(_)) => {}
            Ok(Ended::Interrupted) => return Err(Failure::Interrupted),
            Ok(Ended::TimedOut(_)) => return Err(unread(callgrind::failed(&"it did not end"))),
            Err(error) => return Err(unread(callgrind::failed(&error))),
        }
        let count = callgrind.total().map_err(unread)?;
        self.step("after.sample", self.after.sample.as_ref(), &ready.params, Some(arm))?;
        Ok(Some(count))
    }

    fn measure(&mut self, at: &At, arm: usize, ready: &mut Ready) -> Result<(Vec<f64>, String), Failure> {
        // Before the timed run: the files that metrics are read from are then those of that one.
        let instructions = self.count(at, arm, ready)?;
        self.step("before.sample", self.before.sample.as_ref(), &ready.params, Some(arm))?;
        self.open(&mut ready.command, &ready.params)?;
        let mut capture = (self.registered.output == Output::Capture)
            .then(|| Capture::new(usize::try_from(self.registered.capture_limit).unwrap_or(usize::MAX)));
        let start = |source: io::Error| Failure::Start { command: self.program(arm).shown.clone(), source };
        let limit = self.prereg.worker.timeout;
        let boxed = || Box::new(at.clone());
        let unread = |why: String, stderr: Vec<String>| Failure::Unread { at: boxed(), why, stderr };
        let counting: Result<Vec<Counting>, String> = self.events.iter().map(|it| it.count()).collect();
        let mut counting = counting
            .map_err(|it| unread(format!("an event cannot be counted: it needs {it}"), Vec::new()))?;
        let ended =
            child::run(&mut ready.command, capture.as_mut(), &self.cores, limit, Some(self.interrupt))
                .map_err(start)?;
        let exited = match ended {
            Ended::Exited(it) => it,
            Ended::TimedOut(stderr) => return Err(Failure::TimedOut { at: boxed(), after: limit, stderr }),
            Ended::Interrupted => return Err(Failure::Interrupted),
        };
        let Exited { mut status, mut usage, stderr, survivors } = *exited;
        let mut floor = None;
        if let Some(launcher) = &self.launcher {
            match launcher.report() {
                Ok(told) => (status, usage, floor) = (told.status, told.usage, Some(told.floor)),
                Err(why) => return Err(unread(why, stderr)),
            }
        }
        if survivors {
            *self.survivors.entry(at.arm.clone()).or_default() += 1;
        }
        let did_its_work = status
            .code()
            .and_then(|it| u8::try_from(it).ok())
            .is_some_and(|it| self.registered.exit_codes.contains(&it));
        if !did_its_work {
            let expected = self.registered.exit_codes.clone();
            return Err(Failure::Exit { at: boxed(), status, expected, stderr });
        }
        let events: Result<Vec<_>, String> =
            counting.iter_mut().map(|it| Ok((it.name(), it.total()?))).collect();
        let events = match events {
            Ok(events) => events,
            Err(why) => return Err(unread(why, stderr)),
        };
        let seen = Seen { usage: &usage, instructions, events: &events, floor, capture: capture.as_ref() };
        let values = match self.readings.read(&seen, &self.root) {
            Ok(values) => values,
            Err(why) => return Err(unread(why, stderr)),
        };
        let digest = self.result(capture).map_err(|why| unread(why, stderr))?;
        self.step("after.sample", self.after.sample.as_ref(), &ready.params, Some(arm))?;
        Ok((values, digest))
    }
}

/// What starts the commands of which the largest resident set is measured.
fn launcher(
    prereg: &Prereg,
    events: &[&HardwareEvent],
    scratch: &Path,
) -> Result<Option<Launcher>, LaunchError> {
    let peak = |it: &Metric| matches!(it.probe, Some(Probe::Gauge(gauge)) if gauge.is_peak_rss());
    if !prereg.metrics.iter().any(peak) {
        return Ok(None);
    }
    if let Some(event) = events.first() {
        return Err(LaunchError::Unsupported {
            what: format!("probe `peak-rss` beside `{}`", event.name),
            needs:
                "an experiment of its own, since the processor would count what launches the command as well"
                    .to_owned(),
        });
    }
    Launcher::new(scratch).map_err(|source| LaunchError::Folder { path: scratch.to_owned(), source })
}

impl Source for Commands<'_> {
    fn watch(&mut self) {
        self.meter.start(std::iter::empty());
    }

    fn watched(&mut self) -> Conditions {
        self.meter.stop()
    }

    fn sample(&mut self, cell: &Cell, arm: usize, block: u32, warmup: bool) -> Result<Observation, Failure> {
        self.begin_block(cell, block, warmup)?;
        let mut ready = self.ready(cell, arm, self.prereg.design.build_of(block, warmup));
        ready.runs += 1;
        let at = At {
            who: Who::Command,
            arm: self.prereg.arms[arm].name.clone(),
            cell: cell.to_string(),
            request: format!("run {} ({})", ready.runs, At::request(block, warmup)),
        };
        let (values, digest) = self.measure(&at, arm, &mut ready)?;
        let at_ns = i64::try_from(self.since.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let effective: BTreeMap<String, Value> =
            ready.params.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
        self.ready.insert(arm, ready);
        Ok(Observation { values, digest, effective, at_ns })
    }

    fn leave(&mut self, _cell: &Cell) -> Result<(), Failure> {
        self.ready.clear();
        self.end_block()
    }

    fn end(&mut self) -> Result<(), Failure> {
        // A run that was interrupted is cleaned up after as well.
        self.ending = true;
        let block = self.end_block();
        let run = match std::mem::take(&mut self.begun) {
            true => self.step("after.run", self.after.run.as_ref(), &[], None),
            false => Ok(()),
        };
        block.and(run)
    }

    fn remarks(&self) -> Vec<String> {
        let times = |n: u32| if n == 1 { "once".to_owned() } else { format!("{n} times") };
        let remark = |(arm, n): (&String, &u32)| {
            format!(
                "arm `{arm}` left processes running {}, which were killed: they would have disturbed what came after",
                times(*n)
            )
        };
        self.survivors.iter().map(remark).collect()
    }
}
