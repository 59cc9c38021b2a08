//! The twin of a storage that fails on demand.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::storage::{Storage, StorageFile};

/// Lets a number of mutations pass and fails every later one.
///
/// The write that fails leaves half of its bytes behind, as a full disk or a crash would. Raise `fuse` from 0 until
/// nothing fails and look at the files after each attempt: that is the test of an atomic replace.
#[derive(Debug)]
pub struct FaultStorage<S> {
    inner: S,
    fuse: Rc<Cell<u32>>,
}

impl<S> FaultStorage<S> {
    /// Lets the first `fuse` mutations pass.
    pub fn new(inner: S, fuse: u32) -> Self {
        Self { inner, fuse: Rc::new(Cell::new(fuse)) }
    }

    /// How many more mutations will pass.
    pub fn left(&self) -> u32 {
        self.fuse.get()
    }
}

fn burn(fuse: &Cell<u32>) -> io::Result<()> {
    match fuse.get().checked_sub(1) {
        Some(left) => {
            fuse.set(left);
            Ok(())
        }
        None => Err(io::Error::other("injected fault")),
    }
}

impl<S: Storage> Storage for FaultStorage<S> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        burn(&self.fuse)?;
        Ok(Box::new(FaultFile { inner: self.inner.create(path)?, fuse: Rc::clone(&self.fuse) }))
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
    fuse: Rc<Cell<u32>>,
}

impl StorageFile for FaultFile {
    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        if let Err(fault) = burn(&self.fuse) {
            self.inner.write(&data[..data.len() / 2])?;
            return Err(fault);
        }
        self.inner.write(data)
    }

    fn write_start(&mut self, data: &[u8]) -> io::Result<()> {
        if let Err(fault) = burn(&self.fuse) {
            self.inner.write_start(&data[..data.len() / 2])?;
            return Err(fault);
        }
        self.inner.write_start(data)
    }

    fn sync(&mut self) -> io::Result<()> {
        burn(&self.fuse)?;
        self.inner.sync()
    }
}
