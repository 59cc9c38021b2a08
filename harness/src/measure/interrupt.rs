use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

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
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.watched, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}
