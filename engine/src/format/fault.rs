//! The twin of a storage that fails on demand.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::storage::{Storage, StorageFile};

/// Lets a number of mutations pass and fails every later one.
///
/// The write that fails leaves half of its bytes behind, as a full disk or a crash would. Raise `fuse` from 0 until
/// nothing fails and look at the files after each attempt: that is the test of an atomic replace.
#[derive(Debug)]
pub struct FaultStorage<S> {
    inner: S,
    fuse: Arc<AtomicU32>,
}

impl<S> FaultStorage<S> {
    /// Lets the first `fuse` mutations pass.
    pub fn new(inner: S, fuse: u32) -> Self {
        Self { inner, fuse: Arc::new(AtomicU32::new(fuse)) }
    }

    /// How many more mutations will pass.
    pub fn left(&self) -> u32 {
        self.fuse.load(Ordering::Relaxed)
    }
}

fn burn(fuse: &AtomicU32) -> io::Result<()> {
    match fuse.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::other("injected fault")),
    }
}

impl<S: Storage> Storage for FaultStorage<S> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        burn(&self.fuse)?;
        Ok(Box::new(FaultFile { inner: self.inner.create(path)?, fuse: Arc::clone(&self.fuse) }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        burn(&self.fuse)?;
        Ok(Box::new(FaultFile { inner: self.inner.append(path)?, fuse: Arc::clone(&self.fuse) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.link(from, to)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.sync_directory(directory)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.remove(path)
    }
}

struct FaultFile {
    inner: Box<dyn StorageFile>,
    fuse: Arc<AtomicU32>,
}

impl StorageFile for FaultFile {
    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        if let Err(fault) = burn(&self.fuse) {
            self.inner.write(&data[..data.len() / 2])?;
            return Err(fault);
        }
        self.inner.write(data)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        if let Err(fault) = burn(&self.fuse) {
            self.inner.write_at(offset, &data[..data.len() / 2])?;
            return Err(fault);
        }
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.sync()
    }
}
