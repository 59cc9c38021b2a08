//! Looks keys up in an image, one at a time or many at once.

use super::super::bucket::MAX_ENTRIES;
use super::super::fingerprint::fingerprint;
use super::layout::{
    BUCKET_HEAD, FLAG_FRONT, FLAG_LONG_PREFIX, FLAG_VALUE, FLAG_WIDE, INNER_HEAD, KIND_BUCKET, KIND_INNER,
    KIND_MASK, MAX_LISTED, NO_CHILD, UNIT,
};
use super::near::Near;
use super::nodes::{Damage, Hit, Nodes, OUTSIDE, View};
use crate::simd::{equal16, prefetch};

/// Lookups that are under way at once, so that they wait for memory together.
pub(in crate::trie) const LANES: usize = 16;

/// One step of a lookup.
enum Step<'i, 'k> {
    /// Go on with the node at this unit and what is left of the key.
    Down(u32, &'k [u8]),
    Found(Hit<'i>),
    Absent,
}

/// A lookup under way, as its next [`Step`] needs it.
#[derive(Clone, Copy)]
struct Lane<'k> {
    index: usize,
    unit: u32,
    /// What is left of the key.
    key: &'k [u8],
}

/// The byte of a node in the section.
#[inline(always)]
fn byte_of(unit: u32) -> usize {
    unit as usize * UNIT as usize
}

/// Whether two slices are the same: without a call, by words of which the last one may overlap the one before.
#[inline(always)]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() >= 16 {
        let mut at = 0;
        while at + 16 < a.len() {
            if a[at..at + 16] != b[at..at + 16] {
                return false;
            }
            at += 16;
        }
        return a.last_chunk::<16>() == b.last_chunk::<16>();
    }
    if a.len() >= 8 {
        return a.first_chunk::<8>() == b.first_chunk::<8>() && a.last_chunk::<8>() == b.last_chunk::<8>();
    }
    if a.len() >= 4 {
        return a.first_chunk::<4>() == b.first_chunk::<4>() && a.last_chunk::<4>() == b.last_chunk::<4>();
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

impl<'i> Nodes<'i> {
    /// The value of `key` below the node at `unit`.
    #[inline]
    pub(in crate::trie) fn find(&self, unit: u32, key: &[u8]) -> Result<Option<Hit<'i>>, Damage> {
        let (mut unit, mut key) = (unit, key);
        loop {
            match self.step(unit, key)? {
                Step::Down(child, rest) => {
                    self.ask_for(child);
                    (unit, key) = (child, rest);
                }
                Step::Found(hit) => return Ok(Some(hit)),
                Step::Absent => return Ok(None),
            }
        }
    }

    /// Looks up many keys below the node at `unit`, whose answers come in no particular order.
    pub(in crate::trie) fn find_many<'k>(
        &self,
        unit: u32,
        keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, Option<Hit<'i>>),
    ) -> Result<(), Damage> {
        let mut keys = keys.enumerate();
        let mut lanes = [Lane { index: 0, unit, key: b"" }; LANES];
        let mut used = 0;
        for (index, key) in keys.by_ref().take(LANES) {
            lanes[used] = Lane { index, unit, key };
            used += 1;
        }
        while used > 0 {
            let mut at = 0;
            while let Some(lane) = lanes[..used].get_mut(at) {
                let found = match self.step(lane.unit, lane.key)? {
                    Step::Down(child, rest) => {
                        self.ask_for(child);
                        (lane.unit, lane.key) = (child, rest);
                        at += 1;
                        continue;
                    }
                    Step::Found(hit) => Some(hit),
                    Step::Absent => None,
                };
                answer(lane.index, found);
                if let Some((index, key)) = keys.next() {
                    *lane = Lane { index, unit, key };
                    at += 1;
                } else {
                    used -= 1;
                    lanes[at] = lanes[used];
                }
            }
        }
        Ok(())
    }

    /// Asks for the memory of the node at `unit`: as many lines as most buckets with values of eight bytes have, since a
    /// lookup knows only late which of them it needs.
    #[inline(always)]
    fn ask_for(&self, unit: u32) {
        for line in 0..5 {
            prefetch(self.bytes, byte_of(unit) + 64 * line);
        }
    }

    /// Takes one node of the way of `key`.
    #[inline(always)]
    fn step<'k>(&self, unit: u32, key: &'k [u8]) -> Result<Step<'i, 'k>, Damage> {
        let Some(node) = Near::of(self, byte_of(unit)) else {
            return Err(Damage::new(byte_of(unit), OUTSIDE));
        };
        let head = node.head();
        // Most inner nodes have no value and no prefix: where their edges are is known before they are read.
        if head & 0xFF_00FF == u64::from(KIND_INNER) {
            return self.choose(unit, node, INNER_HEAD, key);
        }
        match head as u8 & (KIND_MASK | FLAG_LONG_PREFIX | FLAG_FRONT) {
            KIND_INNER => self.step_inner(unit, node, key),
            KIND_BUCKET => self.step_bucket(unit, node, key),
            _ => self.step_rarely(unit, key),
        }
    }

    #[inline(always)]
    fn step_inner<'k>(&self, unit: u32, node: Near<'i>, key: &'k [u8]) -> Result<Step<'i, 'k>, Damage> {
        let [kind, _, len, ..] = node.head().to_le_bytes();
        let mut place = INNER_HEAD;
        if kind & FLAG_VALUE != 0 {
            place += self.shape.rank_len() + self.shape.slot;
        }
        let Some((start, rest)) = key.split_at_checked(usize::from(len)) else { return Ok(Step::Absent) };
        if !same(start, node.slice(place, len)) {
            return Ok(Step::Absent);
        }
        if rest.is_empty() {
            return self.step_rarely(unit, key);
        }
        self.choose(unit, node, place + usize::from(len), rest)
    }

    /// Takes the edge that `key` begins with, of an inner node whose edges are from `place` on.
    #[inline(always)]
    fn choose<'k>(
        &self,
        unit: u32,
        node: Near<'i>,
        place: usize,
        key: &'k [u8],
    ) -> Result<Step<'i, 'k>, Damage> {
        // No key ends at a node without a value.
        let Some((&edge, rest)) = key.split_first() else { return Ok(Step::Absent) };
        let head = node.head();
        let n = usize::from((head >> 8) as u8) + 1;
        let offset = if n <= MAX_LISTED {
            let mut found = equal16(node.chunk(place), edge);
            if n > 16 {
                found |= equal16(node.chunk(place + 16), edge) << 16;
            }
            let index = found.trailing_zeros() as usize;
            if index >= n {
                return Ok(Step::Absent);
            }
            node.u16(place + n + 2 * index)
        } else {
            let offset = node.u16(place + 2 * usize::from(edge));
            if offset == usize::from(NO_CHILD) {
                return Ok(Step::Absent);
            }
            offset
        };
        let child = (head >> 32) + offset as u64;
        if child >= u64::from(unit) {
            return Err(Damage::new(byte_of(unit), "an inner node before its child"));
        }
        Ok(Step::Down(child as u32, rest))
    }

    #[inline(always)]
    fn step_bucket<'k>(&self, unit: u32, node: Near<'i>, key: &'k [u8]) -> Result<Step<'i, 'k>, Damage> {
        let [kind, n, prefix_len, ..] = node.head().to_le_bytes();
        let (n, slot) = (usize::from(n), self.shape.slot);
        if n == 0 || n > MAX_ENTRIES {
            return Err(Damage::new(byte_of(unit), "a bucket of no or too many entries"));
        }
        let prints = BUCKET_HEAD + self.shape.rank_len();
        let lens = prints + n;
        let wide = kind & FLAG_WIDE != 0;
        let prefix = lens + if wide { 2 * n } else { n };
        let slots = prefix + usize::from(prefix_len);
        let Some((start, tail)) = key.split_at_checked(usize::from(prefix_len)) else {
            return Ok(Step::Absent);
        };
        let Ok(tail_len) = u8::try_from(tail.len()) else { return self.step_rarely(unit, key) };
        let mut found = equal16(node.chunk(prints), fingerprint(tail)) & ((1 << n) - 1);
        if found == 0 || !same(start, node.slice(prefix, prefix_len)) {
            return Ok(Step::Absent);
        }
        let tails = slots + n * slot;
        while found != 0 {
            let index = found.trailing_zeros() as usize;
            let (from, to) = if wide {
                (if index == 0 { 0 } else { node.u16(lens + 2 * index - 2) }, node.u16(lens + 2 * index))
            } else {
                // The byte before the first length is a fingerprint.
                (node.byte(lens + index - 1) * usize::from(index > 0), node.byte(lens + index))
            };
            if from + tail.len() == to && same(node.slice(tails + from, tail_len), tail) {
                let rank = if self.shape.ranks {
                    u64::from(u32::from_le_bytes(*node.chunk(BUCKET_HEAD))) + index as u64
                } else {
                    0
                };
                return Ok(Step::Found(Hit { slot: node.slice(slots + index * slot, slot as u8), rank }));
            }
            found &= found - 1;
        }
        Ok(Step::Absent)
    }

    /// As [`step`](Self::step), for all nodes: those with a long prefix or with front-coded tails, where a key ends, and for
    /// long tails.
    #[inline(never)]
    fn step_rarely<'k>(&self, unit: u32, key: &'k [u8]) -> Result<Step<'i, 'k>, Damage> {
        let view = self.view(unit)?;
        let Some(rest) = key.strip_prefix(view.prefix()) else { return Ok(Step::Absent) };
        let hit = match view {
            View::Inner(inner) => {
                let Some((&edge, below)) = rest.split_first() else {
                    return Ok(inner.value.map_or(Step::Absent, Step::Found));
                };
                let index = inner.lower_bound(edge);
                if index == inner.children() {
                    return Ok(Step::Absent);
                }
                let (found, child) = inner.child(index)?;
                return Ok(if found == edge { Step::Down(child, below) } else { Step::Absent });
            }
            View::Bucket(bucket) if bucket.is_front_coded() => {
                bucket.find_front(rest).map(|index| bucket.hit(index))
            }
            View::Bucket(bucket) => {
                let print = fingerprint(rest);
                (0..bucket.n)
                    .filter(|&index| bucket.print(index) == Some(print))
                    .find(|&index| bucket.plain_tail(index) == rest)
                    .map(|index| bucket.hit(index))
            }
        };
        Ok(hit.map_or(Step::Absent, Step::Found))
    }
}
