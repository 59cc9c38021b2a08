//! One store, one owner.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::files;
use crate::error::{Error, Result};

/// The directories that this process has open: some systems give a lock twice to the process that has it.
static OPEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Holds a directory until it is dropped. The system lets go of it when the process dies, however that happens.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    directory: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl DirectoryLock {
    pub(super) fn take(directory: &Path) -> Result<Self> {
        let directory = directory.canonicalize().map_err(|source| Error::io("find", directory, source))?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains(&directory) {
            return Err(Error::Locked { path: directory, by: "this process" });
        }
        let path = directory.join(files::LOCK);
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|source| Error::io("open", &path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { path: directory, by: "another process" });
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path, source)),
        }
        open.insert(directory.clone());
        Ok(Self { directory, _file: file })
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.directory);
    }
}
