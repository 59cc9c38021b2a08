//! Questions to one immutable index, read in place.

use std::cmp::Ordering;
use std::ops::Range;

use super::docs::{Docs, Plan, u32_of};
use super::grams;
use super::heads::{self, Found};
use super::jump;
use super::tree::{BUCKET_MOST, NO_NODE, Node};
use crate::simd::prefetch;

/// So many suffixes are compared one after the other.
const FEW: usize = 8;

/// So many suffixes stay in a processor's cache.
const NEAR: u32 = 1 << 14;

/// The sections of an index.
///
/// They may hold anything: whatever lies outside is taken for nothing, and every walk ends, as a node lies behind its
/// children and deeper nodes are below.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) places: &'a Places,
}

/// Where the sections of a file are.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) text: Range<usize>,
    pub(super) array: Range<usize>,
    /// Empty if there is none.
    pub(super) next: Range<usize>,
    pub(super) tree: Range<usize>,
    /// Ways into the tree.
    pub(super) jumps: Range<usize>,
    /// Which short strings occur; empty if that is not known.
    pub(super) grams: Range<usize>,
    /// Where suffixes with the same first bytes are in a small index; empty if there is no such section.
    pub(super) heads: Range<usize>,
    /// Whether the symbols are chars.
    pub(super) chars: bool,
    /// Where that ends which the suffixes of each 64 bytes share with others.
    pub(super) reach: Range<usize>,
    pub(super) docs: Range<usize>,
    pub(super) plan: Plan,
    pub(super) root: u32,
}

/// The suffix array.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: u8,
}

impl Array<'_> {
    /// Where the `index`-th suffix starts.
    #[inline]
    pub(super) fn get(&self, index: usize) -> usize {
        if self.width == 32 {
            return u32_of(self.bytes, index) as usize;
        }
        let bit = index * usize::from(self.width);
        let word = self.bytes.get(bit / 8..).and_then(|rest| rest.first_chunk());
        let word = word.map_or(0, |&word| u64::from_le_bytes(word));
        (word >> (bit % 8)) as usize & ((1 << self.width) - 1)
    }

    /// Packs starts into entries of `width` bits, fewer than 32, and what reading in words needs behind them.
    pub(super) fn pack(starts: &[u32], width: u8) -> Vec<u8> {
        let mut out = vec![0; (starts.len() * usize::from(width)).div_ceil(8) + 8];
        for (index, &start) in starts.iter().enumerate() {
            let bit = index * usize::from(width);
            if let Some(word) = out[bit / 8..].first_chunk_mut() {
                *word = (u64::from_le_bytes(*word) | u64::from(start) << (bit % 8)).to_le_bytes();
            }
        }
        out
    }
}

/// Where the stored tree ends on the way of a pattern.
struct Locus {
    /// The suffixes that are left: those that begin with the pattern, if any do, are among them, and they are all of them if
    /// the tree knows of as many bytes as the pattern has.
    range: Range<usize>,
    /// Bytes of the pattern that the tree knows of.
    below: usize,
    /// Whether all of these are surely those of the suffixes.
    exact: bool,
}

impl<'a> View<'a> {
    // A question needs few of the sections, so none is looked up before it is needed.

    #[inline]
    fn part(&self, range: &Range<usize>) -> &'a [u8] {
        debug_assert!(self.bytes.get(range.clone()).is_some(), "{range:?} of {} bytes", self.bytes.len());
        // SAFETY: a view is made by `Segment::view` only, of bytes that do not change and places that `Segment::of` took
        // from a table whose sections it had checked to lie within these bytes. Checked again for each of a dozen parts, a
        // question of a small index takes a tenth longer.
        unsafe { self.bytes.get_unchecked(range.clone()) }
    }

    #[inline]
    pub(super) fn text(&self) -> &'a [u8] {
        self.part(&self.places.text)
    }

    #[inline]
    pub(super) fn array(&self) -> Array<'a> {
        let head = &self.places.plan.head;
        Array { bytes: self.part(&self.places.array), width: head.width }
    }

    #[inline]
    pub(super) fn next(&self) -> &'a [[u8; 4]] {
        self.part(&self.places.next).as_chunks().0
    }

    #[inline]
    pub(super) fn tree(&self) -> &'a [u8] {
        self.part(&self.places.tree)
    }

    #[inline]
    pub(super) fn reach(&self) -> &'a [u8] {
        self.part(&self.places.reach)
    }

    #[inline]
    pub(super) fn docs(&self) -> Docs<'a> {
        self.places.plan.read(self.part(&self.places.docs), self.text())
    }

    /// The suffix at `at`, up to the end of its text.
    pub(super) fn suffix(&self, at: usize) -> &'a [u8] {
        self.text().get(at..self.docs().end_after(at)).unwrap_or_default()
    }

    /// The suffixes that begin with `pattern`, which is not empty.
    ///
    /// Takes one step a stored node on the way, two searches in one bucket, and one comparison with the text.
    #[inline]
    pub(super) fn find(&self, pattern: &[u8]) -> Range<usize> {
        match self.headed(pattern) {
            Some(Found::None) => return 0..0,
            Some(Found::One(index)) => return self.verified(index..index + 1, pattern),
            Some(Found::First(first)) if self.begins(self.array().get(first), pattern) => {
                // Those that begin with it lie together.
                let count = self.places.plan.head.suffixes as usize;
                let few = (first + FEW).min(count);
                let ends = |index: &usize| !self.begins(self.array().get(*index), pattern);
                match (first + 1..few).find(ends) {
                    Some(end) => return first..end,
                    None if few == count => return first..count,
                    None => {}
                }
            }
            _ => {}
        }
        let Some(Locus { range, below, exact }) = self.locus(pattern) else { return 0..0 };
        if below >= pattern.len() {
            return if exact { range } else { self.verified(range, pattern) };
        }
        let (range, shared) = self.narrow(range, below, pattern);
        if exact && shared >= pattern.len() {
            return range;
        }
        if shared >= pattern.len() || range.len() <= 1 {
            return self.verified(range, pattern);
        }
        // Those that begin with it lie together, and mostly are all that are left.
        let begins = |index: usize| self.begins(self.array().get(index), pattern);
        let mut rest = self.ask(range.clone());
        let first = begins(range.start);
        if first && begins(range.end - 1) {
            return range;
        }
        if range.len() <= FEW {
            let start = if first { rest.next() } else { rest.find(|&index| begins(index)) };
            let end = rest.find(|&index| !begins(index));
            return start.map_or(0..0, |start| start..end.unwrap_or(range.end));
        }
        if !self.begins(self.array().get(range.start), &pattern[..shared]) {
            return 0..0;
        }
        let compare = |index: usize| self.compare(self.array().get(index), shared, pattern);
        let start = partition(range.clone(), |index| compare(index) == Ordering::Less);
        let end = partition(start..range.end, |index| compare(index) == Ordering::Equal);
        start..end
    }

    /// Where the suffixes with the first bytes of `pattern` are, if the index has a section that knows.
    #[inline]
    fn headed(&self, pattern: &[u8]) -> Option<Found> {
        if self.places.heads.is_empty() {
            return None;
        }
        if self.places.chars {
            self.headed_by::<{ heads::CHARS }>(pattern)
        } else {
            self.headed_by::<{ heads::BYTES }>(pattern)
        }
    }

    #[inline]
    fn headed_by<const N: usize>(&self, pattern: &[u8]) -> Option<Found> {
        let (head, array, text) = (pattern.first_chunk::<N>()?, self.array(), self.text());
        let has = |index: usize| text.get(array.get(index)..).and_then(|it| it.first_chunk()) == Some(head);
        Some(heads::find(self.part(&self.places.heads), head, has))
    }

    /// Whether all of the index stays in a processor's cache.
    #[inline]
    fn is_near(&self) -> bool {
        self.places.plan.head.suffixes <= NEAR
    }

    /// Asks for the text of some suffixes: a few at the front, and the last one.
    #[inline]
    fn ask(&self, range: Range<usize>) -> Range<usize> {
        if self.is_near() {
            return range;
        }
        for index in range.clone().take(FEW).chain(range.end.checked_sub(1)) {
            prefetch(self.text(), self.array().get(index));
        }
        range
    }

    /// Whether a suffix begins with `pattern`, which is not empty. Takes half of what [`find`](Self::find) takes.
    #[inline]
    pub(super) fn contains(&self, pattern: &[u8]) -> bool {
        match self.headed(pattern) {
            Some(Found::None) => return false,
            Some(Found::One(index)) => return self.begins(self.array().get(index), pattern),
            Some(Found::First(first)) if self.begins(self.array().get(first), pattern) => return true,
            _ => {}
        }
        let Some(Locus { mut range, below, exact }) = self.locus(pattern) else { return false };
        let mut shared = below;
        if below < pattern.len() {
            (range, shared) = self.narrow(range, below, pattern);
            if shared < pattern.len() && range.len() > 1 {
                if range.len() <= FEW {
                    return self.ask(range).any(|index| self.begins(self.array().get(index), pattern));
                }
                let compare = |index: usize| self.compare(self.array().get(index), shared, pattern);
                range.start = partition(range.clone(), |index| compare(index) == Ordering::Less);
            }
        }
        !range.is_empty()
            && (exact && shared >= pattern.len() || self.begins(self.array().get(range.start), pattern))
    }

    /// Where the tree ends on the way of `pattern`; `None` if it is nowhere.
    #[inline(always)]
    fn locus(&self, pattern: &[u8]) -> Option<Locus> {
        let jumps = jump::Lines::ask(self.part(&self.places.jumps), pattern);
        if !grams::may_have(self.part(&self.places.grams), pattern) {
            return None;
        }
        let (jump, mut below) = jumps.find(pattern);
        let mut unit = if jump == NO_NODE { self.places.root } else { jump };
        let (tree, len) = (self.tree(), self.places.plan.head.suffixes as usize);
        let (mut range, mut exact) = (0..len, true);
        while unit != NO_NODE {
            let node = Node::at(tree, unit)?;
            let Some(&key) = pattern.get(node.depth) else {
                exact &= pattern.len() <= below;
                return Some(Locus { range: node.first..node.end.min(len), below: pattern.len(), exact });
            };
            if node.depth != below {
                // Bytes between two nodes are looked at only where that takes no time.
                if self.is_near() && self.skips_others(&node, below, pattern) {
                    return None;
                }
                exact &= self.is_near();
            }
            let edge = node.edge(key)?;
            range = edge.first..edge.end.min(len);
            // A node that does not lie before its parent is none.
            if range.is_empty() || (edge.node != NO_NODE && edge.node >= unit) {
                return None;
            }
            (unit, below) = (edge.node, node.depth + 1);
        }
        Some(Locus { range, below, exact })
    }

    /// Whether the string of a node has other bytes than `pattern` from `below` on.
    #[inline]
    fn skips_others(&self, node: &Node<'_>, below: usize, pattern: &[u8]) -> bool {
        let at = self.array().get(node.first);
        self.text().get(at + below..at + node.depth) != pattern.get(below..node.depth)
    }

    /// All of `range` or nothing: its suffixes share the length of `pattern`.
    #[inline]
    fn verified(&self, range: Range<usize>, pattern: &[u8]) -> Range<usize> {
        if !range.is_empty() && self.begins(self.array().get(range.start), pattern) { range } else { 0..0 }
    }

    /// Whether the suffix at `at` begins with `pattern`.
    #[inline]
    pub(super) fn begins(&self, at: usize, pattern: &[u8]) -> bool {
        let end = at + pattern.len();
        self.text().get(at..end).is_some_and(|text| same(text, pattern))
            && !self.docs().starts_between(at, end)
    }

    /// The suffixes of a bucket that begin with `pattern`, as far as it is known what follows the bytes that all of them
    /// share, and how many they share then.
    #[inline]
    fn narrow(&self, bucket: Range<usize>, below: usize, pattern: &[u8]) -> (Range<usize>, usize) {
        let (next, rest) = (self.next(), &pattern[below..]);
        let known = rest.len().min(4);
        let low = match rest.first_chunk() {
            Some(&first) => u32::from_be_bytes(first),
            None => rest.iter().rev().fold(0, |low, &byte| low >> 8 | u32::from(byte) << 24),
        };
        let high = low | ((1_u64 << (8 * (4 - known))) - 1) as u32;
        // A zero cannot be told from the end of a text there.
        let zeros = high.wrapping_sub(0x0101_0101) & !high & 0x8080_8080 != 0;
        let Some(keys) = next.get(bucket.clone()).filter(|_| !zeros) else { return (bucket, below) };
        // In a small index all of it is near.
        if keys.len() > 16 && !self.is_near() {
            let array = self.part(&self.places.array);
            for index in bucket.clone().step_by(16).take(BUCKET_MOST / 16) {
                prefetch(next, index);
                prefetch(array, 4 * index);
            }
        }
        let start = keys.partition_point(|&key| u32::from_le_bytes(key) < low);
        // Mostly there is one at most.
        let rest = &keys[start..];
        let end = match rest.get(1) {
            Some(&key) if u32::from_le_bytes(key) <= high => {
                start + rest.partition_point(|&key| u32::from_le_bytes(key) <= high)
            }
            _ => start + usize::from(rest.first().is_some_and(|&key| u32::from_le_bytes(key) <= high)),
        };
        (bucket.start + start..bucket.start + end, below + known)
    }

    /// How the suffix at `at` compares with `pattern`, of which it has the first `shared` bytes; equal if it begins with
    /// all.
    pub(super) fn compare(&self, at: usize, shared: usize, pattern: &[u8]) -> Ordering {
        let (from, rest) = (at + shared, &pattern[shared..]);
        let text = self.text().get(from..).unwrap_or_default();
        let same = common(text, rest);
        let differs = (same < text.len().min(rest.len())).then_some(same);
        // Behind its end a suffix has nothing; a text that starts at `at` is its own.
        let reach = from + same + usize::from(same < rest.len());
        if self.docs().next_start(from.max(at + 1), reach).is_some() {
            return Ordering::Less;
        }
        match differs {
            Some(index) => text[index].cmp(&rest[index]),
            None if same < rest.len() => Ordering::Less,
            None => Ordering::Equal,
        }
    }
}

/// Whether two texts of one length are the same: most patterns are short, and a call takes longer than a few words.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    /// The first and the last `N` bytes, of texts that have no more than twice as many.
    fn ends<const N: usize>(one: &[u8], other: &[u8]) -> Option<bool> {
        let first = one.first_chunk::<N>()? == other.first_chunk()?;
        Some(first & (one.last_chunk::<N>()? == other.last_chunk()?))
    }
    let ends = match one.len() {
        8..=16 => ends::<8>(one, other),
        17..=32 => ends::<16>(one, other),
        _ => None,
    };
    ends.unwrap_or_else(|| one == other)
}

/// How many bytes two texts share from their starts.
#[inline]
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    let mut len = 0;
    while let (Some(a), Some(b)) = (one[len..].first_chunk(), other[len..].first_chunk()) {
        let differs = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differs != 0 {
            return len + (differs.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    len + one[len..].iter().zip(&other[len..]).take_while(|(one, other)| one == other).count()
}

/// The first index of `range` for which `before` no longer holds.
#[inline]
pub(super) fn partition(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut len) = (range.start, range.len());
    // Without branches that would be guessed wrong half of the time.
    while len > 0 {
        let half = len.div_ceil(2);
        low += if before(low + half - 1) { half } else { 0 };
        len -= half;
    }
    low
}
