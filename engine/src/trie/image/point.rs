//! The point index: a hash table of whole keys and their values, for lookups that do not need the order.
//!
//! A bucket has what hashes to it in one piece: a byte of each hash, where each record is, and the records. So a lookup waits
//! for memory once, and knows beforehand which lines it will need. The key in the record decides, so that an answer never
//! depends on the hash. What does not fit into its bucket is left to the nodes, and the bucket says so: whatever
//! the keys are, a lookup compares few of them.

use super::directory::{Directory, Home, LINE, WAYS, push_line};
use super::find::{LANES, same};
use super::layout::{MAX_SECTION, RANK_LEN, Shape, UNIT};
use super::nodes::{Damage, Hit};
use super::output::Output;
use crate::error::{Error, Result as Done};
use crate::simd::{equal16, prefetch};

/// Most entries of a bucket, and most bytes.
const MAX_ENTRIES: usize = 16;
pub(super) const MAX_BUCKET: usize = 4096;

/// There are buckets for so many keys each, and for so many bytes of records.
const MEAN_ENTRIES: usize = 6;
const MEAN_BYTES: usize = 1024;

/// In the first byte of a bucket: there are keys that belong here and are only in the nodes.
const FLAG_MORE: u8 = 0x80;

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

/// Bytes of a bucket of `n` entries before its records: their number, a byte of each hash, and where each begins and the
/// last one ends.
#[inline(always)]
fn head_len(n: usize) -> usize {
    1 + n + 2 * (n + 1)
}

/// Gathers the entries of a point index.
#[derive(Default)]
pub(super) struct PointBuilder {
    hashes: Vec<u64>,
    /// Where the record of each ends. One that does not fit into any bucket has no bytes.
    ends: Vec<usize>,
    records: Vec<u8>,
}

impl PointBuilder {
    /// Adds a key.
    pub(super) fn push(&mut self, key: &[u8], slot: &[u8], rank: Option<u32>) {
        let rank = rank.map(u32::to_le_bytes);
        let rank = rank.as_ref().map_or(&[][..], |rank| &rank[..]);
        if head_len(1) + rank.len() + slot.len() + key.len() <= MAX_BUCKET {
            [rank, slot, key].iter().for_each(|part| self.records.extend_from_slice(part));
        }
        self.hashes.push(hash(key));
        self.ends.push(self.records.len());
    }

    fn record(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.records[start..self.ends[index]]
    }

    /// Writes the buckets, with room behind them for reads of fixed length. The result is their directory.
    pub(super) fn finish(self, out: &mut Output<'_>) -> Done<Vec<u8>> {
        let by_bytes = self.records.len().div_ceil(WAYS * MEAN_BYTES);
        let lines = self.hashes.len().div_ceil(WAYS * MEAN_ENTRIES).max(by_bytes).max(1);
        let (ends, order) = self.by_bucket(lines);
        let base = out.len();
        let (mut directory, mut bucket, mut start) = (Vec::with_capacity(lines * LINE), Vec::new(), 0);
        for ends in ends.as_chunks::<WAYS>().0 {
            let (mut units, mut filters) = ([0; WAYS], [0; WAYS]);
            for (way, &end) in ends.iter().enumerate() {
                let entries = &order[start..end];
                let bits = entries.iter().map(|&entry| Home::of(self.hashes[entry], lines).bit);
                filters[way] = bits.fold(0, |filter, bit| filter | bit);
                units[way] = (out.len() - base) / UNIT;
                bucket.clear();
                self.bucket(entries, &mut bucket);
                out.push(&bucket)?;
                start = end;
            }
            if !push_line(&units, &filters, &mut directory) {
                return Err(Error::ImageTooLarge { limit: MAX_SECTION });
            }
        }
        out.push(&[0; MAX_BUCKET])?;
        Ok(directory)
    }

    /// The entries in the order of their buckets, and where those of each bucket end.
    fn by_bucket(&self, lines: usize) -> (Vec<usize>, Vec<usize>) {
        let bucket = |hash| Home::of(hash, lines).bucket();
        let mut starts = vec![0; lines * WAYS + 1];
        self.hashes.iter().for_each(|&hash| starts[bucket(hash) + 1] += 1);
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut order = vec![0; self.hashes.len()];
        for (index, &hash) in self.hashes.iter().enumerate() {
            let next = &mut starts[bucket(hash)];
            order[*next] = index;
            *next += 1;
        }
        starts.pop();
        (starts, order)
    }

    /// Puts the bucket of these entries at the end of `out`.
    fn bucket(&self, entries: &[usize], out: &mut Vec<u8>) {
        let (mut held, mut bytes) = ([0; MAX_ENTRIES], 0);
        let mut n = 0;
        for &entry in entries {
            let len = self.record(entry).len();
            if len > 0 && n < MAX_ENTRIES && head_len(n + 1) + bytes + len <= MAX_BUCKET {
                held[n] = entry;
                n += 1;
                bytes += len;
            }
        }
        let held = &held[..n];
        out.push(n as u8 | if n < entries.len() { FLAG_MORE } else { 0 });
        out.extend(held.iter().map(|&entry| self.hashes[entry] as u8));
        let mut place = head_len(n);
        out.extend((place as u16).to_le_bytes());
        for &entry in held {
            place += self.record(entry).len();
            out.extend((place as u16).to_le_bytes());
        }
        held.iter().for_each(|&entry| out.extend_from_slice(self.record(entry)));
        out.resize(out.len().next_multiple_of(UNIT as usize), 0);
    }
}

/// What a point index says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trie) enum Found {
    Hit(Hit),
    Absent,
    /// It is in the nodes or nowhere.
    Unknown,
}

/// The point index of a file.
#[derive(Clone, Copy)]
pub(in crate::trie) struct Point<'i> {
    directory: Directory<'i>,
    buckets: &'i [u8],
    shape: Shape,
}

impl<'i> Point<'i> {
    #[inline]
    pub(super) fn new(directory: &'i [u8], buckets: &'i [u8], shape: Shape) -> Self {
        Self { directory: Directory::new(directory), buckets, shape }
    }

    /// The value of `key`.
    #[inline]
    pub(in crate::trie) fn find(&self, key: &[u8]) -> Result<Found, Damage> {
        self.end(self.begin(key), key)
    }

    /// Hashes a key and asks for the memory of its bucket.
    #[inline(always)]
    fn begin(&self, key: &[u8]) -> Begun {
        let hash = hash(key);
        let bucket = self.directory.bucket(hash);
        bucket.iter().for_each(|&at| self.ask_for(at));
        Begun { hash, bucket }
    }

    /// Looks the key up in its bucket.
    #[inline(always)]
    fn end(&self, Begun { hash, bucket }: Begun, key: &[u8]) -> Result<Found, Damage> {
        bucket.map_or(Ok(Found::Absent), |at| self.find_at(at, hash, key))
    }

    /// Asks for the memory of a bucket: as many lines as most have.
    #[inline(always)]
    fn ask_for(&self, at: usize) {
        for line in 0..5 {
            prefetch(self.buckets, at.wrapping_add(64 * line));
        }
    }

    #[inline(always)]
    fn bucket(&self, at: usize) -> Result<&'i [u8; MAX_BUCKET], Damage> {
        self.buckets.get(at..).and_then(|rest| rest.first_chunk()).ok_or_else(outside)
    }

    /// How many entries all buckets have.
    pub(super) fn entries(&self) -> Result<u64, Damage> {
        let len = |at| self.bucket(at).map(|bucket| u64::from(bucket[0] & !FLAG_MORE));
        self.directory.buckets().map(len).sum()
    }

    /// The value of `key`, whose hash leads to the bucket at byte `at`.
    #[inline(always)]
    fn find_at(&self, at: usize, hash: u64, key: &[u8]) -> Result<Found, Damage> {
        let bucket = self.bucket(at)?;
        let n = usize::from(bucket[0] & !FLAG_MORE);
        let prints = bucket[1..].first_chunk().map_or(0, |prints| equal16(prints, hash as u8));
        let mut found = prints & !(u32::MAX << n.min(MAX_ENTRIES));
        let slot_at = if self.shape.ranks { RANK_LEN } else { 0 };
        let key_at = slot_at + self.shape.slot;
        while found != 0 {
            let entry = found.trailing_zeros() as usize;
            let [a, b, c, d] = *bucket[1 + n + 2 * entry..].first_chunk().ok_or_else(outside)?;
            let (start, end) = (u16::from_le_bytes([a, b]).into(), u16::from_le_bytes([c, d]).into());
            if start + key_at + key.len() == end {
                let record: &[u8] = bucket.get(start..end).ok_or_else(outside)?;
                let (head, held) = record.split_at(key_at);
                if same(held, key) {
                    let (rank, slot) = head.split_at(slot_at);
                    return Ok(Found::Hit(hit(rank, slot)));
                }
            }
            found &= found - 1;
        }
        Ok(if bucket[0] & FLAG_MORE == 0 { Found::Absent } else { Found::Unknown })
    }

    /// Looks up many keys, whose answers come in their order.
    pub(in crate::trie) fn find_many<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, &'k [u8], Found) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let mut lanes = [(Begun::default(), &b""[..]); LANES];
        let mut count = 0;
        for key in keys {
            let (begun, before) = &mut lanes[count % LANES];
            if count >= LANES {
                answer(count - LANES, before, self.end(*begun, before)?)?;
            }
            (*begun, *before) = (self.begin(key), key);
            count += 1;
        }
        for index in count.saturating_sub(LANES)..count {
            let (begun, key) = lanes[index % LANES];
            answer(index, key, self.end(begun, key)?)?;
        }
        Ok(())
    }
}

#[cold]
fn outside() -> Damage {
    Damage::new(0, "a bucket of the point index beyond the end of its section")
}

/// A lookup that waits for memory.
#[derive(Clone, Copy, Default)]
struct Begun {
    hash: u64,
    /// The byte where the bucket starts, if the key may be in it.
    bucket: Option<usize>,
}

/// What a record has besides the key.
#[inline(always)]
fn hit(rank: &[u8], slot: &[u8]) -> Hit {
    let slot = match slot {
        [a, b, c, d] => [*a, *b, *c, *d, 0, 0, 0, 0],
        _ => slot.first_chunk().map_or([0; 8], |slot| *slot),
    };
    let rank = rank.first_chunk().map_or(0, |rank| u64::from(u32::from_le_bytes(*rank)));
    Hit { slot, rank }
}

#[cfg(test)]
mod tests {
    use super::super::output::Finished;
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

    /// The index of keys with their numbers as values.
    fn index(keys: &[Vec<u8>], ranks: bool) -> (Vec<u8>, Vec<u8>) {
        let (mut builder, mut out) = (PointBuilder::default(), Output::new(None, 0));
        for (key, value) in keys.iter().zip(0_u32..) {
            builder.push(key, &u64::from(value).to_le_bytes(), ranks.then_some(value ^ 1));
        }
        let directory = builder.finish(&mut out).unwrap();
        let Finished::Memory(buckets) = out.finish(&[]).unwrap() else { panic!("it is in memory") };
        (directory, buckets)
    }

    fn check(keys: &[Vec<u8>], ranks: bool) -> usize {
        let (directory, buckets) = index(keys, ranks);
        let point = Point::new(&directory, &buckets, Shape { slot: 8, ranks });
        let (mut unknown, mut answers) = (0, Vec::new());
        for (key, value) in keys.iter().zip(0_u64..) {
            let found = point.find(key).unwrap();
            let rank = if ranks { value ^ 1 } else { 0 };
            let hit = Found::Hit(Hit { slot: value.to_le_bytes(), rank });
            assert!(found == hit || found == Found::Unknown, "{value} {found:?}");
            unknown += usize::from(found != hit);
            answers.push(found);
            assert!(matches!(
                point.find(&[key, &b"~"[..]].concat()).unwrap(),
                Found::Absent | Found::Unknown
            ));
        }
        let mut many = Vec::new();
        let all = keys.iter().map(Vec::as_slice);
        let ended = point.find_many(all, |index, key, found| {
            assert_eq!((index, key), (many.len(), &keys[index][..]));
            many.push(found);
            Ok(())
        });
        assert!(ended.is_ok() && many == answers);
        assert_eq!(point.entries().unwrap() + unknown as u64, keys.len() as u64);
        unknown
    }

    #[test]
    fn keys_are_found() {
        for (count, ranks) in [(0_u32, false), (1, false), (17, true), (2_000, false), (2_000, true)] {
            let keys: Vec<Vec<u8>> = (0..count).map(|i| format!("key {i}").into_bytes()).collect();
            assert!(check(&keys, ranks) <= count as usize / 200);
        }
        let long: Vec<Vec<u8>> = (0..300).map(|i| vec![i as u8; 10 * i]).collect();
        assert!(check(&long, false) < 100);
    }

    #[test]
    fn keys_that_do_not_fit_are_left_to_the_nodes() {
        let most = MAX_BUCKET - head_len(1) - 8;
        assert_eq!(check(&[vec![1; most]], false), 0);
        assert_eq!(check(&[vec![1; most + 1]], false), 1);
        // All in one bucket: sixteen have room.
        let one = Home::of(1 << 63, 1).bucket();
        let keys = (0_u32..).map(|i| i.to_le_bytes().to_vec());
        let keys: Vec<_> = keys.filter(|key| Home::of(hash(key), 1).bucket() == one).take(24).collect();
        assert_eq!(check(&keys, false), 24 - MAX_ENTRIES);
    }

    #[test]
    fn nonsense_is_damage_or_an_answer() {
        let keys: Vec<Vec<u8>> = (0..100).map(|i| format!("key {i}").into_bytes()).collect();
        let (directory, buckets) = index(&keys, false);
        for round in 0..=255_u8 {
            let spoil = |bytes: &[u8]| -> Vec<u8> {
                let each = bytes.iter().enumerate();
                each.map(|(at, &byte)| if at % 5 == usize::from(round) % 5 { byte ^ round } else { byte })
                    .collect()
            };
            let shape = Shape { slot: 8, ranks: false };
            // Any answer will do if buckets are spoiled, as long as there is one or an error.
            let spoiled = spoil(&buckets);
            let point = Point::new(&directory, &spoiled, shape);
            let answered = keys.iter().filter(|key| point.find(key).is_ok()).count();
            assert!(round > 0 || answered == keys.len());
            // Whole buckets have the right value, wherever a directory leads.
            for directory in [spoil(&directory), Vec::new()] {
                let point = Point::new(&directory, &buckets, shape);
                for (key, value) in keys.iter().zip(0_u64..) {
                    if let Ok(Found::Hit(hit)) = point.find(key) {
                        assert_eq!(hit.slot, value.to_le_bytes());
                    }
                }
            }
        }
    }
}
