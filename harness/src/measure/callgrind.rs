//! Executed instructions, counted by Callgrind in a pass of its own that is not timed.

use super::launch::{LaunchError, Program, on_path};
use crate::prereg::Prereg;
use crate::probe::Probe;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much longer a program takes under Callgrind, at most.
pub(super) const SLOWDOWN: u32 = 100;

/// The functions of a worker in which it times its work: that of this crate, and one that a worker in another language can have.
const TIMED: [&str; 2] = ["*worker::clock::timed*", "harness_timed"];

/// A counter of instructions, those of children included.
pub(super) struct Callgrind {
    valgrind: PathBuf,
    folder: PathBuf,
}

impl Callgrind {
    /// One that keeps its files below `scratch`; `None` if no metric asks for instructions.
    pub(super) fn wanted(prereg: &Prereg, scratch: &Path) -> Result<Option<Self>, LaunchError> {
        if !prereg.metrics.iter().any(|it| it.probe == Some(Probe::Instructions)) {
            return Ok(None);
        }
        let valgrind = on_path("valgrind").ok_or_else(|| LaunchError::Unsupported {
            what: "probe `instructions`".to_owned(),
            needs: "valgrind, which is not on PATH".to_owned(),
        })?;
        Ok(Some(Self { valgrind, folder: scratch.join("callgrind") }))
    }

    /// The command that counts what `program` with `args` executes, in full or where a worker times its work; the rest is set by
    /// the caller.
    pub(super) fn command(
        &self,
        program: &Program,
        args: impl Iterator<Item = String>,
        only_timed: bool,
    ) -> Command {
        let mut command = Command::new(&self.valgrind);
        let out = format!("--callgrind-out-file={}", self.folder.join("%p").display());
        command.args(["-q", "--tool=callgrind", "--trace-children=yes", &out]);
        if only_timed {
            command.args(TIMED.map(|it| format!("--toggle-collect={it}")));
        }
        command.arg(&program.path).args(args);
        command
    }

    /// Before such a command is started: what an earlier pass left is not counted again.
    pub(super) fn begin(&self) -> Result<(), String> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&error)),
            _ => std::fs::create_dir_all(&self.folder).map_err(|it| failed(&it)),
        }
    }

    /// How many instructions it executed, once it has ended, or why that is not known.
    pub(super) fn total(&self) -> Result<u64, String> {
        let mut total: Option<u64> = None;
        for entry in std::fs::read_dir(&self.folder).map_err(|it| failed(&it))? {
            let text = entry.and_then(|it| std::fs::read_to_string(it.path())).map_err(|it| failed(&it))?;
            let one = totals(&text).ok_or_else(|| failed(&"what Callgrind wrote has no total"))?;
            total = Some(total.unwrap_or(0).saturating_add(one));
        }
        total.ok_or_else(|| failed(&"Callgrind wrote nothing"))
    }
}

/// Why instructions are not known.
pub(super) fn failed(why: &dyn std::fmt::Display) -> String {
    format!("instructions cannot be counted: {why}")
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
