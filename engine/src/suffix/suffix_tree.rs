//! The suffix tree: nodes are the strings behind which texts branch or end.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::index::SuffixIndex;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::symbol::Symbol;
use crate::trie::OpenOptions;

/// A [`SuffixIndex`] that is walked from branch to branch.
///
/// ```
/// use engine::suffix::SuffixTree;
///
/// let tree = SuffixTree::<char>::from_texts(["banana"])?;
/// let nodes: Vec<_> = tree.nodes().map(|node| (node.string().unwrap_or_default(), node.count())).collect();
/// let expected = [("", 7), ("a", 3), ("ana", 2), ("anana", 1), ("banana", 1), ("na", 2), ("nana", 1)];
/// assert_eq!(nodes, expected.map(|(string, count)| (string.to_owned(), count)));
/// # Ok::<(), engine::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SuffixTree<K: Symbol>(SuffixIndex<K>);

impl<K: Symbol> SuffixTree<K> {
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

    /// The node of the empty string, in the newest snapshot.
    pub fn root(&self) -> TreeNode<K> {
        TreeNode { snapshot: self.0.compacted(), string: Vec::new() }
    }

    /// All nodes in the byte order of their strings, the root first.
    pub fn nodes(&self) -> impl Iterator<Item = TreeNode<K>> {
        let mut waiting = vec![self.root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend(node.children().into_iter().rev());
            Some(node)
        })
    }
}

impl<K: Symbol> From<SuffixIndex<K>> for SuffixTree<K> {
    fn from(index: SuffixIndex<K>) -> Self {
        Self(index)
    }
}

impl<K: Symbol> Deref for SuffixTree<K> {
    type Target = SuffixIndex<K>;

    fn deref(&self) -> &SuffixIndex<K> {
        &self.0
    }
}

/// A node: a string behind which different symbols follow, or at which a text ends.
#[derive(Clone, Debug)]
pub struct TreeNode<K: Symbol> {
    snapshot: Arc<Snapshot<K>>,
    string: Vec<u8>,
}

impl<K: Symbol> TreeNode<K> {
    /// The nodes below, in the order of the symbols that lead there. Takes a few searches for each.
    pub fn children(&self) -> Vec<Self> {
        let symbols = self.snapshot.right_symbols(&self.string);
        symbols.into_keys().filter_map(|symbol| self.child(symbol)).collect()
    }

    /// The node below that begins with `symbol`.
    pub fn child(&self, symbol: K) -> Option<Self> {
        let string = self.snapshot.right_of(&self.string, symbol)?;
        Some(Self { string: self.snapshot.closed_right(string), snapshot: Arc::clone(&self.snapshot) })
    }

    /// How often its string occurs.
    pub fn count(&self) -> u64 {
        self.snapshot.count_bytes(&self.string)
    }

    /// Its string; `None` only if the texts of a damaged file are not made of symbols.
    pub fn string(&self) -> Option<K::Owned> {
        K::key(&self.string)
    }
}
