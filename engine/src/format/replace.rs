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

/// Makes `bytes` the durable content of `path` in one step.
///
/// The order is: write a temporary file beside it, sync its data, rename, sync the directory. When an error comes
/// before the rename, `path` is what it was; when the last sync fails, `path` is the new file but may turn into the
/// old one if the system crashes.
pub(crate) fn publish(storage: &dyn Storage, path: &Path, bytes: &[u8], target: Target) -> Result<()> {
    let temporary = temporary_beside(path)?;
    let mut file = storage.create(&temporary).map_err(|source| Error::io("create", &temporary, source))?;
    let published =
        fill(file.as_mut(), bytes, &temporary).and_then(|()| rename(storage, &temporary, path, target));
    drop(file);
    if published.is_err() || target == Target::New {
        // What is left behind by a failed removal is a file nobody opens.
        let _ = storage.remove(&temporary);
    }
    published?;
    let directory = directory_of(path);
    storage.sync_directory(directory).map_err(|source| Error::io("sync the directory", directory, source))
}

fn fill(file: &mut dyn StorageFile, bytes: &[u8], path: &Path) -> Result<()> {
    for chunk in bytes.chunks(CHUNK_LEN) {
        file.write(chunk).map_err(|source| Error::io("write", path, source))?;
    }
    file.sync().map_err(|source| Error::io("sync", path, source))
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
