//! One sorted view over tables in memory and images.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Bound;

use super::memtable::{Memtable, Walk};
use super::version::{Version, value_of};
use crate::error::{Error, Result};
use crate::symbol::Symbol;
use crate::trie::{Image, ImageCursor, Stored, Value};

/// One of the places where a key may be.
pub(super) enum Source<'v, K, V> {
    Memory(Walk<'v>),
    Image(ImageCursor<'v, K, V>),
    /// Every key in it is gone.
    Gone(ImageCursor<'v, K, ()>),
}

fn at<'v, K: Symbol, V: Stored>(
    image: &'v Image<K, V>,
    start: Bound<&K::Key>,
) -> Result<ImageCursor<'v, K, V>> {
    let mut cursor = image.cursor();
    match start {
        Bound::Unbounded => cursor.first()?,
        Bound::Included(key) => cursor.seek(key)?,
        Bound::Excluded(key) => {
            cursor.seek(key)? && (cursor.key() != Some(K::bytes(key)) || cursor.next()?)
        }
    };
    Ok(cursor)
}

impl<'v, K: Symbol, V: Value> Source<'v, K, V> {
    pub(super) fn memory(table: &'v Memtable, start: Bound<&K::Key>) -> Self {
        Self::Memory(table.walk(start.map(K::bytes)))
    }

    pub(super) fn image(image: &'v Image<K, V>, start: Bound<&K::Key>) -> Result<Self> {
        at(image, start).map(Self::Image)
    }

    pub(super) fn gone(image: &'v Image<K, ()>, start: Bound<&K::Key>) -> Result<Self> {
        at(image, start).map(Self::Gone)
    }

    fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Memory(walk) => walk.key(),
            Self::Image(cursor) => cursor.key(),
            Self::Gone(cursor) => cursor.key(),
        }
    }

    fn value(&self) -> Result<Option<V>> {
        match self {
            Self::Memory(walk) => Ok(walk.change().flatten().map(value_of)),
            Self::Image(cursor) => cursor.value(),
            Self::Gone(_) => Ok(None),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory(walk) => walk.advance(),
            Self::Image(cursor) => {
                cursor.next()?;
            }
            Self::Gone(cursor) => {
                cursor.next()?;
            }
        }
        Ok(())
    }
}

/// Walks several sources at once. What an earlier one says about a key counts.
pub(super) struct Merge<'v, K, V> {
    sources: Vec<Source<'v, K, V>>,
    key: Vec<u8>,
}

impl<'v, K: Symbol, V: Value> Merge<'v, K, V> {
    pub(super) fn new(sources: Vec<Source<'v, K, V>>) -> Self {
        Self { sources, key: Vec::new() }
    }

    /// The key that [`advance`](Self::advance) came to.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The next key with its value, or `Some(None)` if it is gone.
    pub(super) fn advance(&mut self) -> Result<Option<Option<V>>> {
        let mut first: Option<(&[u8], usize)> = None;
        for (index, source) in self.sources.iter().enumerate() {
            if let Some(key) = source.key()
                && first.is_none_or(|(least, _)| key < least)
            {
                first = Some((key, index));
            }
        }
        let Some((key, index)) = first else { return Ok(None) };
        self.key.clear();
        self.key.extend_from_slice(key);
        let value = self.sources[index].value()?;
        // No source before it has the key.
        for source in &mut self.sources[index..] {
            if source.key() == Some(&self.key) {
                source.advance()?;
            }
        }
        Ok(Some(value))
    }
}

/// Where a walk ends.
pub(super) enum End {
    Before(Bound<Vec<u8>>),
    /// At the first key that does not start so.
    Prefix(Vec<u8>),
}

/// Entries of a snapshot in the byte order of their keys.
///
/// An item is an error if an image turns out to be damaged; it is then the last one.
pub struct Iter<'v, K, V> {
    merge: Option<Merge<'v, K, V>>,
    end: End,
    /// An error that is to be returned first.
    failed: Option<Error>,
}

impl<'v, K: Symbol, V: Value> Iter<'v, K, V> {
    pub(super) fn new(version: &'v Version<K, V>, start: Bound<&K::Key>, end: End) -> Self {
        match version.merge(start) {
            Ok(merge) => Self { merge: Some(merge), end, failed: None },
            Err(error) => Self { merge: None, end, failed: Some(error) },
        }
    }

    fn entry(&mut self) -> Result<Option<(K::Owned, V)>> {
        let Some(merge) = &mut self.merge else { return Ok(None) };
        while let Some(change) = merge.advance()? {
            let key = merge.key();
            let within = match &self.end {
                End::Before(Bound::Included(end)) => key <= end.as_slice(),
                End::Before(Bound::Excluded(end)) => key < end.as_slice(),
                End::Before(Bound::Unbounded) => true,
                End::Prefix(prefix) => key.starts_with(prefix),
            };
            if !within {
                break;
            }
            if let Some(value) = change {
                return owned::<K>(key).map(|key| Some((key, value)));
            }
        }
        Ok(None)
    }
}

/// The key of these bytes, which only an image written by others can hold if there is none.
pub(super) fn owned<K: Symbol>(bytes: &[u8]) -> Result<K::Owned> {
    K::key(bytes).ok_or_else(|| {
        let reason = format!("keys are chars, and the key `{}` is not UTF-8", bytes.escape_ascii());
        Error::corrupt(std::path::Path::new("an image of the store"), 13, reason)
    })
}

impl<K: Symbol, V: Value> Iterator for Iter<'_, K, V> {
    type Item = Result<(K::Owned, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let entry = self.entry().transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.merge = None;
        }
        entry
    }
}

impl<K: Symbol, V: Value> FusedIterator for Iter<'_, K, V> {}

impl<K, V> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.merge.as_ref().map(|merge| merge.key.escape_ascii().to_string());
        f.debug_struct("Iter").field("last", &last).field("failed", &self.failed).finish()
    }
}
