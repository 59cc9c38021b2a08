//! An index that grows while others read it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::publish::{Follower, Published};
use super::segment::Segment;
use super::snapshot::Snapshot;
use super::{Layout, Position};
use crate::error::Result;
use crate::format::{self, Disk, Storage, Target};
use crate::symbol::Symbol;
use crate::trie::OpenOptions;

/// All suffixes of some texts: one index behind [`SuffixAutomaton`](super::SuffixAutomaton),
/// [`SuffixTree`](super::SuffixTree) and [`Scdawg`](super::Scdawg).
///
/// Any number of threads may ask while one adds texts: a question is answered from the newest [`Snapshot`], and none
/// waits. Each question here takes a snapshot; a thread that asks much does better with a [`Reader`].
pub struct SuffixIndex<K> {
    published: Published<Snapshot<K>>,
}

impl<K: Symbol> Default for SuffixIndex<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Symbol> SuffixIndex<K> {
    /// An index without texts.
    pub fn new() -> Self {
        Self { published: Published::new(Snapshot::of(None)) }
    }

    /// An index of these texts, numbered from 0. Takes time and memory in proportion to their bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TextsTooLarge`](crate::Error::TextsTooLarge) if they have more than 2^31 - 2 bytes together.
    pub fn from_texts<'t>(texts: impl IntoIterator<Item = &'t K::Key>) -> Result<Self> {
        let index = Self::new();
        index.extend(texts)?;
        index.merge()?;
        Ok(index)
    }

    /// Opens the file at `path`: reads its header, not the index. Never creates or changes a file. The load strategy of
    /// the options does not matter here.
    ///
    /// Whatever is in the file, questions are safe and end; if it was opened without [`Verify::Full`](crate::Verify::Full),
    /// answers from damaged pages may be wrong. [`Verify::Structural`](crate::Verify::Structural) sorts the texts again
    /// and compares.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io), [`NotAFile`](crate::Error::NotAFile), [`Foreign`](crate::Error::Foreign),
    /// [`Version`](crate::Error::Version), [`Unsupported`](crate::Error::Unsupported), [`KeyKind`](crate::Error::KeyKind)
    /// or [`Corrupt`](crate::Error::Corrupt), as their names say.
    pub fn open(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let options = options.into();
        let segment = Segment::open::<K>(path.as_ref(), options.backing, options.verify)?;
        Ok(Self { published: Published::new(Snapshot::of(Some(segment))) })
    }

    /// Adds a text and returns its number. When this returns, new snapshots have it.
    ///
    /// New texts of up to 2 KiB together, 1,024 at most, are copied and searched without an index; what goes beyond becomes a
    /// segment, and four segments of one size become one. So a byte is sorted a few times, and a search asks a few segments.
    ///
    /// # Errors
    ///
    /// [`Error::TextsTooLarge`](crate::Error::TextsTooLarge) if there is no room; nothing changes then.
    pub fn push(&self, text: &K::Key) -> Result<u32> {
        self.published.update(|old| Ok((old.with(std::iter::once(K::bytes(text)))?, old.texts())))
    }

    /// Adds texts, all of which new snapshots have at once.
    ///
    /// # Errors
    ///
    /// As for [`push`](Self::push); none is added then.
    pub fn extend<'t>(&self, texts: impl IntoIterator<Item = &'t K::Key>) -> Result<()> {
        self.published.update(|old| Ok((old.with(texts.into_iter().map(K::bytes))?, ())))
    }

    /// Removes the text of that number and tells whether it was there. When this returns, no answer of a new snapshot has
    /// it; its number is not used again. Its bytes stay until a merge or the next checkpoint: until then, a search visits
    /// its occurrences.
    pub fn remove(&self, number: u32) -> bool {
        self.published.update(|old| old.without(number).map(|new| (new, ())).ok_or(())).is_ok()
    }

    /// Puts everything into one segment, which is the fastest to ask. Takes time and memory in proportion to all texts.
    ///
    /// # Errors
    ///
    /// As for [`push`](Self::push).
    pub fn merge(&self) -> Result<()> {
        self.published.update(|old| Ok((old.merged()?, ())))
    }

    /// The newest state, for walking its graph: bytes of removed texts are put away first, which takes time in proportion to
    /// the segments they are in.
    pub(super) fn compacted(&self) -> Arc<Snapshot<K>> {
        loop {
            let newest = self.snapshot();
            if !newest.has_removed() {
                return newest;
            }
            let compacted = self.published.update(|old| Ok::<_, crate::Error>((old.compacted()?, ())));
            // What is left is not longer than what was there, unless the file is forged.
            if compacted.is_err() {
                return newest;
            }
        }
    }

    /// The newest state.
    pub fn snapshot(&self) -> Arc<Snapshot<K>> {
        self.published.load()
    }

    /// A reader that follows the newest state.
    pub fn reader(&self) -> Reader<'_, K> {
        Reader { newest: self.published.follow() }
    }

    /// See [`Snapshot::texts`].
    pub fn texts(&self) -> u32 {
        self.snapshot().texts()
    }

    /// See [`Snapshot::contains`].
    pub fn contains(&self, pattern: &K::Key) -> bool {
        self.snapshot().contains(pattern)
    }

    /// See [`Snapshot::count`].
    pub fn count(&self, pattern: &K::Key) -> u64 {
        self.snapshot().count(pattern)
    }

    /// See [`Snapshot::positions`].
    pub fn positions(&self, pattern: &K::Key) -> Vec<Position> {
        self.snapshot().positions(pattern)
    }

    /// Writes everything, the index included and removed texts left out, to a file at `path`, replacing what is there in one step. The bytes depend on
    /// the texts and the layout only.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if something cannot be written: the file at `path` is then the old one, whole, unless
    /// it was the sync of the directory that failed. [`Error::TextsTooLarge`](crate::Error::TextsTooLarge) before that.
    pub fn checkpoint(&self, path: impl AsRef<Path>, layout: Layout) -> Result<()> {
        self.checkpoint_to(&Disk, path, layout)
    }

    /// As [`checkpoint`](Self::checkpoint), to another storage than the disk.
    ///
    /// # Errors
    ///
    /// As for [`checkpoint`](Self::checkpoint).
    pub fn checkpoint_to(&self, storage: &dyn Storage, path: impl AsRef<Path>, layout: Layout) -> Result<()> {
        let whole = self.snapshot().file(layout)?;
        format::publish(storage, path.as_ref(), whole.file(), Target::Replace)
    }
}

/// One thread's view of an index, which is the newest state whenever it is asked for; see [`SuffixIndex::reader`].
pub struct Reader<'i, K: Symbol> {
    newest: Follower<'i, Snapshot<K>>,
}

impl<K: Symbol> Reader<'_, K> {
    /// The newest state. Looks at one pointer if nothing was added since.
    #[inline]
    pub fn snapshot(&mut self) -> &Arc<Snapshot<K>> {
        self.newest.load()
    }
}

impl<K: Symbol> fmt::Debug for Reader<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("symbols", &K::KIND).finish()
    }
}

impl<K: Symbol> fmt::Debug for SuffixIndex<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SuffixIndex").field(&self.snapshot()).finish()
    }
}
