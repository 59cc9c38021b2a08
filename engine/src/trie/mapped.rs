//! An image that is read in place.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::path::Path;

use super::image::{Damage, Hit, ImageFile, Walker};
use super::options::{OpenOptions, Verify};
use super::range::Range;
use super::stored::Stored;
use crate::error::{Error, Result};
use crate::format::Bytes;
use crate::symbol::Symbol;

/// An image over bytes.
pub type ByteImage<V = u64> = Image<u8, V>;

/// An image over chars: keys are `str`, stored as UTF-8.
pub type CharImage<V = u64> = Image<char, V>;

/// An immutable map from keys to values, in a file that is read where it is: opening reads the header, a lookup what lies
/// on its way. Written by an [`ImageWriter`](super::ImageWriter) or by a checkpoint of a [`Trie`](super::Trie).
///
/// Any number of threads may ask at once. Whatever is in the file, an access is safe and ends; opened without
/// [`Verify::Full`](super::Verify::Full), damage of a page can give a wrong answer or [`Error::Corrupt`].
///
/// A lookup takes one step an inner node (at most one a key byte, few in practice) and one bucket; with a point index
/// it takes one line of its directory and one bucket, with at most sixteen records, or both ways for keys that the index has
/// no room for.
pub struct Image<K, V: ?Sized> {
    file: ImageFile,
    types: PhantomData<fn(&K) -> Box<V>>,
}

impl<K: Symbol, V: Stored + ?Sized> Image<K, V> {
    /// Opens the image at `path`, whose keys and values are of these types. The load strategy of the options does not
    /// matter here.
    ///
    /// # Errors
    ///
    /// As for [`Trie::open`](super::Trie::open); [`Error::Unsupported`] also if the file has no ranks and `V` is
    /// [`Rank`](super::Rank).
    pub fn open(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let OpenOptions { verify, backing, .. } = options.into();
        let file = ImageFile::open(path.as_ref(), K::KIND, V::WIDTH, V::RANKED, backing, verify, false)?;
        Ok(Self { file, types: PhantomData })
    }

    /// Takes the bytes of an image that are in memory, as they are. Errors call their path `bytes in memory`.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), except those of the file system.
    pub fn from_bytes(bytes: Vec<u8>, verify: Verify) -> Result<Self> {
        let path = Path::new("bytes in memory");
        let loaded = Bytes::owned(bytes, path)?;
        let file = ImageFile::of(loaded, path, K::KIND, V::WIDTH, V::RANKED, verify, false)?;
        Ok(Self { file, types: PhantomData })
    }

    /// Where the nodes begin in the file.
    pub(crate) fn nodes_start(&self) -> usize {
        self.file.nodes_start()
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.file.header().key_count
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence number that the writer put into the header.
    pub fn created_seq(&self) -> u64 {
        self.file.header().created_seq
    }

    /// Whether lookups have a point index.
    pub fn has_point_index(&self) -> bool {
        self.file.point().is_some()
    }

    /// The value of `key`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a node on the way makes no sense.
    #[inline]
    pub fn get(&self, key: &K::Key) -> Result<Option<V::Read<'_>>> {
        match self.file.find(K::bytes(key)) {
            Ok(Some(hit)) => self.value(hit).map(Some),
            Ok(None) => Ok(None),
            Err(damage) => Err(self.file.damaged(damage)),
        }
    }

    /// As [`get`](Self::get), by way of the nodes even if there is a point index.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    #[inline]
    pub fn get_ordered(&self, key: &K::Key) -> Result<Option<V::Read<'_>>> {
        match self.file.find_ordered(K::bytes(key)) {
            Ok(Some(hit)) => self.value(hit).map(Some),
            Ok(None) => Ok(None),
            Err(damage) => Err(self.file.damaged(damage)),
        }
    }

    /// Whether `key` is in the image.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    #[inline]
    pub fn contains(&self, key: &K::Key) -> Result<bool> {
        let found = self.file.find(K::bytes(key)).map_err(|damage| self.file.damaged(damage))?;
        Ok(found.is_some())
    }

    /// The values of many keys, each in the place of its key. Sixteen lookups are under way at a time and wait for
    /// memory together, so this is faster than one at a time where memory is the limit.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_many<'i, Q: Borrow<K::Key>>(&'i self, keys: &[Q]) -> Result<Vec<Option<V::Read<'i>>>> {
        let mut answers: Vec<Option<V::Read<'i>>> = Vec::new();
        answers.resize_with(keys.len(), || None);
        let mut failed = Ok(());
        let keys = keys.iter().map(|key| K::bytes(key.borrow()));
        let ended = self.file.find_many(keys, |index, hit| {
            if let Some(hit) = hit {
                match self.value(hit) {
                    Ok(value) => answers[index] = Some(value),
                    Err(damage) => failed = Err(damage),
                }
            }
        });
        ended.map_err(|damage| self.file.damaged(damage))?;
        failed.map(|()| answers)
    }

    /// All entries in the byte order of their keys, from both ends.
    pub fn iter(&self) -> Range<'_, K, V> {
        Range::new(self, Bound::Unbounded, Bound::Unbounded)
    }

    /// The entries whose keys are in a range, in the byte order of their keys, from both ends. An empty range, also
    /// one that ends before it starts, has none.
    pub fn range<'b>(&self, range: impl RangeBounds<&'b K::Key>) -> Range<'_, K, V>
    where
        K::Key: 'b,
    {
        let owned = |bound: Bound<&&K::Key>| bound.map(|key| K::bytes(key).to_vec());
        Range::new(self, owned(range.start_bound()), owned(range.end_bound()))
    }

    /// The entries whose keys start with `prefix`, in the byte order of their keys, from both ends.
    pub fn prefix(&self, prefix: &K::Key) -> Range<'_, K, V> {
        let start = K::bytes(prefix).to_vec();
        let mut end = start.clone();
        // The first key behind: the last byte that can be raised is.
        while let Some(last) = end.pop() {
            if last < u8::MAX {
                end.push(last + 1);
                return Range::new(self, Bound::Included(start), Bound::Excluded(end));
            }
        }
        Range::new(self, Bound::Included(start), Bound::Unbounded)
    }

    /// The first entry.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn first(&self) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(Walker::first)
    }

    /// The last entry.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn last(&self) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(Walker::last)
    }

    /// The first entry whose key is `key` or above.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn at_least(&self, key: &K::Key) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(|walk| walk.seek(K::bytes(key)))
    }

    /// The first entry whose key is above `key`.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn above(&self, key: &K::Key) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(|walk| after(walk, K::bytes(key)))
    }

    /// The last entry whose key is `key` or below.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn at_most(&self, key: &K::Key) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(|walk| until(walk, K::bytes(key)))
    }

    /// The last entry whose key is below `key`.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn below(&self, key: &K::Key) -> Result<Option<(K::Owned, V::Read<'_>)>> {
        self.near(|walk| before(walk, K::bytes(key)))
    }

    /// A cursor, at no entry yet.
    pub fn cursor(&self) -> ImageCursor<'_, K, V> {
        ImageCursor { image: self, walk: self.walk(), hit: None }
    }

    fn near<'i>(
        &'i self,
        go: impl FnOnce(&mut Walker<'i>) -> std::result::Result<Option<Hit>, Damage>,
    ) -> Result<Option<(K::Owned, V::Read<'i>)>> {
        let mut walk = self.walk();
        match go(&mut walk).map_err(|damage| self.file.damaged(damage))? {
            Some(hit) => self.entry(walk.key(), hit).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn walk(&self) -> Walker<'_> {
        self.file.walk(self.file.root())
    }

    pub(super) fn damaged(&self, damage: Damage) -> Error {
        self.file.damaged(damage)
    }

    /// The entry of a key that a walk came to.
    pub(super) fn entry<'i>(&'i self, key: &[u8], hit: Hit) -> Result<(K::Owned, V::Read<'i>)> {
        let owned = K::key(key).ok_or_else(|| {
            let reason =
                format!("it says that keys are chars, and the key `{}` is not UTF-8", key.escape_ascii());
            Error::corrupt(self.file.path(), 13, reason)
        })?;
        Ok((owned, self.value(hit)?))
    }

    #[inline]
    fn value<'i>(&'i self, hit: Hit) -> Result<V::Read<'i>> {
        if V::WIDTH != super::image::VARIABLE {
            return Ok(V::read(hit.slot, &[], hit.rank));
        }
        let bytes = self.file.nodes().variable(&hit.slot).map_err(|damage| self.file.damaged(damage))?;
        Ok(V::read(hit.slot, bytes, hit.rank))
    }
}

type Found<'i> = std::result::Result<Option<Hit>, Damage>;

/// Goes to the first entry above `key`.
pub(super) fn after<'i>(walk: &mut Walker<'i>, key: &[u8]) -> Found<'i> {
    match walk.seek(key)? {
        Some(_) if walk.key() == key => walk.next(),
        found => Ok(found),
    }
}

/// Goes to the last entry that is not above `key`.
pub(super) fn until<'i>(walk: &mut Walker<'i>, key: &[u8]) -> Found<'i> {
    match walk.seek(key)? {
        Some(hit) if walk.key().cmp(key) == Ordering::Equal => Ok(Some(hit)),
        Some(_) => walk.prev(),
        None => walk.last(),
    }
}

/// Goes to the last entry below `key`.
pub(super) fn before<'i>(walk: &mut Walker<'i>, key: &[u8]) -> Found<'i> {
    match walk.seek(key)? {
        Some(_) => walk.prev(),
        None => walk.last(),
    }
}

/// Walks an image without copying keys.
///
/// It is at an entry or at none: at none when it is new, behind the last entry, before the first one, and after an error.
pub struct ImageCursor<'i, K, V: ?Sized> {
    image: &'i Image<K, V>,
    walk: Walker<'i>,
    hit: Option<Hit>,
}

impl<'i, K: Symbol, V: Stored + ?Sized> ImageCursor<'i, K, V> {
    fn at(&mut self, found: Found<'i>) -> Result<bool> {
        self.hit = found.map_err(|damage| self.image.damaged(damage))?;
        Ok(self.hit.is_some())
    }

    /// Goes to the first entry; false if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a node on the way makes no sense; so for all moves.
    pub fn first(&mut self) -> Result<bool> {
        let found = self.walk.first();
        self.at(found)
    }

    /// Goes to the last entry; false if there is none.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn last(&mut self) -> Result<bool> {
        let found = self.walk.last();
        self.at(found)
    }

    /// Goes to the first entry whose key is `key` or above; false if there is none.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn seek(&mut self, key: &K::Key) -> Result<bool> {
        let found = self.walk.seek(K::bytes(key));
        self.at(found)
    }

    /// Goes to the next entry; false if there is none.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    #[expect(clippy::should_implement_trait, reason = "what it is at borrows the cursor, as no iterator can")]
    pub fn next(&mut self) -> Result<bool> {
        let found = self.walk.next();
        self.at(found)
    }

    /// Goes to the entry before; false if there is none.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn prev(&mut self) -> Result<bool> {
        let found = self.walk.prev();
        self.at(found)
    }

    /// The bytes of the key it is at.
    pub fn key(&self) -> Option<&[u8]> {
        self.hit.map(|_| self.walk.key())
    }

    /// The value it is at.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a value of variable length is not in the file.
    pub fn value(&self) -> Result<Option<V::Read<'i>>> {
        self.hit.map(|hit| self.image.value(hit)).transpose()
    }
}

impl<K, V: ?Sized> fmt::Debug for ImageCursor<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.hit.map(|_| self.walk.key().escape_ascii().to_string());
        f.debug_struct("ImageCursor").field("key", &key).finish()
    }
}

impl<K: Symbol, V: Stored + ?Sized> fmt::Debug for Image<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("keys", &K::KIND)
            .field("value_width", &V::WIDTH)
            .field("len", &self.len())
            .field("path", &self.file.path())
            .finish()
    }
}

impl<'i, K: Symbol, V: Stored + ?Sized> IntoIterator for &'i Image<K, V> {
    type Item = Result<(K::Owned, V::Read<'i>)>;
    type IntoIter = Range<'i, K, V>;

    fn into_iter(self) -> Range<'i, K, V> {
        self.iter()
    }
}
