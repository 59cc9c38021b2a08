//! A disk that promises no durability, for tests that checkpoint a thousand times.

use std::io;
use std::path::Path;

use engine::format::{Disk, Storage, StorageFile};

pub(crate) struct Quick;

struct QuickFile(Box<dyn StorageFile>);

impl Storage for Quick {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(QuickFile(Disk.create(path)?)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(QuickFile(Disk.append(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Some file systems sync a file that replaces another.
        let _ = Disk.remove(to);
        Disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.link(from, to)
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }
}

impl StorageFile for QuickFile {
    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.0.write(data)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
