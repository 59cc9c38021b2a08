//! What is encoded.

use super::{Error, Result};
use crate::trie::{Trie, common_len};

/// What can be encoded: terms in byte order, each once, with or without values.
pub trait Source {
    /// How many terms there are.
    fn len(&self) -> u64;

    /// Whether there is no term.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether terms have values. Without, [`for_each`](Self::for_each) gives 0.
    fn has_values(&self) -> bool;

    /// Whether terms cannot but be in order, so that nobody has to look.
    fn is_sorted(&self) -> bool {
        false
    }

    /// How many bytes all terms have together; if it is not known, by going through them.
    ///
    /// # Errors
    ///
    /// As for [`for_each`](Self::for_each).
    fn text_len(&self) -> Result<u64> {
        let mut len = 0;
        self.for_each(|term, _| {
            len += term.len() as u64;
            Ok(())
        })?;
        Ok(len)
    }

    /// Calls `each` with every term and its value, in order.
    ///
    /// # Errors
    ///
    /// What `each` answers, and [`Error::Trie`] if the terms are in a damaged image.
    fn for_each(&self, each: impl FnMut(&str, u64) -> Result<()>) -> Result<()>;

    /// As [`for_each`](Self::for_each), but `each` gets the bytes from a term's start on, and how many of them are the
    /// term's. A source whose terms lie one behind the other gives all that follows: short terms can then be copied as so
    /// many bytes of a fixed number, which takes half the time of a copy of just as many.
    ///
    /// # Errors
    ///
    /// As for [`for_each`](Self::for_each).
    fn for_each_from(&self, mut each: impl FnMut(&[u8], usize, u64) -> Result<()>) -> Result<()> {
        self.for_each(|term, value| each(term.as_bytes(), term.len(), value))
    }
}

/// A set of terms, which have to be sorted.
impl<T: AsRef<str>> Source for [T] {
    fn len(&self) -> u64 {
        <[T]>::len(self) as u64
    }

    fn has_values(&self) -> bool {
        false
    }

    fn for_each(&self, mut each: impl FnMut(&str, u64) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|term| each(term.as_ref(), 0))
    }
}

impl Source for Trie<char, u64> {
    fn is_sorted(&self) -> bool {
        true
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn has_values(&self) -> bool {
        true
    }

    fn for_each(&self, each: impl FnMut(&str, u64) -> Result<()>) -> Result<()> {
        self.visit(each)
    }
}

impl Source for Trie<char, ()> {
    fn is_sorted(&self) -> bool {
        true
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn has_values(&self) -> bool {
        false
    }

    fn for_each(&self, mut each: impl FnMut(&str, u64) -> Result<()>) -> Result<()> {
        self.visit(|term, ()| each(term, 0))
    }
}

/// Tells the common start of each term and the one before it, and that the terms are in order.
#[derive(Default)]
pub(super) struct Neighbours {
    before: Vec<u8>,
    index: u64,
}

impl Neighbours {
    /// How many bytes the term has in common with the one before it.
    #[inline]
    pub(super) fn shared(&mut self, term: &[u8]) -> Result<usize> {
        let shared = common_len(&self.before, term);
        let ascends = match (self.before.get(shared), term.get(shared)) {
            (Some(a), Some(b)) => a < b,
            (None, Some(_)) => true,
            (_, None) => self.index == 0,
        };
        if !ascends {
            return Err(Error::Order { index: self.index, term: super::error::shown(term) });
        }
        self.before.truncate(shared);
        self.before.extend_from_slice(&term[shared..]);
        self.index += 1;
        Ok(shared)
    }
}

/// Refuses terms that are not in order, unless the source cannot give such.
pub(super) struct Order {
    before: Vec<u8>,
    index: u64,
    known: bool,
}

impl Order {
    pub(super) fn of<S: Source + ?Sized>(source: &S) -> Self {
        Self { before: Vec::new(), index: 0, known: source.is_sorted() }
    }

    #[inline]
    pub(super) fn check(&mut self, term: &[u8]) -> Result<()> {
        if self.known {
            return Ok(());
        }
        if self.index > 0 && term <= self.before.as_slice() {
            return Err(Error::Order { index: self.index, term: super::error::shown(term) });
        }
        self.before.clear();
        self.before.extend_from_slice(term);
        self.index += 1;
        Ok(())
    }
}
