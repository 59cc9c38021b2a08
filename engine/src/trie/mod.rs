//! A persistent trie: adaptive nodes on the heap, materialised from an immutable image.
//!
//! A [`Trie`] lives in memory. [`Trie::checkpoint`] writes everything to an image file in one atomic step, and
//! [`Trie::open`] makes it usable again, at once or bit by bit as its [`LoadStrategy`] says. Later changes stay in
//! memory until the next checkpoint; the file is never changed in place.
//!
//! On the heap a trie has inner nodes of four sizes and, below them, leaf buckets of up to 64 keys. A lookup costs
//! one step an inner node (at most one a key byte, few in practice) and one bucket.

mod blob;
mod bucket;
mod cursor;
mod fan;
mod fingerprint;
mod image;
mod inner;
mod iter;
mod load;
mod mapped;
mod nearest;
mod options;
mod range;
mod slot;
mod split;
mod stored;
mod tree;
mod value;
mod writer;

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use bucket::common_len;
pub use iter::Iter;
pub use mapped::{ByteImage, CharImage, Image, ImageCursor};
pub use options::{Backing, LoadStrategy, OpenOptions, Verify};
pub use range::Range;
pub use stored::{Rank, Stored};
pub use value::Value;
pub(crate) use writer::image_to_bytes;
pub use writer::{ImageWriter, Profile};

use crate::error::{Error, Result};
use crate::format::{self, Disk, Storage, Target};
use crate::symbol::Symbol;
use cursor::Cursor;
use image::{FileBuilder, Finished, ImageFile, Recipe};
use tree::Tree;
use value::unpadded;

/// The longest key there can be, in bytes.
pub const MAX_KEY_LEN: usize = u32::MAX as usize;

/// A trie over bytes.
pub type ByteTrie<V = u64> = Trie<u8, V>;

/// A trie over chars: keys are `str`, stored as UTF-8.
pub type CharTrie<V = u64> = Trie<char, V>;

/// A map from keys to values in the byte order of the keys.
///
/// Lookups take `&self` and may run on many threads at once, also while nodes are being materialised. Every access
/// returns a [`Result`], because an access to a lazily opened trie may be the first to touch a damaged page; a trie
/// that was made in memory or opened eagerly never answers [`Error::Corrupt`] to a lookup.
pub struct Trie<K, V> {
    tree: Tree,
    /// Nodes that were materialised from an image that is no longer needed.
    materialised: u64,
    /// `created_seq` of the last image that was written or opened.
    seq: AtomicU64,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: Symbol, V: Value> Default for Trie<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Symbol, V: Value> Trie<K, V> {
    const WIDTH: usize = {
        assert!(V::WIDTH == 0 || V::WIDTH == 4 || V::WIDTH == 8, "values have 0, 4 or 8 bytes");
        V::WIDTH as usize
    };

    /// An empty trie in memory.
    pub fn new() -> Self {
        Self::of(Tree::new(Self::WIDTH), 0, 0)
    }

    fn of(tree: Tree, materialised: u64, seq: u64) -> Self {
        Self { tree, materialised, seq: AtomicU64::new(seq), types: PhantomData }
    }

    /// An empty trie, and an image of it at `path`, where nothing may exist yet.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there is something at `path`, which is then left as it is, or if the image cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let trie = Self::new();
        trie.publish(&Disk, path.as_ref(), Target::New)?;
        Ok(trie)
    }

    /// Opens the image at `path`. Never creates or changes a file.
    ///
    /// Lazily this takes the time of a few system calls and of reading the page checksums (a thousandth of the
    /// image), eagerly time and memory in proportion to the image.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::NotAFile`], [`Error::Foreign`], [`Error::Version`], [`Error::Unsupported`],
    /// [`Error::KeyKind`], [`Error::ValueWidth`] or [`Error::Corrupt`], as their names say. Damage of the header,
    /// of the section table and of the page checksums is always found here; damage of a page is found here with
    /// [`LoadStrategy::Eager`], [`LoadStrategy::Parallel`] or [`Verify::Full`], and else by the first access to it,
    /// except with [`LoadStrategy::Mapped`].
    pub fn open(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let OpenOptions { strategy, verify, backing } = options.into();
        let all = matches!(strategy, LoadStrategy::Eager | LoadStrategy::Parallel(_));
        // All pages will be needed, and in one go they are verified fastest.
        let verify = if all && verify == Verify::Header { Verify::Full } else { verify };
        let mapped = strategy == LoadStrategy::Mapped;
        let image = ImageFile::open(path.as_ref(), K::KIND, V::WIDTH, false, backing, verify, !mapped)?;
        let (len, seq) = (image.header().key_count, image.header().created_seq);
        let root = image.root().map_or_else(slot::Slot::empty, slot::Slot::image);
        let origin = path.as_ref().to_owned();
        let mut tree = Tree { root, image: Some(image), mapped, origin, width: Self::WIDTH, len };
        let materialised = match strategy {
            LoadStrategy::Eager => load::everything(&mut tree, 1)?,
            LoadStrategy::Parallel(threads) => load::everything(&mut tree, threads)?,
            LoadStrategy::Depth(depth) => {
                load::to_depth(&tree, depth)?;
                0
            }
            LoadStrategy::Lazy | LoadStrategy::Mapped => 0,
        };
        Ok(Self::of(tree, materialised, seq))
    }

    /// The value of `key`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the trie was opened lazily and a node on the way is damaged.
    #[inline]
    pub fn get(&self, key: &K::Key) -> Result<Option<V>> {
        Ok(self.tree.get(K::bytes(key))?.map(unpadded))
    }

    /// Whether `key` is in the trie.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    #[inline]
    pub fn contains(&self, key: &K::Key) -> Result<bool> {
        Ok(self.tree.get(K::bytes(key))?.is_some())
    }

    /// Sets the value of `key` and returns the one it had.
    ///
    /// # Errors
    ///
    /// [`Error::KeyTooLong`] above [`MAX_KEY_LEN`]; [`Error::Corrupt`] as for [`get`](Self::get). The trie is then
    /// unchanged.
    pub fn insert(&mut self, key: &K::Key, value: V) -> Result<Option<V>> {
        let key = K::bytes(key);
        if key.len() > MAX_KEY_LEN {
            return Err(Error::KeyTooLong { len: key.len(), limit: MAX_KEY_LEN });
        }
        let mut bytes = [0; 8];
        value.encode(&mut bytes[..Self::WIDTH]);
        let old = self.tree.insert(key, &bytes[..Self::WIDTH])?;
        Ok(old.map(unpadded))
    }

    /// Removes `key` and returns the value it had.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] as for [`get`](Self::get). The trie is then unchanged.
    pub fn remove(&mut self, key: &K::Key) -> Result<Option<V>> {
        let old = self.tree.remove(K::bytes(key))?;
        Ok(old.map(unpadded))
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.tree.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.tree.len == 0
    }

    /// All entries in the byte order of their keys. Materialises the nodes it comes to.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(Ok(Cursor::new(&self.tree)))
    }

    /// The entries whose keys start with `prefix`, in the byte order of their keys; with an empty prefix, all.
    pub fn prefix(&self, prefix: &K::Key) -> Iter<'_, K, V> {
        Iter::new(Cursor::below(&self.tree, K::bytes(prefix)))
    }

    /// Calls `each` with every entry in the byte order of the keys. Keys are not copied, so this is faster than
    /// [`iter`](Self::iter). Materialises the nodes it comes to.
    ///
    /// # Errors
    ///
    /// What `each` answers, which ends the walk, and [`Error::Corrupt`] as for [`get`](Self::get).
    pub fn visit<E: From<Error>>(
        &self,
        mut each: impl FnMut(&K::Key, V) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut cursor = Cursor::new(&self.tree);
        while let Some(value) = cursor.advance()? {
            let value = unpadded(value);
            match K::borrowed(cursor.key()) {
                Some(key) => each(key, value)?,
                None => return Err(self.tree.foreign_key(cursor.key()).into()),
            }
        }
        Ok(())
    }

    /// The entries whose keys are in a range, in the byte order of their keys. An empty range, also one that ends before
    /// it starts, has none. Backwards goes only a walk over an [`Image`].
    pub fn range<'b>(&self, range: impl RangeBounds<&'b K::Key>) -> Iter<'_, K, V>
    where
        K::Key: 'b,
    {
        let bytes = |bound: Bound<&&'b K::Key>| bound.map(|key| K::bytes(key));
        Iter::between(&self.tree, bytes(range.start_bound()), bytes(range.end_bound()))
    }

    /// The values of many keys, each in the place of its key. As long as a trie is [`LoadStrategy::Mapped`] and
    /// unchanged, sixteen lookups are under way at a time and wait for memory together; else they come one by one.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_many<Q: Borrow<K::Key>>(&self, keys: &[Q]) -> Result<Vec<Option<V>>> {
        let mut bytes = keys.iter().map(|key| K::bytes(key.borrow()));
        let Some((image, _)) = self.tree.in_place(&self.tree.root) else {
            return bytes.map(|key| Ok(self.tree.get(key)?.map(unpadded))).collect();
        };
        let mut answers: Vec<Option<V>> = Vec::new();
        answers.resize_with(keys.len(), || None);
        let found =
            image.find_many(&mut bytes, |index, hit| answers[index] = hit.map(|hit| unpadded(hit.slot)));
        found.map_err(|damage| image.damaged(damage))?;
        Ok(answers)
    }

    /// The first entry.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get); so for all neighbours.
    pub fn first(&self) -> Result<Option<(K::Owned, V)>> {
        self.iter().next().transpose()
    }

    /// The last entry.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn last(&self) -> Result<Option<(K::Owned, V)>> {
        self.owned(self.tree.last()?)
    }

    /// The first entry whose key is `key` or above.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn at_least(&self, key: &K::Key) -> Result<Option<(K::Owned, V)>> {
        self.range(key..).next().transpose()
    }

    /// The first entry whose key is above `key`.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn above(&self, key: &K::Key) -> Result<Option<(K::Owned, V)>> {
        self.range((Bound::Excluded(key), Bound::Unbounded)).next().transpose()
    }

    /// The last entry whose key is `key` or below.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn at_most(&self, key: &K::Key) -> Result<Option<(K::Owned, V)>> {
        self.owned(self.tree.last_until(K::bytes(key), true)?)
    }

    /// The last entry whose key is below `key`.
    ///
    /// # Errors
    ///
    /// As for [`first`](Self::first).
    pub fn below(&self, key: &K::Key) -> Result<Option<(K::Owned, V)>> {
        self.owned(self.tree.last_until(K::bytes(key), false)?)
    }

    fn owned(&self, entry: Option<nearest::Entry>) -> Result<Option<(K::Owned, V)>> {
        let Some((key, value)) = entry else { return Ok(None) };
        match K::key(&key) {
            Some(key) => Ok(Some((key, unpadded(value)))),
            None => Err(self.tree.foreign_key(&key)),
        }
    }

    /// How many nodes were materialised from the image this trie was opened from: none for a trie made in memory,
    /// all after eager opening, those that were accessed so far after lazy opening; when the image is read in place,
    /// those that a change went through.
    pub fn materialised_nodes(&self) -> u64 {
        self.tree.image.as_ref().map_or(self.materialised, ImageFile::materialised)
    }

    /// Writes everything to an image at `path`, replacing what is there in one step.
    ///
    /// The bytes depend on the entries, the key kind, the value width and the number of checkpoints before, not on
    /// the order of inserts. Reads, hence materialises, everything; holds the keys and the image in memory meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if something cannot be written: the file at `path` is then the old one, whole, unless it was
    /// the sync of the directory that failed. [`Error::ImageTooLarge`], and [`Error::Corrupt`] as for
    /// [`get`](Self::get), before anything is written.
    pub fn checkpoint(&self, path: impl AsRef<Path>) -> Result<()> {
        self.checkpoint_to(&Disk, path)
    }

    /// As [`checkpoint`](Self::checkpoint), to another storage than the disk.
    ///
    /// # Errors
    ///
    /// As for [`checkpoint`](Self::checkpoint).
    pub fn checkpoint_to(&self, storage: &dyn Storage, path: impl AsRef<Path>) -> Result<()> {
        self.publish(storage, path.as_ref(), Target::Replace)
    }

    fn publish(&self, storage: &dyn Storage, path: &Path, target: Target) -> Result<()> {
        // Counted at once, so that two checkpoints never share a number.
        let created_seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        let recipe = Recipe {
            key_kind: K::KIND,
            value_width: V::WIDTH,
            ranks: false,
            front_coded: false,
            point: false,
            created_seq,
        };
        let (mut builder, mut out) = FileBuilder::new(recipe, None);
        let mut cursor = Cursor::new(&self.tree);
        while let Some(value) = cursor.advance()? {
            if builder.last().is_some_and(|before| before >= cursor.key()) {
                return Err(Error::corrupt(&self.tree.origin, 0, "its keys are not in order"));
            }
            builder.push(cursor.key(), &value[..Self::WIDTH], &mut out)?;
        }
        match builder.finish(out)? {
            Finished::Memory(file) => format::publish(storage, path, &file, target),
            Finished::Storage(file) => file.commit(target),
        }
    }
}

/// Says what kind of trie it is and how full, not what is in it.
impl<K: Symbol, V: Value> fmt::Debug for Trie<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trie")
            .field("keys", &K::KIND)
            .field("value_width", &V::WIDTH)
            .field("len", &self.len())
            .field("image", &self.tree.image.as_ref().map(ImageFile::path))
            .field("materialised_nodes", &self.materialised_nodes())
            .finish()
    }
}

impl<'t, K: Symbol, V: Value> IntoIterator for &'t Trie<K, V> {
    type Item = Result<(K::Owned, V)>;
    type IntoIter = Iter<'t, K, V>;

    fn into_iter(self) -> Iter<'t, K, V> {
        self.iter()
    }
}
