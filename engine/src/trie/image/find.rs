//! Looks keys up in an image, one at a time or many at once.

use super::super::bucket::MAX_ENTRIES;
use super::super::fingerprint::fingerprint;
use super::layout::{
    BUCKET_HEAD, FLAG_FRONT, FLAG_LONG_PREFIX, FLAG_VALUE, FLAG_WIDE, INNER_HEAD, KIND_BUCKET, KIND_INNER,
    KIND_MASK, MAX_LISTED, NO_CHILD, UNIT,
};
use super::nodes::{Damage, Hit, Nodes, View};
use super::simd::{equal16, prefetch};

/// Lookups that are under way at once, so that they wait for memory together.
pub(in crate::trie) const LANES: usize = 16;

/// One step of a lookup.
pub(in crate::trie) enum Step<'i> {
    /// Go on with the node at this byte, without the first bytes of the key.
    Down(usize, usize),
    Found(Hit<'i>),
    Absent,
}

/// Whether two slices are the same: short ones without a call.
#[inline(always)]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() > 32 {
        return a == b;
    }
    if a.len() >= 8 {
        let mut at = 0;
        while at + 8 < a.len() {
            if a[at..at + 8] != b[at..at + 8] {
                return false;
            }
            at += 8;
        }
        return a.last_chunk::<8>() == b.last_chunk::<8>();
    }
    if a.len() >= 4 {
        return a.first_chunk::<4>() == b.first_chunk::<4>() && a.last_chunk::<4>() == b.last_chunk::<4>();
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

impl<'i> Nodes<'i> {
    /// The value of `key` below the node at byte `at`.
    #[inline]
    pub(in crate::trie) fn find(&self, at: usize, key: &[u8]) -> Result<Option<Hit<'i>>, Damage> {
        let (mut at, mut key) = (at, key);
        loop {
            match self.step(at, key)? {
                Step::Down(child, taken) => {
                    self.ask_for(child);
                    (at, key) = (child, &key[taken..]);
                }
                Step::Found(hit) => return Ok(Some(hit)),
                Step::Absent => return Ok(None),
            }
        }
    }

    /// Looks up many keys below the node at byte `at`, whose answers come in no particular order.
    pub(in crate::trie) fn find_many<'k>(
        &self,
        at: usize,
        keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, Option<Hit<'i>>),
    ) -> Result<(), Damage> {
        let mut keys = keys.enumerate();
        let mut lanes: [(usize, usize, &[u8]); LANES] = [(0, 0, &[]); LANES];
        let mut used = 0;
        for (index, key) in keys.by_ref().take(LANES) {
            lanes[used] = (index, at, key);
            used += 1;
        }
        while used > 0 {
            let mut lane = 0;
            while lane < used {
                let (index, node, key) = lanes[lane];
                let found = match self.step(node, key)? {
                    Step::Down(child, taken) => {
                        self.ask_for(child);
                        lanes[lane] = (index, child, &key[taken..]);
                        lane += 1;
                        continue;
                    }
                    Step::Found(hit) => Some(hit),
                    Step::Absent => None,
                };
                answer(index, found);
                if let Some((index, key)) = keys.next() {
                    lanes[lane] = (index, at, key);
                    lane += 1;
                } else {
                    used -= 1;
                    lanes[lane] = lanes[used];
                }
            }
        }
        Ok(())
    }

    /// Asks for the memory of the node at byte `at`: three lines, as many buckets have.
    #[inline(always)]
    fn ask_for(&self, at: usize) {
        if let Some(node) = self.bytes.get(at..at + 129) {
            prefetch(node);
            prefetch(&node[64..]);
            prefetch(&node[128..]);
        }
    }

    /// Takes one node of the way of `key`.
    #[inline(always)]
    pub(in crate::trie) fn step(&self, at: usize, key: &[u8]) -> Result<Step<'i>, Damage> {
        let head = self.chunk::<INNER_HEAD>(at)?;
        match head[0] & KIND_MASK {
            KIND_INNER => self.step_inner(at, head, key),
            KIND_BUCKET => self.step_bucket(at, head, key),
            _ => Err(Damage::new(at, "no kind of node")),
        }
    }

    #[inline(always)]
    fn step_inner(&self, at: usize, head: &[u8; INNER_HEAD], key: &[u8]) -> Result<Step<'i>, Damage> {
        let n = usize::from(head[1]) + 1;
        let valued = head[0] & FLAG_VALUE != 0;
        let mut from = at + INNER_HEAD;
        if valued {
            from += self.shape.rank_len() + self.shape.slot;
        }
        let taken = if head[0] & FLAG_LONG_PREFIX == 0 {
            let len = usize::from(head[2]);
            if len > 0 {
                let prefix = self.slice(from, len)?;
                if !key.get(..len).is_some_and(|start| same(start, prefix)) {
                    return Ok(Step::Absent);
                }
                from += len;
            }
            len
        } else {
            let (prefix, _) = self.long_prefix(at, from)?;
            if !key.starts_with(prefix) {
                return Ok(Step::Absent);
            }
            from += 8;
            prefix.len()
        };
        let Some(&edge) = key.get(taken) else { return self.value_here(at) };
        let offset = if n <= MAX_LISTED {
            let mut found = equal16(self.chunk(from)?, edge);
            if n > 16 {
                found |= equal16(self.chunk(from + 16)?, edge) << 16;
            }
            let index = found.trailing_zeros() as usize;
            if index >= n {
                return Ok(Step::Absent);
            }
            u16::from_le_bytes(*self.chunk(from + n + 2 * index)?)
        } else {
            let offset = u16::from_le_bytes(*self.chunk(from + 2 * usize::from(edge))?);
            if offset == NO_CHILD {
                return Ok(Step::Absent);
            }
            offset
        };
        let cluster = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let child = (cluster as usize + usize::from(offset)) * UNIT as usize;
        if child >= at {
            return Err(Damage::new(at, "an inner node before its child"));
        }
        Ok(Step::Down(child, taken + 1))
    }

    /// The value of the key that ends at the inner node at byte `at`.
    #[inline(never)]
    fn value_here(&self, at: usize) -> Result<Step<'i>, Damage> {
        match self.view((at / UNIT as usize) as u32)? {
            View::Inner(inner) => Ok(inner.value.map_or(Step::Absent, Step::Found)),
            View::Bucket(_) => Ok(Step::Absent),
        }
    }

    #[inline(always)]
    fn step_bucket(&self, at: usize, head: &[u8; INNER_HEAD], key: &[u8]) -> Result<Step<'i>, Damage> {
        if head[0] & (FLAG_FRONT | FLAG_LONG_PREFIX) != 0 {
            return self.find_rarely(at, key);
        }
        let n = usize::from(head[1]);
        if n == 0 || n > MAX_ENTRIES {
            return Err(Damage::new(at, "a bucket of no or too many entries"));
        }
        let prints = at + BUCKET_HEAD + self.shape.rank_len();
        let lens = prints + n;
        let wide = head[0] & FLAG_WIDE != 0;
        let prefix = lens + if wide { 2 * n } else { n };
        let prefix_len = usize::from(head[2]);
        let slots = prefix + prefix_len;
        let Some((start, tail)) = key.split_at_checked(prefix_len) else { return Ok(Step::Absent) };
        let print = fingerprint(tail);
        let mut found = equal16(self.chunk(prints)?, print) & ((1 << n) - 1);
        if found == 0 || !same(start, self.slice(prefix, prefix_len)?) {
            return Ok(Step::Absent);
        }
        let tails = slots + n * self.shape.slot;
        while found != 0 {
            let index = found.trailing_zeros() as usize;
            let (from, to) = if wide {
                let from =
                    if index == 0 { 0 } else { u16::from_le_bytes(*self.chunk(lens + 2 * index - 2)?) };
                (usize::from(from), usize::from(u16::from_le_bytes(*self.chunk(lens + 2 * index)?)))
            } else {
                let from = if index == 0 { 0 } else { self.chunk::<1>(lens + index - 1)?[0] };
                (usize::from(from), usize::from(self.chunk::<1>(lens + index)?[0]))
            };
            if from + tail.len() == to && same(self.slice(tails + from, tail.len())?, tail) {
                let rank = if self.shape.ranks {
                    u64::from(u32::from_le_bytes(*self.chunk(at + BUCKET_HEAD)?)) + index as u64
                } else {
                    0
                };
                let slot = self.slice(slots + index * self.shape.slot, self.shape.slot)?;
                return Ok(Step::Found(Hit { slot, rank }));
            }
            found &= found - 1;
        }
        Ok(Step::Absent)
    }

    /// Buckets with a long prefix or front-coded tails.
    #[inline(never)]
    fn find_rarely(&self, at: usize, key: &[u8]) -> Result<Step<'i>, Damage> {
        let View::Bucket(bucket) = self.view((at / UNIT as usize) as u32)? else { return Ok(Step::Absent) };
        let Some(tail) = key.strip_prefix(bucket.prefix) else { return Ok(Step::Absent) };
        let index = if bucket.is_front_coded() {
            bucket.find_front(tail)
        } else {
            let print = fingerprint(tail);
            (0..bucket.n)
                .filter(|&index| bucket.print(index) == Some(print))
                .find(|&index| bucket.plain_tail(index) == tail)
        };
        Ok(index.map_or(Step::Absent, |index| Step::Found(bucket.hit(index))))
    }
}
