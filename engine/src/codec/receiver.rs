//! What stands between every decoder and the sink: terms are UTF-8 and not too much.

use super::error::shown;
use super::{Error, Expected, Format, Result, Sink};

/// Checks terms on their way to a sink.
pub(super) struct Receiver<'s, S> {
    sink: &'s mut S,
    format: Format,
    limit: usize,
    /// Bytes of all terms so far.
    text: usize,
    /// Terms so far.
    terms: u64,
}

impl<'s, S: Sink> Receiver<'s, S> {
    pub(super) fn new(sink: &'s mut S, format: Format, limit: usize) -> Self {
        Self { sink, format, limit, text: 0, terms: 0 }
    }

    /// How many terms have come.
    pub(super) fn terms(&self) -> u64 {
        self.terms
    }

    /// How many bytes they have.
    pub(super) fn text(&self) -> usize {
        self.text
    }

    pub(super) fn malformed(&self, offset: usize, reason: impl Into<String>) -> Error {
        Error::Malformed { format: self.format, offset: offset as u64, reason: reason.into() }
    }

    pub(super) fn start(&mut self, valued: bool, expected: Expected) -> Result<()> {
        let text = expected.text.min(self.limit);
        self.sink.start(valued, Expected { text, ..expected })
    }

    /// Takes a term that stands at an offset.
    #[inline]
    pub(super) fn term(&mut self, term: &[u8], value: u64, offset: usize) -> Result<()> {
        match std::str::from_utf8(term) {
            Ok(term) => self.str(term, value, offset),
            Err(error) => Err(self.no_text(term, offset + error.valid_up_to())),
        }
    }

    /// Takes a term that was put together from several places: it stands nowhere as a whole, and of an error there is only
    /// `offset` to be named.
    #[inline]
    pub(super) fn composed(&mut self, term: &[u8], value: u64, offset: usize) -> Result<()> {
        match std::str::from_utf8(term) {
            Ok(term) => self.str(term, value, offset),
            Err(_) => Err(self.no_text(term, offset)),
        }
    }

    #[cold]
    fn no_text(&self, term: &[u8], offset: usize) -> Error {
        self.malformed(offset, format!("term {} is not UTF-8: `{}`", self.terms, shown(term)))
    }

    /// Takes a term that is known to be UTF-8.
    #[inline]
    pub(super) fn str(&mut self, term: &str, value: u64, offset: usize) -> Result<()> {
        self.text = self.text.saturating_add(term.len());
        if self.text > self.limit {
            return Err(Error::Limit { format: self.format, offset: offset as u64, limit: self.limit });
        }
        self.terms += 1;
        self.sink.term(term, value)
    }

    /// Refuses a term that does not come after the one before it. Decoders call it before they pass a term on, unless
    /// the way they come to terms is in order.
    #[inline]
    pub(super) fn order(&self, before: &[u8], term: &[u8], offset: usize) -> Result<()> {
        if self.terms == 0 || before < term { Ok(()) } else { Err(self.disorder(before, term, offset)) }
    }

    #[cold]
    fn disorder(&self, before: &[u8], term: &[u8], offset: usize) -> Error {
        let (term, before) = (shown(term), shown(before));
        let reason = format!("term {}, `{term}`, does not come after `{before}`", self.terms);
        self.malformed(offset, reason)
    }
}
