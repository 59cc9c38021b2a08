//! Atomic replace: a name holds the old file or the new one, never a part of either.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::storage::{Storage, StorageFile};
use crate::error::{Error, Result};

/// Bytes a write. Small enough that a test can break one in the middle of an image.
const CHUNK_LEN: usize = 1 << 20;

/// What may stand under the name that a file is published as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Anything or nothing; a file is replaced.
    Replace,
    /// Nothing; an existing file is left alone and refused.
    New,
}

/// Makes `bytes` the durable content of `path` in one step; see [`Replacement`].
pub(crate) fn publish(storage: &dyn Storage, path: &Path, bytes: &[u8], target: Target) -> Result<()> {
    let mut replacement = Replacement::begin(storage, path)?;
    for chunk in bytes.chunks(CHUNK_LEN) {
        replacement.write(|file| file.write(chunk))?;
    }
    replacement.commit(target)
}

/// A new content of a path, while it is being written.
///
/// The order is: write a temporary file beside it, sync its data, rename, sync the directory. When an error comes
/// before the rename, `path` is what it was; when the last sync fails, `path` is the new file but may turn into the
/// old one if the system crashes. Dropped without [`commit`](Self::commit), it leaves `path` alone.
pub(crate) struct Replacement<'s> {
    storage: &'s dyn Storage,
    path: PathBuf,
    temporary: PathBuf,
    file: Box<dyn StorageFile>,
    /// The temporary file has become the target.
    renamed: bool,
}

impl<'s> Replacement<'s> {
    pub(crate) fn begin(storage: &'s dyn Storage, path: &Path) -> Result<Self> {
        let temporary = temporary_beside(path)?;
        let file = storage.create(&temporary).map_err(|source| Error::io("create", &temporary, source))?;
        Ok(Self { storage, path: path.to_owned(), temporary, file, renamed: false })
    }

    /// Writes to the temporary file.
    pub(crate) fn write<T>(
        &mut self,
        write: impl FnOnce(&mut dyn StorageFile) -> io::Result<T>,
    ) -> Result<T> {
        write(self.file.as_mut()).map_err(|source| Error::io("write", &self.temporary, source))
    }

    /// Puts what was written in the place of `path`.
    pub(crate) fn commit(mut self, target: Target) -> Result<()> {
        self.file.sync().map_err(|source| Error::io("sync", &self.temporary, source))?;
        rename(self.storage, &self.temporary, &self.path, target)?;
        // A new name is a second one; the first one goes when this is dropped.
        self.renamed = target == Target::Replace;
        let (storage, directory) = (self.storage, directory_of(&self.path).to_owned());
        drop(self);
        storage
            .sync_directory(&directory)
            .map_err(|source| Error::io("sync the directory", &directory, source))
    }
}

impl Drop for Replacement<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // What is left behind by a failed removal is a file nobody opens.
            let _ = self.storage.remove(&self.temporary);
        }
    }
}

fn rename(storage: &dyn Storage, from: &Path, to: &Path, target: Target) -> Result<()> {
    match target {
        Target::Replace => storage.rename(from, to).map_err(|source| Error::io("replace", to, source)),
        Target::New => storage.link(from, to).map_err(|source| Error::io("create", to, source)),
    }
}

/// A name in the same directory that no other process or thread uses.
fn temporary_beside(path: &Path) -> Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
        return Err(Error::io("create", path, source));
    };
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(temporary))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage::Disk;
    use super::*;

    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        publish(&Disk, &path, b"one", Target::New).unwrap();
        assert!(publish(&Disk, &path, b"two", Target::New).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        publish(&Disk, &path, b"two", Target::Replace).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        assert!(publish(&Disk, Path::new("/"), b"", Target::Replace).is_err());
        assert!(publish(&Disk, Path::new(".."), b"", Target::Replace).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn files_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        publish(&Disk, &path, b"one", Target::Replace).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
