//! Questions to one immutable index, read in place.

use std::cmp::Ordering;
use std::ops::Range;

use super::docs::{Docs, u32_of};
use super::snapshot::common;
use super::tree::{NO_NODE, Node};

/// The sections of an index.
///
/// They may hold anything: whatever lies outside is taken for nothing, and every walk ends, as a node lies behind its
/// children and deeper nodes are below.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) text: &'a [u8],
    pub(super) docs: Docs<'a>,
    pub(super) array: Array<'a>,
    pub(super) tree: &'a [u8],
    pub(super) root: u32,
    /// Empty if there is none.
    pub(super) next: &'a [u8],
}

/// The suffix array.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
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

    /// Packs starts into entries of `width` bits, and what reading in words needs behind them.
    pub(super) fn pack(starts: &[u32], width: u8) -> Vec<u8> {
        if width == 32 {
            return starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        }
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

impl<'a> View<'a> {
    /// The suffix at `at`, up to the end of its text.
    pub(super) fn suffix(&self, at: usize) -> &'a [u8] {
        self.text.get(at..self.docs.end_after(at)).unwrap_or_default()
    }

    /// How much of the start of `pattern` occurs. Takes one comparison for each doubling of the number of suffixes.
    pub(super) fn longest(&self, pattern: &[u8]) -> usize {
        let least = partition(0..self.array.len, |index| {
            self.compare(self.array.get(index), 0, pattern) == Ordering::Less
        });
        let near = [least.checked_sub(1), (least < self.array.len).then_some(least)];
        let shared = |index| common(self.suffix(self.array.get(index)), pattern);
        near.into_iter().flatten().map(shared).max().unwrap_or(0)
    }

    /// The suffixes that begin with `pattern`, which is not empty.
    ///
    /// Takes one step a stored node on the way, two searches in one bucket, and one comparison with the text.
    #[inline]
    pub(super) fn find(&self, pattern: &[u8]) -> Range<usize> {
        let (mut low, mut high) = (0, self.array.len);
        let (mut unit, mut below) = (self.root, 0);
        while unit != NO_NODE {
            let Some(node) = Node::at(self.tree, unit) else { return 0..0 };
            let Some(&key) = pattern.get(node.depth) else {
                return self.verified(low..high, pattern);
            };
            let Some(edge) = node.edge(key) else { return 0..0 };
            high = edge.end.unwrap_or(high).min(high);
            low = edge.first.max(low);
            // A node that does not lie before its parent is none.
            if low >= high || (edge.node != NO_NODE && edge.node >= unit) {
                return 0..0;
            }
            (unit, below) = (edge.node, node.depth + 1);
        }
        if below >= pattern.len() {
            return self.verified(low..high, pattern);
        }
        self.search(low..high, below, pattern)
    }

    /// All of `range` or nothing: its suffixes share the length of `pattern`.
    #[inline]
    fn verified(&self, range: Range<usize>, pattern: &[u8]) -> Range<usize> {
        if !range.is_empty() && self.begins(self.array.get(range.start), pattern) { range } else { 0..0 }
    }

    /// Whether the suffix at `at` begins with `pattern`.
    #[inline]
    pub(super) fn begins(&self, at: usize, pattern: &[u8]) -> bool {
        let end = at + pattern.len();
        self.text.get(at..end) == Some(pattern) && !self.docs.starts_between(at, end)
    }

    /// The suffixes in a bucket that begin with `pattern`; all of them share the first `below` bytes.
    #[inline]
    fn search(&self, bucket: Range<usize>, below: usize, pattern: &[u8]) -> Range<usize> {
        let rest = &pattern[below..];
        let first: [u8; 4] = std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0));
        let known = rest.len().min(4);
        // A zero cannot be told from the end of a text there.
        let (range, shared) = if self.next.is_empty() || first[..known].contains(&0) {
            (bucket, below)
        } else {
            let low = u32::from_be_bytes(first);
            let high = low | ((1_u64 << (8 * (4 - known))) - 1) as u32;
            let start = partition(bucket.clone(), |index| u32_of(self.next, index) < low);
            // Mostly there is one at most.
            let within = |index: usize| index < bucket.end && u32_of(self.next, index) <= high;
            let end = match (within(start), within(start + 1)) {
                (false, _) => start,
                (true, false) => start + 1,
                (true, true) => partition(start..bucket.end, within),
            };
            if start == end {
                return 0..0;
            }
            (start..end, below + known)
        };
        if shared == pattern.len() || range.len() == 1 {
            return self.verified(range, pattern);
        }
        if range.is_empty() || !self.begins(self.array.get(range.start), &pattern[..shared]) {
            return 0..0;
        }
        let compare = |index: usize| self.compare(self.array.get(index), shared, pattern);
        let start = partition(range.clone(), |index| compare(index) == Ordering::Less);
        let end = partition(start..range.end, |index| compare(index) == Ordering::Equal);
        start..end
    }

    /// How the suffix at `at` compares with `pattern`, of which it has the first `shared` bytes; equal if it begins with
    /// all.
    fn compare(&self, at: usize, shared: usize, pattern: &[u8]) -> Ordering {
        let (from, rest) = (at + shared, &pattern[shared..]);
        let text = self.text.get(from..).unwrap_or_default();
        let differs = text.iter().zip(rest).position(|(one, other)| one != other);
        let same = differs.unwrap_or(text.len().min(rest.len()));
        // Behind its end a suffix has nothing; a text that starts at `at` is its own.
        let reach = from + same + usize::from(same < rest.len());
        if self.docs.next_start(from.max(at + 1), reach).is_some() {
            return Ordering::Less;
        }
        match differs {
            Some(index) => text[index].cmp(&rest[index]),
            None if same < rest.len() => Ordering::Less,
            None => Ordering::Equal,
        }
    }
}

/// The first index of `range` for which `before` no longer holds.
#[inline]
fn partition(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut len) = (range.start, range.len());
    // Without branches that would be guessed wrong half of the time.
    while len > 0 {
        let half = len.div_ceil(2);
        low += if before(low + half - 1) { half } else { 0 };
        len -= half;
    }
    low
}
