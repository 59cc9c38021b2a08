//! The point index: a hash table over records of whole keys, for lookups that do not need the order.
//!
//! A line of 64 bytes has up to twelve entries: one byte of the hash each, and where the record is. A full line sends what
//! comes later to the next one and says so. The key in the record decides, so that an answer never depends on the hash.

use super::find::LANES;
use super::layout::{RANK_LEN, Shape};
use super::nodes::{Damage, Hit, OUTSIDE};
use crate::simd::{equal16, prefetch};

/// Bytes a line, and entries in it.
const LINE: usize = 64;
const ENTRIES: usize = 12;

/// Where the records of a line are, and whether it sent entries on.
const PLACES: usize = 12;
const OVERFLOW: usize = 60;

/// Records start at multiples of this.
const RECORD_UNIT: usize = 4;

/// Length byte of a record whose key has a length of four bytes.
const LONG_KEY: u8 = 255;

/// Of a hundred entries that there is room for, so many are used.
const LOAD: usize = 85;

/// The hash of a key. It decides where entries are in files: `FORMAT.md` defines it, and it never changes.
#[inline]
fn hash(key: &[u8]) -> u64 {
    const A: u64 = 0x9E37_79B9_7F4A_7C15;
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    let n = key.len();
    let mut state = n as u64 ^ B;
    let (first, last) = if n >= 16 {
        let mut rest = key;
        while let (Some((chunk, more)), true) = (rest.split_first_chunk::<16>(), rest.len() > 16) {
            let (low, high) = chunk.split_at(8);
            let low = low.first_chunk().map_or(0, word);
            let high = high.first_chunk().map_or(0, word);
            state = fold(low ^ A, high ^ state);
            rest = more;
        }
        let end = key.last_chunk::<16>().map_or(&[][..], |end| &end[..]);
        (end.first_chunk().map_or(0, word), end.last_chunk().map_or(0, word))
    } else if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        (word(first), word(last))
    } else if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        (half(first), half(last))
    } else if n > 0 {
        (u64::from(key[0]) | u64::from(key[n / 2]) << 8, u64::from(key[n - 1]))
    } else {
        (0, 0)
    };
    fold(fold(first ^ A, last ^ state), B)
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The line that a hash belongs to, of `lines`; and its byte, which is never zero.
#[inline]
fn home(hash: u64, lines: usize) -> (usize, u8) {
    let line = ((u128::from(hash) * lines as u128) >> 64) as usize;
    (line, (hash as u8).max(1))
}

/// Gathers the entries of a point index.
#[derive(Default)]
pub(super) struct PointBuilder {
    hashes: Vec<u64>,
    places: Vec<u32>,
    records: Vec<u8>,
}

impl PointBuilder {
    /// Adds a key; false if the records do not fit into one index.
    pub(super) fn push(&mut self, key: &[u8], slot: &[u8], rank: Option<u32>) -> bool {
        let Ok(place) = u32::try_from(self.records.len() / RECORD_UNIT) else { return false };
        self.hashes.push(hash(key));
        self.places.push(place);
        match u8::try_from(key.len()) {
            Ok(len) if len < LONG_KEY => self.records.push(len),
            _ => {
                self.records.push(LONG_KEY);
                self.records.extend((key.len() as u32).to_le_bytes());
            }
        }
        if let Some(rank) = rank {
            self.records.extend(rank.to_le_bytes());
        }
        self.records.extend_from_slice(slot);
        self.records.extend_from_slice(key);
        self.records.resize(self.records.len().next_multiple_of(RECORD_UNIT), 0);
        true
    }

    /// The lines, and the records with room behind them for reads of fixed length.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>) {
        let lines = (self.hashes.len() * 100).div_ceil(ENTRIES * LOAD).max(1);
        let mut table = vec![0; lines * LINE];
        let mut used = vec![0_u8; lines];
        for (&hash, place) in self.hashes.iter().zip(&self.places) {
            let (mut line, print) = home(hash, lines);
            while usize::from(used[line]) == ENTRIES {
                table[line * LINE + OVERFLOW] = 1;
                line = (line + 1) % lines;
            }
            let entry = usize::from(used[line]);
            used[line] += 1;
            table[line * LINE + entry] = print;
            let at = line * LINE + PLACES + 4 * entry;
            table[at..at + 4].copy_from_slice(&place.to_le_bytes());
        }
        (table, self.records)
    }
}

/// The point index of a file.
#[derive(Clone, Copy)]
pub(in crate::trie) struct Point<'i> {
    pub(super) lines: &'i [[u8; LINE]],
    pub(super) records: &'i [u8],
    pub(super) shape: Shape,
}

impl<'i> Point<'i> {
    #[inline]
    pub(super) fn new(table: &'i [u8], records: &'i [u8], shape: Shape) -> Self {
        Self { lines: table.as_chunks().0, records, shape }
    }

    /// Bytes of a record before its key, if that is short.
    #[inline(always)]
    fn head_len(&self) -> usize {
        1 + self.shape.rank_len() + self.shape.slot
    }

    /// The value of `key`.
    #[inline]
    pub(in crate::trie) fn find(&self, key: &[u8]) -> Result<Option<Hit>, Damage> {
        let (line, print) = home(hash(key), self.lines.len());
        self.find_from(line, print, key)
    }

    #[inline(always)]
    fn find_from(&self, home: usize, print: u8, key: &[u8]) -> Result<Option<Hit>, Damage> {
        let mut line = home;
        loop {
            let entries = self.lines.get(line).ok_or_else(|| Damage::new(0, OUTSIDE))?;
            let mut found = Self::candidates(entries, print);
            while found != 0 {
                let record = Self::place(entries, found.trailing_zeros() as usize);
                // Its end may lie on the next line.
                prefetch(self.records, record + self.head_len() + key.len());
                if let Some(hit) = self.record(record, key)? {
                    return Ok(Some(hit));
                }
                found &= found - 1;
            }
            if entries[OVERFLOW] == 0 {
                return Ok(None);
            }
            line = if line + 1 == self.lines.len() { 0 } else { line + 1 };
            if line == home {
                return Ok(None);
            }
        }
    }

    #[inline(always)]
    fn candidates(entries: &[u8; LINE], print: u8) -> u32 {
        entries.first_chunk().map_or(0, |prints| equal16(prints, print) & ((1 << ENTRIES) - 1))
    }

    #[inline(always)]
    fn place(entries: &[u8; LINE], entry: usize) -> usize {
        let at = PLACES + 4 * entry;
        let place = u32::from_le_bytes([entries[at], entries[at + 1], entries[at + 2], entries[at + 3]]);
        place as usize * RECORD_UNIT
    }

    /// What the record at byte `at` has, if it is that of `key`.
    #[inline(always)]
    fn record(&self, at: usize, key: &[u8]) -> Result<Option<Hit>, Damage> {
        let outside = || Damage::new(0, "a record beyond the end of its section");
        let record = self.records.get(at..).ok_or_else(outside)?;
        let &len = record.first().ok_or_else(outside)?;
        let mut head = self.head_len();
        if len == LONG_KEY {
            let long = record.get(1..).and_then(|rest| rest.first_chunk()).ok_or_else(outside)?;
            if u32::from_le_bytes(*long) as usize != key.len() {
                return Ok(None);
            }
            head += long.len();
        } else if usize::from(len) != key.len() {
            return Ok(None);
        }
        let (head, held) = record.get(..head + key.len()).ok_or_else(outside)?.split_at(head);
        if !super::find::same(held, key) {
            return Ok(None);
        }
        let (head, slot) = head.split_at(head.len() - self.shape.slot);
        let slot = match slot {
            [a, b, c, d] => [*a, *b, *c, *d, 0, 0, 0, 0],
            _ => slot.first_chunk().map_or([0; 8], |slot| *slot),
        };
        let rank = if self.shape.ranks {
            head.last_chunk::<RANK_LEN>().map_or(0, |rank| u32::from_le_bytes(*rank))
        } else {
            0
        };
        Ok(Some(Hit { slot, rank: u64::from(rank) }))
    }

    /// Looks up many keys, whose answers come in their order.
    pub(in crate::trie) fn find_many<'k>(
        &self,
        mut keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, Option<Hit>),
    ) -> Result<(), Damage> {
        let (mut index, mut lanes) = (0, [(0, 0, &b""[..]); LANES]);
        loop {
            let mut used = 0;
            for (lane, key) in lanes.iter_mut().zip(keys.by_ref()) {
                let (line, print) = home(hash(key), self.lines.len());
                *lane = (line, print, key);
                prefetch(self.lines.as_flattened(), line * LINE);
                used += 1;
                if used == LANES {
                    break;
                }
            }
            if used == 0 {
                return Ok(());
            }
            for &(line, print, key) in &lanes[..used] {
                let entries = self.lines.get(line).ok_or_else(|| Damage::new(0, OUTSIDE))?;
                let found = Self::candidates(entries, print);
                if found != 0 {
                    let at = Self::place(entries, found.trailing_zeros() as usize);
                    prefetch(self.records, at);
                    prefetch(self.records, at + self.head_len() + key.len());
                }
            }
            for &(line, print, key) in &lanes[..used] {
                answer(index, self.find_from(line, print, key)?);
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files hold places that these numbers decide.
    #[test]
    fn hashes_never_change() {
        let keys: [&[u8]; 7] = [b"", b"a", b"abc", b"abcd", b"abcdefgh", b"abcdefghijklmnop", &[7; 100]];
        assert_eq!(keys.map(hash), EXPECTED);
    }

    const EXPECTED: [u64; 7] = [
        1_240_548_846_944_876_420,
        17_959_332_533_764_038_984,
        8_341_865_512_070_712_222,
        11_097_012_223_340_149_850,
        18_136_893_641_005_159_557,
        12_153_707_976_016_789_857,
        11_085_336_384_298_008_533,
    ];

    #[test]
    fn a_full_line_sends_entries_on() {
        let mut builder = PointBuilder::default();
        let keys: Vec<Vec<u8>> = (0..2_000_u32).map(|i| format!("key {i}").into_bytes()).collect();
        for (key, value) in keys.iter().zip(0_u64..) {
            assert!(builder.push(key, &value.to_le_bytes(), None));
        }
        let (table, records) = builder.finish();
        assert!(table.chunks(LINE).any(|line| line[OVERFLOW] != 0));
        let shape = Shape { slot: 8, ranks: false };
        let point = Point::new(&table, &records, shape);
        for (key, value) in keys.iter().zip(0_u64..) {
            let hit = point.find(key).unwrap().unwrap();
            assert_eq!(hit.slot, value.to_le_bytes());
            assert_eq!(point.find(&[key, &b"~"[..]].concat()).unwrap(), None);
        }
    }
}
