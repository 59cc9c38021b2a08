use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A wish to end a run: a pipe, so that every wait can watch it without waking up in between.
#[derive(Debug)]
pub struct Interrupt {
    watched: UnixStream,
    trigger: UnixStream,
}

impl Interrupt {
    /// One that only [`trigger`](Interrupt::trigger) sets.
    pub fn new() -> io::Result<Self> {
        let (watched, trigger) = UnixStream::pair()?;
        Ok(Self { watched, trigger })
    }

    /// One that Ctrl-C, a termination and a closed terminal set.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::new()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, interrupt.trigger.try_clone()?)?;
        }
        Ok(interrupt)
    }

    /// Sets it, for good.
    pub fn trigger(&self) -> io::Result<()> {
        (&self.trigger).write_all(&[1])
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits until it is set, but not longer than `limit`, and tells whether it is.
    pub fn wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // No limit is out of range here; the largest there is stands for those that were.
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
            match poll(&mut [PollFd::new(&self.watched, PollFlags::IN)], Some(&left)) {
                // A signal came in between: if it was one of ours, the next look finds it.
                Err(Errno::INTR) => {}
                ready => return ready.is_ok_and(|it| it > 0),
            }
        }
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}
