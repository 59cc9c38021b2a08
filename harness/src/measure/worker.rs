use super::callgrind::{self, Callgrind};
use super::conversation::Conversation;
use super::cores::two_cores;
use super::failure::{At, Who};
use super::launch::{LaunchError, Program};
use super::pipe::Pipes;
use super::{Conditions, Failure, Interrupt, Meter, Observation, Source};
use crate::plan::Plan;
use crate::prereg::{Arm, Prereg};
use crate::vocab::{Cell, Process};
use std::collections::HashMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Variables that a worker gets besides the registered ones: where programs, homes and temporary files are.
const PASSED: [&str; 5] = ["HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER"];
/// A variable that makes the environments of all arms equally large.
const PADDING: &str = "HARNESS_PADDING";

/// Samples from worker processes: one process for each arm of the cell being measured.
pub struct Workers<'a> {
    prereg: &'a Prereg,
    /// By arm.
    programs: Vec<Program>,
    /// By arm; all of the same size.
    environments: Vec<Vec<(String, String)>>,
    /// By cell, then by process; `None`: none is padded.
    paddings: Option<Plan>,
    root: PathBuf,
    scratch: PathBuf,
    interrupt: &'a Interrupt,
    since: Instant,
    /// By cell and arm: which process of theirs it is, and the process.
    alive: HashMap<(String, usize), (u32, Conversation)>,
    meter: Meter,
    /// Only where a metric asks for instructions.
    callgrind: Option<Callgrind>,
}

impl<'a> Workers<'a> {
    /// Workers for the arms of `prereg`, with their programs in the same order.
    ///
    /// They work in the project's `root` and keep their files below `scratch`. Once `interrupt` is
    /// set, every wait ends with [`Failure::Interrupted`].
    pub fn new(
        prereg: &'a Prereg,
        programs: Vec<Program>,
        root: &Path,
        scratch: &Path,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            environments: environments(&prereg.arms),
            prereg,
            programs,
            paddings: None,
            root: root.to_owned(),
            scratch: scratch.to_owned(),
            interrupt,
            since: Instant::now(),
            alive: HashMap::new(),
            meter: Meter::of(prereg),
            callgrind: None,
        }
    }

    /// Processes with the paddings that the plan has for them.
    #[must_use]
    pub fn padded(self, plan: &Plan) -> Self {
        let paddings = (self.prereg.design.padding > 0).then(|| plan.clone());
        Self { paddings, ..self }
    }

    /// Workers whose instructions are counted, where a metric asks for that.
    ///
    /// # Errors
    /// Callgrind is needed and not there.
    pub fn counting(self) -> Result<Self, LaunchError> {
        Ok(Self { callgrind: Callgrind::wanted(self.prereg, &self.scratch)?, ..self })
    }

    /// The paddings of the processes of an arm in a cell, in order.
    fn paddings(&self, cell: &Cell) -> Option<Vec<u32>> {
        let plan = self.paddings.as_ref()?;
        let place = plan.cells().iter().position(|it| it == cell)?;
        let design = &self.prereg.design;
        let processes = if design.process == Process::PerBlock { design.samples } else { design.processes };
        Some((0..processes).map(|it| plan.padding(place, it)).collect())
    }

    fn environment(&self, cell: &Cell, arm: usize, process: u32) -> Vec<(String, String)> {
        let mut environment = self.environments[arm].clone();
        let plan = self.paddings.as_ref();
        let place = plan.and_then(|it| it.cells().iter().position(|it| it == cell));
        let last = environment.iter_mut().find(|(name, _)| name == PADDING);
        if let (Some(plan), Some(place), Some((_, padding))) = (plan, place, last) {
            padding.extend(std::iter::repeat_n('x', plan.padding(place, process) as usize));
        }
        environment
    }

    /// Whether the host has what the worker of every arm takes, as far as the workers know before they prepare anything.
    ///
    /// A worker that cannot be asked, or not even be greeted, is left to the run, which tells more of it.
    pub fn check(&self) -> Result<(), Failure> {
        let cells = self.prereg.cells();
        let Some(first) = cells.first() else { return Ok(()) };
        for (arm, registered) in self.prereg.arms.iter().enumerate() {
            // A check prepares nothing, so that one process can be asked for every cell.
            let Ok(mut worker) = self.greeted(first, arm, 0, None) else { continue };
            if !worker.checks {
                continue;
            }
            for cell in &cells {
                let scratch = self.scratch_of(cell, &self.programs[arm]);
                worker.check(self.prereg, registered, cell, &scratch, self.interrupt)?;
            }
            worker.finish(self.interrupt)?;
        }
        Ok(())
    }

    /// The scratch folder of a cell, as a program in its own folder finds it.
    fn scratch_of(&self, cell: &Cell, program: &Program) -> PathBuf {
        let scratch = self.scratch.join(folder(cell));
        match &program.folder {
            // As many steps up as the folder lies below the root.
            Some(folder) => {
                let up = shown(folder, &self.root).components().map(|_| "..").collect::<PathBuf>();
                up.join(shown(&scratch, &self.root))
            }
            None => shown(&scratch, &self.root).to_owned(),
        }
    }

    /// Starts a process of an arm and greets it; with `callgrind`, one whose instructions are counted.
    fn greeted(
        &self,
        cell: &Cell,
        arm: usize,
        process: u32,
        callgrind: Option<&Callgrind>,
    ) -> Result<Conversation, Failure> {
        let build = if self.prereg.design.builds > 1 { process } else { 0 };
        let (program, registered) = (self.programs[arm].build(build), &self.prereg.arms[arm]);
        let start = |source| Failure::Start { command: program.shown.clone(), source };
        let mut command = match callgrind {
            Some(callgrind) => callgrind.command(program, program.args.iter().cloned(), true),
            None => {
                let mut command = Command::new(&program.path);
                command.args(&program.args);
                command
            }
        };
        command
            .current_dir(program.folder.as_ref().unwrap_or(&self.root))
            .env_clear()
            .envs(self.environment(cell, arm, process))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let cores = super::cores(self.prereg.environment.pin.as_ref());
        let mut child = super::affinity::spawn(&mut command, &cores).map_err(start)?;
        let pipes = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => Pipes::new(input, output, errors),
            _ => Err(std::io::Error::other("it has no pipes")),
        };
        let slower = if callgrind.is_some() { callgrind::SLOWDOWN } else { 1 };
        let (pipes, timeout) = (pipes.map_err(start)?, self.prereg.worker.timeout.saturating_mul(slower));
        let mut conversation = Conversation::new(child, pipes, &registered.name, cell, timeout);
        conversation.greet(&self.prereg.worker.system, self.interrupt)?;
        Ok(conversation)
    }

    /// Starts a process of an arm and prepares it; with `callgrind`, one whose instructions are counted.
    fn start(
        &self,
        cell: &Cell,
        arm: usize,
        process: u32,
        callgrind: Option<&Callgrind>,
    ) -> Result<Conversation, Failure> {
        // What the measured process has there is not to be touched.
        let own: &[&str] = if callgrind.is_some() { &["counted"] } else { &[] };
        let within = |mut path: PathBuf| {
            path.extend(own);
            path
        };
        let scratch = within(self.scratch.join(folder(cell)));
        std::fs::create_dir_all(&scratch).map_err(|source| Failure::Scratch {
            attempt: format!("create scratch folder `{}`", shown(&scratch, &self.root).display()),
            source,
        })?;
        let mut conversation = self.greeted(cell, arm, process, callgrind)?;
        let build = if self.prereg.design.builds > 1 { process } else { 0 };
        let scratch = within(self.scratch_of(cell, self.programs[arm].build(build)));
        conversation.prepare(self.prereg, &self.prereg.arms[arm], cell, &scratch, self.interrupt)?;
        if let Some(paddings) = self.paddings(cell) {
            conversation.effective.insert(PADDING.to_owned(), paddings.into());
        }
        Ok(conversation)
    }
}

impl Workers<'_> {
    /// The process that makes a sample, started if it is not there.
    fn take(&mut self, cell: &Cell, arm: usize, block: u32, warmup: bool) -> Result<Conversation, Failure> {
        let process = self.prereg.design.process_of(block, warmup);
        match self.alive.remove(&(cell.to_string(), arm)) {
            Some((it, worker)) if it == process => return Ok(worker),
            Some((_, over)) => over.finish(self.interrupt)?,
            None => {}
        }
        self.start(cell, arm, process, None)
    }

    /// Counts the instructions of one answer's timed work, in a process of its own.
    fn count(&self, cell: &Cell, arm: usize, block: u32, warmup: bool) -> Result<Option<u64>, Failure> {
        let Some(callgrind) = &self.callgrind else { return Ok(None) };
        let at = At {
            who: Who::Worker,
            arm: self.prereg.arms[arm].name.clone(),
            cell: cell.to_string(),
            request: At::request(block, warmup),
        };
        let unread = |why| Failure::Unread { at: Box::new(at.clone()), why, stderr: Vec::new() };
        callgrind.begin().map_err(unread)?;
        let process = self.prereg.design.process_of(block, warmup);
        let mut worker = self.start(cell, arm, process, Some(callgrind))?;
        worker.ask_sample(block, warmup)?;
        worker.hear_sample(self.prereg, block, warmup, Some(0), self.interrupt)?;
        worker.finish_and_end(self.interrupt)?;
        match callgrind.total().map_err(unread)? {
            0 => Err(unread(callgrind::failed(
                &"the worker ran no function in which it times its work, `harness_timed` in other languages than Rust",
            ))),
            count => Ok(Some(count)),
        }
    }

    fn keep(&mut self, cell: &Cell, arm: usize, block: u32, warmup: bool, worker: Conversation) {
        let process = self.prereg.design.process_of(block, warmup);
        self.alive.insert((cell.to_string(), arm), (process, worker));
    }

    fn at_ns(&self) -> i64 {
        i64::try_from(self.since.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Ends all processes of a cell.
    fn finish(&mut self, cell: &Cell) -> Result<(), Failure> {
        let cell_key = cell.to_string();
        let mut leaving: Vec<_> = self.alive.extract_if(|(it, _), _| *it == cell_key).collect();
        leaving.sort_by_key(|((_, arm), _)| *arm);
        for (_, (_, worker)) in leaving {
            worker.finish(self.interrupt)?;
        }
        Ok(())
    }
}

impl Source for Workers<'_> {
    fn sample(&mut self, cell: &Cell, arm: usize, block: u32, warmup: bool) -> Result<Observation, Failure> {
        // Before the timed one, so that the arms of a block are close in time.
        let instructions = self.count(cell, arm, block, warmup)?;
        let mut worker = self.take(cell, arm, block, warmup)?;
        worker.ask_sample(block, warmup)?;
        let (values, digest) =
            worker.hear_sample(self.prereg, block, warmup, instructions, self.interrupt)?;
        let observation =
            Observation { values, digest, effective: worker.effective.clone(), at_ns: self.at_ns() };
        let design = &self.prereg.design;
        if design.process == Process::PerBlock && design.slices == 1 {
            // Before the next arm's begins, so that no two are there at once.
            worker.finish(self.interrupt)?;
        } else {
            self.keep(cell, arm, block, warmup, worker);
        }
        Ok(observation)
    }

    fn pair(
        &mut self,
        cell: &Cell,
        arms: [usize; 2],
        block: u32,
        warmup: bool,
    ) -> Result<[Observation; 2], Failure> {
        let few =
            || Failure::Duet { why: "it takes two processors, and this process may not use two".to_owned() };
        let cores = two_cores().ok_or_else(few)?;
        let counts = [self.count(cell, arms[0], block, warmup)?, self.count(cell, arms[1], block, warmup)?];
        let [mut a, mut b] =
            [self.take(cell, arms[0], block, warmup)?, self.take(cell, arms[1], block, warmup)?];
        a.sit(cores[0])?;
        b.sit(cores[1])?;
        a.ask_sample(block, warmup)?;
        b.ask_sample(block, warmup)?;
        let hear = |worker: &mut Conversation, count: Option<u64>| {
            let (values, digest) = worker.hear_sample(self.prereg, block, warmup, count, self.interrupt)?;
            let effective = worker.effective.clone();
            Ok(Observation { values, digest, effective, at_ns: self.at_ns() })
        };
        let both = [hear(&mut a, counts[0])?, hear(&mut b, counts[1])?];
        self.keep(cell, arms[0], block, warmup, a);
        self.keep(cell, arms[1], block, warmup, b);
        Ok(both)
    }

    fn end_block(&mut self, cell: &Cell) -> Result<(), Failure> {
        match self.prereg.design.process {
            Process::PerArm => Ok(()),
            Process::PerBlock => self.finish(cell),
        }
    }

    fn watch(&mut self) {
        self.meter.start(self.alive.values().map(|(_, it)| it.process()));
    }

    fn watched(&mut self) -> Conditions {
        self.meter.stop()
    }

    fn leave(&mut self, cell: &Cell) -> Result<(), Failure> {
        self.finish(cell)?;
        let scratch = self.scratch.join(folder(cell));
        match std::fs::remove_dir_all(&scratch) {
            // A cell that a resumed run had complete has never been entered.
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(Failure::Scratch {
                attempt: format!("remove scratch folder `{}`", shown(&scratch, &self.root).display()),
                source,
            }),
            _ => Ok(()),
        }
    }
}

/// `path` as workers, which work in the root, and messages name it: both may stand in ledgers.
fn shown<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

/// A folder name for the cell: a digest, since values may hold anything.
fn folder(cell: &Cell) -> String {
    crate::vocab::Digest::of(cell.to_string()).short()
}

/// The environment of each arm: what is passed, what is registered, and padding up to one size for all.
///
/// A larger environment shifts the stack of a process, which alone can look like an effect
/// (Mytkowicz et al. 2009).
pub(super) fn environments(arms: &[Arm]) -> Vec<Vec<(String, String)>> {
    let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let passed: Vec<_> = passed.collect();
    let mut environments: Vec<Vec<(String, String)>> = arms
        .iter()
        .map(|arm| {
            let own = |name: &str| arm.env.iter().any(|(it, _)| it == name);
            passed.iter().filter(|(name, _)| !own(name)).chain(&arm.env).cloned().collect()
        })
        .collect();
    let size = |it: &Vec<(String, String)>| it.iter().map(|(k, v)| k.len() + v.len() + 2).sum::<usize>();
    // A pointer for each variable lies on the stack as well, so their number must not differ either.
    let count = environments.iter().map(Vec::len).max().unwrap_or(0);
    for environment in &mut environments {
        for i in environment.len()..count {
            environment.push((format!("{PADDING}_{i}"), String::new()));
        }
    }
    let largest = environments.iter().map(size).max().unwrap_or(0);
    for environment in &mut environments {
        let missing = largest - size(environment);
        environment.push((PADDING.to_owned(), "x".repeat(missing)));
    }
    environments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Role;

    #[test]
    fn every_arm_has_an_environment_of_one_size() {
        let arm = |name: &str, env: &[(&str, &str)]| Arm {
            name: name.to_owned(),
            role: Role::Treatment,
            params: Vec::new(),
            env: env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            command: None,
            git: None,
            build: None,
        };
        let arms = [
            arm("a", &[]),
            arm("a_much_longer_arm_name", &[("SWITCH", "on"), ("OTHER", "yes")]),
            arm("b", &[("PATH", "/")]),
        ];
        let environments = environments(&arms);
        let size = |it: &Vec<(String, String)>| it.iter().map(|(k, v)| k.len() + v.len() + 2).sum::<usize>();
        assert_eq!(size(&environments[0]), size(&environments[1]));
        assert_eq!(size(&environments[0]), size(&environments[2]));
        assert_eq!(environments[0].len(), environments[1].len());
        assert_eq!(environments[0].len(), environments[2].len());
        assert!(environments[1].contains(&("SWITCH".to_owned(), "on".to_owned())));
        assert!(!environments[0].iter().any(|(name, _)| name == "SWITCH"));
    }
}
