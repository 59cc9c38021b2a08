//! The private cluster: a real Postgres that belongs to one project, started on demand and stopped by the last
//! process that used it.
//!
//! ```text
//! <dir>/data/        the cluster, made by initdb in data.tmp and renamed when complete
//! <dir>/run/         the socket; mode 0700, which is the access control (no TCP, no password)
//! <dir>/start.lock   held while starting and stopping
//! <dir>/lease.lock   shared by every user of the server; who gets it alone is the last
//! <dir>/server.log   of the newest start
//! <dir>/data-15/     what an upgrade has kept
//! ```
//!
//! The system drops a killed process's locks, so there is nothing to count and nothing to clean up: the server it
//! left behind is adopted by the next user and stopped by the last one.

mod account;
mod binaries;
mod data;
mod install;
mod live;
mod lock;
mod server;
mod socket;
mod spawn;
mod upgrade;
#[cfg(target_os = "linux")]
mod userns;

pub use install::install;
pub use upgrade::{Upgrade, upgrade};

use super::StoreError;
use super::address::Address;
use lock::{Lease, StartLock};
use postgres::Client;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// How long another process may take to start or stop the server.
const LOCK_PATIENCE: Duration = Duration::from_secs(120);

/// Where a private cluster lives and what it may do.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Its folder: `.harness/pg` of the project.
    pub dir: PathBuf,
    /// The folder of the server binaries, in place of a search.
    pub pg_bin: Option<PathBuf>,
    /// The user's data folder.
    pub data_home: PathBuf,
    /// Whether missing binaries may be fetched.
    pub autoinstall: bool,
    /// Server settings over the usual ones. `fsync=off` is for tests.
    pub settings: Vec<(String, String)>,
}

/// A program that comes with a server, such as psql: in the folder that the user named, on the path, or beside the
/// programs of any server on this machine.
pub fn program(options: &ClusterOptions, name: &str) -> Option<PathBuf> {
    binaries::companion(options, name)
}

/// A lease on a running private cluster, given back when dropped.
#[derive(Debug)]
pub struct Cluster {
    options: ClusterOptions,
    dir: PathBuf,
    socket: PathBuf,
    lease: Option<Lease>,
    child: Option<Child>,
}

impl Cluster {
    /// Makes the cluster if there is none, starts its server if it does not run, and takes a lease on it.
    pub fn acquire(options: &ClusterOptions, notice: &dyn Fn(&str)) -> Result<Self, StoreError> {
        Self::connect(options, notice).map(|(cluster, _)| cluster)
    }

    /// As [`acquire`](Self::acquire), with a connection: a server takes longer to begin one than to answer over it.
    pub(super) fn connect(
        options: &ClusterOptions,
        notice: &dyn Fn(&str),
    ) -> Result<(Self, Client), StoreError> {
        let account = account::choose(&options.dir)?;
        let dir = account.place(&options.dir)?;
        let start = StartLock::acquire(&dir, LOCK_PATIENCE)?;
        let lease = Lease::share(&dir)?;
        let socket = socket::folder(&dir, &account)?;
        let mut cluster = Self { options: options.clone(), dir, socket, lease: Some(lease), child: None };
        let started = server::ensure(&cluster, &account, notice);
        // Before a failure gives the lease back, which wants this lock.
        drop(start);
        let (child, client) = started?;
        cluster.child = child;
        Ok((cluster, client))
    }

    /// Starts the server again if it died.
    pub fn ensure(&mut self, notice: &dyn Fn(&str)) -> Result<(), StoreError> {
        self.connect_again(notice).map(drop)
    }

    /// As [`ensure`](Self::ensure), with a connection.
    pub(super) fn connect_again(&mut self, notice: &dyn Fn(&str)) -> Result<Client, StoreError> {
        let account = account::choose(&self.options.dir)?;
        let start = StartLock::acquire(&self.dir, LOCK_PATIENCE)?;
        self.reap();
        let (child, client) = server::ensure(self, &account, notice)?;
        self.child = child.or(self.child.take());
        drop(start);
        Ok(client)
    }

    /// Where the cluster is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The address of its server, for any client of this user.
    pub fn url(&self) -> String {
        self.address().url().to_owned()
    }

    pub(super) fn address(&self) -> Address {
        socket::address(&self.socket)
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Gives the lease back and, when it was the last one, stops the server. Tells whether it did.
    pub fn release(mut self) -> Result<bool, StoreError> {
        self.give_back(LOCK_PATIENCE, false)
    }

    /// Gives the lease back and lets the server run, for clients that are no harness.
    pub fn leave(mut self) {
        self.lease = None;
    }

    /// As [`release`](Self::release), and removes the cluster with everything in it when it was the last lease.
    pub fn discard(mut self) -> Result<bool, StoreError> {
        self.give_back(LOCK_PATIENCE, true)
    }

    fn give_back(&mut self, patience: Duration, remove: bool) -> Result<bool, StoreError> {
        let Some(lease) = self.lease.take() else { return Ok(false) };
        let _start = StartLock::acquire(&self.dir, patience)?;
        let stopped = lease.give_up();
        if stopped {
            server::stop(&self.data(), &self.dir)?;
            self.await_child();
            socket::remove(&self.socket, &self.dir);
            if remove {
                clear(&self.dir)?;
            }
        }
        self.reap();
        Ok(stopped)
    }

    /// Lets the system forget a server that has just been stopped; it is as good as gone.
    fn await_child(&mut self) {
        for _ in 0..200 {
            match self.child.as_mut().map(Child::try_wait) {
                Some(Ok(None)) => std::thread::sleep(Duration::from_millis(1)),
                _ => break,
            }
        }
    }

    /// Forgets a server that was started here and has ended since.
    fn reap(&mut self) {
        if let Some(child) = &mut self.child
            && !matches!(child.try_wait(), Ok(None))
        {
            self.child = None;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A server that cannot be stopped now is adopted and stopped by the next user.
        let _ = self.give_back(Duration::from_secs(20), false);
    }
}

/// Removes a cluster. The start lock must be held, and goes last: whoever waits for it finds that it is another
/// file by then, and begins anew.
fn clear(dir: &Path) -> Result<(), StoreError> {
    let failed = |path: &Path, error| Err(StoreError::io("remove", path, error));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let removed = match entry.file_type() {
            _ if entry.file_name() == lock::START => Ok(()),
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        removed.or_else(|error| failed(&path, error))?;
    }
    let path = dir.join(lock::START);
    fs::remove_file(&path).or_else(|error| failed(&path, error))?;
    // Not empty means that somebody is making the next one.
    let _ = fs::remove_dir(dir);
    Ok(())
}

/// Makes a folder, and its parents with the usual mode; only the last one is private.
fn private_folder(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| StoreError::io("create", parent, error))?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::io("create", path, error))
        }
        _ => Ok(()),
    }
}
