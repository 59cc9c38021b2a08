//! The pipes of one worker, read without threads: both of its outputs are drained while an answer is awaited.

use super::Interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// The longest line that is read of an answer.
const LINE_MAX: usize = 1 << 20;
/// How much of standard error is kept.
const STDERR_MAX: usize = 16 << 10;

/// What came of waiting for a line.
pub(super) enum Heard {
    /// A line, without its end.
    Line(Vec<u8>),
    /// More than [`LINE_MAX`] bytes and no end.
    TooLong(Vec<u8>),
    /// The output was closed.
    Closed,
    /// Nothing in time.
    TimedOut,
    /// The user wants to end.
    Interrupted,
}

pub(super) struct Pipes {
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    pending: Vec<u8>,
    stderr: VecDeque<u8>,
}

/// What a wait found.
struct Ready {
    output: bool,
    interrupted: bool,
    errors: bool,
}

impl Pipes {
    pub(super) fn new(input: ChildStdin, output: ChildStdout, errors: ChildStderr) -> io::Result<Self> {
        for fd in [output.as_fd(), errors.as_fd()] {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { input, output, errors: Some(errors), pending: Vec::new(), stderr: VecDeque::new() })
    }

    /// Sends a line. It is far shorter than a pipe holds, so this does not block on a worker that listens.
    pub(super) fn say(&mut self, mut line: String) -> io::Result<()> {
        // In one piece: a worker that is woken by half a line has to be woken again.
        line.push('\n');
        self.input.write_all(line.as_bytes())
    }

    /// Waits for the next line.
    pub(super) fn hear(&mut self, limit: Duration, interrupt: &Interrupt) -> io::Result<Heard> {
        let deadline = Instant::now() + limit;
        let mut searched = 0;
        loop {
            if let Some(end) = self.pending[searched..].iter().position(|it| *it == b'\n') {
                let rest = self.pending.split_off(searched + end + 1);
                let mut line = std::mem::replace(&mut self.pending, rest);
                line.pop();
                return Ok(Heard::Line(line));
            }
            searched = self.pending.len();
            if searched > LINE_MAX {
                return Ok(Heard::TooLong(std::mem::take(&mut self.pending)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let ready = self.wait(left, interrupt)?;
            if ready.interrupted {
                return Ok(Heard::Interrupted);
            }
            if left.is_zero() {
                return Ok(Heard::TimedOut);
            }
            if ready.errors {
                self.drain_stderr()?;
            }
            if !ready.output {
                continue;
            }
            let mut buffer = [0; 8192];
            match self.output.read(&mut buffer) {
                Ok(0) => return Ok(Heard::Closed),
                Ok(n) => self.pending.extend_from_slice(&buffer[..n]),
                Err(error) if retry(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The last lines of standard error, at most `n`.
    pub(super) fn last_errors(&mut self, n: usize) -> Vec<String> {
        // Whatever it has written by now; a failure to read it must not hide the one being reported.
        let _ = self.drain_stderr();
        last_lines(&self.stderr, n)
    }

    fn wait(&self, limit: Duration, interrupt: &Interrupt) -> io::Result<Ready> {
        let errors = self.errors.as_ref().map(|it| it.as_fd());
        // Without standard error the output is watched twice, which changes nothing.
        let mut fds = [self.output.as_fd(), interrupt.as_fd(), errors.unwrap_or_else(|| self.output.as_fd())]
            .map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN));
        let limit = Timespec::try_from(limit).map_err(|_| io::Error::other("time-out is out of range"))?;
        match poll(&mut fds, Some(&limit)) {
            // A signal of no concern: the caller looks what there is.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [output, interrupted, other] = fds.map(|it| !it.revents().is_empty());
        Ok(Ready { output, interrupted, errors: other && errors.is_some() })
    }

    fn drain_stderr(&mut self) -> io::Result<()> {
        let mut buffer = [0; 8192];
        // Bounded, so that a worker that floods cannot keep the driver here.
        for _ in 0..16 {
            let Some(errors) = &mut self.errors else { return Ok(()) };
            match errors.read(&mut buffer) {
                Ok(0) => self.errors = None,
                Ok(n) => {
                    self.stderr.extend(&buffer[..n]);
                    let excess = self.stderr.len().saturating_sub(STDERR_MAX);
                    self.stderr.drain(..excess);
                }
                Err(error) if retry(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The last lines that are not empty, at most `n`.
pub(super) fn last_lines(bytes: &VecDeque<u8>, n: usize) -> Vec<String> {
    let bytes: Vec<u8> = bytes.iter().copied().collect();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    lines[lines.len().saturating_sub(n)..].iter().map(|it| (*it).to_owned()).collect()
}

fn retry(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
