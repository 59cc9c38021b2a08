//! A store: a map on disk that takes changes one by one and loses none.
//!
//! Changes go to a log and to a sorted table in memory; a [`checkpoint`](Store::checkpoint) turns the table into an image
//! beside the images there are. Readers look at versions that never change, so they never wait for writers, nor
//! writers for them. Opening after a crash replays the log: every acknowledged commit is there, in its order, whole, and
//! nothing that was never asked for.
//!
//! ```
//! use engine::store::{CharStore, Durability};
//!
//! # fn main() -> engine::Result<()> {
//! # let folder = tempfile::tempdir().expect("a scratch folder");
//! # let path = folder.path().join("cities");
//! let store = CharStore::<u64>::open(&path, Durability::Sync)?;
//! store.insert("東京", 14)?;
//! let before = store.snapshot();
//!
//! let mut writer = store.writer();
//! writer.insert("京都", 2)?;
//! writer.remove("東京")?;
//! writer.commit()?;
//!
//! assert_eq!(before.get("東京")?, Some(14));
//! assert_eq!(store.get("東京")?, None);
//! store.checkpoint()?;
//! drop(store);
//!
//! let store = CharStore::<u64>::open(&path, Durability::Sync)?;
//! assert_eq!(store.snapshot().iter().collect::<engine::Result<Vec<_>>>()?, [("京都".to_owned(), 2)]);
//! # Ok(())
//! # }
//! ```
//!
//! In reading order: `record`, `segment` and `manifest` are the bytes on disk (see the [format](mod@crate::format)),
//! `memtable` and `version` what is in memory, `merge` the sorted view over all of it, `pipeline` the way of a commit,
//! `log` the end of the log, `writer`, `checkpoint`, `recovery`. What a store needs of a disk: a sync that returned
//! has happened; the names of a directory change in the order in which they were changed; nothing else. Sectors may be
//! torn and writes that were not synced may arrive in any order or not at all.

mod checkpoint;
mod files;
mod lock;
mod log;
mod manifest;
mod memtable;
mod merge;
mod options;
mod pipeline;
mod record;
mod recovery;
mod segment;
mod snapshot;
mod sort;
mod sync;
mod version;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub use merge::Iter;
pub use options::{Durability, Statistics, StoreOptions};
pub use snapshot::{Reader, Snapshot};
pub use writer::Writer;

use crate::error::{Error, Result};
use crate::format::{Disk, Storage};
use crate::symbol::Symbol;
use crate::trie::Value;
use checkpoint::Checkpoints;
use lock::DirectoryLock;
use log::Log;
use pipeline::{Pipeline, Refusal};
use version::Version;

/// A store over bytes.
pub type ByteStore<V = u64> = Store<u8, V>;

/// A store over chars: keys are `str`, stored as UTF-8.
pub type CharStore<V = u64> = Store<char, V>;

#[derive(Default)]
struct Counters {
    pinned: Arc<AtomicU64>,
    checkpoints: AtomicU64,
    recovered: u64,
    cut: u64,
}

/// A map from keys to values in a directory of its own.
///
/// All methods take `&self`: share it between threads by reference or in an [`Arc`]. One process has a store open at a time.
/// The log grows until somebody calls [`checkpoint`](Self::checkpoint), on any thread; [`Statistics::log_bytes`] tells when
/// it is time. Dropping a store syncs what was not synced yet.
pub struct Store<K: Symbol, V: Value> {
    pipeline: Pipeline<Version<K, V>, Log>,
    checkpoints: Mutex<Checkpoints>,
    storage: Arc<dyn Storage>,
    directory: PathBuf,
    options: StoreOptions,
    counters: Counters,
    /// Let go of last.
    _lock: DirectoryLock,
}

impl<K: Symbol, V: Value> Store<K, V> {
    /// Opens the store in the directory `path`, or makes an empty one if there is nothing.
    ///
    /// Takes the time of opening up to three images and of replaying the log: 24 bytes and a sorted insert a commit.
    /// If the store was not closed, all pages of its images are verified.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if it is open already; [`Error::Corrupt`] if a file is missing or damaged that was durable; and as
    /// [`Image::open`](crate::Image::open). Nothing is changed then, except that files which no manifest names may be gone.
    pub fn open(path: impl AsRef<Path>, options: impl Into<StoreOptions>) -> Result<Self> {
        Self::open_on(Arc::new(Disk), path, options)
    }

    /// As [`open`](Self::open), writing to another storage than the disk. Files are still read from the disk.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_on(
        storage: Arc<dyn Storage>,
        path: impl AsRef<Path>,
        options: impl Into<StoreOptions>,
    ) -> Result<Self> {
        let (directory, options) = (path.as_ref().to_owned(), options.into());
        recovery::make_directory(&directory)?;
        let lock = DirectoryLock::take(&directory)?;
        let mut counters = Counters::default();
        let found = recovery::recover::<K, V>(&storage, &directory, options, &counters.pinned)?;
        (counters.recovered, counters.cut) = (found.operations, found.cut);
        let checkpoints = Checkpoints { segment: found.manifest.segment, manifest: found.manifest };
        let seq = found.version.seq;
        let gather = options.durability.gather();
        Ok(Self {
            pipeline: Pipeline::new(Arc::new(found.version), seq, found.log, gather),
            checkpoints: Mutex::new(checkpoints),
            storage,
            directory,
            options,
            counters,
            _lock: lock,
        })
    }

    /// The value of `key`. On a thread that asks often, a [`reader`](Self::reader) is faster.
    ///
    /// # Errors
    ///
    /// As for [`Snapshot::get`].
    pub fn get(&self, key: &K::Key) -> Result<Option<V>> {
        self.pipeline.published().load().get(key)
    }

    /// The store as it is now: all acknowledged commits, and maybe some that are about to be.
    pub fn snapshot(&self) -> Snapshot<K, V> {
        Snapshot::new(self.pipeline.published().load_full())
    }

    /// A place for a reading thread.
    pub fn reader(&self) -> Reader<'_, K, V> {
        Reader::new(self.pipeline.published())
    }

    /// Waits for other writers and begins a commit. A thread that holds a writer must not write past it: it would wait for
    /// itself.
    pub fn writer(&self) -> Writer<'_, K, V> {
        Writer::new(self)
    }

    /// Sets the value of `key` in a commit of its own and returns the one it had.
    ///
    /// # Errors
    ///
    /// As for [`Writer::insert`] and [`Writer::commit`].
    pub fn insert(&self, key: &K::Key, value: V) -> Result<Option<V>> {
        let mut writer = self.writer();
        let old = writer.insert(key, value)?;
        writer.commit()?;
        Ok(old)
    }

    /// Removes `key` in a commit of its own and returns the value it had.
    ///
    /// # Errors
    ///
    /// As for [`Writer::remove`] and [`Writer::commit`].
    pub fn remove(&self, key: &K::Key) -> Result<Option<V>> {
        let mut writer = self.writer();
        let old = writer.remove(key)?;
        writer.commit()?;
        Ok(old)
    }

    /// [`Writer::compare_and_swap`] in a commit of its own.
    ///
    /// # Errors
    ///
    /// As for [`Writer::compare_and_swap`] and [`Writer::commit`].
    pub fn compare_and_swap(
        &self,
        key: &K::Key,
        expected: Option<&V>,
        new: Option<V>,
    ) -> Result<std::result::Result<(), Option<V>>> {
        let mut writer = self.writer();
        let swapped = writer.compare_and_swap(key, expected, new)?;
        writer.commit()?;
        Ok(swapped)
    }

    /// Makes all acknowledged commits durable; with other durabilities than [`Durability::Async`] they are.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], after which the store writes nothing any more; [`Error::Stopped`].
    pub fn sync(&self) -> Result<()> {
        if let Some(reason) = self.pipeline.stopped() {
            return Err(self.refused(reason));
        }
        let synced = self.pipeline.log().sync();
        synced.inspect_err(|error| self.pipeline.stop(error.with_cause()))
    }

    /// Closes the store and tells what dropping would not: whether everything is durable.
    ///
    /// # Errors
    ///
    /// As for [`sync`](Self::sync).
    pub fn close(self) -> Result<()> {
        self.end()
    }

    fn end(&self) -> Result<()> {
        if let Some(reason) = self.pipeline.stopped() {
            return Err(self.refused(reason));
        }
        let closed = self.pipeline.log().close();
        // Dropping it does not close it again.
        let reason = closed.as_ref().err().map_or_else(|| "it was closed".to_owned(), Error::with_cause);
        self.pipeline.stop(reason);
        closed
    }

    /// What the store is made of now.
    pub fn statistics(&self) -> Statistics {
        let version = self.pipeline.published().load_full();
        let log = self.pipeline.log();
        let frozen = version.frozen.as_ref().map(|frozen| &frozen.memory);
        Statistics {
            seq: version.seq,
            keys: version.len,
            memory_keys: (version.memory.len() + frozen.map_or(0, memtable::Memtable::len)) as u64,
            memory_bytes: (version.memory.bytes() + frozen.map_or(0, memtable::Memtable::bytes)) as u64,
            base_keys: version.base_len(),
            delta_keys: version.delta_len(),
            log_bytes: log.bytes(),
            pinned_bytes: self.counters.pinned.load(Ordering::Relaxed),
            syncs: log.syncs,
            checkpoints: self.counters.checkpoints.load(Ordering::Relaxed),
            recovered_operations: self.counters.recovered,
            cut_bytes: self.counters.cut,
        }
    }

    fn refused(&self, reason: String) -> Error {
        Error::Stopped { path: self.directory.clone(), reason }
    }

    /// Returns when a commit is acknowledged.
    fn acknowledged(&self, seq: u64) -> Result<()> {
        self.pipeline.wait(seq).map_err(|refusal| match refusal {
            Refusal::Failed(error) => error,
            Refusal::Stopped(reason) => self.refused(reason),
        })
    }
}

impl<K: Symbol, V: Value> Drop for Store<K, V> {
    fn drop(&mut self) {
        // Who wants to know calls `close`.
        let _ = self.end();
    }
}

impl<K: Symbol, V: Value> fmt::Debug for Store<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.pipeline.published().load().len;
        f.debug_struct("Store").field("directory", &self.directory).field("len", &len).finish_non_exhaustive()
    }
}
