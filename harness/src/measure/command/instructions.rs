//! Executed instructions, counted by Callgrind in a pass of its own that is not timed.

use super::child::{self, Ended};
use crate::measure::Interrupt;
use crate::measure::launch::{LaunchError, Program, on_path};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How much longer a command takes under Callgrind, at most.
const SLOWDOWN: u32 = 100;

/// A counter of the instructions of whole commands, their children included.
pub(super) struct Counter {
    valgrind: PathBuf,
    scratch: PathBuf,
}

impl Counter {
    /// One that keeps its files in `scratch`.
    pub(super) fn new(scratch: &Path) -> Result<Self, LaunchError> {
        let valgrind = on_path("valgrind").ok_or(LaunchError::Unsupported {
            what: "probe `instructions`",
            needs: "valgrind, which is not on PATH",
        })?;
        Ok(Self { valgrind, scratch: scratch.join("callgrind") })
    }

    /// The command that counts what `program` with `args` executes; the rest is set by the caller.
    pub(super) fn command(&self, program: &Program, args: impl Iterator<Item = String>) -> Command {
        let mut command = Command::new(&self.valgrind);
        let out = format!("--callgrind-out-file={}", self.scratch.join("%p").display());
        command.args(["-q", "--tool=callgrind", "--trace-children=yes", &out]);
        command.arg(&program.path).args(args);
        command
    }

    /// Runs such a command, and tells how many instructions it executed, or why that is not known. `None`: the user
    /// wants to end.
    pub(super) fn count(
        &self,
        command: &mut Command,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Option<Result<u64, String>> {
        match self.attempt(command, limit, interrupt) {
            Ok(None) => None,
            Ok(Some(count)) => Some(Ok(count)),
            Err(why) => Some(Err(format!("instructions cannot be counted: {why}"))),
        }
    }

    fn attempt(
        &self,
        command: &mut Command,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<u64>, String> {
        let failed = |it: std::io::Error| it.to_string();
        // What an earlier pass left is not counted again.
        match std::fs::remove_dir_all(&self.scratch) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.to_string()),
            _ => std::fs::create_dir_all(&self.scratch).map_err(failed)?,
        }
        match child::run(command, None, &[], limit.saturating_mul(SLOWDOWN), Some(interrupt))
            .map_err(failed)?
        {
            Ended::Exited(_) => {}
            Ended::TimedOut(_) => return Err("it did not end".to_owned()),
            Ended::Interrupted => return Ok(None),
        }
        let mut total = None;
        for entry in std::fs::read_dir(&self.scratch).map_err(failed)? {
            let text = std::fs::read_to_string(entry.map_err(failed)?.path()).map_err(failed)?;
            total = total.max(Some(0)).zip(totals(&text)).map(|(sum, it): (u64, u64)| sum.saturating_add(it));
            if total.is_none() {
                return Err("what Callgrind wrote has no total".to_owned());
            }
        }
        total.map(Some).ok_or_else(|| "Callgrind wrote nothing".to_owned())
    }
}

/// The total of a file of Callgrind.
fn totals(text: &str) -> Option<u64> {
    text.lines().rev().find_map(|it| it.strip_prefix("totals:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        // The end of a file of Callgrind 3.19.
        let text = "events: Ir\nsummary: 1042\n\nfn=(1)\n16 3\n\ntotals: 1045\n";
        assert_eq!(totals(text), Some(1045));
        assert_eq!(totals("events: Ir\n"), None);
    }
}
