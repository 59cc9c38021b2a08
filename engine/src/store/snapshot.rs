//! What readers hold.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::merge::{End, Iter};
use super::sync::Published;
use super::version::Version;
use crate::error::Result;
use crate::symbol::Symbol;
use crate::trie::Value;

/// A store as it was after one of its commits. It stays so, whatever is written later, and also when the store is closed;
/// the images it needs keep their space on disk meanwhile.
pub struct Snapshot<K, V> {
    version: Arc<Version<K, V>>,
}

impl<K, V> Clone for Snapshot<K, V> {
    fn clone(&self) -> Self {
        Self { version: Arc::clone(&self.version) }
    }
}

impl<K: Symbol, V: Value> Snapshot<K, V> {
    pub(super) fn new(version: Arc<Version<K, V>>) -> Self {
        Self { version }
    }

    /// The number of the last commit in it. Opening and closing a store count as commits where they write to the log.
    pub fn seq(&self) -> u64 {
        self.version.seq
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.version.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`: a lookup in memory, then one in each of at most three images.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a node on the way makes no sense.
    pub fn get(&self, key: &K::Key) -> Result<Option<V>> {
        self.version.get(key)
    }

    /// Whether `key` is there.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn contains(&self, key: &K::Key) -> Result<bool> {
        Ok(self.get(key)?.is_some())
    }

    /// All entries in the byte order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(&self.version, Bound::Unbounded, End::Before(Bound::Unbounded))
    }

    /// The entries whose keys are in a range. An empty range, also one that ends before it starts, has none.
    pub fn range<'b>(&self, range: impl RangeBounds<&'b K::Key>) -> Iter<'_, K, V>
    where
        K::Key: 'b,
    {
        let end = range.end_bound().map(|key| K::bytes(key).to_vec());
        Iter::new(&self.version, range.start_bound().map(|key| *key), End::Before(end))
    }

    /// The entries whose keys start with `prefix`.
    pub fn prefix(&self, prefix: &K::Key) -> Iter<'_, K, V> {
        Iter::new(&self.version, Bound::Included(prefix), End::Prefix(K::bytes(prefix).to_vec()))
    }
}

impl<'s, K: Symbol, V: Value> IntoIterator for &'s Snapshot<K, V> {
    type Item = Result<(K::Owned, V)>;
    type IntoIter = Iter<'s, K, V>;

    fn into_iter(self) -> Iter<'s, K, V> {
        self.iter()
    }
}

impl<K: Symbol, V: Value> fmt::Debug for Snapshot<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("seq", &self.seq()).field("len", &self.len()).finish()
    }
}

type Cached<'s, T> = arc_swap::Cache<&'s Published<T>, Arc<T>>;

/// The place of one reading thread: it sees every new version at once, and between two of them a lookup pays one load for
/// that. It holds the version it saw last.
pub struct Reader<'s, K, V> {
    cache: Cached<'s, Version<K, V>>,
}

impl<'s, K: Symbol, V: Value> Reader<'s, K, V> {
    pub(super) fn new(published: &'s Published<Version<K, V>>) -> Self {
        Self { cache: arc_swap::Cache::new(published) }
    }

    /// The value of `key` now.
    ///
    /// # Errors
    ///
    /// As for [`Snapshot::get`].
    #[inline]
    pub fn get(&mut self, key: &K::Key) -> Result<Option<V>> {
        self.cache.load().get(key)
    }

    /// The store as it is now.
    pub fn snapshot(&mut self) -> Snapshot<K, V> {
        Snapshot::new(Arc::clone(self.cache.load()))
    }
}

impl<K, V> fmt::Debug for Reader<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
