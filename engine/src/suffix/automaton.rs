//! The suffix automaton: states are sets of strings that end at the same places.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::graph::reachable;
use super::index::SuffixIndex;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::symbol::Symbol;
use crate::trie::OpenOptions;

/// A [`SuffixIndex`] that is walked symbol by symbol.
///
/// ```
/// use engine::suffix::SuffixAutomaton;
///
/// let automaton = SuffixAutomaton::<char>::from_texts(["abcbc"])?;
/// let state = automaton.start().step('b').and_then(|state| state.step('c')).expect("`bc` occurs");
/// assert_eq!(state.count(), 2);
/// let state = state.step('b').expect("`bcb` occurs");
/// assert_eq!(state.longest(), Some("abcb".to_owned()));
/// assert_eq!(state.link().and_then(|state| state.longest()), Some("b".to_owned()));
/// # Ok::<(), engine::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SuffixAutomaton<K: Symbol>(SuffixIndex<K>);

impl<K: Symbol> SuffixAutomaton<K> {
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

    /// The state of the empty string, in the newest snapshot.
    pub fn start(&self) -> State<K> {
        State { snapshot: self.0.compacted(), longest: Vec::new() }
    }

    /// All states, each once, the start first. Takes memory in proportion to their longest strings.
    pub fn states(&self) -> impl Iterator<Item = State<K>> {
        reachable(
            self.start(),
            |state| state.longest.clone(),
            |state| state.steps().into_iter().filter_map(|(symbol, _)| state.step(symbol)).collect(),
        )
    }
}

impl<K: Symbol> From<SuffixIndex<K>> for SuffixAutomaton<K> {
    fn from(index: SuffixIndex<K>) -> Self {
        Self(index)
    }
}

impl<K: Symbol> Deref for SuffixAutomaton<K> {
    type Target = SuffixIndex<K>;

    fn deref(&self) -> &SuffixIndex<K> {
        &self.0
    }
}

/// A state: all strings that end at exactly the same places. The longest one has the others as suffixes.
#[derive(Clone, Debug)]
pub struct State<K: Symbol> {
    snapshot: Arc<Snapshot<K>>,
    longest: Vec<u8>,
}

impl<K: Symbol> State<K> {
    /// The state after one symbol more, if texts go on so. Takes time in proportion to the longest string and to the
    /// number of its occurrences.
    #[must_use]
    pub fn step(&self, symbol: K) -> Option<Self> {
        self.snapshot.right_of(&self.longest, symbol).map(|string| self.of(string))
    }

    /// The symbols that [`step`](Self::step) takes, and how often each follows.
    pub fn steps(&self) -> Vec<(K, u64)> {
        self.snapshot.right_symbols(&self.longest).into_iter().collect()
    }

    /// The suffix link: the state of the longest suffix that also ends elsewhere; `None` for the empty string.
    #[must_use]
    pub fn link(&self) -> Option<Self> {
        let cuts: Vec<usize> = (1..=self.longest.len())
            .filter(|&at| self.longest.get(at).is_none_or(|&byte| K::starts(byte)))
            .collect();
        let count = self.count();
        // Shorter suffixes occur more often.
        let cut = cuts.partition_point(|&cut| self.snapshot.count_bytes(&self.longest[cut..]) == count);
        cuts.get(cut).or(cuts.last()).map(|&cut| self.of(self.longest[cut..].to_vec()))
    }

    /// How often its strings occur.
    pub fn count(&self) -> u64 {
        self.snapshot.count_bytes(&self.longest)
    }

    /// Its longest string; `None` only if the texts of a damaged file are not made of symbols.
    pub fn longest(&self) -> Option<K::Owned> {
        K::key(&self.longest)
    }

    fn of(&self, string: Vec<u8>) -> Self {
        Self { longest: self.snapshot.closed_left(string), snapshot: Arc::clone(&self.snapshot) }
    }
}
