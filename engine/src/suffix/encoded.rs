//! The encoded control: every suffix is a term of a persistent trie that carries its positions.
//!
//! It answers what the index answers, and is what the index is compared with: as good as the design allows. A query visits
//! the terms that begin with the pattern and nothing else; positions are kept as they are returned.

use std::path::Path;

use super::Position;
use crate::error::{Error, Result};
use crate::symbol::{KeyKind, Symbol};
use crate::trie::{ByteTrie, Image, ImageWriter, LoadStrategy, OpenOptions, Profile};

/// Before a suffix.
const SUFFIX: u8 = 0;

/// Before the number of a text, in big-endian bytes.
const TEXT: u8 = 1;

/// Bytes a position in a file.
const POSITION_LEN: usize = 8;

/// Texts whose suffixes are terms of a trie: the term is a zero byte and the suffix, its value the list of its positions.
/// Texts are terms as well: a one, the number, and then the value is the text.
pub struct EncodedIndex<K> {
    /// The number of the list of each term.
    terms: ByteTrie<u64>,
    /// Positions of suffixes, in symbols.
    lists: Vec<Vec<Position>>,
    texts: Vec<Box<[u8]>>,
    symbols: std::marker::PhantomData<fn() -> K>,
}

impl<K: Symbol> Default for EncodedIndex<K> {
    fn default() -> Self {
        Self {
            terms: ByteTrie::new(),
            lists: Vec::new(),
            texts: Vec::new(),
            symbols: std::marker::PhantomData,
        }
    }
}

impl<K: Symbol> EncodedIndex<K> {
    /// An index without texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns its number. Takes time and memory in proportion to the square of its length.
    ///
    /// # Errors
    ///
    /// [`Error::KeyTooLong`] above 4 GiB.
    pub fn push(&mut self, text: &K::Key) -> Result<u32> {
        let bytes = K::bytes(text);
        let document = self.texts.len() as u32;
        let mut term = vec![SUFFIX];
        term.extend_from_slice(bytes);
        let starts = (0..bytes.len()).filter(|&at| K::starts(bytes[at]));
        for (offset, at) in starts.enumerate() {
            // The suffix lies behind `at` in the buffer, so its mark takes the place of the byte before it.
            let before = std::mem::replace(&mut term[at], SUFFIX);
            let list = self.list_of(&term[at..])?;
            term[at] = before;
            self.lists[list].push(Position { document, offset: offset as u32 });
        }
        self.texts.push(bytes.into());
        Ok(document)
    }

    fn list_of(&mut self, term: &[u8]) -> Result<usize> {
        if let Some(list) = self.terms.get(term)? {
            return Ok(list as usize);
        }
        self.terms.insert(term, self.lists.len() as u64)?;
        self.lists.push(Vec::new());
        Ok(self.lists.len() - 1)
    }

    /// How many texts there are.
    pub fn texts(&self) -> u32 {
        self.texts.len() as u32
    }

    /// Where `pattern`, which is not empty, occurs, in symbols, in place of what `out` holds.
    ///
    /// # Errors
    ///
    /// None for an index in memory; the trie returns results.
    pub fn positions_into(&self, pattern: &K::Key, out: &mut Vec<Position>) -> Result<()> {
        out.clear();
        let mut term = vec![SUFFIX];
        term.extend_from_slice(K::bytes(pattern));
        for entry in self.terms.prefix(&term) {
            out.extend_from_slice(&self.lists[entry?.1 as usize]);
        }
        Ok(())
    }

    /// Writes everything to an image at `path`, positions and texts included, replacing what is there in one step.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if something cannot be written.
    pub fn checkpoint(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut writer = ImageWriter::<u8, [u8]>::create(path, Profile::Compact)?;
        let mut value = Vec::new();
        for entry in &self.terms {
            let (term, list) = entry?;
            value.clear();
            for position in &self.lists[list as usize] {
                value.extend(position.document.to_le_bytes());
                value.extend(position.offset.to_le_bytes());
            }
            writer.push(&term, &value)?;
        }
        for (number, text) in self.texts.iter().enumerate() {
            writer.push(&text_term(number as u64), text)?;
        }
        writer.finish()
    }

    /// Opens what [`checkpoint`](Self::checkpoint) wrote, into memory.
    ///
    /// # Errors
    ///
    /// As for [`Trie::open`](crate::Trie::open), and [`Error::Corrupt`] if the terms are not those of an index.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let image = Image::<u8, [u8]>::open(path, OpenOptions::from(LoadStrategy::Mapped))?;
        let corrupt = |reason| Error::corrupt(path, 0, reason);
        let mut index = Self::new();
        for entry in &image {
            let (term, value) = entry?;
            match term.first() {
                Some(&SUFFIX) if value.len().is_multiple_of(POSITION_LEN) => {
                    let number =
                        |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte));
                    let list = value.chunks_exact(POSITION_LEN).map(|position| Position {
                        document: number(&position[..4]),
                        offset: number(&position[4..]),
                    });
                    index.terms.insert(&term, index.lists.len() as u64)?;
                    index.lists.push(list.collect());
                }
                Some(&TEXT) if term == text_term(index.texts.len() as u64) => {
                    if K::KIND == KeyKind::Chars && std::str::from_utf8(value).is_err() {
                        return Err(corrupt("a text is not UTF-8"));
                    }
                    index.texts.push(value.into());
                }
                _ => return Err(corrupt("a term is neither a suffix nor a text")),
            }
        }
        Ok(index)
    }
}

fn text_term(number: u64) -> [u8; 9] {
    let mut term = [TEXT; 9];
    term[1..].copy_from_slice(&number.to_be_bytes());
    term
}

impl<K: Symbol> std::fmt::Debug for EncodedIndex<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EncodedIndex")
            .field("texts", &self.texts.len())
            .field("terms", &self.terms.len())
            .finish()
    }
}
