//! One version of an index: it never changes, and any number of threads may ask it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use super::docs::{Starts, chars_in};
use super::segment::{MAX_LEN, Segment};
use super::sorted::Sorted;
use super::{Layout, Position};
use crate::error::{Error, Result};
use crate::symbol::{KeyKind, Symbol};

/// Bytes of new texts that are searched without an index.
const FRESH_LEN: usize = 2048;

/// So many segments of one size are merged into one.
const FAN_IN: usize = 8;

/// A consistent state of a [`SuffixIndex`](super::SuffixIndex): every text that was added before it was taken is in it,
/// and no part of a later one.
///
/// `m` below is the length of a pattern in bytes. An index has a few segments (one after a checkpoint was opened, at most
/// 7 for each factor 8 of the size otherwise), and a search asks each of them.
pub struct Snapshot<K> {
    pub(super) segments: Vec<Part>,
    fresh: Arc<Fresh>,
    /// Texts before the fresh ones.
    settled: u32,
    symbols: PhantomData<fn() -> K>,
}

/// A segment and the number of its first text.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) first: u32,
    pub(super) segment: Arc<Segment>,
}

/// New texts, one behind the other.
#[derive(Clone, Default)]
pub(super) struct Fresh {
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Fresh {
    fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len() as u32);
    }

    fn span(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start as usize..self.ends[index] as usize
    }

    /// The text that lies at `at`, and where in all it lies.
    fn locate(&self, at: usize) -> (usize, Range<usize>) {
        let index = self.ends.partition_point(|&end| end as usize <= at);
        (index, self.span(index))
    }

    /// Where `pattern`, which is not empty, occurs within a text.
    pub(super) fn find<'f>(
        &'f self,
        pattern: &'f [u8],
    ) -> impl Iterator<Item = (usize, Range<usize>, usize)> + 'f {
        let finder = (self.text.len() >= pattern.len()).then(|| memmem::Finder::new(pattern));
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = from + finder.as_ref()?.find(&self.text[from..])?;
                from = at + 1;
                let (index, span) = self.locate(at);
                if at + pattern.len() <= span.end {
                    return Some((index, span, at));
                }
            }
        })
    }
}

impl<K: Symbol> Snapshot<K> {
    pub(super) fn of(segment: Option<Segment>) -> Self {
        let settled = segment.as_ref().map_or(0, Segment::texts);
        let part = segment.map(|segment| Part { first: 0, segment: Arc::new(segment) });
        Self { segments: part.into_iter().collect(), fresh: Arc::default(), settled, symbols: PhantomData }
    }

    /// The version that has these texts as well.
    pub(super) fn with<'t>(&self, texts: impl Iterator<Item = &'t [u8]>) -> Result<Self> {
        let mut fresh = Fresh::clone(&self.fresh);
        for text in texts {
            fresh.push_within(text)?;
        }
        if u64::from(self.settled) + fresh.ends.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::TextsTooLarge { limit: MAX_LEN });
        }
        let mut segments = self.segments.clone();
        let mut settled = self.settled;
        if fresh.text.len() > FRESH_LEN {
            let segment = Arc::new(Segment::build::<K>(&fresh.text, &fresh.ends, Layout::Fast));
            segments.push(Part { first: settled, segment });
            settled += fresh.ends.len() as u32;
            fresh = Fresh::default();
            merge::<K>(&mut segments);
        }
        Ok(Self { segments, fresh: Arc::new(fresh), settled, symbols: PhantomData })
    }

    /// The version that has everything in one segment.
    pub(super) fn merged(&self) -> Result<Self> {
        if self.fresh.ends.is_empty() && self.segments.len() == 1 {
            return Ok(Self {
                segments: self.segments.clone(),
                fresh: Arc::default(),
                settled: self.settled,
                symbols: PhantomData,
            });
        }
        let all = self.gather()?;
        Ok(Self::of(Some(Segment::build::<K>(&all.text, &all.ends, Layout::Fast))))
    }

    /// The file of everything.
    pub(super) fn file(&self, layout: Layout) -> Result<Arc<Segment>> {
        if let ([part], []) = (&self.segments[..], &self.fresh.ends[..])
            && part.segment.layout() == layout
        {
            return Ok(Arc::clone(&part.segment));
        }
        let all = self.gather()?;
        Ok(Arc::new(Segment::build::<K>(&all.text, &all.ends, layout)))
    }

    fn gather(&self) -> Result<Fresh> {
        let mut all = Fresh::default();
        for text in self.segments.iter().flat_map(|part| part.segment.all_texts()) {
            all.push_within(text)?;
        }
        for index in 0..self.fresh.ends.len() {
            all.push_within(&self.fresh.text[self.fresh.span(index)])?;
        }
        Ok(all)
    }

    /// How many texts there are.
    pub fn texts(&self) -> u32 {
        self.settled + self.fresh.ends.len() as u32
    }

    /// The bytes of the text that was added as number `number`.
    pub fn text_bytes(&self, number: u32) -> Option<&[u8]> {
        if number >= self.settled {
            let index = (number - self.settled) as usize;
            return (index < self.fresh.ends.len()).then(|| &self.fresh.text[self.fresh.span(index)]);
        }
        let part = self.segments.partition_point(|part| part.first <= number).checked_sub(1)?;
        let part = &self.segments[part];
        part.segment.view().docs.text(number - part.first)
    }

    /// The text that was added as number `number`; `None` also if a damaged file has none there.
    pub fn text(&self, number: u32) -> Option<K::Owned> {
        K::key(self.text_bytes(number)?)
    }

    /// How many bytes all texts have.
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
    /// proportion to `m`.
    #[inline]
    pub fn contains(&self, pattern: &K::Key) -> bool {
        let pattern = K::bytes(pattern);
        if pattern.is_empty() {
            return self.texts() > 0;
        }
        self.segments.iter().any(|part| !part.segment.view().find(pattern).is_empty())
            || (!self.fresh.text.is_empty() && self.fresh.find(pattern).next().is_some())
    }

    /// How often `pattern` occurs, overlapping occurrences included. Takes time in proportion to `m`.
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
            count += part.segment.view().find(pattern).len() as u64;
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
        out.clear();
        self.locate(K::bytes(pattern), K::KIND == KeyKind::Chars, |position| out.push(position));
    }

    /// As [`positions_into`](Self::positions_into), in bytes from the start of the text.
    #[inline]
    pub fn byte_positions_into(&self, pattern: &K::Key, out: &mut Vec<Position>) {
        out.clear();
        self.locate(K::bytes(pattern), false, |position| out.push(position));
    }

    /// The same occurrences one at a time.
    pub fn occurrences<'s>(&'s self, pattern: &'s K::Key) -> impl Iterator<Item = Position> + 's {
        let bytes = K::bytes(pattern);
        let chars = K::KIND == KeyKind::Chars;
        let empty = bytes.is_empty().then(|| self.positions(pattern)).into_iter().flatten();
        let settled = self.segments.iter().filter(move |_| !bytes.is_empty()).flat_map(move |part| {
            let view = part.segment.view();
            view.find(bytes).map(move |index| position(&view, part.first, index, chars))
        });
        let fresh = (!bytes.is_empty()).then(|| self.fresh.find(bytes)).into_iter().flatten();
        empty
            .chain(settled)
            .chain(fresh.map(move |(index, span, at)| self.fresh_position(index, &span, at, chars)))
    }

    #[inline]
    fn locate(&self, pattern: &[u8], chars: bool, mut found: impl FnMut(Position)) {
        if pattern.is_empty() {
            return self.locate_empty(chars, found);
        }
        for part in &self.segments {
            let view = part.segment.view();
            for index in view.find(pattern) {
                found(position(&view, part.first, index, chars));
            }
        }
        if !self.fresh.text.is_empty() {
            for (index, span, at) in self.fresh.find(pattern) {
                found(self.fresh_position(index, &span, at, chars));
            }
        }
    }

    fn locate_empty(&self, chars: bool, mut found: impl FnMut(Position)) {
        for document in 0..self.texts() {
            let text = self.text_bytes(document).unwrap_or_default();
            let starts = (0..text.len()).filter(|&at| K::starts(text[at])).chain([text.len()]);
            for (symbols, at) in starts.enumerate() {
                found(Position { document, offset: if chars { symbols } else { at } as u32 });
            }
        }
    }

    fn fresh_position(&self, index: usize, span: &Range<usize>, at: usize, chars: bool) -> Position {
        let offset =
            if chars { chars_in(&self.fresh.text[span.start..at]) } else { (at - span.start) as u32 };
        Position { document: self.settled + index as u32, offset }
    }

    /// Calls `found` with every occurrence of `pattern`, which is not empty: the bytes from the start of the text, and
    /// those that follow the start of the occurrence up to the end of the text.
    pub(super) fn each<'s>(&'s self, pattern: &[u8], mut found: impl FnMut(&'s [u8], &'s [u8])) {
        for part in &self.segments {
            let view = part.segment.view();
            for index in view.find(pattern) {
                let at = view.array.get(index);
                let (_, start) = view.docs.locate(at);
                let before = view.text.get(start..at).unwrap_or_default();
                // In a forged file anything can be in the range.
                if view.suffix(at).starts_with(pattern) {
                    found(before, view.suffix(at));
                }
            }
        }
        for (_, span, at) in self.fresh.find(pattern) {
            found(&self.fresh.text[span.start..at], &self.fresh.text[at..span.end]);
        }
    }

    /// Calls `found` with some occurrences of `pattern`, among which are such that share least behind it.
    pub(super) fn extremes<'s>(&'s self, pattern: &[u8], mut found: impl FnMut(&'s [u8])) {
        for part in &self.segments {
            let view = part.segment.view();
            let range = view.find(pattern);
            for index in [range.start, range.end.saturating_sub(1)] {
                let suffix = view.suffix(view.array.get(index));
                if range.contains(&index) && suffix.starts_with(pattern) {
                    found(suffix);
                }
            }
        }
        for (_, span, at) in self.fresh.find(pattern) {
            found(&self.fresh.text[at..span.end]);
        }
    }

    /// Calls `found` with every symbol that follows an occurrence of `pattern` in a text and how often, in parts.
    pub(super) fn followers(&self, pattern: &[u8], mut found: impl FnMut(K, u64)) {
        let symbol = |text: &[u8]| text.get(pattern.len()..).and_then(K::first).map(|(symbol, _)| symbol);
        for part in &self.segments {
            let view = part.segment.view();
            let Range { mut start, end } =
                if pattern.is_empty() { 0..view.array.len } else { view.find(pattern) };
            let of = |index| symbol(view.suffix(view.array.get(index)));
            while start < end {
                let first = of(start);
                // Equal symbols lie together; those that have none come first.
                let mut step = 1;
                while start + step < end && of(start + step) == first {
                    step *= 2;
                }
                let (mut low, mut high) = (start + step / 2, (start + step).min(end));
                while low < high {
                    let middle = low.midpoint(high);
                    if of(middle) == first { low = middle + 1 } else { high = middle }
                }
                if let Some(first) = first {
                    found(first, (low - start) as u64);
                }
                start = low.max(start + 1);
            }
        }
        if pattern.is_empty() {
            let mut rest = &self.fresh.text[..];
            while let Some((first, len)) = K::first(rest) {
                found(first, 1);
                rest = &rest[len..];
            }
        } else {
            for (_, span, at) in self.fresh.find(pattern) {
                if let Some(first) = symbol(&self.fresh.text[at..span.end]) {
                    found(first, 1);
                }
            }
        }
    }

    /// The part of `query` with the most symbols that occurs in some text, the first of several: bytes of the query.
    ///
    /// Takes one search a symbol of the query, each in proportion to the length of the result.
    pub fn longest_common_substring(&self, query: &K::Key) -> Range<usize> {
        let query = K::bytes(query);
        let (mut best, mut symbols) = (0..0, 0);
        for start in (0..query.len()).filter(|&start| K::starts(query[start])) {
            let rest = &query[start..];
            // What is to be better has one symbol more.
            let mut ends = (1..=rest.len()).filter(|&end| rest.get(end).is_none_or(|&byte| K::starts(byte)));
            let Some(end) = ends.nth(symbols) else { break };
            if self.count_bytes(&rest[..end]) == 0 {
                continue;
            }
            let mut longest = 0;
            for part in &self.segments {
                longest = longest.max(part.segment.view().longest(rest));
            }
            for index in 0..self.fresh.ends.len() {
                let text = &self.fresh.text[self.fresh.span(index)];
                let shared = (0..text.len()).map(|at| common(&text[at..], rest)).max();
                longest = longest.max(shared.unwrap_or(0));
            }
            while longest < rest.len() && !K::starts(rest[longest]) {
                longest -= 1;
            }
            best = start..start + longest;
            symbols = query[best.clone()].iter().filter(|&&byte| K::starts(byte)).count();
        }
        best
    }

    /// How many different substrings all texts have, the empty one not counted. Sorts all suffixes: takes time and memory in
    /// proportion to the texts.
    ///
    /// # Errors
    ///
    /// [`Error::TextsTooLarge`] if the texts have more than 2^31 - 2 bytes together.
    pub fn distinct_substrings(&self) -> Result<u64> {
        let all = self.gather()?;
        let full: Vec<Range<usize>> =
            (0..all.ends.len()).map(|index| all.span(index)).filter(|span| !span.is_empty()).collect();
        let starts: Vec<u32> = full.iter().map(|span| span.start as u32).collect();
        let sorted = Sorted::of(&all.text, &Starts::new(&starts, all.text.len()), K::starts);
        // Symbols before each place.
        let mut before = Vec::with_capacity(all.text.len() + 1);
        before.push(0_u32);
        for &byte in &all.text {
            before.push(before.last().copied().unwrap_or(0) + u32::from(K::starts(byte)));
        }
        let mut count = 0;
        for (&at, &shared) in sorted.starts.iter().zip(&sorted.shared) {
            let (_, span) = all.locate(at as usize);
            let mut same = at as usize + shared as usize;
            while same < span.end && !K::starts(all.text[same]) {
                same -= 1;
            }
            count += u64::from(before[span.end] - before[same]);
        }
        Ok(count)
    }
}

impl Fresh {
    fn push_within(&mut self, text: &[u8]) -> Result<()> {
        // Between two texts there is a letter while they are sorted.
        if text.len() >= MAX_LEN - self.text.len() - self.ends.len() {
            return Err(Error::TextsTooLarge { limit: MAX_LEN });
        }
        self.push(text);
        Ok(())
    }
}

/// The occurrence that is the `index`-th suffix of a segment.
#[inline]
fn position(view: &super::view::View<'_>, first: u32, index: usize, chars: bool) -> Position {
    let at = view.array.get(index);
    let (number, start) = view.docs.locate(at);
    let offset = if chars { view.docs.chars_between(start, at) } else { (at - start) as u32 };
    Position { document: first.wrapping_add(number), offset }
}

/// How many bytes two texts share from their starts.
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    let most = one.len().min(other.len());
    let chunks = one.chunks_exact(64).zip(other.chunks_exact(64)).take_while(|(one, other)| one == other);
    let skipped = 64 * chunks.count();
    skipped
        + one[skipped..most].iter().zip(&other[skipped..most]).take_while(|(one, other)| one == other).count()
}

/// Merges the last segments as long as there are many of their size.
fn merge<K: Symbol>(segments: &mut Vec<Part>) {
    let level = |part: &Part| (part.segment.text_len() / FRESH_LEN).max(1).ilog(FAN_IN);
    while let Some(last) = segments.last() {
        let size = level(last);
        let run = segments.iter().rev().take_while(|part| level(part) <= size).count();
        let tail = segments.len() - run;
        let len: usize = segments[tail..].iter().map(|part| part.segment.text_len()).sum();
        if run < FAN_IN || len + segments.len() >= MAX_LEN / 2 {
            return;
        }
        let mut all = Fresh::default();
        all.text.reserve(len);
        segments[tail..].iter().flat_map(|part| part.segment.all_texts()).for_each(|text| all.push(text));
        let first = segments[tail].first;
        segments.truncate(tail);
        segments
            .push(Part { first, segment: Arc::new(Segment::build::<K>(&all.text, &all.ends, Layout::Fast)) });
    }
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
