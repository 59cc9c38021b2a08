//! Texts before they are indexed, and which texts were removed.

use std::ops::Range;

use super::segment::MAX_LEN;
use crate::error::{Error, Result};
use crate::paging;

/// Texts, one behind the other.
#[derive(Clone, Default)]
pub(super) struct Texts {
    pub(super) text: Vec<u8>,
    pub(super) ends: Vec<u32>,
    /// The numbers of those that were removed, which have no bytes any more.
    pub(super) gone: Numbers,
}

impl Texts {
    /// Adds a text; `None` is one that was removed.
    pub(super) fn push(&mut self, text: Option<&[u8]>) -> Result<()> {
        let bytes = text.unwrap_or_default();
        // Between two texts there is a letter while they are sorted.
        if bytes.len() >= MAX_LEN.saturating_sub(self.text.len() + self.ends.len()) {
            return Err(Error::TextsTooLarge { limit: MAX_LEN });
        }
        if text.is_none() {
            self.gone.insert(self.ends.len() as u32);
        }
        let room = self.text.capacity();
        self.text.reserve(bytes.len());
        if self.text.capacity() > room {
            paging::advise(&self.text);
        }
        self.text.extend_from_slice(bytes);
        self.ends.push(self.text.len() as u32);
        Ok(())
    }

    /// These texts without one.
    pub(super) fn without(&self, index: usize) -> Self {
        let (span, mut left) = (self.span(index), self.clone());
        left.text.drain(span.clone());
        left.ends[index..].iter_mut().for_each(|end| *end -= span.len() as u32);
        left.gone.insert(index as u32);
        left
    }

    pub(super) fn span(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start as usize..self.ends[index] as usize
    }

    /// The text of that number, unless there is none or it was removed.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let there = index < self.ends.len() && !self.gone.has(index as u32);
        there.then(|| &self.text[self.span(index)])
    }

    /// The text that lies at `at`, and where in all it lies.
    pub(super) fn locate(&self, at: usize) -> (usize, Range<usize>) {
        let index = self.ends.partition_point(|&end| end as usize <= at);
        (index, self.span(index))
    }
}

/// A set of the numbers of texts.
#[derive(Clone, Default)]
pub(super) struct Numbers {
    words: Vec<u64>,
}

impl Numbers {
    pub(super) fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    #[inline]
    pub(super) fn has(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
