//! One version of an index: it never changes, and any number of threads may ask it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::docs::chars_in;
use super::fresh::{FRESH_LEN, Fresh, Grown};
use super::segment::{MAX_LEN, Segment};
use super::texts::{Numbers, Texts};
use super::view::View;
use super::{Layout, Position};
use crate::error::{Error, Result};
use crate::symbol::{KeyKind, Symbol};

/// So many segments of one size are merged into one.
const FAN_IN: usize = 4;

/// A consistent state of a [`SuffixIndex`](super::SuffixIndex): every text that was added before it was taken is in it,
/// and no part of a later one.
///
/// `m` below is the length of a pattern in bytes. An index has a few segments (one after a checkpoint was opened, at most
/// 3 for each factor 4 of the size otherwise), and a search asks each of them.
pub struct Snapshot<K> {
    pub(super) segments: Vec<Part>,
    pub(super) fresh: Arc<Fresh>,
    /// Texts before the fresh ones.
    settled: u32,
    symbols: PhantomData<fn() -> K>,
}

/// A segment, the number of its first text, and which of its texts were removed since it was built.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) first: u32,
    pub(super) segment: Arc<Segment>,
    removed: Arc<Numbers>,
}

impl Part {
    fn new(first: u32, segment: Segment) -> Self {
        Self { first, segment: Arc::new(segment), removed: Arc::default() }
    }

    /// Its texts; nothing in place of one that was removed.
    fn texts(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..).zip(self.segment.all_texts()).map(|(number, text)| text.filter(|_| !self.removed.has(number)))
    }

    /// The same without bytes of removed texts.
    fn compacted<K: Symbol>(&self) -> Result<Self> {
        if self.removed.is_empty() {
            return Ok(self.clone());
        }
        let mut texts = Texts::default();
        self.texts().try_for_each(|text| texts.push(text))?;
        Ok(Self::new(self.first, Segment::build::<K>(&texts, self.segment.layout())))
    }

    /// Whether the `index`-th suffix is one of a text that is there.
    #[inline]
    fn has(&self, view: &View<'_>, index: usize) -> bool {
        self.removed.is_empty() || !self.removed.has(view.docs().locate(view.array().get(index)).0)
    }
}

impl<K: Symbol> Snapshot<K> {
    pub(super) fn of(segment: Option<Segment>) -> Self {
        let settled = segment.as_ref().map_or(0, Segment::texts);
        let part = segment.map(|segment| Part::new(0, segment));
        Self { segments: part.into_iter().collect(), fresh: Arc::default(), settled, symbols: PhantomData }
    }

    /// The version that has these texts as well.
    pub(super) fn with<'t>(&self, texts: impl Iterator<Item = &'t [u8]>) -> Result<Self> {
        let grown = self.fresh.with(texts)?;
        let texts = match &grown {
            Grown::Fresh(fresh) => fresh,
            Grown::Full(texts) => texts,
        };
        if u64::from(self.settled) + texts.ends.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::TextsTooLarge { limit: MAX_LEN });
        }
        let (mut segments, mut settled) = (self.segments.clone(), self.settled);
        let fresh = match grown {
            Grown::Fresh(fresh) => fresh,
            Grown::Full(texts) => {
                segments.push(Part::new(settled, Segment::build::<K>(&texts, Layout::Fast)));
                settled += texts.ends.len() as u32;
                merge::<K>(&mut segments)?;
                Arc::default()
            }
        };
        Ok(Self { segments, fresh, settled, symbols: PhantomData })
    }

    /// The version without a text; `None` if it is not there.
    pub(super) fn without(&self, number: u32) -> Option<Self> {
        self.text_bytes(number)?;
        let (mut segments, mut fresh) = (self.segments.clone(), Arc::clone(&self.fresh));
        if number >= self.settled {
            fresh = Arc::new(fresh.without((number - self.settled) as usize));
        } else {
            let part = segments.partition_point(|part| part.first <= number).checked_sub(1)?;
            let part = &mut segments[part];
            Arc::make_mut(&mut part.removed).insert(number - part.first);
        }
        Some(Self { segments, fresh, settled: self.settled, symbols: PhantomData })
    }

    /// Whether bytes of removed texts are still in segments.
    pub(super) fn has_removed(&self) -> bool {
        self.segments.iter().any(|part| !part.removed.is_empty())
    }

    /// The version that has no bytes of removed texts.
    pub(super) fn compacted(&self) -> Result<Self> {
        let segments = self.segments.iter().map(Part::compacted::<K>).collect::<Result<_>>()?;
        Ok(Self { segments, fresh: Arc::clone(&self.fresh), settled: self.settled, symbols: PhantomData })
    }

    /// The version that has everything in one segment.
    pub(super) fn merged(&self) -> Result<Self> {
        if self.fresh.ends.is_empty() && self.segments.len() == 1 {
            return self.compacted();
        }
        Ok(Self::of(Some(Segment::build::<K>(&self.gather()?, Layout::Fast))))
    }

    /// The file of everything.
    pub(super) fn file(&self, layout: Layout) -> Result<Arc<Segment>> {
        if let ([part], []) = (&self.segments[..], &self.fresh.ends[..])
            && part.segment.layout() == layout
            && part.removed.is_empty()
        {
            return Ok(Arc::clone(&part.segment));
        }
        Ok(Arc::new(Segment::build::<K>(&self.gather()?, layout)))
    }

    pub(super) fn gather(&self) -> Result<Texts> {
        let mut all = Texts::default();
        self.segments.iter().flat_map(Part::texts).try_for_each(|text| all.push(text))?;
        (0..self.fresh.ends.len()).try_for_each(|index| all.push(self.fresh.get(index)))?;
        Ok(all)
    }

    /// How many texts were added, removed ones included: their numbers are below this.
    pub fn texts(&self) -> u32 {
        self.settled + self.fresh.ends.len() as u32
    }

    /// The bytes of the text that was added as number `number`; `None` if it was removed.
    pub fn text_bytes(&self, number: u32) -> Option<&[u8]> {
        if number >= self.settled {
            return self.fresh.get((number - self.settled) as usize);
        }
        let part = self.segments.partition_point(|part| part.first <= number).checked_sub(1)?;
        let part = &self.segments[part];
        let number = number - part.first;
        if part.removed.has(number) { None } else { part.segment.view().docs().text(number) }
    }

    /// The text that was added as number `number`; `None` if it was removed, and also if a damaged file has none there.
    pub fn text(&self, number: u32) -> Option<K::Owned> {
        K::key(self.text_bytes(number)?)
    }

    /// All texts that are there, each with its number, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, K::Owned)> + '_ {
        (0..self.texts()).filter_map(|number| Some((number, self.text(number)?)))
    }

    /// How many bytes all texts have, those that were removed since the last checkpoint included.
    pub fn text_len(&self) -> u64 {
        let settled: u64 = self.segments.iter().map(|part| part.segment.text_len() as u64).sum();
        settled + self.fresh.text.len() as u64
    }

    /// How many bytes the index has, texts included.
    pub fn index_len(&self) -> u64 {
        let settled: u64 = self.segments.iter().map(|part| part.segment.file().len() as u64).sum();
        settled + self.fresh.text.len() as u64 + 4 * self.fresh.ends.len() as u64
    }

    /// Whether `pattern` occurs in some text. An empty one occurs at every symbol of a text and at its end. Takes time in
    /// proportion to `m`, times the logarithm of the texts' length where they repeat themselves so much that the tree has not
    /// all its nodes; if texts were removed since the last checkpoint, also to the number of occurrences in them.
    #[inline]
    pub fn contains(&self, pattern: &K::Key) -> bool {
        let pattern = K::bytes(pattern);
        if pattern.is_empty() {
            return (0..self.texts()).any(|number| self.text_bytes(number).is_some());
        }
        let found = |part: &Part| {
            let view = part.segment.view();
            if part.removed.is_empty() {
                view.contains(pattern)
            } else {
                view.find(pattern).any(|index| part.has(&view, index))
            }
        };
        self.segments.iter().any(found)
            || (!self.fresh.text.is_empty() && self.fresh.find(pattern).next().is_some())
    }

    /// How often `pattern` occurs, overlapping occurrences included. Takes time in proportion to `m`; if texts were removed
    /// since the last checkpoint, also to the number of occurrences.
    #[inline]
    pub fn count(&self, pattern: &K::Key) -> u64 {
        self.count_bytes(K::bytes(pattern))
    }

    #[inline]
    pub(super) fn count_bytes(&self, pattern: &[u8]) -> u64 {
        if pattern.is_empty() {
            let symbols = |text: &[u8]| text.iter().filter(|&&byte| K::starts(byte)).count() as u64 + 1;
            return (0..self.texts()).filter_map(|number| self.text_bytes(number)).map(symbols).sum();
        }
        let mut count = 0;
        for part in &self.segments {
            let view = part.segment.view();
            let range = view.find(pattern);
            count += if part.removed.is_empty() {
                range.len()
            } else {
                range.filter(|&index| part.has(&view, index)).count()
            } as u64;
        }
        if !self.fresh.text.is_empty() {
            count += self.fresh.find(pattern).count() as u64;
        }
        count
    }

    /// Where `pattern` occurs: the number of the text, and symbols from its start. In no particular order.
    pub fn positions(&self, pattern: &K::Key) -> Vec<Position> {
        let mut out = Vec::new();
        self.positions_into(pattern, &mut out);
        out
    }

    /// As [`positions`](Self::positions), in place of what `out` holds. Takes time in proportion to `m` and to the number
    /// of occurrences.
    #[inline]
    pub fn positions_into(&self, pattern: &K::Key, out: &mut Vec<Position>) {
        self.locate(K::bytes(pattern), K::KIND == KeyKind::Chars, out);
    }

    /// As [`positions_into`](Self::positions_into), in bytes from the start of the text.
    #[inline]
    pub fn byte_positions_into(&self, pattern: &K::Key, out: &mut Vec<Position>) {
        self.locate(K::bytes(pattern), false, out);
    }

    /// The same occurrences one at a time.
    pub fn occurrences<'s>(&'s self, pattern: &'s K::Key) -> impl Iterator<Item = Position> + 's {
        let bytes = K::bytes(pattern);
        let chars = K::KIND == KeyKind::Chars;
        let empty = bytes.is_empty().then(|| self.positions(pattern)).into_iter().flatten();
        let settled = self.segments.iter().filter(move |_| !bytes.is_empty()).flat_map(move |part| {
            let view = part.segment.view();
            let there = view.find(bytes).filter(move |&index| part.has(&view, index));
            there.map(move |index| position(&view, part.first, index, chars))
        });
        let fresh = (!bytes.is_empty()).then(|| self.fresh.find(bytes)).into_iter().flatten();
        empty
            .chain(settled)
            .chain(fresh.map(move |(index, span, at)| self.fresh_position(index, &span, at, chars)))
    }

    #[inline]
    fn locate(&self, pattern: &[u8], chars: bool, out: &mut Vec<Position>) {
        out.clear();
        if pattern.is_empty() {
            return self.locate_empty(chars, out);
        }
        for part in &self.segments {
            let view = part.segment.view();
            let range = view.find(pattern);
            // At once what is needed: no growing on the way.
            out.reserve(range.len());
            for index in range {
                if part.has(&view, index) {
                    out.push(position(&view, part.first, index, chars));
                }
            }
        }
        if !self.fresh.text.is_empty() {
            for (index, span, at) in self.fresh.find(pattern) {
                out.push(self.fresh_position(index, &span, at, chars));
            }
        }
    }

    fn locate_empty(&self, chars: bool, out: &mut Vec<Position>) {
        for document in 0..self.texts() {
            let Some(text) = self.text_bytes(document) else { continue };
            let starts = (0..text.len()).filter(|&at| K::starts(text[at])).chain([text.len()]);
            for (symbols, at) in starts.enumerate() {
                out.push(Position { document, offset: if chars { symbols } else { at } as u32 });
            }
        }
    }

    fn fresh_position(&self, index: usize, span: &Range<usize>, at: usize, chars: bool) -> Position {
        let offset =
            if chars { chars_in(&self.fresh.text[span.start..at]) } else { (at - span.start) as u32 };
        Position { document: self.settled + index as u32, offset }
    }
}

/// The occurrence that is the `index`-th suffix of a segment.
#[inline]
fn position(view: &View<'_>, first: u32, index: usize, chars: bool) -> Position {
    let at = view.array().get(index);
    let (number, start) = view.docs().locate(at);
    let offset = if chars { view.docs().chars_between(start, at) } else { (at - start) as u32 };
    Position { document: first.wrapping_add(number), offset }
}

/// Merges the last segments as long as there are many of their size.
fn merge<K: Symbol>(segments: &mut Vec<Part>) -> Result<()> {
    // A text that has no bytes has a number all the same.
    let size = |part: &Part| part.segment.text_len() + 2 * part.segment.texts() as usize;
    let level = |part: &Part| (size(part) / FRESH_LEN).max(1).ilog(FAN_IN);
    while let Some(last) = segments.last() {
        let highest = level(last);
        let run = segments.iter().rev().take_while(|part| level(part) <= highest).count();
        let tail = segments.len() - run;
        let len: usize = segments[tail..].iter().map(|part| part.segment.text_len()).sum();
        if run < FAN_IN || segments[tail..].iter().map(size).sum::<usize>() >= MAX_LEN / 2 {
            return Ok(());
        }
        let mut all = Texts::default();
        all.text.reserve(len);
        segments[tail..].iter().flat_map(Part::texts).try_for_each(|text| all.push(text))?;
        let first = segments[tail].first;
        segments.truncate(tail);
        segments.push(Part::new(first, Segment::build::<K>(&all, Layout::Fast)));
    }
    Ok(())
}

impl<K: Symbol> fmt::Debug for Snapshot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("symbols", &K::KIND)
            .field("texts", &self.texts())
            .field("text_len", &self.text_len())
            .field("segments", &self.segments.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_copied_and_indexed_a_few_times_each() {
        for text in [&b""[..], b"x"] {
            let mut snapshot = Snapshot::<u8>::of(None);
            let (mut indexed, mut newest) = (0, None);
            for number in 1..=20 * FRESH_LEN as u32 {
                snapshot = snapshot.with(std::iter::once(text)).unwrap();
                assert!(snapshot.texts() == number && snapshot.fresh.ends.len() <= FRESH_LEN);
                let last = snapshot.segments.last().map(|part| Arc::as_ptr(&part.segment));
                if newest != last {
                    newest = last;
                    indexed += snapshot.segments.last().map_or(0, |part| part.segment.texts());
                }
            }
            // Sizes up to 4^2 times the smallest: each text is indexed once at each of them.
            assert!(indexed <= 3 * snapshot.texts(), "{indexed} of {}", snapshot.texts());
            assert!(snapshot.segments.len() <= 9, "{snapshot:?}");
        }
    }
}
