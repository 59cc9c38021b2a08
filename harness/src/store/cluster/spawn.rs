//! Programs of the server's distribution, run to their end within a limit of time.

use super::StoreError;
use super::account::Account;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Variables that would make a server or its tools look somewhere else.
const MISLEADING: &[&str] = &[
    "PGDATA",
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGOPTIONS",
    "PGTZ",
    "PGSERVICE",
    "PGSYSCONFDIR",
    "PGCLIENTENCODING",
    "LANG",
    "LANGUAGE",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
];

/// A program that runs as `account` and listens to nothing but its arguments.
pub(super) fn program(path: &Path, account: &Account) -> Command {
    let mut command = Command::new(path);
    for name in MISLEADING {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    account.apply(&mut command);
    command
}

/// What a program said, and whether it succeeded.
pub(super) struct Outcome {
    pub(super) success: bool,
    pub(super) output: String,
    pub(super) errors: String,
}

/// Runs `command` to its end and kills it after `patience`.
pub(super) fn run(mut command: Command, patience: Duration) -> Result<Outcome, StoreError> {
    let path = command.get_program().to_owned();
    let fail = |attempt, error| StoreError::io(attempt, &path, error);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| fail("run", error))?;
    // The pipes are emptied meanwhile: a program that cannot write does not end.
    let output = child.stdout.take().map(collect);
    let errors = child.stderr.take().map(collect);
    let deadline = Instant::now() + patience;
    let status = loop {
        match child.try_wait().map_err(|error| fail("wait for", error))? {
            Some(status) => break Some(status),
            None if Instant::now() >= deadline => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let Some(status) = status else {
        return Err(StoreError::cluster(format!(
            "`{}` did not end within {} s",
            path.to_string_lossy(),
            patience.as_secs()
        )));
    };
    let text =
        |reader: Option<thread::JoinHandle<String>>| reader.and_then(|it| it.join().ok()).unwrap_or_default();
    Ok(Outcome { success: status.success(), output: text(output), errors: text(errors) })
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The last lines of a text, for an error.
pub(super) fn tail(text: &str, lines: usize) -> Vec<String> {
    let all: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].iter().map(|it| (*it).to_owned()).collect()
}
