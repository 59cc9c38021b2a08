//! Iteration over a part of an image, from both ends.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Bound;

use super::image::{Damage, Hit, Walker};
use super::mapped::{Image, after, before, until};
use super::stored::Stored;
use crate::error::Result;
use crate::symbol::Symbol;

/// The entries of an image whose keys are in a range, in the byte order of their keys.
///
/// An item is an error if the image turns out to be damaged; it is then the last one.
pub struct Range<'i, K, V: ?Sized> {
    image: &'i Image<K, V>,
    start: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
    /// At the entries that were returned last, once something was.
    front: Option<Walker<'i>>,
    back: Option<Walker<'i>>,
    done: bool,
}

type Entry<'i, K, V> = Result<(<K as Symbol>::Owned, <V as Stored>::Read<'i>)>;

impl<'i, K: Symbol, V: Stored + ?Sized> Range<'i, K, V> {
    pub(super) fn new(image: &'i Image<K, V>, start: Bound<Vec<u8>>, end: Bound<Vec<u8>>) -> Self {
        Self { image, start, end, front: None, back: None, done: false }
    }

    /// Whether a key is in front of what was returned from the back, and not behind the end.
    fn before_end(&self, key: &[u8]) -> bool {
        match (&self.back, &self.end) {
            (Some(back), _) => key < back.key(),
            (None, Bound::Included(end)) => key <= end.as_slice(),
            (None, Bound::Excluded(end)) => key < end.as_slice(),
            (None, Bound::Unbounded) => true,
        }
    }

    fn behind_start(&self, key: &[u8]) -> bool {
        match (&self.front, &self.start) {
            (Some(front), _) => key > front.key(),
            (None, Bound::Included(start)) => key >= start.as_slice(),
            (None, Bound::Excluded(start)) => key > start.as_slice(),
            (None, Bound::Unbounded) => true,
        }
    }

    fn step(&mut self) -> std::result::Result<Option<Hit>, Damage> {
        if let Some(front) = &mut self.front {
            return front.next();
        }
        let mut walk = self.image.walk();
        let found = match &self.start {
            Bound::Included(start) => walk.seek(start),
            Bound::Excluded(start) => after(&mut walk, start),
            Bound::Unbounded => walk.first(),
        };
        self.front = Some(walk);
        found
    }

    fn step_back(&mut self) -> std::result::Result<Option<Hit>, Damage> {
        if let Some(back) = &mut self.back {
            return back.prev();
        }
        let mut walk = self.image.walk();
        let found = match &self.end {
            Bound::Included(end) => until(&mut walk, end),
            Bound::Excluded(end) => before(&mut walk, end),
            Bound::Unbounded => walk.last(),
        };
        self.back = Some(walk);
        found
    }

    fn advance(&mut self) -> Result<Option<(K::Owned, V::Read<'i>)>> {
        let hit = self.step().map_err(|damage| self.image.damaged(damage))?;
        match (hit, &self.front) {
            (Some(hit), Some(front)) if self.before_end(front.key()) => {
                self.image.entry(front.key(), hit).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn retreat(&mut self) -> Result<Option<(K::Owned, V::Read<'i>)>> {
        let hit = self.step_back().map_err(|damage| self.image.damaged(damage))?;
        match (hit, &self.back) {
            (Some(hit), Some(back)) if self.behind_start(back.key()) => {
                self.image.entry(back.key(), hit).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn item(&mut self, entry: Result<Option<(K::Owned, V::Read<'i>)>>) -> Option<Entry<'i, K, V>> {
        let item = entry.transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}

impl<'i, K: Symbol, V: Stored + ?Sized> Iterator for Range<'i, K, V> {
    type Item = Result<(K::Owned, V::Read<'i>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.advance();
        self.item(entry)
    }
}

impl<K: Symbol, V: Stored + ?Sized> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.retreat();
        self.item(entry)
    }
}

impl<K: Symbol, V: Stored + ?Sized> FusedIterator for Range<'_, K, V> {}

impl<K, V: ?Sized> fmt::Debug for Range<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |walk: &Option<Walker<'_>>| walk.as_ref().map(|walk| walk.key().escape_ascii().to_string());
        f.debug_struct("Range").field("front", &at(&self.front)).field("back", &at(&self.back)).finish()
    }
}
