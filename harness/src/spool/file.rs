//! A file of records that one process at a time appends to.

use super::SpoolError;
use super::frame::{Frames, MAGIC};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the file in its folder.
pub(super) const NAME: &str = "records";

#[derive(Debug)]
pub(super) struct RecordFile {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// The end of the last whole record.
    length: u64,
    synced: Instant,
    dirty: bool,
}

impl RecordFile {
    /// Opens the file in `folder`, making both where they are missing, and waits for its lock.
    pub(super) fn wait_for(folder: &Path) -> Result<Self, SpoolError> {
        loop {
            let made = !folder.exists();
            fs::create_dir_all(folder).map_err(|it| SpoolError::io("create", folder, it))?;
            let path = folder.join(NAME);
            let open = OpenOptions::new().create(true).read(true).append(true).open(&path);
            let file = match open {
                Ok(file) => file,
                // Whoever loaded it has just removed the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(SpoolError::io("open", &path, error)),
            };
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(SpoolError::io("lock", &path, error)),
            }
            if !is_at(&file, &path) {
                continue;
            }
            if made {
                // The file's name must survive a power failure too.
                for above in [Some(folder), folder.parent(), folder.parent().and_then(Path::parent)] {
                    above.map_or(Ok(()), sync_folder)?;
                }
            }
            return Self::locked(folder, path, file);
        }
    }

    /// Opens the file in `folder`, unless it is not there or another process has it.
    pub(super) fn take(folder: &Path) -> Result<Option<Self>, SpoolError> {
        let path = folder.join(NAME);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // What a removal that was killed has left; not when somebody is just making it.
                let _ = fs::remove_dir(folder);
                return Ok(None);
            }
            Err(error) => return Err(SpoolError::io("open", &path, error)),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&file, &path) => Self::locked(folder, path, file).map(Some),
            Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(error) => Err(SpoolError::io("lock", &path, error)),
        }
    }

    /// Cuts a torn record off: what was not finished did not happen.
    fn locked(folder: &Path, path: PathBuf, file: File) -> Result<Self, SpoolError> {
        let mut frames = Frames::of(&file, &path)?;
        while frames.next()?.is_some() {}
        let length = frames.end();
        let (folder, synced) = (folder.to_owned(), Instant::now());
        let mut this = Self { folder, path, file, length, synced, dirty: false };
        if this.file.metadata().map_err(|it| this.failed("read", it))?.len() != length {
            this.file.set_len(length).map_err(|it| this.failed("cut the torn end of", it))?;
            this.dirty = true;
        }
        if length == 0 {
            this.append(MAGIC)?;
        }
        Ok(this)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn since_sync(&self) -> Duration {
        self.synced.elapsed()
    }

    /// Appends bytes: all of them, or, with an error, none.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        self.dirty = true;
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // What cannot be cut now is a torn end, which the next writer cuts.
                let _ = self.file.set_len(self.length);
                Err(self.failed("append to", error))
            }
        }
    }

    /// Waits until the disk has all that was appended.
    pub(super) fn sync(&mut self) -> Result<(), SpoolError> {
        if std::mem::take(&mut self.dirty) {
            self.file.sync_data().map_err(|it| self.failed("sync", it))?;
        }
        self.synced = Instant::now();
        Ok(())
    }

    /// Removes file and folder.
    pub(super) fn remove(self) -> Result<(), SpoolError> {
        fs::remove_file(&self.path).map_err(|it| self.failed("remove", it))?;
        fs::remove_dir(&self.folder).map_err(|it| SpoolError::io("remove", &self.folder, it))
    }

    fn failed(&self, attempt: &'static str, source: io::Error) -> SpoolError {
        SpoolError::io(attempt, &self.path, source)
    }
}

/// Whether the open file is still the one of that name.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

fn sync_folder(folder: &Path) -> Result<(), SpoolError> {
    File::open(folder).and_then(|it| it.sync_all()).map_err(|it| SpoolError::io("sync", folder, it))
}
