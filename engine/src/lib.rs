//! Persistent tries and suffix indexes over bytes or chars.
//!
//! A trie lives in memory, a checkpoint writes all of it to an immutable, checksummed image in one atomic step, and
//! opening makes the image usable again: *eagerly*, by making a heap node of every node in it (with one thread or
//! several), *lazily*, by making heap nodes of those that are accessed, to a *depth*, or *mapped*, without heap nodes.
//! An [`Image`] is for those who only ask: it is read where it is, and an [`ImageWriter`] makes it from sorted keys.
//!
//! ```
//! use engine::{CharImage, CharTrie, LoadStrategy, Verify};
//!
//! # fn main() -> engine::Result<()> {
//! # let folder = tempfile::tempdir().expect("a scratch folder");
//! # let path = folder.path().join("cities.trie");
//! let mut trie = CharTrie::<u64>::new();
//! trie.insert("東京", 14)?;
//! trie.insert("東大阪", 1)?;
//! trie.insert("京都", 2)?;
//! trie.checkpoint(&path)?;
//!
//! let trie = CharTrie::<u64>::open(&path, LoadStrategy::Lazy)?;
//! assert_eq!(trie.get("東京")?, Some(14));
//! let east: Vec<String> = trie.prefix("東").map(|entry| entry.map(|(key, _)| key)).collect::<Result<_, _>>()?;
//! assert_eq!(east, ["東京", "東大阪"]);
//!
//! let image = CharImage::<u64>::open(&path, Verify::Full)?;
//! assert_eq!(image.get_many(&["京都", "大阪"])?, [Some(2), None]);
//! assert_eq!(image.at_least("東")?, Some(("東京".to_owned(), 14)));
//! assert_eq!(image.range(.."東").next_back().transpose()?, Some(("京都".to_owned(), 2)));
//! # Ok(())
//! # }
//! ```
//!
//! Modules, in reading order: [`symbol`] what keys are made of, [`format`](mod@format) the bytes of a file, [`trie`] the trie,
//! [`store`] a map that takes changes one by one and survives crashes, [`suffix`] the indexes of substrings, [`codec`] dictionaries in
//! other formats, and [`Error`] what can go wrong. The engine reads no clock and no environment variable and prints nothing,
//! except for the allocator `heap` (feature `heap`): it reads its switches and
//! reports faults.

pub mod codec;
mod error;
pub mod format;
#[cfg(all(feature = "heap", target_os = "linux", target_pointer_width = "64"))]
pub mod heap;
mod paging;
mod simd;
#[cfg(not(loom))]
pub mod store;
#[cfg(loom)]
#[path = "store/loom.rs"]
mod store;
pub mod suffix;
pub mod symbol;
pub mod trie;

/// The engine's own tests run on it.
#[cfg(all(test, feature = "heap", target_os = "linux", target_pointer_width = "64"))]
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

pub use error::{Error, Result};
#[cfg(not(loom))]
pub use store::{ByteStore, CharStore, Durability, Snapshot, Store, StoreOptions};
pub use suffix::{Position, Scdawg, SuffixAutomaton, SuffixIndex, SuffixTree};
pub use trie::{
    Backing, ByteImage, ByteTrie, CharImage, CharTrie, Image, ImageWriter, LoadStrategy, OpenOptions,
    Profile, Rank, Trie, Verify,
};
