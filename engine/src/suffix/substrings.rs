//! Questions about all substrings of a snapshot, not those of one pattern. They know nothing of removed texts: their bytes
//! are put away first.

use std::ops::Range;

use super::Layout;
use super::docs::Starts;
use super::matching;
use super::segment::Segment;
use super::snapshot::Snapshot;
use super::sorted::Sorted;
use crate::error::Result;
use crate::symbol::Symbol;

impl<K: Symbol> Snapshot<K> {
    /// Calls `found` with every occurrence of `pattern`, which is not empty: the bytes from the start of the text, and
    /// those that follow the start of the occurrence up to the end of the text.
    pub(super) fn each<'s>(&'s self, pattern: &[u8], mut found: impl FnMut(&'s [u8], &'s [u8])) {
        for part in &self.segments {
            let view = part.segment.view();
            for index in view.find(pattern) {
                let at = view.array().get(index);
                let (_, start) = view.docs().locate(at);
                let before = view.text().get(start..at).unwrap_or_default();
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
                let suffix = view.suffix(view.array().get(index));
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
            let Range { mut start, end } = if pattern.is_empty() {
                0..view.places.plan.head.suffixes as usize
            } else {
                view.find(pattern)
            };
            let of = |index| symbol(view.suffix(view.array().get(index)));
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
    /// Takes time in proportion to the query; where it has parts of more than 4 KiB in common with texts in which these are there
    /// more than a hundred times, also in proportion to the length of these parts and the logarithm of the texts'. New texts that are not in a segment yet, 2 KiB at
    /// most, are sorted for it. If texts were removed since the last checkpoint, the segments they were in are built anew.
    pub fn longest_common_substring(&self, query: &K::Key) -> Range<usize> {
        if let Some(Ok(compacted)) = self.has_removed().then(|| self.compacted()) {
            return compacted.longest_common_substring(query);
        }
        let query = K::bytes(query);
        let fresh = (!self.fresh.text.is_empty()).then(|| Segment::build::<K>(&self.fresh, Layout::Compact));
        let segments = self.segments.iter().map(|part| &*part.segment).chain(&fresh);
        let (_, best) = segments
            .map(|segment| matching::longest::<K>(&segment.view(), query))
            .reduce(|best, found| {
                let better = found.0 > best.0 || (found.0 == best.0 && found.1.start < best.1.start);
                if better { found } else { best }
            })
            .unwrap_or((0, 0..0));
        best
    }

    /// How many different substrings all texts have, the empty one not counted. Sorts all suffixes: takes time and memory in
    /// proportion to the texts.
    ///
    /// # Errors
    ///
    /// [`Error::TextsTooLarge`](crate::Error::TextsTooLarge) if the texts have more than 2^31 - 2 bytes together.
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
        for (index, &at) in sorted.starts.iter().enumerate() {
            let shared = sorted.shared(index, u32::MAX);
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
