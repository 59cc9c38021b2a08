//! As whom the server runs. Postgres refuses to run as root.

use super::{StoreError, private_folder, socket};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An account that Postgres accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// The user of this process.
    Own,
    /// Root, or a user whom the system does not know, in a user namespace where it is `nobody`.
    #[cfg(target_os = "linux")]
    Namespace,
    /// Root, become somebody else.
    Other {
        /// User.
        uid: u32,
        /// Group.
        gid: u32,
    },
}

/// Chooses the account for a cluster in `dir`.
pub(super) fn choose(dir: &Path) -> Result<Account, StoreError> {
    let own = rustix::process::geteuid();
    if !own.is_root() {
        // Only `initdb` cares, and says so itself where namespaces cannot be had.
        #[cfg(target_os = "linux")]
        if !is_known(own.as_raw(), &accounts()) && is_known(65534, &accounts()) && namespaces_work() {
            return Ok(Account::Namespace);
        }
        return Ok(Account::Own);
    }
    #[cfg(target_os = "linux")]
    if namespaces_work() {
        return Ok(Account::Namespace);
    }
    other(dir)
}

fn accounts() -> String {
    fs::read_to_string("/etc/passwd").unwrap_or_default()
}

/// Whether there is an entry for this user. One from elsewhere, such as LDAP, is not seen here; a namespace does no
/// harm then.
#[cfg(target_os = "linux")]
fn is_known(uid: u32, accounts: &str) -> bool {
    accounts.lines().any(|it| it.split(':').nth(2).and_then(|it| it.parse().ok()) == Some(uid))
}

/// Whether this process may make user namespaces: containers and chroots often may not.
#[cfg(target_os = "linux")]
fn namespaces_work() -> bool {
    static WORK: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *WORK.get_or_init(|| {
        use std::process::Stdio;
        let mut probe = Command::new("/bin/true");
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        super::userns::enter(&mut probe);
        // The namespace is made before the program is looked for: a missing program is no objection to it.
        probe.status().map_or_else(|error| error.kind() == std::io::ErrorKind::NotFound, |_| true)
    })
}

/// The owner of the cluster, else the one who called `sudo`, else `postgres`, else `nobody`.
pub(super) fn other(dir: &Path) -> Result<Account, StoreError> {
    if let Some(meta) = dir.metadata().ok().filter(|meta| meta.uid() != 0) {
        return Ok(Account::Other { uid: meta.uid(), gid: meta.gid() });
    }
    let accounts = accounts();
    let project = dir.ancestors().find_map(|it| it.metadata().ok()).map(|it| it.uid());
    let sudo = std::env::var("SUDO_UID").ok().and_then(|it| it.parse::<u32>().ok());
    let caller = sudo.filter(|uid| *uid != 0 && Some(*uid) == project);
    let wanted = |fields: &[&str]| match fields {
        [_, _, uid, ..] if uid.parse().ok() == caller && caller.is_some() => 0,
        ["postgres", ..] => 1,
        ["nobody", ..] => 2,
        _ => 3,
    };
    accounts
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .filter(|fields| wanted(fields) < 3)
        .min_by_key(|fields| wanted(fields))
        .and_then(|fields| {
            let uid = fields.get(2)?.parse().ok()?;
            let gid = fields.get(3)?.parse().ok()?;
            (uid != 0).then_some(Account::Other { uid, gid })
        })
        .ok_or_else(|| StoreError::Cluster {
            problem: "Postgres does not run as root, and there is no other account to run it as".to_owned(),
            log: Vec::new(),
            remedy: Some(
                "run harness as an ordinary user, allow user namespaces, or use --database-url".to_owned(),
            ),
        })
}

impl Account {
    /// Makes `command` run as this account.
    pub(super) fn apply(&self, command: &mut Command) {
        match self {
            Self::Own => {}
            #[cfg(target_os = "linux")]
            Self::Namespace => super::userns::enter(command),
            Self::Other { uid, gid } => {
                command.uid(*uid).gid(*gid);
            }
        }
    }

    /// The user that files must belong to, when it is not the one of this process.
    pub(super) fn uid(&self) -> Option<u32> {
        match self {
            Self::Other { uid, .. } => Some(*uid),
            _ => None,
        }
    }

    /// Makes the cluster's folder, absolute and without links, where this account can reach it.
    pub(super) fn place(&self, dir: &Path) -> Result<PathBuf, StoreError> {
        private_folder(dir)?;
        let dir = match dir.canonicalize() {
            // Another process has just removed its last cluster here.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                private_folder(dir)?;
                dir.canonicalize()
            }
            result => result,
        }
        .map_err(|error| StoreError::io("resolve", dir, error))?;
        let dir = if self.uid().is_some() && !everybody_may_pass(&dir) {
            let name = format!("{:016x}", socket::fnv(dir.as_os_str().as_encoded_bytes()));
            let elsewhere = Path::new("/var/lib/harness").join(name);
            private_folder(&elsewhere)?;
            elsewhere
        } else {
            dir
        };
        self.hand_over(&dir)?;
        Ok(dir)
    }

    /// Gives a file or folder, without what is in it, to this account.
    pub(super) fn hand_over(&self, path: &Path) -> Result<(), StoreError> {
        match self {
            Self::Other { uid, gid } => chown(path, Some(*uid), Some(*gid))
                .map_err(|error| StoreError::io("change the owner of", path, error)),
            _ => Ok(()),
        }
    }
}

/// Whether any user may walk to `dir`.
fn everybody_may_pass(dir: &Path) -> bool {
    dir.ancestors().skip(1).all(|it| it.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_their_number() {
        let accounts = "root:x:0:0:root:/r:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nbroken\n";
        assert!(is_known(0, accounts) && is_known(65534, accounts) && !is_known(4321, accounts));
    }
}
