//! One state of a store, which never changes.

use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::memtable::Memtable;
use super::merge::{Merge, Source};
use crate::error::Result;
use crate::symbol::Symbol;
use crate::trie::{Image, Stored, Value};

pub(super) fn bits_of<V: Value>(value: &V) -> u64 {
    let mut bytes = [0; 8];
    value.encode(&mut bytes[..usize::from(V::WIDTH)]);
    u64::from_le_bytes(bytes)
}

pub(super) fn value_of<V: Value>(bits: u64) -> V {
    V::decode(&bits.to_le_bytes()[..usize::from(V::WIDTH)])
}

/// An image, as long as some version needs it.
pub(super) struct Held<K, V: ?Sized> {
    pub(super) image: Image<K, V>,
    pub(super) path: PathBuf,
    bytes: u64,
    retired: AtomicBool,
    /// Bytes of all retired images that are still held.
    pinned: Arc<AtomicU64>,
}

impl<K: Symbol, V: Stored + ?Sized> Held<K, V> {
    pub(super) fn new(image: Image<K, V>, path: PathBuf, pinned: &Arc<AtomicU64>) -> Self {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        Self { image, path, bytes, retired: AtomicBool::new(false), pinned: Arc::clone(pinned) }
    }
}

impl<K, V: ?Sized> Held<K, V> {
    /// Says that the newest version does not need it any more.
    pub(super) fn retire(&self) {
        if !self.retired.swap(true, Ordering::Relaxed) {
            self.pinned.fetch_add(self.bytes, Ordering::Relaxed);
        }
    }
}

impl<K, V: ?Sized> Drop for Held<K, V> {
    fn drop(&mut self) {
        if *self.retired.get_mut() {
            self.pinned.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// Changes that a checkpoint is putting into an image.
#[derive(Clone)]
pub(super) struct Frozen {
    pub(super) memory: Memtable,
    /// The last commit in it, and how many keys there were after that.
    pub(super) seq: u64,
    pub(super) len: u64,
}

pub(super) struct Version<K, V> {
    /// The last commit.
    pub(super) seq: u64,
    /// Keys.
    pub(super) len: u64,
    pub(super) memory: Memtable,
    pub(super) frozen: Option<Frozen>,
    pub(super) base: Option<Arc<Held<K, V>>>,
    pub(super) delta: Option<Arc<Held<K, V>>>,
    pub(super) gone: Option<Arc<Held<K, ()>>>,
}

impl<K, V> Clone for Version<K, V> {
    fn clone(&self) -> Self {
        Self {
            memory: self.memory.clone(),
            frozen: self.frozen.clone(),
            base: self.base.clone(),
            delta: self.delta.clone(),
            gone: self.gone.clone(),
            ..*self
        }
    }
}

impl<K: Symbol, V: Value> Version<K, V> {
    pub(super) fn get(&self, key: &K::Key) -> Result<Option<V>> {
        if let Some(change) = self.memory.get(K::bytes(key)) {
            return Ok(change.map(value_of));
        }
        self.get_below_memory(key)
    }

    /// As if there were no changes in memory that no checkpoint has frozen.
    pub(super) fn get_below_memory(&self, key: &K::Key) -> Result<Option<V>> {
        if let Some(change) = self.frozen.as_ref().and_then(|frozen| frozen.memory.get(K::bytes(key))) {
            return Ok(change.map(value_of));
        }
        if let Some(delta) = &self.delta
            && let Some(value) = delta.image.get(key)?
        {
            return Ok(Some(value));
        }
        if let Some(gone) = &self.gone
            && gone.image.contains(key)?
        {
            return Ok(None);
        }
        match &self.base {
            Some(base) => base.image.get(key),
            None => Ok(None),
        }
    }

    /// All keys from `start` on with what became of them.
    pub(super) fn merge(&self, start: Bound<&K::Key>) -> Result<Merge<'_, K, V>> {
        let mut sources = Vec::with_capacity(5);
        sources.push(Source::memory(&self.memory, start));
        self.push_frozen(&mut sources, start)?;
        self.push_base(&mut sources, start)?;
        Ok(Merge::new(sources))
    }

    /// What a checkpoint is to write: with the base all keys, else what differs from the base.
    pub(super) fn merge_frozen(&self, with_base: bool) -> Result<Merge<'_, K, V>> {
        let mut sources = Vec::with_capacity(4);
        self.push_frozen(&mut sources, Bound::Unbounded)?;
        if with_base {
            self.push_base(&mut sources, Bound::Unbounded)?;
        }
        Ok(Merge::new(sources))
    }

    fn push_frozen<'v>(&'v self, sources: &mut Vec<Source<'v, K, V>>, start: Bound<&K::Key>) -> Result<()> {
        if let Some(frozen) = &self.frozen {
            sources.push(Source::memory(&frozen.memory, start));
        }
        if let Some(delta) = &self.delta {
            sources.push(Source::image(&delta.image, start)?);
        }
        if let Some(gone) = &self.gone {
            sources.push(Source::gone(&gone.image, start)?);
        }
        Ok(())
    }

    fn push_base<'v>(&'v self, sources: &mut Vec<Source<'v, K, V>>, start: Bound<&K::Key>) -> Result<()> {
        if let Some(base) = &self.base {
            sources.push(Source::image(&base.image, start)?);
        }
        Ok(())
    }

    pub(super) fn base_len(&self) -> u64 {
        self.base.as_ref().map_or(0, |held| held.image.len())
    }

    pub(super) fn delta_len(&self) -> u64 {
        let values = self.delta.as_ref().map_or(0, |held| held.image.len());
        values + self.gone.as_ref().map_or(0, |held| held.image.len())
    }
}
