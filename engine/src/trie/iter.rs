//! Iteration over the entries of a trie.

use std::fmt;
use std::marker::PhantomData;

use super::cursor::Cursor;
use super::value::Value;
use crate::error::{Error, Result};
use crate::symbol::Symbol;

/// The entries of a trie, or those below a prefix, in the byte order of their keys.
///
/// An item is an error if a lazily opened image turns out to be damaged; it is then the last one.
pub struct Iter<'t, K, V> {
    cursor: Option<Cursor<'t>>,
    /// An error that is to be returned first.
    failed: Option<Error>,
    types: PhantomData<fn() -> (K, V)>,
}

impl<'t, K: Symbol, V: Value> Iter<'t, K, V> {
    pub(super) fn new(cursor: Result<Cursor<'t>>) -> Self {
        match cursor {
            Ok(cursor) => Self { cursor: Some(cursor), failed: None, types: PhantomData },
            Err(damage) => Self { cursor: None, failed: Some(damage), types: PhantomData },
        }
    }

    fn entry(cursor: &mut Cursor<'t>) -> Result<Option<(K::Owned, V)>> {
        let Some(value) = cursor.advance()? else { return Ok(None) };
        match K::key(cursor.key()) {
            Some(key) => Ok(Some((key, V::decode(value)))),
            None => Err(cursor.foreign_key()),
        }
    }
}

impl<K: Symbol, V: Value> Iterator for Iter<'_, K, V> {
    type Item = Result<(K::Owned, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(damage) = self.failed.take() {
            return Some(Err(damage));
        }
        let entry = Self::entry(self.cursor.as_mut()?).transpose();
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
