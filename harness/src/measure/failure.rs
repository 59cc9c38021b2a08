use crate::prereg::{Launch, Prereg};
use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a sample could not be had. Each makes the run invalid, but for an interruption and an unfit host, after which it can be resumed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The worker could not be started.
    Start {
        /// Program and arguments.
        command: Vec<String>,
        /// Why.
        source: std::io::Error,
    },
    /// The worker ended, or closed its output, in place of an answer.
    Died {
        /// Which, at what.
        at: Box<At>,
        /// How it ended, if it did.
        status: Option<ExitStatus>,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The worker gave no answer in time and was killed.
    TimedOut {
        /// Which, at what.
        at: Box<At>,
        /// How long it was waited for.
        after: Duration,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The answer is none of the protocol.
    Garbage {
        /// Which, at what.
        at: Box<At>,
        /// The beginning of what it answered.
        found: String,
        /// What is wrong with it.
        why: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The worker said that it cannot do what was asked.
    Refused {
        /// Which, at what.
        at: Box<At>,
        /// Its message.
        message: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The worker runs with another configuration than the registered one.
    Echo {
        /// Which, at what.
        at: Box<At>,
        /// The parameter.
        param: String,
        /// As registered.
        registered: String,
        /// As echoed; `None`: not at all.
        found: Option<String>,
    },
    /// The result of the work is not that of the other arms or blocks.
    Digest {
        /// Which, at what.
        at: Box<At>,
        /// Its digest.
        found: String,
        /// The arm measured first in the cell.
        first_arm: String,
        /// That arm's digest.
        expected: String,
    },
    /// A command ended with an exit code that was not registered, or by a signal.
    Exit {
        /// Which, at what.
        at: Box<At>,
        /// How it ended.
        status: ExitStatus,
        /// The registered exit codes.
        expected: Vec<u8>,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// A step around the samples failed.
    Step {
        /// What was run, and when.
        step: String,
        /// How it ended; `None`: not in time.
        status: Option<ExitStatus>,
        /// How long it was waited for at most.
        after: Duration,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// The value of a metric, or the result of the work, could not be had from a command that ended well.
    Unread {
        /// Which, at what.
        at: Box<At>,
        /// What could not be read, and why.
        why: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// Files could not be made for the workers.
    Scratch {
        /// What was attempted.
        attempt: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Two arms cannot be measured at once.
    Duet {
        /// Why.
        why: String,
    },
    /// The host broke the registered rule of a block at every attempt. The run can be resumed.
    Unfit {
        /// The cell; may be empty.
        cell: String,
        /// The block.
        block: u32,
        /// How often it was measured.
        attempts: u32,
        /// What was broken the last time.
        reasons: String,
    },
    /// The user ended the run.
    Interrupted,
}

/// Where in a run something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// What was measured.
    pub who: Who,
    /// The arm.
    pub arm: String,
    /// The cell; may be empty.
    pub cell: String,
    /// `hello`, `prepare`, `sample 7`, `warm-up 0`, `finish`; of a command `run 8 (sample 7)`.
    pub request: String,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A worker.
    Worker,
    /// A plain command.
    Command,
}

impl Who {
    /// What the arms of `prereg` are.
    pub fn of(prereg: &Prereg) -> Self {
        match prereg.worker.launch {
            Launch::Plain(_) => Self::Command,
            Launch::Package(_) | Launch::Command(_) => Self::Worker,
        }
    }
}

impl At {
    /// How a request for a sample is called.
    pub(super) fn request(block: u32, warmup: bool) -> String {
        format!("{} {block}", if warmup { "warm-up" } else { "sample" })
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.who {
            Who::Worker => "worker",
            Who::Command => "command",
        };
        write!(f, "{who} of arm `{}`", self.arm)?;
        if !self.cell.is_empty() {
            write!(f, " at {}", self.cell)?;
        }
        match self.who {
            Who::Worker => write!(f, ", asked for {}", self.request),
            Who::Command => write!(f, ", {}", self.request),
        }
    }
}

impl Failure {
    /// The last lines of the worker's standard error.
    pub fn stderr(&self) -> &[String] {
        match self {
            Self::Died { stderr, .. }
            | Self::TimedOut { stderr, .. }
            | Self::Garbage { stderr, .. }
            | Self::Refused { stderr, .. }
            | Self::Exit { stderr, .. }
            | Self::Step { stderr, .. }
            | Self::Unread { stderr, .. } => stderr,
            Self::Start { .. }
            | Self::Echo { .. }
            | Self::Digest { .. }
            | Self::Scratch { .. }
            | Self::Duet { .. }
            | Self::Unfit { .. }
            | Self::Interrupted => &[],
        }
    }

    /// Whether what failed is a worker: then its standard error is the worker's.
    pub fn is_of_worker(&self) -> bool {
        match self {
            Self::Died { at, .. }
            | Self::TimedOut { at, .. }
            | Self::Garbage { at, .. }
            | Self::Refused { at, .. }
            | Self::Exit { at, .. }
            | Self::Unread { at, .. }
            | Self::Echo { at, .. }
            | Self::Digest { at, .. } => at.who == Who::Worker,
            Self::Start { .. }
            | Self::Step { .. }
            | Self::Scratch { .. }
            | Self::Duet { .. }
            | Self::Unfit { .. }
            | Self::Interrupted => false,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Echo { found: None, .. } => Some(
                "a worker echoes only the parameters that it reads: the arm would be measured as if it had not been registered",
            ),
            Self::Digest { .. } => Some("a faster wrong answer is no gain: compare what the arms answer"),
            Self::TimedOut { at, .. } if at.who == Who::Command => {
                Some("`timeout` in [commands] sets how long one command may take")
            }
            Self::Exit { .. } => {
                Some("`exit_codes` in [commands] lists those of a command that did its work")
            }
            Self::Unread { why, .. } if why.contains("capture_limit") => {
                Some("print less, or raise `capture_limit` in [commands]")
            }
            Self::TimedOut { .. } => Some("`timeout` in [worker] sets how long one answer may take"),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { command, .. } => write!(f, "failed to start `{}`", command.join(" ")),
            Self::Died { at, status: Some(status), .. } => write!(f, "{at}, ended with {status}"),
            Self::Died { at, status: None, .. } => write!(f, "{at}, closed its output"),
            Self::TimedOut { at, after, .. } if at.who == Who::Command => {
                write!(f, "{at}, did not end in {} s and was killed", after.as_secs_f64())
            }
            Self::Exit { at, status, expected, stderr } => {
                write!(f, "{at}, ended with {status}")?;
                if expected.as_slice() != [0] {
                    let codes: Vec<_> = expected.iter().map(u8::to_string).collect();
                    write!(f, ", registered is {}", codes.join(", "))?;
                }
                stderr.last().map_or(Ok(()), |it| write!(f, ": {it}"))
            }
            Self::Step { step, status: Some(status), stderr, .. } => {
                write!(f, "{step} ended with {status}")?;
                stderr.last().map_or(Ok(()), |it| write!(f, ": {it}"))
            }
            Self::Step { step, status: None, after, .. } => {
                write!(f, "{step} did not end in {} s and was killed", after.as_secs_f64())
            }
            Self::Unread { at, why, .. } => write!(f, "{at}: {why}"),
            Self::TimedOut { at, after, .. } => {
                write!(f, "{at}, gave no answer in {} s and was killed", after.as_secs_f64())
            }
            Self::Garbage { at, found, why, .. } => write!(f, "{at}, answered `{found}`: {why}"),
            Self::Refused { at, message, .. } => write!(f, "{at}, refused: {message}"),
            Self::Echo { at, param, registered, found: Some(found) } => {
                write!(f, "{at}, runs with `{param}` = `{found}`, registered is `{registered}`")
            }
            Self::Echo { at, param, registered, found: None } => {
                write!(f, "{at}, does not read parameter `{param}`, registered as `{registered}`")
            }
            Self::Digest { at, found, first_arm, expected } => {
                write!(f, "{at}, answers `{found}`, arm `{first_arm}` answered `{expected}`")
            }
            Self::Scratch { attempt, .. } => write!(f, "failed to {attempt}"),
            Self::Duet { why } => write!(f, "no duet: {why}"),
            Self::Unfit { cell, block, attempts, reasons } => {
                let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
                write!(
                    f,
                    "block {block}{place} broke the registered rule in all of {attempts} attempts: {reasons}"
                )
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::Scratch { source, .. } => Some(source),
            _ => None,
        }
    }
}
