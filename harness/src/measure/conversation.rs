//! The protocol with one worker process, from its greeting to its end.

use super::cores::bind;
use super::failure::{At, Who};
use super::pipe::{Heard, Pipes};
use super::{Failure, Interrupt};
use crate::prereg::{Arm, Prereg};
use crate::probe::Probe;
use crate::vocab::Cell;
use crate::worker::protocol::{self, Answer, Prepare, Request};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// How many lines of a worker's standard error are kept with a failure.
const STDERR_LINES: usize = 20;

/// A worker process and its pipes. Dropped, it is killed with its whole process group.
pub(super) struct Conversation {
    child: Child,
    pipes: Pipes,
    arm: String,
    cell: String,
    timeout: Duration,
    /// Whether it said that it can be asked to check.
    pub(super) checks: bool,
    /// What it echoes, once it is prepared.
    pub(super) effective: BTreeMap<String, Value>,
    /// The processor that it is bound to.
    core: Option<usize>,
}

impl Conversation {
    /// The id of the process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// With a process that was just started for an arm of a cell.
    pub(super) fn new(child: Child, pipes: Pipes, arm: &str, cell: &Cell, timeout: Duration) -> Self {
        let (arm, cell) = (arm.to_owned(), cell.to_string());
        Self { child, pipes, arm, cell, timeout, checks: false, effective: BTreeMap::new(), core: None }
    }

    pub(super) fn greet(&mut self, system: &str, interrupt: &Interrupt) -> Result<(), Failure> {
        let at = self.at("hello");
        match self.ask(&at, &Request::Hello { protocol: protocol::VERSION }, interrupt)? {
            Answer::Hello { protocol: protocol::VERSION, systems, checks, .. }
                if systems.iter().any(|it| it == system) =>
            {
                self.checks = checks;
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

    /// Asks whether the host has what it takes for an arm of a cell.
    pub(super) fn check(
        &mut self,
        prereg: &Prereg,
        arm: &Arm,
        cell: &Cell,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        self.cell = cell.to_string();
        let at = self.at("check");
        match self.ask(&at, &Request::Check(what(prereg, arm, cell, scratch)), interrupt)? {
            Answer::Fit {} => Ok(()),
            other => Err(self.garbage(at, &other, "a `fit` was expected")),
        }
    }

    pub(super) fn prepare(
        &mut self,
        prereg: &Prereg,
        arm: &Arm,
        cell: &Cell,
        scratch: &Path,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let at = self.at("prepare");
        let params = prereg.params_of(arm, cell);
        let request = Request::Prepare(what(prereg, arm, cell, scratch));
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

    /// Moves to a processor, unless it is there.
    pub(super) fn sit(&mut self, core: usize) -> Result<(), Failure> {
        if self.core != Some(core) {
            let failed = |it| Failure::Duet {
                why: format!("arm `{}` cannot be bound to processor {core}: {it}", self.arm),
            };
            bind(self.child.id(), core).map_err(failed)?;
            self.core = Some(core);
        }
        Ok(())
    }

    pub(super) fn ask_sample(&mut self, block: u32, warmup: bool) -> Result<(), Failure> {
        let at = self.at(&At::request(block, warmup));
        self.say(&at, &Request::Sample { block, warmup })
    }

    pub(super) fn hear_sample(
        &mut self,
        prereg: &Prereg,
        block: u32,
        warmup: bool,
        instructions: Option<u64>,
        interrupt: &Interrupt,
    ) -> Result<(Vec<f64>, String), Failure> {
        let at = self.at(&At::request(block, warmup));
        let answer = self.hear(&at, interrupt)?;
        let Answer::Sample { values, digest } = &answer else {
            return Err(self.garbage(at, &answer, "a `sample` was expected"));
        };
        let mut numbers = Vec::with_capacity(prereg.metrics.len());
        for metric in &prereg.metrics {
            let name = &metric.name;
            if let (Some(Probe::Instructions), Some(count)) = (&metric.probe, instructions) {
                numbers.push(count as f64 / metric.unit.scale());
                continue;
            }
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

    pub(super) fn finish(mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        self.say_bye(interrupt)
    }

    /// As [`finish`](Self::finish), and waits until the process has written whatever it writes at its end.
    pub(super) fn finish_and_end(mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        self.say_bye(interrupt)?;
        // Whoever has not ended then has written nothing, which is told by who reads it.
        let _ = self.await_end(self.timeout);
        Ok(())
    }

    fn say_bye(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let at = self.at("finish");
        match self.ask(&at, &Request::Finish {}, interrupt)? {
            Answer::Bye {} => Ok(()),
            other => Err(self.garbage(at, &other, "a `bye` was expected")),
        }
    }

    fn ask(&mut self, at: &At, request: &Request, interrupt: &Interrupt) -> Result<Answer, Failure> {
        self.say(at, request)?;
        self.hear(at, interrupt)
    }

    fn say(&mut self, at: &At, request: &Request) -> Result<(), Failure> {
        let line = serde_json::to_string(request).map_err(|it| {
            self.refused(Box::new(at.clone()), format!("the request cannot be written: {it}"))
        })?;
        // A worker that is gone is found out by reading, where its last words are.
        let _ = self.pipes.say(line);
        Ok(())
    }

    fn hear(&mut self, at: &At, interrupt: &Interrupt) -> Result<Answer, Failure> {
        let boxed = || Box::new(at.clone());
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
                let status = self.await_end(Duration::from_secs(1));
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

    /// How the process ended, if it does within `limit`.
    fn await_end(&mut self, limit: Duration) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < limit {
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

/// What a worker is to make ready.
fn what(prereg: &Prereg, arm: &Arm, cell: &Cell, scratch: &Path) -> Prepare {
    let params = prereg.params_of(arm, cell);
    Prepare {
        system: prereg.worker.system.clone(),
        params: params.iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
        seed: prereg.design.seed,
        scratch: scratch.display().to_string(),
        clock: prereg.design.clock.to_string(),
        metrics: prereg
            .metrics
            .iter()
            // What is counted from outside is not asked for.
            .filter(|it| it.probe.is_none())
            .map(|it| (it.name.clone(), it.unit.to_string()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_float_is_the_integer() {
        assert!(same(&Value::from(1), &Value::from(1.0)));
        assert!(!same(&Value::from("1"), &Value::from(1)));
    }
}
