//! Storage: the few operations that writing an image needs, so that a test can break each of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Where files are written. [`Disk`] is the real one, [`FaultStorage`](super::FaultStorage) its twin that fails.
///
/// Only mutations go through it: reading never changes anything.
pub trait Storage: Send + Sync {
    /// Creates a file that must not exist yet, readable and writable by its owner only.
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Opens a file that exists, to go on at its end.
    fn append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>>;

    /// Gives a file a new name; a file of that name is replaced in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name; fails with [`io::ErrorKind::AlreadyExists`] if there is a file of that name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Removes a name.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that is being written.
pub trait StorageFile: Send {
    /// Appends `data`.
    fn write(&mut self, data: &[u8]) -> io::Result<()>;

    /// Writes `data` over bytes of the file that were written before. What is appended stays where it is.
    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Makes everything that was written durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        // Elsewhere a directory cannot be opened like a file, and renames are durable by themselves or not at all.
        if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl StorageFile for File {
    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.write_all(data)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(data)?;
        self.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
