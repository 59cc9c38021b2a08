//! Suffix indexes: which texts hold a pattern, where, how often, and what stands around it.
//!
//! There is one index, over bytes or over chars, with three faces: [`SuffixAutomaton`] walks from state to state as symbols
//! are read, [`SuffixTree`] branches where texts do, and [`Scdawg`] extends a match to both sides. All three are a
//! [`SuffixIndex`], to which texts can be added while others read, and which a checkpoint writes to one file.
//!
//! ```
//! use engine::suffix::{Layout, Position, SuffixIndex};
//! use engine::Verify;
//!
//! # fn main() -> engine::Result<()> {
//! # let folder = tempfile::tempdir().expect("a scratch folder");
//! # let path = folder.path().join("proverbs.suffix");
//! let index = SuffixIndex::<char>::from_texts(["七転び八起き", "起きて半畳"])?;
//! assert_eq!(index.count("起き"), 2);
//! index.push("早起きは三文の徳")?;
//! assert_eq!(index.count("起き"), 3);
//! index.checkpoint(&path, Layout::Compact)?;
//!
//! let index = SuffixIndex::<char>::open(&path, Verify::Header)?;
//! assert_eq!(index.positions("八起"), [Position { document: 0, offset: 3 }]);
//! # Ok(())
//! # }
//! ```
//!
//! What is stored is the texts, the suffix array, the upper nodes of the suffix tree, and which text a position lies
//! in; see [`format`](mod@crate::format). The graphs are read off these when they are asked for.

mod automaton;
mod borders;
mod docs;
mod encoded;
mod fresh;
mod grams;
mod graph;
mod groups;
mod heads;
mod index;
mod jump;
mod matching;
mod publish;
mod sais;
mod scdawg;
mod segment;
mod snapshot;
mod sorted;
mod substrings;
mod suffix_tree;
mod texts;
mod tree;
mod view;

pub use automaton::{State, SuffixAutomaton};
pub use encoded::EncodedIndex;
pub use index::{Reader, SuffixIndex};
pub use scdawg::{Match, Scdawg};
pub use snapshot::Snapshot;
pub use suffix_tree::{SuffixTree, TreeNode};

/// The starts of all suffixes of `text` in byte order, a suffix before those that it begins. Takes time and memory in
/// proportion to the text (induced sorting).
///
/// # Errors
///
/// [`Error::TextsTooLarge`](crate::Error::TextsTooLarge) if it has more than 2^31 - 2 bytes.
pub fn suffix_array(text: &[u8]) -> crate::Result<Vec<u32>> {
    if text.len() > segment::MAX_LEN {
        return Err(crate::Error::TextsTooLarge { limit: segment::MAX_LEN });
    }
    Ok(sais::suffix_array(text, 256))
}

/// Where a pattern occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The number of the text.
    pub document: u32,
    /// Symbols, or bytes where it says so, from the start of the text to the start of the occurrence.
    pub offset: u32,
}

/// How an index is laid out in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The fastest to ask: at most 10 bytes for each byte of any text from 64 KiB on, and some for each text; up to 5 more
    /// below.
    #[default]
    Fast,
    /// The smallest: starts have as few bits as they can, and searches compare with the texts only. At most 5.5 bytes for each
    /// byte of up to 256 MiB, and some for each text.
    Compact,
}
