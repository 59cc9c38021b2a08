//! Bringing the data to a newer major version of Postgres, beside the old data, which stay.

use super::account::{self, Account};
use super::binaries::{self, Binaries};
use super::lock::{Lease, StartLock};
use super::{Cluster, ClusterOptions, LOCK_PATIENCE, StoreError, data, live, socket, spawn};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A store of a thousand million samples is copied in this time.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// What an upgrade did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// There are no data yet.
    Nothing,
    /// No newer version is on this machine.
    Newest {
        /// The version of the data.
        major: u32,
    },
    /// The data are of a newer version now.
    Done {
        /// The version that they had.
        from: u32,
        /// The version that they have.
        to: u32,
        /// Where the old data are kept.
        kept: PathBuf,
    },
}

/// Brings the data of a private cluster to the newest version on this machine, by `pg_upgrade` of a copy. Needs the
/// programs of both versions, and that nobody uses the cluster. The old data are in their place again when the new
/// server does not answer.
pub fn upgrade(options: &ClusterOptions, notice: &dyn Fn(&str)) -> Result<Upgrade, StoreError> {
    let account = account::choose(&options.dir)?;
    let dir = account.place(&options.dir)?;
    let old_data = dir.join("data");
    let Some(from) = data::major(&old_data)? else { return Ok(Upgrade::Nothing) };
    let Some(new) = binaries::newest(options, &account).filter(|it| it.major > from) else {
        return Ok(Upgrade::Newest { major: from });
    };
    let old = binaries::of_major(options, &account, from)?;
    // Its own server reads what a crash has left, and stops in order: pg_upgrade takes nothing else.
    let of_old = ClusterOptions { pg_bin: Some(old.bin.clone()), ..options.clone() };
    if !Cluster::acquire(&of_old, notice)?.release()? {
        return Err(in_use(&dir));
    }
    let start = StartLock::acquire(&dir, LOCK_PATIENCE)?;
    if !Lease::share(&dir)?.give_up() || !live::processes(&old_data).is_empty() {
        return Err(in_use(&dir));
    }
    notice(&format!("copying the data from PostgreSQL {from} to PostgreSQL {}", new.major));
    let new_data = dir.join("data.new");
    data::remove(&new_data)?;
    data::create(&new_data, &new, &account, true)?;
    let copied = copy(&dir, (&old, &old_data), (&new, &new_data), &account);
    if let Err(error) = copied {
        let _ = data::remove(&new_data);
        return Err(error);
    }
    let kept = place_for(&dir, from);
    exchange(&old_data, &new_data)?;
    fs::rename(&new_data, &kept).map_err(|error| StoreError::io("rename", &new_data, error))?;
    data::synced(&dir)?;
    drop(start);
    let of_new = ClusterOptions { pg_bin: Some(new.bin.clone()), ..options.clone() };
    if let Err(error) = Cluster::acquire(&of_new, notice).and_then(Cluster::release) {
        return Err(taken_back(&dir, &kept, (from, new.major), error));
    }
    Ok(Upgrade::Done { from, to: new.major, kept })
}

/// Puts the old data back, when the new server does not answer.
fn taken_back(dir: &Path, kept: &Path, (from, to): (u32, u32), error: StoreError) -> StoreError {
    let old_data = dir.join("data");
    let back = StartLock::acquire(dir, LOCK_PATIENCE)
        .and_then(|_start| exchange(&old_data, kept))
        .and_then(|()| data::remove(kept));
    let remedy = match back {
        Ok(()) => format!("the data are as they were, and PostgreSQL {from} still serves them"),
        Err(error) => format!(
            "the old data are in `{}`, and could not be put back to `{}`: {error}",
            kept.display(),
            old_data.display()
        ),
    };
    let log = error.to_string().lines().map(str::to_owned).collect();
    let problem = format!("PostgreSQL {to} does not serve what it has copied");
    StoreError::Cluster { problem, log, remedy: Some(remedy) }
}

fn copy(
    dir: &Path,
    (old, old_data): (&Binaries, &Path),
    (new, new_data): (&Binaries, &Path),
    account: &Account,
) -> Result<(), StoreError> {
    let socket = socket::folder(dir, account)?;
    let mut command = spawn::program(&new.program("pg_upgrade"), account);
    command.arg("--old-bindir").arg(&old.bin).arg("--new-bindir").arg(&new.bin);
    command.arg("--old-datadir").arg(old_data).arg("--new-datadir").arg(new_data);
    // It writes its logs and a script where it is.
    command.arg("--socketdir").arg(&socket).args(["--username", socket::USER]).current_dir(dir);
    let outcome = spawn::run(command, PATIENCE)?;
    // The script would remove what is to be kept.
    let _ = fs::remove_file(dir.join("delete_old_cluster.sh"));
    if outcome.success {
        return Ok(());
    }
    let said = format!("{}\n{}", outcome.output, outcome.errors);
    Err(StoreError::Cluster {
        problem: format!("pg_upgrade from PostgreSQL {} to {} failed", old.major, new.major),
        log: spawn::tail(&said, 12),
        remedy: Some(format!("the data are as they were, and PostgreSQL {} still serves them", old.major)),
    })
}

/// Puts the new data in the place of the old in one step, so that a crash leaves the one or the other.
fn exchange(old: &Path, new: &Path) -> Result<(), StoreError> {
    renameat_with(CWD, old, CWD, new, RenameFlags::EXCHANGE)
        .map_err(|error| StoreError::io("exchange", old, error))
}

/// `data-15`, or `data-15-2` when that is taken.
fn place_for(dir: &Path, major: u32) -> PathBuf {
    let names = (1_u32..).map(|i| if i == 1 { format!("data-{major}") } else { format!("data-{major}-{i}") });
    names.map(|it| dir.join(it)).find(|it| !it.exists()).unwrap_or_else(|| dir.join("data-old"))
}

fn in_use(dir: &Path) -> StoreError {
    StoreError::Cluster {
        problem: format!("the private cluster in `{}` is in use", dir.display()),
        log: Vec::new(),
        remedy: Some("wait for the other process to end, or stop the server: harness db stop".to_owned()),
    }
}
