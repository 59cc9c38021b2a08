//! The data directory: made once, complete or not at all.

use super::account::Account;
use super::binaries::Binaries;
use super::{StoreError, socket, spawn};
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

/// Only local connections, and all of those: the folder of the socket decides who may come.
const ACCESS: &str = "local all all trust\n";

/// The major version that a data directory was made by; `None` when there is none yet.
pub(super) fn major(data: &Path) -> Result<Option<u32>, StoreError> {
    let path = data.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse() {
            Ok(major) => Ok(Some(major)),
            Err(_) => Err(StoreError::Damaged {
                problem: format!("`{}` says `{}`, which is no version", path.display(), text.trim()),
            }),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path, error)),
    }
}

/// Makes the data directory. The start lock must be held.
pub(super) fn create(
    data: &Path,
    binaries: &Binaries,
    account: &Account,
    sync: bool,
) -> Result<(), StoreError> {
    let draft = data.with_extension("tmp");
    remove(&draft)?;
    super::private_folder(&draft)?;
    account.hand_over(&draft)?;
    let mut command = spawn::program(&binaries.program("initdb"), account);
    command.arg("-D").arg(&draft);
    command.args(["-U", socket::USER, "-A", "trust", "-E", "UTF8", "--no-locale"]);
    command.args(["--data-checksums", "--wal-segsize=1", "--no-instructions"]);
    if !sync || SYNCS_ALL {
        command.arg("--no-sync");
    }
    let outcome = spawn::run(command, Duration::from_secs(120))?;
    if !outcome.success {
        let _ = remove(&draft);
        return Err(StoreError::Cluster {
            problem: format!("initdb of PostgreSQL {} failed in `{}`", binaries.major, draft.display()),
            log: spawn::tail(&outcome.errors, 8),
            remedy: remedy(&outcome.errors),
        });
    }
    let access = draft.join("pg_hba.conf");
    fs::write(&access, ACCESS).map_err(|error| StoreError::io("write", &access, error))?;
    if sync {
        synced(&access)?;
        sync_all(&draft)?;
    }
    fs::rename(&draft, data).map_err(|error| StoreError::io("rename", &draft, error))?;
    if sync && let Some(parent) = data.parent() {
        synced(parent)?;
    }
    Ok(())
}

fn remedy(errors: &str) -> Option<String> {
    let text = if errors.contains("could not look up effective user ID") {
        "this user has no entry in /etc/passwd, which initdb wants: add one, or use --database-url"
    } else if errors.contains("No space left") {
        "free some space: a new cluster takes 40 MB"
    } else {
        return None;
    };
    Some(text.to_owned())
}

/// Whether [`sync_all`] is there to do in one call what initdb does a thousand times.
const SYNCS_ALL: bool = cfg!(target_os = "linux");

#[cfg(target_os = "linux")]
fn sync_all(folder: &Path) -> Result<(), StoreError> {
    let open = File::open(folder).map_err(|error| StoreError::io("open", folder, error))?;
    rustix::fs::syncfs(open).map_err(|error| StoreError::io("sync", folder, error))
}

#[cfg(not(target_os = "linux"))]
fn sync_all(_folder: &Path) -> Result<(), StoreError> {
    Ok(())
}

pub(super) fn synced(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|it| it.sync_all()).map_err(|error| StoreError::io("sync", path, error))
}

pub(super) fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", folder, error))
        }
        _ => Ok(()),
    }
}
