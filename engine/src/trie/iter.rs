//! Iteration over the entries of a trie.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Bound;

use super::cursor::Cursor;
use super::tree::Tree;
use super::value::{Value, unpadded};
use crate::error::{Error, Result};
use crate::symbol::Symbol;

/// The entries of a trie, those below a prefix or those in a range, in the byte order of their keys.
///
/// An item is an error if a lazily opened image turns out to be damaged; it is then the last one.
pub struct Iter<'t, K, V> {
    cursor: Option<Cursor<'t>>,
    /// An error that is to be returned first.
    failed: Option<Error>,
    /// The first key is left out if it is this one.
    without: Option<Vec<u8>>,
    end: Bound<Vec<u8>>,
    types: PhantomData<fn() -> (K, V)>,
}

impl<'t, K: Symbol, V: Value> Iter<'t, K, V> {
    pub(super) fn new(cursor: Result<Cursor<'t>>) -> Self {
        let (cursor, failed) = match cursor {
            Ok(cursor) => (Some(cursor), None),
            Err(damage) => (None, Some(damage)),
        };
        Self { cursor, failed, without: None, end: Bound::Unbounded, types: PhantomData }
    }

    pub(super) fn between(tree: &'t Tree, start: Bound<&[u8]>, end: Bound<&[u8]>) -> Self {
        let (from, without) = match start {
            Bound::Included(start) => (start, None),
            Bound::Excluded(start) => (start, Some(start.to_vec())),
            Bound::Unbounded => (&b""[..], None),
        };
        Self { without, end: end.map(<[u8]>::to_vec), ..Self::new(Cursor::from(tree, from)) }
    }

    fn entry(&mut self) -> Result<Option<(K::Owned, V)>> {
        let Some(cursor) = &mut self.cursor else { return Ok(None) };
        let mut value = cursor.advance()?;
        if self.without.take().is_some_and(|without| without == cursor.key()) {
            value = cursor.advance()?;
        }
        let Some(value) = value else { return Ok(None) };
        let inside = match &self.end {
            Bound::Included(end) => cursor.key() <= end.as_slice(),
            Bound::Excluded(end) => cursor.key() < end.as_slice(),
            Bound::Unbounded => true,
        };
        match K::key(cursor.key()) {
            _ if !inside => Ok(None),
            Some(key) => Ok(Some((key, unpadded(value)))),
            None => Err(cursor.tree().foreign_key(cursor.key())),
        }
    }
}

impl<K: Symbol, V: Value> Iterator for Iter<'_, K, V> {
    type Item = Result<(K::Owned, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(damage) = self.failed.take() {
            return Some(Err(damage));
        }
        let entry = self.entry().transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.cursor = None;
        }
        entry
    }
}

impl<K: Symbol, V: Value> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.cursor.as_ref().map(|cursor| cursor.key().escape_ascii().to_string());
        f.debug_struct("Iter").field("last", &last).field("failed", &self.failed).finish()
    }
}

impl<K: Symbol, V: Value> std::iter::FusedIterator for Iter<'_, K, V> {}
