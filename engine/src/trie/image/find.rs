//! Looks keys up in an image, one at a time or many at once.

use super::super::bucket::MAX_ENTRIES;
use super::super::fingerprint::fingerprint;
use super::layout::{
    BUCKET_HEAD, FLAG_EVEN, FLAG_FRONT, FLAG_LONG_PREFIX, FLAG_TABLE, FLAG_VALUE, FLAG_WIDE, INNER_HEAD,
    KIND_BUCKET, KIND_INNER, KIND_MASK, NO_CHILD, UNIT,
};
use super::near::Near;
use super::nodes::{Damage, Hit, Nodes, OUTSIDE, View};
use super::packed::Packing;
use crate::simd::{equal16, prefetch};

/// Lookups that are under way at once, so that they wait for memory together.
pub(in crate::trie) const LANES: usize = 16;

/// What a step of a lookup came to.
enum Step {
    /// To the next node.
    Down,
    Found(Hit),
    Absent,
    Damaged(Damage),
}

/// A lookup under way.
#[derive(Clone, Copy)]
struct Way<'k> {
    /// The node it came to.
    unit: u32,
    /// What is left of the key.
    key: &'k [u8],
}

/// One of many lookups under way.
#[derive(Clone, Copy)]
struct Lane<'k> {
    index: usize,
    way: Way<'k>,
}

/// Where no child is: behind every node.
const NOWHERE: u64 = u64::MAX;

/// The byte of a node in the section.
#[inline(always)]
fn byte_of(unit: u32) -> usize {
    unit as usize * UNIT as usize
}

/// Which of the `n` entries of a bucket, whose fingerprints are from `place` on, have this one.
#[inline(always)]
fn entries_with(node: Near<'_>, place: usize, n: usize, print: u8) -> u64 {
    const PART: usize = 16;
    let part = |index| u64::from(equal16(node.chunk(place + PART * index), print)) << (PART * index);
    let found = part(0) | part(1) | part(2) | part(3);
    found & (u64::MAX >> (MAX_ENTRIES - n))
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
    match (a, b) {
        ([first, .., last], [other, .., end]) => {
            first == other && a[a.len() / 2] == b[b.len() / 2] && last == end
        }
        _ => a.first() == b.first(),
    }
}

impl<'i> Nodes<'i> {
    /// The value of `key` below the node at `unit`.
    #[inline]
    pub(in crate::trie) fn find(&self, unit: u32, key: &[u8]) -> Result<Option<Hit>, Damage> {
        let mut way = Way { unit, key };
        loop {
            match self.step(&mut way) {
                Step::Down => self.ask_for(way.unit),
                Step::Found(hit) => return Ok(Some(hit)),
                Step::Absent => return Ok(None),
                Step::Damaged(damage) => return Err(damage),
            }
        }
    }

    /// Looks up many keys below the node at `unit`, whose answers come in no particular order.
    pub(in crate::trie) fn find_many<'k>(
        &self,
        unit: u32,
        keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, Option<Hit>),
    ) -> Result<(), Damage> {
        let mut keys = keys.enumerate();
        let mut lanes = [Lane { index: 0, way: Way { unit, key: b"" } }; LANES];
        let mut used = 0;
        for (index, key) in keys.by_ref().take(LANES) {
            lanes[used] = Lane { index, way: Way { unit, key } };
            used += 1;
        }
        while used > 0 {
            let mut at = 0;
            while let Some(lane) = lanes[..used].get_mut(at) {
                let found = match self.step(&mut lane.way) {
                    Step::Down => {
                        self.ask_for(lane.way.unit);
                        at += 1;
                        continue;
                    }
                    Step::Found(hit) => Some(hit),
                    Step::Absent => None,
                    Step::Damaged(damage) => return Err(damage),
                };
                answer(lane.index, found);
                if let Some((index, key)) = keys.next() {
                    *lane = Lane { index, way: Way { unit, key } };
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

    /// Takes one node of a way.
    #[inline(always)]
    fn step(&self, way: &mut Way<'_>) -> Step {
        let Some(node) = Near::of(self, byte_of(way.unit)) else {
            return Step::Damaged(Damage::new(byte_of(way.unit), OUTSIDE));
        };
        let head = node.head();
        let [kind, _, len, ..] = head.to_le_bytes();
        match kind & (KIND_MASK | FLAG_LONG_PREFIX | FLAG_FRONT) {
            KIND_INNER => {}
            KIND_BUCKET => return self.step_bucket(way, node, head),
            _ => return self.step_rarely(way),
        }
        let (mut place, mut rest) = (INNER_HEAD, way.key);
        if len > 0 {
            let Some((start, below)) = rest.split_at_checked(usize::from(len)) else { return Step::Absent };
            if !same(start, node.slice(place, len)) {
                return Step::Absent;
            }
            place += usize::from(len);
            rest = below;
        }
        let Some((&edge, below)) = rest.split_first() else {
            // No key ends at a node without a value.
            return if kind & FLAG_VALUE == 0 { Step::Absent } else { self.step_rarely(way) };
        };
        let child = self.child(node, head, place, edge);
        // A child lies before its parent.
        if child >= u64::from(way.unit) {
            if child == NOWHERE {
                return Step::Absent;
            }
            return Step::Damaged(Damage::new(byte_of(way.unit), "an inner node before its child"));
        }
        *way = Way { unit: child as u32, key: below };
        Step::Down
    }

    /// The unit of the child below an edge, of an inner node whose edges are from `place` on.
    #[inline(always)]
    fn child(&self, node: Near<'_>, head: u64, place: usize, edge: u8) -> u64 {
        let [kind, last, _, low, ..] = head.to_le_bytes();
        let offset = if kind & FLAG_TABLE == 0 {
            let n = usize::from(last) + 1;
            let found = equal16(node.chunk(place), edge) | equal16(node.chunk(place + 16), edge) << 16;
            let index = found.trailing_zeros() as usize;
            if index >= n {
                return NOWHERE;
            }
            node.u16(place + n + 2 * index)
        } else {
            let index = edge.wrapping_sub(low);
            let offset = node.u16(place + 2 * usize::from(index));
            if index > last || offset == usize::from(NO_CHILD) {
                return NOWHERE;
            }
            offset
        };
        (head >> 32) + offset as u64
    }

    #[inline(always)]
    fn step_bucket(&self, way: &mut Way<'_>, node: Near<'_>, head: u64) -> Step {
        let [kind, n, prefix_len, width, ..] = head.to_le_bytes();
        let n = usize::from(n);
        if n == 0 || n > MAX_ENTRIES {
            return Step::Damaged(Damage::new(byte_of(way.unit), "a bucket of no or too many entries"));
        }
        let packing = Packing::of(self.shape.slot, width);
        let prints = BUCKET_HEAD + self.shape.rank_len();
        let lens = prints + n;
        let (even, wide) = (kind & FLAG_EVEN != 0, kind & FLAG_WIDE != 0);
        let prefix = lens + if even { 1 } else { n << u8::from(wide) };
        let slots = prefix + usize::from(prefix_len);
        let Some((start, tail)) = way.key.split_at_checked(usize::from(prefix_len)) else {
            return Step::Absent;
        };
        let Ok(tail_len) = u8::try_from(tail.len()) else { return self.step_rarely(way) };
        let mut found = entries_with(node, prints, n, fingerprint(tail));
        if found == 0 || !same(start, node.slice(prefix, prefix_len)) {
            return Step::Absent;
        }
        let tails = slots + packing.len(n);
        let (step, mask) = if wide { (2, 0xFFFF) } else { (1, 0xFF) };
        while found != 0 {
            let index = found.trailing_zeros() as usize;
            let (from, to) = if even {
                let len = node.byte(lens);
                (index * len, index * len + len)
            } else {
                // What is before the first length does not count.
                let at = lens + index * step;
                let end = |at| node.u16(at) & mask;
                (end(at - step) * usize::from(index > 0), end(at))
            };
            if from + tail.len() == to && same(node.slice(tails + from, tail_len), tail) {
                let rank = if self.shape.ranks {
                    u64::from(u32::from_le_bytes(*node.chunk(BUCKET_HEAD))) + index as u64
                } else {
                    0
                };
                return Step::Found(Hit { slot: packing.near(node, slots, index), rank });
            }
            found &= found - 1;
        }
        Step::Absent
    }

    /// As [`step`](Self::step), for all nodes: those with a long prefix or with front-coded tails, where a key ends, and for
    /// long tails.
    #[inline(never)]
    fn step_rarely(&self, way: &mut Way<'_>) -> Step {
        self.try_step_rarely(way).unwrap_or_else(Step::Damaged)
    }

    fn try_step_rarely(&self, way: &mut Way<'_>) -> Result<Step, Damage> {
        let view = self.view(way.unit)?;
        let Some(rest) = way.key.strip_prefix(view.prefix()) else { return Ok(Step::Absent) };
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
                if found != edge {
                    return Ok(Step::Absent);
                }
                *way = Way { unit: child, key: below };
                return Ok(Step::Down);
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
