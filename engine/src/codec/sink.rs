//! What is decoded into.

use super::Result;
use crate::trie::{ImageWriter, Trie};

/// How much is to come, for making room. Bounded by the length of the bytes, so it may be trusted that far;
/// nothing if room is to be made as it is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Terms.
    pub terms: usize,
    /// Bytes of all terms.
    pub text: usize,
}

/// What takes the terms of a decoded dictionary.
pub trait Sink {
    /// Comes first, once. Without values, those of the terms are 0.
    ///
    /// # Errors
    ///
    /// Any ends the decoding.
    fn start(&mut self, valued: bool, expected: Expected) -> Result<()>;

    /// Takes the next term, which is above all before it.
    ///
    /// # Errors
    ///
    /// Any ends the decoding.
    fn term(&mut self, term: &str, value: u64) -> Result<()>;
}

/// Decoded terms are added to those it has; terms without values get 0.
impl Sink for Trie<char, u64> {
    fn start(&mut self, _: bool, _: Expected) -> Result<()> {
        Ok(())
    }

    fn term(&mut self, term: &str, value: u64) -> Result<()> {
        self.insert(term, value)?;
        Ok(())
    }
}

/// Values are left out.
impl Sink for Trie<char, ()> {
    fn start(&mut self, _: bool, _: Expected) -> Result<()> {
        Ok(())
    }

    fn term(&mut self, term: &str, _: u64) -> Result<()> {
        self.insert(term, ())?;
        Ok(())
    }
}

/// The image is not finished by it.
impl Sink for ImageWriter<'_, char, u64> {
    fn start(&mut self, _: bool, _: Expected) -> Result<()> {
        Ok(())
    }

    fn term(&mut self, term: &str, value: u64) -> Result<()> {
        Ok(self.push(term, value)?)
    }
}
