//! One command from its start to its end, with what it says on the way.

use super::capture::{Capture, Tail};
use crate::measure::{Interrupt, affinity};
use crate::probe::{Usage, reap};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How much is read of a pipe at once: as much as it holds.
const PIECE: usize = 64 << 10;

/// How a command ended.
pub(super) enum Ended {
    /// By itself.
    Exited(Box<Exited>),
    /// Nothing in time; it was killed. The last lines of its standard error.
    TimedOut(Vec<String>),
    /// The user wants to end; it was killed.
    Interrupted,
}

/// A command that ended by itself.
pub(super) struct Exited {
    pub(super) status: ExitStatus,
    pub(super) usage: Usage,
    /// The last lines of its standard error.
    pub(super) stderr: Vec<String>,
    /// Whether processes of its group were left, and killed.
    pub(super) survivors: bool,
}

/// Starts `command` in a process group of its own and waits for its end.
///
/// Its standard error is drained, and with `capture` its standard output. Whatever is left of the group is killed in
/// every case. Without `interrupt` nothing but the limit ends the wait.
///
/// # Errors
/// Those of starting it.
pub(super) fn run(
    command: &mut Command,
    mut capture: Option<&mut Capture>,
    cores: &[u32],
    limit: Duration,
    interrupt: Option<&Interrupt>,
) -> io::Result<Ended> {
    // The command keeps the writing ends open here as well. Otherwise the end of each pipe would wake this process while
    // the child is still ending, once more than its end does, and on a busy machine every time counts.
    let (errors, writer) = io::pipe()?;
    command.stderr(writer).process_group(0);
    let mut pipes = Pipes { stdout: None, stderr: Some(errors), buffer: Vec::new() };
    if capture.is_some() {
        let (output, writer) = io::pipe()?;
        command.stdout(writer);
        pipes.stdout = Some(output);
    }
    let start = Instant::now();
    let child = affinity::spawn(command, cores)?;
    let pid = Pid::from_child(&child);
    let mut group = Group { pid, child: Some(child) };
    let mut tail = Tail::default();
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = start + limit;
    loop {
        let ready =
            pipes.wait(Some(&pidfd), interrupt, deadline.saturating_duration_since(Instant::now()))?;
        if ready.exited {
            break;
        }
        if ready.interrupted {
            return Ok(Ended::Interrupted);
        }
        pipes.read(&ready, capture.as_deref_mut(), &mut tail);
        if Instant::now() >= deadline {
            return Ok(Ended::TimedOut(tail.lines()));
        }
    }
    let wall = start.elapsed();
    let (status, mut usage, survivors) = group.reap()?;
    usage.wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    pipes.read_rest(capture, &mut tail)?;
    Ok(Ended::Exited(Box::new(Exited { status, usage, stderr: tail.lines(), survivors })))
}

/// A child with its process group. Dropped, all of it is killed.
struct Group {
    pid: Pid,
    /// `None` once it was waited for.
    child: Option<Child>,
}

impl Group {
    /// Waits for the child, and kills what is left of its group.
    fn reap(&mut self) -> io::Result<(ExitStatus, Usage, bool)> {
        let (status, usage) = reap(self.pid.as_raw_nonzero().get().cast_unsigned())?;
        self.child = None;
        // No new process gets this number while a process of the group lives.
        let survivors = test_kill_process_group(self.pid).is_ok();
        if survivors {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        Ok((status, usage, survivors))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Errors mean that nobody is left.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = child.wait();
        }
    }
}

struct Pipes {
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    buffer: Vec<u8>,
}

/// What a wait found.
#[derive(Default)]
struct Ready {
    stdout: bool,
    stderr: bool,
    exited: bool,
    interrupted: bool,
}

impl Pipes {
    fn wait(
        &self,
        pidfd: Option<&OwnedFd>,
        interrupt: Option<&Interrupt>,
        limit: Duration,
    ) -> io::Result<Ready> {
        let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        let mut fds = Vec::with_capacity(4);
        let mut watch = |fd| fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        pidfd.iter().for_each(|it| watch(it.as_fd()));
        interrupt.iter().for_each(|it| watch(it.as_fd()));
        self.stdout.iter().for_each(|it| watch(it.as_fd()));
        self.stderr.iter().for_each(|it| watch(it.as_fd()));
        match poll(&mut fds, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut flags = fds.iter().map(|it| !it.revents().is_empty());
        let mut next = |there: bool| there && flags.next().unwrap_or(false);
        let (exited, interrupted) = (next(pidfd.is_some()), next(interrupt.is_some()));
        let (stdout, stderr) = (next(self.stdout.is_some()), next(self.stderr.is_some()));
        Ok(Ready { stdout, stderr, exited, interrupted })
    }

    /// Takes a piece of each pipe that is ready, and closes those that have ended.
    fn read(&mut self, ready: &Ready, capture: Option<&mut Capture>, tail: &mut Tail) {
        self.buffer.resize(PIECE, 0);
        if let (true, Some(pipe)) = (ready.stdout, &mut self.stdout) {
            match pipe.read(&mut self.buffer) {
                Ok(0) => self.stdout = None,
                Ok(n) => capture.into_iter().for_each(|it| it.add(&self.buffer[..n])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.stdout = None,
            }
        }
        if let (true, Some(pipe)) = (ready.stderr, &mut self.stderr) {
            match pipe.read(&mut self.buffer) {
                Ok(0) => self.stderr = None,
                Ok(n) => tail.add(&self.buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.stderr = None,
            }
        }
    }

    /// Takes what is left in the pipes; a process that got out of the group cannot keep this busy for ever.
    fn read_rest(&mut self, mut capture: Option<&mut Capture>, tail: &mut Tail) -> io::Result<()> {
        // A pipe holds at most 1 MiB without privileges.
        for _ in 0..(2 << 20) / PIECE {
            let ready = self.wait(None, None, Duration::ZERO)?;
            if !ready.stdout && !ready.stderr {
                break;
            }
            self.read(&ready, capture.as_deref_mut(), tail);
        }
        Ok(())
    }
}
