//! The folder of the server's socket.

use super::account::Account;
use super::{Address, StoreError, private_folder};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The port is part of the socket's name and nothing else: the server does not listen on TCP.
pub(super) const NAME: &str = ".s.PGSQL.5432";
/// The user that owns everything in a private cluster.
pub(super) const USER: &str = "harness";
/// The database that the private cluster keeps the store in.
pub(super) const DATABASE: &str = "postgres";
/// The longest socket path that every system takes.
const LONGEST: usize = 103;

/// Makes the folder: `run` in `dir`, or a private one elsewhere when the path is too long for a socket.
pub(super) fn folder(dir: &Path, account: &Account) -> Result<PathBuf, StoreError> {
    let near = dir.join("run");
    let folder = if fits(&near) { near } else { fallback(dir)? };
    private_folder(&folder)?;
    // Somebody else may have made the fallback first, in a place where everybody may write.
    let meta = fs::symlink_metadata(&folder).map_err(|error| StoreError::io("inspect", &folder, error))?;
    let owner = rustix::process::geteuid().as_raw();
    let ours = meta.uid() == owner || account.uid().is_some_and(|uid| meta.uid() == uid);
    if !meta.is_dir() || !ours || meta.mode() & 0o077 != 0 {
        return Err(StoreError::Cluster {
            problem: format!(
                "`{}` cannot hold the server's socket: it must be a folder of this user with mode 0700",
                folder.display()
            ),
            log: Vec::new(),
            remedy: Some(format!("chmod 0700 it, or remove it: rm -r {}", folder.display())),
        });
    }
    account.hand_over(&folder)?;
    Ok(folder)
}

fn fits(folder: &Path) -> bool {
    folder.as_os_str().as_bytes().len() + 1 + NAME.len() <= LONGEST
}

fn fallback(dir: &Path) -> Result<PathBuf, StoreError> {
    let uid = rustix::process::geteuid().as_raw();
    let name = format!("harness-{uid}-{:016x}", fnv(dir.as_os_str().as_bytes()));
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime
        .into_iter()
        .filter(|it| it.is_absolute() && it.is_dir())
        .chain([PathBuf::from("/tmp")])
        .map(|it| it.join(&name))
        .find(|it| fits(it))
        .ok_or_else(|| StoreError::cluster(format!("the path `{}` is too long for a socket", dir.display())))
}

/// Removes what is left of the socket; a folder elsewhere goes with it.
pub(super) fn remove(folder: &Path, dir: &Path) {
    let _ = fs::remove_file(folder.join(NAME));
    let _ = fs::remove_file(folder.join(format!("{NAME}.lock")));
    if !folder.starts_with(dir) {
        let _ = fs::remove_dir(folder);
    }
}

pub(super) fn address(folder: &Path) -> Address {
    Address::of_socket(folder, USER, DATABASE)
}

/// FNV-1a: short names for long paths.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
