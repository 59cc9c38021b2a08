//! Nodes as they lie in a file, read in place.
//!
//! Nothing in a file is believed. Every read is checked against the bytes that are there, and a child lies before its
//! parent, so that a walk downwards ends whatever the bytes are. Lookups check once a node ([`Near`](super::near::Near)).

use super::super::bucket::MAX_ENTRIES;
use super::super::inner::padded;
use super::layout::{
    BUCKET_HEAD, FLAG_EVEN, FLAG_FRONT, FLAG_LONG_PREFIX, FLAG_TABLE, FLAG_VALUE, FLAG_WIDE, INNER_HEAD,
    KIND_BUCKET, KIND_INNER, KIND_MASK, LONG_PREFIX_LEN, MAX_LISTED, NO_CHILD, Shape, UNIT,
};
use super::near::Tail;
use super::packed::Packing;

/// What is wrong with the nodes, and where in their section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trie) struct Damage {
    pub(in crate::trie) at: u64,
    pub(in crate::trie) reason: &'static str,
}

impl Damage {
    #[cold]
    pub(super) fn new(at: usize, reason: &'static str) -> Self {
        Self { at: at as u64, reason }
    }
}

/// Where in the section bytes are that a node refers to, and how many.
pub(super) type Far = (usize, usize);

/// The bytes of a prefix, in the node or far from it.
struct Prefix<'i> {
    bytes: &'i [u8],
    far: Option<Far>,
}

/// The section of nodes.
#[derive(Clone, Copy)]
pub(in crate::trie) struct Nodes<'i> {
    pub(super) bytes: &'i [u8],
    pub(super) tail: &'i Tail,
    pub(super) shape: Shape,
}

/// The value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trie) struct Hit {
    /// What the node has for it, padded with zeros: the value, or where it is.
    pub(in crate::trie) slot: [u8; 8],
    /// How many keys there are before it, if the file tells; else 0.
    pub(in crate::trie) rank: u64,
}

/// A node whose parts are inside the section.
#[derive(Clone, Copy)]
pub(super) enum View<'i> {
    Inner(InnerView<'i>),
    Bucket(BucketView<'i>),
}

#[derive(Clone, Copy)]
pub(super) struct InnerView<'i> {
    at: usize,
    pub(super) prefix: &'i [u8],
    pub(super) value: Option<Hit>,
    cluster: u32,
    n: usize,
    /// The first edge of a table.
    low: u8,
    /// Empty if the offsets are a table.
    edges: &'i [u8],
    offsets: &'i [u8],
    /// Bytes of the node, and of a long prefix.
    pub(super) len: usize,
    pub(super) far: Option<Far>,
}

#[derive(Clone, Copy)]
pub(super) struct BucketView<'i> {
    at: usize,
    pub(super) n: usize,
    kind: u8,
    /// The rank of its first key, if the file tells.
    rank: Option<u64>,
    pub(super) prefix: &'i [u8],
    prints: &'i [u8],
    lens: &'i [u8],
    slots: &'i [u8],
    packing: Packing,
    tails: &'i [u8],
    pub(super) len: usize,
    pub(super) far: Option<Far>,
}

pub(super) const OUTSIDE: &str = "a node beyond the end of its section";

pub(super) fn u16_in(bytes: &[u8], index: usize) -> usize {
    bytes
        .get(2 * index..2 * index + 2)
        .and_then(|two| two.first_chunk())
        .map_or(0, |two| usize::from(u16::from_le_bytes(*two)))
}

fn u32_of(four: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*four)
}

impl<'i> Nodes<'i> {
    #[inline(always)]
    pub(super) fn chunk<const N: usize>(&self, at: usize) -> Result<&'i [u8; N], Damage> {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or_else(|| Damage::new(at, OUTSIDE))
    }

    #[inline(always)]
    pub(super) fn slice(&self, at: usize, len: usize) -> Result<&'i [u8], Damage> {
        self.bytes.get(at..).and_then(|rest| rest.get(..len)).ok_or_else(|| Damage::new(at, OUTSIDE))
    }

    /// The prefix that is named by the eight bytes at `at`, and where it is.
    #[cold]
    pub(super) fn long_prefix(&self, node: usize, at: usize) -> Result<(&'i [u8], Far), Damage> {
        let held = self.chunk::<LONG_PREFIX_LEN>(at)?;
        let [a, b, c, d, e, f, g, h] = *held;
        let (len, unit) = (u32_of(&[a, b, c, d]) as usize, u32_of(&[e, f, g, h]) as usize);
        let far = unit.saturating_mul(UNIT as usize);
        if far >= node {
            return Err(Damage::new(node, "a node before its prefix"));
        }
        Ok((self.slice(far, len)?, (far, len)))
    }

    /// The value of variable length that a slot refers to.
    pub(in crate::trie) fn variable(&self, slot: &[u8]) -> Result<&'i [u8], Damage> {
        let unit = slot.first_chunk().map_or(0, u32_of) as usize;
        let at = unit.saturating_mul(UNIT as usize);
        let len = u32_of(self.chunk(at)?) as usize;
        self.slice(at + 4, len)
    }

    /// The node at `unit`.
    pub(super) fn view(&self, unit: u32) -> Result<View<'i>, Damage> {
        let at = unit as usize * UNIT as usize;
        let [kind, n, prefix_len, last] = *self.chunk::<BUCKET_HEAD>(at)?;
        let long = kind & FLAG_LONG_PREFIX != 0;
        if long && prefix_len != 0 {
            return Err(Damage::new(at, "a long prefix with a short one"));
        }
        match kind & KIND_MASK {
            KIND_INNER if kind & FLAG_FRONT == 0 => {
                self.inner(at, kind, usize::from(n) + 1, usize::from(prefix_len)).map(View::Inner)
            }
            KIND_BUCKET if kind & FLAG_EVEN == 0 || kind & (FLAG_WIDE | FLAG_FRONT) == 0 => {
                self.bucket(at, kind, usize::from(n), usize::from(prefix_len), last).map(View::Bucket)
            }
            _ => Err(Damage::new(at, "no kind of node")),
        }
    }

    /// Where a prefix ends that starts at `from`, its bytes, and where they are if they are far away.
    fn prefix(&self, node: usize, kind: u8, from: usize, len: usize) -> Result<(usize, Prefix<'i>), Damage> {
        if kind & FLAG_LONG_PREFIX == 0 {
            return Ok((from + len, Prefix { bytes: self.slice(from, len)?, far: None }));
        }
        let (bytes, far) = self.long_prefix(node, from)?;
        Ok((from + LONG_PREFIX_LEN, Prefix { bytes, far: Some(far) }))
    }

    fn inner(&self, at: usize, kind: u8, n: usize, prefix_len: usize) -> Result<InnerView<'i>, Damage> {
        let head = self.chunk::<INNER_HEAD>(at)?;
        let cluster = u32_of(&[head[4], head[5], head[6], head[7]]);
        let (from, Prefix { bytes: prefix, far }) = self.prefix(at, kind, at + INNER_HEAD, prefix_len)?;
        let (table, low, places) = (kind & FLAG_TABLE != 0, head[3], n);
        let listed = if table { 0 } else { places };
        let edges = self.slice(from, listed)?;
        let offsets = self.slice(from + listed, 2 * places)?;
        let (mut end, mut value) = (from + listed + offsets.len(), None);
        if kind & FLAG_VALUE != 0 {
            let rank = if self.shape.ranks { u64::from(u32_of(self.chunk(end)?)) } else { 0 };
            end += self.shape.rank_len();
            value = Some(Hit { slot: padded(self.slice(end, self.shape.slot)?), rank });
            end += self.shape.slot;
        }
        let len = end - at;
        let mut view = InnerView { at, prefix, value, cluster, n, low, edges, offsets, len, far };
        if table {
            view.n = view.in_table().count();
            let ends = [0, places - 1].map(|place| u16_in(offsets, place));
            if usize::from(low) + places > 256 || ends.contains(&usize::from(NO_CHILD)) {
                return Err(Damage::new(at, "an inner node whose table does not begin and end with a child"));
            }
        } else if low != 0 || places > MAX_LISTED || !edges.is_sorted_by(|a, b| a < b) {
            return Err(Damage::new(at, "an inner node whose edges are not in order"));
        }
        if view.n == 1 && value.is_none() {
            return Err(Damage::new(at, "an inner node with one child and no value"));
        }
        Ok(view)
    }

    fn bucket(
        &self,
        at: usize,
        kind: u8,
        n: usize,
        prefix_len: usize,
        width: u8,
    ) -> Result<BucketView<'i>, Damage> {
        if !(1..=MAX_ENTRIES).contains(&n) {
            return Err(Damage::new(at, "a bucket of no or too many entries"));
        }
        let mut from = at + BUCKET_HEAD;
        let packing = Packing::of(self.shape.slot, width);
        if !packing.is_known() {
            return Err(Damage::new(at, "a bucket whose values are packed in an unknown way"));
        }
        let rank = if self.shape.ranks { Some(u64::from(u32_of(self.chunk(from)?))) } else { None };
        from += self.shape.rank_len();
        let prints = self.slice(from, if kind & FLAG_FRONT == 0 { n } else { 0 })?;
        from += prints.len();
        let lens = match kind & (FLAG_EVEN | FLAG_WIDE) {
            FLAG_EVEN => 1,
            FLAG_WIDE => 2 * n,
            _ => n,
        };
        let lens = self.slice(from, lens)?;
        from += lens.len();
        let (mut from, Prefix { bytes: prefix, far }) = self.prefix(at, kind, from, prefix_len)?;
        let slots = self.slice(from, packing.len(n))?;
        from += slots.len();
        let mut view =
            BucketView { at, n, kind, rank, prefix, prints, lens, slots, packing, tails: &[], len: 0, far };
        let tails_len = if kind & FLAG_FRONT == 0 {
            view.end(n - 1)
        } else {
            (0..n).map(|index| view.front(index).1).sum()
        };
        view.tails = self.slice(from, tails_len)?;
        view.len = from + tails_len - at;
        if kind & FLAG_FRONT == 0 && !(1..n).all(|index| view.end(index - 1) <= view.end(index)) {
            return Err(Damage::new(at, "a bucket whose tails do not fit"));
        }
        Ok(view)
    }
}

impl<'i> View<'i> {
    /// Bytes that belong to the node.
    pub(super) fn weight(&self) -> u64 {
        let (len, far) = match self {
            Self::Inner(inner) => (inner.len, inner.far),
            Self::Bucket(bucket) => (bucket.len, bucket.far),
        };
        len as u64 + far.map_or(0, |(_, len)| len as u64)
    }

    pub(super) fn prefix(&self) -> &'i [u8] {
        match self {
            Self::Inner(inner) => inner.prefix,
            Self::Bucket(bucket) => bucket.prefix,
        }
    }
}

impl InnerView<'_> {
    /// The edges of a table that have children, and the offset of each.
    fn in_table(&self) -> impl Iterator<Item = (u8, usize)> {
        let offset = |place| (self.low.wrapping_add(place as u8), u16_in(self.offsets, place));
        (0..self.offsets.len() / 2).map(offset).filter(|&(_, offset)| offset != usize::from(NO_CHILD))
    }

    pub(super) fn children(&self) -> usize {
        self.n
    }

    /// The edge and the unit of child `index`.
    pub(super) fn child(&self, index: usize) -> Result<(u8, u32), Damage> {
        let (edge, offset) = match self.edges.get(index) {
            Some(&edge) => (edge, u16_in(self.offsets, index)),
            None => (self.in_table().nth(index))
                .ok_or_else(|| Damage::new(self.at, "an inner node with too few children"))?,
        };
        let child = self.cluster.checked_add(offset as u32);
        child
            .filter(|&child| (child as usize) < self.at / UNIT as usize)
            .map(|child| (edge, child))
            .ok_or_else(|| Damage::new(self.at, "an inner node before its child"))
    }

    /// The first child whose edge is not below `edge`.
    pub(super) fn lower_bound(&self, edge: u8) -> usize {
        if self.edges.is_empty() {
            self.in_table().take_while(|&(below, _)| below < edge).count()
        } else {
            self.edges.partition_point(|&below| below < edge)
        }
    }
}

impl<'i> BucketView<'i> {
    pub(super) fn end(&self, index: usize) -> usize {
        let byte = |index| self.lens.get(index).copied().map_or(0, usize::from);
        match self.kind & (FLAG_EVEN | FLAG_WIDE) {
            FLAG_EVEN => byte(0) * (index + 1),
            FLAG_WIDE => u16_in(self.lens, index),
            _ => byte(index),
        }
    }

    /// For a front-coded bucket: what entry `index` shares with the one before, and how long the rest is.
    fn front(&self, index: usize) -> (usize, usize) {
        if self.kind & FLAG_WIDE == 0 {
            let packed = self.lens.get(index).copied().unwrap_or(0);
            (usize::from(packed >> 4), usize::from(packed & 15))
        } else {
            let two = self.lens.get(2 * index..2 * index + 2).unwrap_or(&[0, 0]);
            (usize::from(two[0]), usize::from(two[1]))
        }
    }

    pub(super) fn is_front_coded(&self) -> bool {
        self.kind & FLAG_FRONT != 0
    }

    pub(super) fn hit(&self, index: usize) -> Hit {
        let slot = self.packing.get(self.slots, index);
        Hit { slot, rank: self.rank.map_or(0, |rank| rank + index as u64) }
    }

    /// The tail of entry `index` of a bucket that is not front-coded.
    pub(super) fn plain_tail(&self, index: usize) -> &'i [u8] {
        let start = if index == 0 { 0 } else { self.end(index - 1) };
        self.tails.get(start..self.end(index)).unwrap_or(&[])
    }

    /// The fingerprints and the tails of a bucket that is not front-coded.
    pub(super) fn plain(&self) -> Option<(&'i [u8], &'i [u8])> {
        (!self.is_front_coded()).then_some((self.prints, self.tails))
    }

    /// The values, one behind the other, of `width` bytes each.
    pub(super) fn values<'o>(&self, width: usize, out: &'o mut [u8; 8 * MAX_ENTRIES]) -> &'o [u8] {
        for index in 0..self.n {
            out[index * width..(index + 1) * width].copy_from_slice(&self.hit(index).slot[..width]);
        }
        &out[..self.n * width]
    }

    /// The fingerprint that is stored for entry `index`, if there is one.
    pub(super) fn print(&self, index: usize) -> Option<u8> {
        self.prints.get(index).copied()
    }

    /// Puts the tail of entry `index` behind the first `depth` bytes of `key`. If `after` is given, the tail of the
    /// entry before is there already.
    pub(super) fn tail(
        &self,
        index: usize,
        key: &mut Vec<u8>,
        depth: usize,
        after: bool,
    ) -> Result<(), Damage> {
        if !self.is_front_coded() {
            key.truncate(depth);
            key.extend_from_slice(self.plain_tail(index));
            return Ok(());
        }
        let (from, mut at) = if after {
            (index, (0..index).map(|before| self.front(before).1).sum())
        } else {
            key.truncate(depth);
            (0, 0)
        };
        for entry in from..=index {
            let (shared, len) = self.front(entry);
            if depth + shared > key.len() {
                return Err(Damage::new(self.at, "a tail that shares more than there is"));
            }
            key.truncate(depth + shared);
            key.extend_from_slice(self.tails.get(at..at + len).unwrap_or(&[]));
            at += len;
        }
        Ok(())
    }

    /// Walks the tails of a front-coded bucket up to `wanted`.
    pub(super) fn find_front(&self, wanted: &[u8]) -> Option<usize> {
        let (mut matched, mut at, mut before) = (0, 0, 0);
        for entry in 0..self.n {
            let (shared, len) = self.front(entry);
            let rest = self.tails.get(at..at + len).unwrap_or(&[]);
            at += len;
            if shared > before {
                return None;
            }
            if shared <= matched {
                matched = shared + super::super::bucket::common_len(rest, &wanted[shared..]);
            }
            before = shared + len;
            if matched == wanted.len() && matched == before {
                return Some(entry);
            }
        }
        None
    }
}
