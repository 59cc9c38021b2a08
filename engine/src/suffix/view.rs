//! Questions to one immutable index, read in place.

use std::cmp::Ordering;
use std::ops::Range;

use super::docs::{Docs, u32_of};
use super::jump;
use super::tree::{BUCKET_MOST, NO_NODE, Node};
use crate::trie::simd::prefetch;

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
    /// Ways into the tree.
    pub(super) jumps: &'a [u8],
    /// Empty if there is none.
    pub(super) next: &'a [u8],
    /// Where that ends which the suffixes of each 64 bytes share with others.
    pub(super) reach: &'a [u8],
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
            return le_bytes(starts);
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

/// Numbers as they are in a file.
pub(super) fn le_bytes(numbers: &[u32]) -> Vec<u8> {
    let mut out = vec![0; 4 * numbers.len()];
    for (bytes, number) in out.chunks_exact_mut(4).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    out
}

impl<'a> View<'a> {
    /// The suffix at `at`, up to the end of its text.
    pub(super) fn suffix(&self, at: usize) -> &'a [u8] {
        self.text.get(at..self.docs.end_after(at)).unwrap_or_default()
    }

    /// The suffixes that begin with `pattern`, which is not empty.
    ///
    /// Takes one step a stored node on the way, two searches in one bucket, and one comparison with the text.
    #[inline]
    pub(super) fn find(&self, pattern: &[u8]) -> Range<usize> {
        let (range, below) = self.locus(pattern);
        if below >= pattern.len() {
            return self.verified(range, pattern);
        }
        let (range, shared) = self.narrow(range, below, pattern);
        if shared >= pattern.len() || range.len() <= 1 {
            return self.verified(range, pattern);
        }
        if !self.begins(self.array.get(range.start), &pattern[..shared]) {
            return 0..0;
        }
        let compare = |index: usize| self.compare(self.array.get(index), shared, pattern);
        let start = partition(range.clone(), |index| compare(index) == Ordering::Less);
        let end = partition(start..range.end, |index| compare(index) == Ordering::Equal);
        start..end
    }

    /// Whether a suffix begins with `pattern`, which is not empty. Takes half of what [`find`](Self::find) takes.
    #[inline]
    pub(super) fn contains(&self, pattern: &[u8]) -> bool {
        let (mut range, below) = self.locus(pattern);
        if below < pattern.len() {
            let shared;
            (range, shared) = self.narrow(range, below, pattern);
            if shared < pattern.len() && range.len() > 1 {
                let compare = |index: usize| self.compare(self.array.get(index), shared, pattern);
                range.start = partition(range.clone(), |index| compare(index) == Ordering::Less);
            }
        }
        !self.verified(range, pattern).is_empty()
    }

    /// The suffixes that are left of `pattern` when the tree ends, and how many bytes they share: those that begin with
    /// `pattern`, if any do, are among them, and they are all of them if as many bytes are shared as it has.
    #[inline]
    fn locus(&self, pattern: &[u8]) -> (Range<usize>, usize) {
        let jump = jump::find(self.jumps, pattern);
        let (mut unit, mut below) = (if jump == NO_NODE { self.root } else { jump }, 0);
        let mut range = 0..self.array.len;
        while unit != NO_NODE {
            let Some(node) = Node::at(self.tree, unit) else { return (0..0, 0) };
            let Some(&key) = pattern.get(node.depth) else {
                range = node.first..node.end.min(self.array.len);
                return (range, pattern.len());
            };
            let Some(edge) = node.edge(key) else { return (0..0, 0) };
            range = edge.first..edge.end.min(self.array.len);
            // A node that does not lie before its parent is none.
            if range.is_empty() || (edge.node != NO_NODE && edge.node >= unit) {
                return (0..0, 0);
            }
            (unit, below) = (edge.node, node.depth + 1);
        }
        (range, below)
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
        self.text.get(at..end).is_some_and(|text| same(text, pattern)) && !self.docs.starts_between(at, end)
    }

    /// The suffixes of a bucket that begin with `pattern`, as far as it is known what follows the bytes that all of them
    /// share, and how many they share then.
    #[inline]
    fn narrow(&self, bucket: Range<usize>, below: usize, pattern: &[u8]) -> (Range<usize>, usize) {
        let rest = &pattern[below..];
        let first: [u8; 4] = std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0));
        let known = rest.len().min(4);
        // A zero cannot be told from the end of a text there.
        if self.next.is_empty() || first[..known].contains(&0) {
            return (bucket, below);
        }
        for index in bucket.clone().step_by(16).take(BUCKET_MOST / 16) {
            prefetch(self.next, 4 * index);
            prefetch(self.array.bytes, 4 * index);
        }
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
        (start..end, below + known)
    }

    /// How the suffix at `at` compares with `pattern`, of which it has the first `shared` bytes; equal if it begins with
    /// all.
    fn compare(&self, at: usize, shared: usize, pattern: &[u8]) -> Ordering {
        let (from, rest) = (at + shared, &pattern[shared..]);
        let text = self.text.get(from..).unwrap_or_default();
        let same = common(text, rest);
        let differs = (same < text.len().min(rest.len())).then_some(same);
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

/// Whether two texts of one length are the same: most patterns are short, and a call takes longer than two words.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() > 16 {
        return one == other;
    }
    match (one.first_chunk::<8>(), one.last_chunk::<8>(), other.first_chunk(), other.last_chunk()) {
        (Some(first), Some(last), Some(a), Some(b)) => (first == a) & (last == b),
        _ => one == other,
    }
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
