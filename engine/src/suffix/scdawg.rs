//! The symmetric compact directed acyclic word graph: nodes are the strings that cannot be extended to either side without
//! losing an occurrence.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::graph::reachable;
use super::index::SuffixIndex;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::symbol::Symbol;
use crate::trie::OpenOptions;

/// A [`SuffixIndex`] whose matches are extended to the left and to the right.
///
/// ```
/// use engine::suffix::Scdawg;
///
/// let graph = Scdawg::<char>::from_texts(["she sells sea shells", "by the sea shore"])?;
/// let found = graph.find("ea").expect("it occurs");
/// assert_eq!(found.maximal().string(), Some(" sea sh".to_owned()));
/// let found = found.left('s').and_then(|found| found.right(' ')).expect("`sea ` occurs");
/// assert_eq!((found.string(), found.count()), (Some("sea ".to_owned()), 2));
/// # Ok::<(), engine::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Scdawg<K: Symbol>(SuffixIndex<K>);

impl<K: Symbol> Scdawg<K> {
    /// See [`SuffixIndex::from_texts`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn from_texts<'t>(texts: impl IntoIterator<Item = &'t K::Key>) -> Result<Self> {
        SuffixIndex::from_texts(texts).map(Self)
    }

    /// See [`SuffixIndex::open`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        SuffixIndex::open(path, options).map(Self)
    }

    /// All occurrences of `pattern` in the newest snapshot, if there is one.
    pub fn find(&self, pattern: &K::Key) -> Option<Match<K>> {
        let (snapshot, string) = (self.0.compacted(), K::bytes(pattern).to_vec());
        (snapshot.count_bytes(&string) > 0).then_some(Match { snapshot, string })
    }

    /// All nodes, each once, that of the empty string first. Takes memory in proportion to their strings.
    pub fn nodes(&self) -> impl Iterator<Item = Match<K>> {
        reachable(
            Match { snapshot: self.0.compacted(), string: Vec::new() },
            |node| node.string.clone(),
            |node| {
                let rights = node.rights().into_iter().filter_map(|(symbol, _)| node.right(symbol));
                rights.map(|longer| longer.maximal()).collect()
            },
        )
    }
}

impl<K: Symbol> From<SuffixIndex<K>> for Scdawg<K> {
    fn from(index: SuffixIndex<K>) -> Self {
        Self(index)
    }
}

impl<K: Symbol> Deref for Scdawg<K> {
    type Target = SuffixIndex<K>;

    fn deref(&self) -> &SuffixIndex<K> {
        &self.0
    }
}

/// A string that occurs, with all its occurrences.
#[derive(Clone, Debug)]
pub struct Match<K: Symbol> {
    snapshot: Arc<Snapshot<K>>,
    string: Vec<u8>,
}

impl<K: Symbol> Match<K> {
    /// The match with one symbol more at its end. Takes one search.
    pub fn right(&self, symbol: K) -> Option<Self> {
        self.snapshot.right_of(&self.string, symbol).map(|string| self.of(string))
    }

    /// The match with one symbol more at its start. Takes one search.
    pub fn left(&self, symbol: K) -> Option<Self> {
        self.snapshot.left_of(symbol, &self.string).map(|string| self.of(string))
    }

    /// The symbols that follow, and how often. Takes two searches for each.
    pub fn rights(&self) -> Vec<(K, u64)> {
        self.snapshot.right_symbols(&self.string).into_iter().collect()
    }

    /// The symbols before it, and how often. Takes time in proportion to the occurrences.
    pub fn lefts(&self) -> Vec<(K, u64)> {
        self.snapshot.left_symbols(&self.string).into_iter().collect()
    }

    /// The node of the graph that it belongs to: the longest string that is around every occurrence of this one.
    #[must_use]
    pub fn maximal(&self) -> Self {
        self.of(self.snapshot.closed_left(self.snapshot.closed_right(self.string.clone())))
    }

    /// How often it occurs.
    pub fn count(&self) -> u64 {
        self.snapshot.count_bytes(&self.string)
    }

    /// The string; `None` only if the texts of a damaged file are not made of symbols.
    pub fn string(&self) -> Option<K::Owned> {
        K::key(&self.string)
    }

    fn of(&self, string: Vec<u8>) -> Self {
        Self { string, snapshot: Arc::clone(&self.snapshot) }
    }
}
