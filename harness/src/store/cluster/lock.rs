//! File locks that the system gives back when their holder dies.

use super::{StoreError, private_folder};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The name of the lock under which a cluster is started, stopped and removed.
pub(super) const START: &str = "start.lock";
const PAUSE: Duration = Duration::from_millis(3);

/// Held alone while the server is started or stopped.
#[derive(Debug)]
pub(super) struct StartLock {
    _file: File,
}

impl StartLock {
    /// Waits until no other process starts or stops the server in `dir`.
    pub(super) fn acquire(dir: &Path, patience: Duration) -> Result<Self, StoreError> {
        let path = dir.join(START);
        exclusive(&path, patience).map(|_file| Self { _file })
    }
}

/// Waits for the lock of `path` alone.
pub(super) fn exclusive(path: &Path, patience: Duration) -> Result<File, StoreError> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(dir) = path.parent() {
            private_folder(dir)?;
        }
        // The folder may be removed, and made again, while this process waits for its old lock.
        match open(path) {
            Ok(file) => match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_still_at(&file, path) => return Ok(file),
                Ok(()) | Err(Errno::INTR | Errno::WOULDBLOCK) => {}
                Err(error) => return Err(not_lockable(path, error)),
            },
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if Instant::now() >= deadline {
            return Err(StoreError::Cluster {
                problem: format!("another process has held `{}` for too long", path.display()),
                log: Vec::new(),
                remedy: Some("see who: fuser -v on that file; end that process and try again".to_owned()),
            });
        }
        thread::sleep(PAUSE);
    }
}

/// Shared by every process that uses the server.
#[derive(Debug)]
pub(super) struct Lease {
    file: File,
}

impl Lease {
    /// Joins the users of the server in `dir`. The start lock must be held.
    pub(super) fn share(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join("lease.lock");
        let file = open(&path)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Self { file }),
            Err(error) => Err(not_lockable(&path, error)),
        }
    }

    /// Gives the lease up and tells whether it was the last one. The start lock must be held.
    pub(super) fn give_up(self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }
}

// The standard library opens files close-on-exec: neither server nor workers inherit a lock.
fn open(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| StoreError::io("open", path, error))
}

fn is_still_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(held), Ok(there)) => held.ino() == there.ino() && held.dev() == there.dev(),
        _ => false,
    }
}

fn not_lockable(path: &Path, error: Errno) -> StoreError {
    StoreError::Cluster {
        problem: format!("failed to lock `{}`: {}", path.display(), std::io::Error::from(error)),
        log: Vec::new(),
        remedy: Some(
            "the private cluster needs a local file system; use --database-url elsewhere".to_owned(),
        ),
    }
}
