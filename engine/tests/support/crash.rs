//! A disk that remembers what a crash could leave of it.
//!
//! Writes go to the real directory at once, so that they can be read back. Beside it a model knows what is durable: the
//! bytes that a sync covered, and the names that a sync of the directory covered. After a crash, any of the sectors
//! written since may be there, one of them in part, and of the changes of names a first part.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::format::{Disk, Storage, StorageFile};

const SECTOR: usize = 512;

/// A small generator of the choices a crash makes.
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound.max(1)
    }
}

#[derive(Default)]
struct Inode {
    durable: Vec<u8>,
    len: u64,
    unsynced: Vec<(u64, Vec<u8>)>,
}

enum Change {
    Name(PathBuf, usize),
    Remove(PathBuf),
}

fn change_names(names: &mut BTreeMap<PathBuf, usize>, change: &Change) {
    match change {
        Change::Name(path, inode) => {
            names.insert(path.clone(), *inode);
        }
        Change::Remove(path) => {
            names.remove(path);
        }
    }
}

#[derive(Default)]
struct State {
    /// Mutations that will pass.
    fuse: usize,
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    changes: Vec<Change>,
}

impl State {
    fn burn(&mut self) -> io::Result<()> {
        match self.fuse.checked_sub(1) {
            Some(left) => {
                self.fuse = left;
                Ok(())
            }
            None => Err(io::Error::other("the machine has stopped")),
        }
    }

    /// A change of names, which may be under way when the machine stops.
    fn change(&mut self, change: Change) {
        change_names(&mut self.names, &change);
        self.changes.push(change);
    }
}

#[derive(Clone)]
pub(crate) struct CrashStorage(Arc<Mutex<State>>);

impl CrashStorage {
    /// A machine that stops after `fuse` mutations, on which the files of `directory` are durable.
    pub(crate) fn new(directory: &Path, fuse: usize) -> Self {
        let mut state = State { fuse, ..State::default() };
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let durable = std::fs::read(&path).unwrap();
            state.names.insert(path, state.inodes.len());
            state.inodes.push(Inode { len: durable.len() as u64, durable, unsynced: Vec::new() });
        }
        state.durable_names = state.names.clone();
        Self(Arc::new(Mutex::new(state)))
    }

    /// How many more mutations would have passed.
    pub(crate) fn left(&self) -> usize {
        self.0.lock().unwrap().fuse
    }

    /// Puts one of the states that a crash now could leave into an empty directory: with seed 0 only what is durable, with
    /// seed 1 everything.
    pub(crate) fn after_crash(&self, seed: u64, into: &Path) {
        let state = self.0.lock().unwrap();
        let mut choices = Choices::new(seed);
        let mut names = state.durable_names.clone();
        let arrived = match seed {
            0 => 0,
            1 => state.changes.len(),
            _ => choices.below(state.changes.len() + 1),
        };
        for change in &state.changes[..arrived] {
            change_names(&mut names, change);
        }
        for (path, inode) in names {
            let inode = &state.inodes[inode];
            let mut bytes = inode.durable.clone();
            for (offset, data) in &inode.unsynced {
                let mut at = 0;
                while at < data.len() {
                    let place = *offset as usize + at;
                    let mut len = (SECTOR - place % SECTOR).min(data.len() - at);
                    let step = len;
                    let there = match seed {
                        0 => false,
                        1 => true,
                        _ => choices.below(3) > 0,
                    };
                    if seed > 1 && choices.below(4) == 0 {
                        len = choices.below(len);
                    }
                    if there {
                        bytes.resize(bytes.len().max(place + len), 0);
                        bytes[place..place + len].copy_from_slice(&data[at..at + len]);
                    }
                    at += step;
                }
            }
            std::fs::write(into.join(path.file_name().unwrap()), bytes).unwrap();
        }
    }

    fn file(&self, inode: usize, real: Box<dyn StorageFile>) -> Box<dyn StorageFile> {
        Box::new(CrashFile { state: Arc::clone(&self.0), inode, real })
    }
}

impl Storage for CrashStorage {
    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let mut state = self.0.lock().unwrap();
        let burnt = state.burn();
        let real = if burnt.is_ok() { Some(Disk.create(path)?) } else { None };
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.change(Change::Name(path.to_owned(), inode));
        drop(state);
        burnt?;
        Ok(self.file(inode, real.unwrap()))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let mut state = self.0.lock().unwrap();
        state.burn()?;
        let real = Disk.append(path)?;
        let inode = state.names[path];
        drop(state);
        Ok(self.file(inode, real))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        let burnt = state.burn();
        let inode = state.names[from];
        state.change(Change::Name(to.to_owned(), inode));
        state.change(Change::Remove(from.to_owned()));
        burnt?;
        Disk.rename(from, to)
    }

    fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::Error::other("a store makes no links"))
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.burn()?;
        state.durable_names = state.names.clone();
        state.changes.clear();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        let burnt = state.burn();
        state.change(Change::Remove(path.to_owned()));
        burnt?;
        Disk.remove(path)
    }
}

struct CrashFile {
    state: Arc<Mutex<State>>,
    inode: usize,
    real: Box<dyn StorageFile>,
}

impl CrashFile {
    /// The write on which the machine stops is under way: any part of it may arrive.
    fn put(&mut self, offset: Option<u64>, data: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let burnt = state.burn();
        let inode = &mut state.inodes[self.inode];
        let offset = offset.unwrap_or(inode.len);
        inode.len = inode.len.max(offset + data.len() as u64);
        inode.unsynced.push((offset, data.to_vec()));
        burnt
    }
}

impl StorageFile for CrashFile {
    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.put(None, data)?;
        self.real.write(data)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.put(Some(offset), data)?;
        self.real.write_at(offset, data)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.burn()?;
        let inode = &mut state.inodes[self.inode];
        for (offset, data) in std::mem::take(&mut inode.unsynced) {
            let offset = offset as usize;
            inode.durable.resize(inode.durable.len().max(offset + data.len()), 0);
            inode.durable[offset..offset + data.len()].copy_from_slice(&data);
        }
        Ok(())
    }
}
