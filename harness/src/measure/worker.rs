use super::failure::{At, Who};
use super::launch::Program;
use super::pipe::{Heard, Pipes};
use super::{Failure, Interrupt, Observation, Source};
use crate::prereg::{Arm, Prereg};
use crate::vocab::{Cell, Process};
use crate::worker::protocol::{self, Answer, Prepare, Request};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How many lines of a worker's standard error are kept with a failure.
const STDERR_LINES: usize = 20;
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
    root: PathBuf,
    scratch: PathBuf,
    interrupt: &'a Interrupt,
    since: Instant,
    /// By cell and arm: which process of theirs it is, and the process.
    alive: HashMap<(String, usize), (u32, Conversation)>,
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
            root: root.to_owned(),
            scratch: scratch.to_owned(),
            interrupt,
            since: Instant::now(),
            alive: HashMap::new(),
        }
    }

    fn start(&self, cell: &Cell, arm: usize) -> Result<Conversation, Failure> {
        let (program, registered) = (&self.programs[arm], &self.prereg.arms[arm]);
        let scratch = self.scratch.join(folder(cell));
        std::fs::create_dir_all(&scratch).map_err(|source| Failure::Scratch {
            attempt: format!("create scratch folder `{}`", shown(&scratch, &self.root).display()),
            source,
        })?;
        let start = |source| Failure::Start { command: program.shown.clone(), source };
        let mut child = Command::new(&program.path)
            .args(&program.args)
            .current_dir(program.folder.as_ref().unwrap_or(&self.root))
            .env_clear()
            .envs(self.environments[arm].iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let pipes = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => Pipes::new(input, output, errors),
            _ => Err(std::io::Error::other("it has no pipes")),
        };
        let mut conversation = Conversation {
            child,
            pipes: pipes.map_err(start)?,
            arm: registered.name.clone(),
            cell: cell.to_string(),
            timeout: self.prereg.worker.timeout,
            effective: BTreeMap::new(),
        };
        conversation.greet(&self.prereg.worker.system, self.interrupt)?;
        let scratch = match &program.folder {
            // As many steps up as the folder lies below the root.
            Some(folder) => {
                let up = shown(folder, &self.root).components().map(|_| "..").collect::<PathBuf>();
                up.join(shown(&scratch, &self.root))
            }
            None => shown(&scratch, &self.root).to_owned(),
        };
        conversation.prepare(self.prereg, registered, cell, &scratch, self.interrupt)?;
        Ok(conversation)
    }
}

impl Workers<'_> {
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
        let key = (cell.to_string(), arm);
        let design = &self.prereg.design;
        let process = design.process_of(block, warmup);
        let mut worker = match self.alive.remove(&key) {
            Some((it, worker)) if it == process => worker,
            Some((_, over)) => {
                over.finish(self.interrupt)?;
                self.start(cell, arm)?
            }
            None => self.start(cell, arm)?,
        };
        let (values, digest) = worker.sample(self.prereg, block, warmup, self.interrupt)?;
        let at_ns = i64::try_from(self.since.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let effective = worker.effective.clone();
        if design.process == Process::PerBlock && design.slices == 1 {
            // Before the next arm's begins, so that no two are there at once.
            worker.finish(self.interrupt)?;
        } else {
            self.alive.insert(key, (process, worker));
        }
        Ok(Observation { values, digest, effective, at_ns })
    }

    fn end_block(&mut self, cell: &Cell) -> Result<(), Failure> {
        match self.prereg.design.process {
            Process::PerArm => Ok(()),
            Process::PerBlock => self.finish(cell),
        }
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

/// A worker process and its pipes. Dropped, it is killed with its whole process group.
struct Conversation {
    child: Child,
    pipes: Pipes,
    arm: String,
    cell: String,
    timeout: Duration,
    effective: BTreeMap<String, Value>,
}

impl Conversation {
    fn greet(&mut self, system: &str, interrupt: &Interrupt) -> Result<(), Failure> {
        let at = self.at("hello");
        match self.ask(&at, &Request::Hello { protocol: protocol::VERSION }, interrupt)? {
            Answer::Hello { protocol: protocol::VERSION, systems, .. }
                if systems.iter().any(|it| it == system) =>
            {
                Ok(())
            }
            Answer::Hello { protocol: protocol::VERSION, systems, .. } => {
                let known = systems.join(", ");
                Err(self.refused(at, format!("it has no system `{system}`, known are {known}")))
            }
            Answer::Hello { protocol, .. } => {
                let ours = protocol::VERSION;
                Err(self.refused(at, format!("it speaks protocol {protocol}, this harness {ours}")))
            }
            other => Err(self.garbage(at, &other, "a `hello` was expected")),
        }
    }

    fn prepare(
        &mut self,
        prereg: &Prereg,
        arm: &Arm,
        cell: &Cell,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let at = self.at("prepare");
        let params = prereg.params_of(arm, cell);
        let request = Request::Prepare(Prepare {
            system: prereg.worker.system.clone(),
            params: params.iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
            seed: prereg.design.seed,
            scratch: scratch.display().to_string(),
            clock: prereg.design.clock.to_string(),
            metrics: prereg.metrics.iter().map(|it| (it.name.clone(), it.unit.to_string())).collect(),
        });
        match self.ask(&at, &request, interrupt)? {
            Answer::Ready { effective } => self.effective = effective,
            other => return Err(self.garbage(at, &other, "a `ready` was expected")),
        }
        for (name, value) in &params {
            let found = self.effective.get(name);
            if !found.is_some_and(|it| same(it, &value.to_json())) {
                return Err(Failure::Echo {
                    at,
                    param: name.clone(),
                    registered: value.to_string(),
                    found: found.map(Value::to_string),
                });
            }
        }
        Ok(())
    }

    fn sample(
        &mut self,
        prereg: &Prereg,
        block: u32,
        warmup: bool,
        interrupt: &Interrupt,
    ) -> Result<(Vec<f64>, String), Failure> {
        let at = self.at(&At::request(block, warmup));
        let answer = self.ask(&at, &Request::Sample { block, warmup }, interrupt)?;
        let Answer::Sample { values, digest } = &answer else {
            return Err(self.garbage(at, &answer, "a `sample` was expected"));
        };
        let mut numbers = Vec::with_capacity(prereg.metrics.len());
        for metric in &prereg.metrics {
            let name = &metric.name;
            match values.get(name).map(|it| (it, it.as_f64())) {
                // Minus zero is zero: no digest and no sign may depend on it.
                Some((_, Some(number))) if number.is_finite() => numbers.push(number + 0.0),
                Some((found, _)) => {
                    let why = format!("value of `{name}` is `{found}`, expected a finite number");
                    return Err(self.garbage(at, &answer, &why));
                }
                None => return Err(self.garbage(at, &answer, &format!("no value of `{name}`"))),
            }
        }
        Ok((numbers, digest.clone()))
    }

    fn finish(mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let at = self.at("finish");
        match self.ask(&at, &Request::Finish {}, interrupt)? {
            Answer::Bye {} => Ok(()),
            other => Err(self.garbage(at, &other, "a `bye` was expected")),
        }
    }

    fn ask(&mut self, at: &At, request: &Request, interrupt: &Interrupt) -> Result<Answer, Failure> {
        let boxed = || Box::new(at.clone());
        let line = serde_json::to_string(request)
            .map_err(|it| self.refused(boxed(), format!("the request cannot be written: {it}")))?;
        // A worker that is gone is found out by reading, where its last words are.
        let _ = self.pipes.say(&line);
        let line = match self.pipes.hear(self.timeout, interrupt) {
            Ok(Heard::Line(line)) => line,
            Ok(Heard::TooLong(line)) => {
                return Err(self.garbage_text(boxed(), &line, "the line has no end"));
            }
            Ok(Heard::TimedOut) => {
                let stderr = self.pipes.last_errors(STDERR_LINES);
                return Err(Failure::TimedOut { at: boxed(), after: self.timeout, stderr });
            }
            Ok(Heard::Interrupted) => return Err(Failure::Interrupted),
            Ok(Heard::Closed) => {
                let status = self.await_end();
                let stderr = self.pipes.last_errors(STDERR_LINES);
                return Err(Failure::Died { at: boxed(), status, stderr });
            }
            Err(error) => return Err(self.refused(boxed(), format!("its answer cannot be read: {error}"))),
        };
        match serde_json::from_slice::<Answer>(&line) {
            Ok(Answer::Error { message }) => Err(self.refused(boxed(), message)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                let text = String::from_utf8_lossy(&line);
                let why = if ["NaN", "Infinity", "inf"].iter().any(|it| text.contains(it)) {
                    "a sample is a finite number".to_owned()
                } else {
                    format!("it is no answer of protocol {}: {error}", protocol::VERSION)
                };
                Err(self.garbage_text(boxed(), &line, &why))
            }
        }
    }

    /// How the process ended, if it does within a second of closing its output.
    fn await_end(&mut self) -> Option<std::process::ExitStatus> {
        for _ in 0..100 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    fn at(&self, request: &str) -> Box<At> {
        Box::new(At {
            who: Who::Worker,
            arm: self.arm.clone(),
            cell: self.cell.clone(),
            request: request.to_owned(),
        })
    }

    fn refused(&mut self, at: Box<At>, message: String) -> Failure {
        Failure::Refused { at, message, stderr: self.pipes.last_errors(STDERR_LINES) }
    }

    fn garbage(&mut self, at: Box<At>, answer: &Answer, why: &str) -> Failure {
        let text = serde_json::to_string(answer).unwrap_or_default();
        self.garbage_text(at, text.as_bytes(), why)
    }

    fn garbage_text(&mut self, at: Box<At>, found: &[u8], why: &str) -> Failure {
        let text: String = String::from_utf8_lossy(found).chars().take(200).collect();
        let stderr = self.pipes.last_errors(STDERR_LINES);
        Failure::Garbage { at, found: text, why: why.to_owned(), stderr }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // The group: a worker may have started processes of its own. Errors mean that nobody is left.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Whether two JSON values are the same parameter: `1` and `1.0` are.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
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

    #[test]
    fn a_whole_float_is_the_integer() {
        assert!(same(&Value::from(1), &Value::from(1.0)));
        assert!(!same(&Value::from("1"), &Value::from(1)));
    }
}
