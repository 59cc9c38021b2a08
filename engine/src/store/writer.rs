//! The one writer.

use std::fmt;
use std::sync::Arc;

use super::Store;
use super::memtable::Memtable;
use super::pipeline::Queue;
use super::record::{self, Operation};
use super::sync::MutexGuard;
use super::version::{Version, bits_of, value_of};
use crate::error::{Error, Result};
use crate::symbol::Symbol;
use crate::trie::Value;

/// The most bytes that the operations of one commit may need.
const MOST: u64 = u32::MAX as u64;

/// The right to write, and operations that [`commit`](Self::commit) makes one step: after a crash all of them are there or
/// none.
///
/// While it lives every other writer waits, those in [`Store::insert`] too; so do acknowledgements. Readers and snapshots
/// do not. Dropped without a commit, nothing was done.
pub struct Writer<'s, K: Symbol, V: Value> {
    store: &'s Store<K, V>,
    queue: MutexGuard<'s, Queue<Version<K, V>>>,
    memory: Memtable,
    len: u64,
    operations: Vec<u8>,
}

impl<'s, K: Symbol, V: Value> Writer<'s, K, V> {
    pub(super) fn new(store: &'s Store<K, V>) -> Self {
        let queue = store.pipeline.queue();
        let (memory, len) = (queue.head.memory.clone(), queue.head.len);
        Self { store, queue, memory, len, operations: Vec::new() }
    }

    /// The value of `key`, as it will be after the commit.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a node on the way makes no sense.
    pub fn get(&self, key: &K::Key) -> Result<Option<V>> {
        if let Some(change) = self.memory.get(K::bytes(key)) {
            return Ok(change.map(value_of));
        }
        self.queue.head.get_below_memory(key)
    }

    /// How many keys there will be.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there will be no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn set(&mut self, key: &[u8], change: Option<u64>, replaced: bool) -> Result<()> {
        let needed = self.operations.len() as u64 + key.len() as u64 + 16;
        if needed > MOST {
            return Err(Error::CommitTooLarge { limit: MOST });
        }
        record::push(&mut self.operations, Operation { key, change, replaced }, usize::from(V::WIDTH));
        self.memory.set(key, change);
        self.len = match (change, replaced) {
            (Some(_), false) => self.len + 1,
            (None, true) => self.len - 1,
            _ => self.len,
        };
        Ok(())
    }

    /// Sets the value of `key` and returns the one it had.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get), and [`Error::CommitTooLarge`]; the key is then as it was.
    pub fn insert(&mut self, key: &K::Key, value: V) -> Result<Option<V>> {
        let old = self.get(key)?;
        self.set(K::bytes(key), Some(bits_of(&value)), old.is_some())?;
        Ok(old)
    }

    /// Removes `key` and returns the value it had.
    ///
    /// # Errors
    ///
    /// As for [`insert`](Self::insert).
    pub fn remove(&mut self, key: &K::Key) -> Result<Option<V>> {
        let old = self.get(key)?;
        if old.is_some() {
            self.set(K::bytes(key), None, true)?;
        }
        Ok(old)
    }

    /// Gives `key` the value `new` (`None`: removes it) if it has the value `expected` (`None`: is not there); else returns
    /// what it has. Values are equal if their bytes are.
    ///
    /// # Errors
    ///
    /// As for [`insert`](Self::insert).
    pub fn compare_and_swap(
        &mut self,
        key: &K::Key,
        expected: Option<&V>,
        new: Option<V>,
    ) -> Result<std::result::Result<(), Option<V>>> {
        let old = self.get(key)?;
        let there = old.is_some();
        if old.as_ref().map(bits_of) != expected.map(bits_of) {
            return Ok(Err(old));
        }
        if there || new.is_some() {
            self.set(K::bytes(key), new.as_ref().map(bits_of), there)?;
        }
        Ok(Ok(()))
    }

    /// Makes the operations one commit, and returns its number when it is acknowledged (see
    /// [`Durability`](super::Durability)). Without operations nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the log cannot be written. Whether the commit is there after the store was opened again is then
    /// open, and this store writes nothing any more: every later commit is refused with [`Error::Stopped`].
    pub fn commit(self) -> Result<u64> {
        let Self { store, mut queue, memory, len, operations } = self;
        if operations.is_empty() {
            return Ok(queue.seq);
        }
        if let Some(reason) = store.pipeline.stopped() {
            return Err(store.refused(reason));
        }
        let seq = queue.seq + 1;
        record::begin(&mut queue.records, seq, &operations);
        let head = Version { seq, len, memory, ..(*queue.head).clone() };
        queue.head = Arc::new(head);
        queue.seq = seq;
        let waiting = queue.records.len();
        drop(queue);
        store.pipeline.pushed(waiting);
        store.acknowledged(seq)?;
        Ok(seq)
    }
}

impl<K: Symbol, V: Value> fmt::Debug for Writer<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("len", &self.len).field("bytes", &self.operations.len()).finish()
    }
}
