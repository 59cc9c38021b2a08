//! A leaf bucket: up to 64 keys that end below one edge, in one block of bytes.
//!
//! ```text
//! 0   prefix_len u32   what all its keys have in common
//! 4   n u8             entries, 1..=64
//! 5   foreign u8       1 if nobody has looked yet whether keys are in order and fingerprints are right
//! 6   tails_len u16
//! 8   fingerprints     one an entry, zeros to a multiple of 8
//!     ends             n times u16: where each tail ends in `tails`
//!     prefix           prefix_len bytes
//!     values           n * width bytes
//!     tails            tails_len bytes, in the order of the keys
//! ```
//!
//! A bucket that is made of an image's is foreign: a lookup does not mind, and before it is changed [`vouch`] looks at it.

use super::blob::Blob;
use super::fan::equal_flags;
use super::fingerprint::fingerprint;

/// Most entries of a bucket.
pub(super) const MAX_ENTRIES: usize = 64;

/// Most bytes the tails of a bucket can have together. The children of a node in an image must lie within 65,535 units.
pub(super) const MAX_TAILS: usize = 1024;

const FOREIGN: usize = 5;
const FINGERPRINTS: usize = 8;

/// Where the ends begin: fingerprints are compared eight at a time.
const fn ends_at(n: usize) -> usize {
    FINGERPRINTS + n.next_multiple_of(8)
}

/// A key below some edge, and its value.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) suffix: &'a [u8],
    pub(super) value: &'a [u8],
}

/// The parts that a bucket is made from.
pub(super) struct Parts<'a> {
    pub(super) foreign: bool,
    pub(super) fingerprints: &'a [u8],
    /// Two bytes an entry.
    pub(super) ends: &'a [u8],
    pub(super) prefix: &'a [u8],
    pub(super) values: &'a [u8],
    pub(super) tails: &'a [u8],
}

/// A bucket that nobody else knows.
pub(super) struct Bucket(Blob);

/// A bucket in a slot.
#[derive(Clone, Copy)]
pub(super) struct BucketRef<'a>(&'a [u8]);

impl Bucket {
    /// A bucket of parts that fit together.
    pub(super) fn new(parts: &Parts) -> Self {
        let mut head = head(parts.prefix.len(), parts.tails.len(), parts.fingerprints);
        head[FOREIGN] = u8::from(parts.foreign);
        let head = &head[..ends_at(parts.fingerprints.len())];
        Self(Blob::concat(&[head, parts.ends, parts.prefix, parts.values, parts.tails]))
    }

    /// A bucket of sorted entries, if they fit into one.
    pub(super) fn pack(entries: &[Entry]) -> Option<Self> {
        let shared = common(entries);
        if !fits(entries.len(), entries.iter().map(|entry| entry.suffix.len()).sum(), shared) {
            return None;
        }
        let (mut prints, mut ends) = ([0; MAX_ENTRIES], [0; 2 * MAX_ENTRIES]);
        let (mut tails, mut values) = (Vec::with_capacity(MAX_TAILS), Vec::with_capacity(MAX_ENTRIES * 8));
        for (index, entry) in entries.iter().enumerate() {
            let tail = &entry.suffix[shared..];
            tails.extend_from_slice(tail);
            values.extend_from_slice(entry.value);
            prints[index] = fingerprint(tail);
            set_end(&mut ends, index, tails.len());
        }
        Some(Self::new(&Parts {
            foreign: false,
            fingerprints: &prints[..entries.len()],
            ends: &ends[..2 * entries.len()],
            prefix: &entries[0].suffix[..shared],
            values: &values,
            tails: &tails,
        }))
    }

    pub(super) fn from_blob(blob: Blob) -> Self {
        Self(blob)
    }

    pub(super) fn into_blob(self) -> Blob {
        self.0
    }
}

/// What stands before the ends.
fn head(prefix_len: usize, tails_len: usize, fingerprints: &[u8]) -> [u8; ends_at(MAX_ENTRIES)] {
    let mut head = [0; ends_at(MAX_ENTRIES)];
    head[..4].copy_from_slice(&(prefix_len as u32).to_le_bytes());
    head[4] = fingerprints.len() as u8;
    head[6..8].copy_from_slice(&(tails_len as u16).to_le_bytes());
    head[FINGERPRINTS..FINGERPRINTS + fingerprints.len()].copy_from_slice(fingerprints);
    head
}

/// Whether `n` keys of `len` bytes together, of which each has the first `shared` in common, make a bucket.
pub(super) fn fits(n: usize, len: usize, shared: usize) -> bool {
    n <= MAX_ENTRIES && len - n * shared <= MAX_TAILS
}

/// How many bytes sorted entries have in common.
pub(super) fn common(entries: &[Entry]) -> usize {
    match entries {
        [first, .., last] => common_len(first.suffix, last.suffix),
        [only] => only.suffix.len(),
        [] => 0,
    }
}

/// How many bytes two keys begin with in common, eight at a time.
#[inline]
pub(crate) fn common_len(a: &[u8], b: &[u8]) -> usize {
    let mut shared = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differing != 0 {
            return shared + differing.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    shared + a[shared..].iter().zip(&b[shared..]).take_while(|(a, b)| a == b).count()
}

impl<'a> BucketRef<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        usize::from(self.0[4])
    }

    #[inline]
    fn tails_len(self) -> usize {
        usize::from(u16::from_le_bytes([self.0[6], self.0[7]]))
    }

    /// Where the tail of entry `index` ends.
    #[inline]
    fn end(self, index: usize) -> usize {
        let at = ends_at(self.len()) + 2 * index;
        usize::from(u16::from_le_bytes([self.0[at], self.0[at + 1]]))
    }

    #[inline]
    fn prefix_len(self) -> usize {
        u32::from_le_bytes([self.0[0], self.0[1], self.0[2], self.0[3]]) as usize
    }

    #[inline]
    pub(super) fn prefix(self) -> &'a [u8] {
        let at = ends_at(self.len()) + 2 * self.len();
        &self.0[at..at + self.prefix_len()]
    }

    /// The tail of entry `index`: its key after the prefix.
    #[inline]
    pub(super) fn tail(self, index: usize) -> &'a [u8] {
        let tails = &self.0[self.0.len() - self.tails_len()..];
        let start = if index == 0 { 0 } else { self.end(index - 1) };
        &tails[start..self.end(index)]
    }

    /// Where the value of entry `index` is.
    #[inline]
    fn value_at(self, index: usize, width: usize) -> usize {
        ends_at(self.len()) + 2 * self.len() + self.prefix_len() + index * width
    }

    #[inline]
    pub(super) fn value(self, index: usize, width: usize) -> &'a [u8] {
        let at = self.value_at(index, width);
        &self.0[at..at + width]
    }

    /// The entry whose key is `suffix`.
    #[inline]
    pub(super) fn find(self, suffix: &[u8]) -> Option<usize> {
        let tail = suffix.strip_prefix(self.prefix())?;
        let print = fingerprint(tail);
        for half in (0..self.len()).step_by(8) {
            let mut flags = equal_flags(&self.0[FINGERPRINTS + half..], print);
            while flags != 0 {
                let index = half + flags.trailing_zeros() as usize / 8;
                if index < self.len() && self.tail(index) == tail {
                    return Some(index);
                }
                flags &= flags - 1;
            }
        }
        None
    }

    pub(super) fn parts(self, width: usize) -> Parts<'a> {
        let (n, values) = (self.len(), self.value_at(0, width));
        Parts {
            foreign: self.0[FOREIGN] != 0,
            fingerprints: &self.0[FINGERPRINTS..FINGERPRINTS + n],
            ends: &self.0[ends_at(n)..ends_at(n) + 2 * n],
            prefix: self.prefix(),
            values: &self.0[values..values + n * width],
            tails: &self.0[self.0.len() - self.tails_len()..],
        }
    }

    /// Whether its keys are in order and under their fingerprints. All changes rely on both.
    fn is_sound(self) -> bool {
        (0..self.len()).all(|index| {
            let tail = self.tail(index);
            self.0[FINGERPRINTS + index] == fingerprint(tail) && (index == 0 || self.tail(index - 1) < tail)
        })
    }

    /// The bucket with one more entry, if it still fits: its key starts with the prefix and is new.
    pub(super) fn with(self, tail: &[u8], value: &[u8]) -> Option<Bucket> {
        let (n, width) = (self.len(), value.len());
        let old = self.parts(width);
        if n == MAX_ENTRIES || old.tails.len() + tail.len() > MAX_TAILS {
            return None;
        }
        let index = (0..n).position(|index| self.tail(index) > tail).unwrap_or(n);
        let start = if index == 0 { 0 } else { self.end(index - 1) };
        let (mut prints, mut ends) = ([0; MAX_ENTRIES], [0; 2 * MAX_ENTRIES]);
        splice(&mut prints[..=n], old.fingerprints, index, fingerprint(tail));
        for entry in 0..=n {
            let end = match entry {
                _ if entry < index => self.end(entry),
                _ if entry == index => start + tail.len(),
                _ => self.end(entry - 1) + tail.len(),
            };
            set_end(&mut ends, entry, end);
        }
        let (values, tails) = (old.values.split_at(index * width), old.tails.split_at(start));
        let head = head(old.prefix.len(), old.tails.len() + tail.len(), &prints[..=n]);
        let head = &head[..ends_at(n + 1)];
        let parts =
            [head, &ends[..2 * (n + 1)], old.prefix, values.0, value, values.1, tails.0, tail, tails.1];
        Some(Bucket(Blob::concat(&parts)))
    }
}

/// Makes sure that a bucket may be changed: of one that comes from an image, nobody knows before whether it is sound.
pub(super) fn vouch(bucket: &mut [u8]) -> bool {
    let sound = bucket[FOREIGN] == 0 || BucketRef(bucket).is_sound();
    bucket[FOREIGN] = u8::from(!sound);
    sound
}

/// Sets the value of entry `index` of a bucket.
pub(super) fn set_value(bucket: &mut [u8], index: usize, value: &[u8]) {
    let at = BucketRef(bucket).value_at(index, value.len());
    bucket[at..at + value.len()].copy_from_slice(value);
}

/// Sets where the tail of entry `index` ends.
pub(super) fn set_end(ends: &mut [u8], index: usize, end: usize) {
    ends[2 * index..2 * index + 2].copy_from_slice(&(end as u16).to_le_bytes());
}

/// Writes `old` with `new` put in at `at`.
fn splice(out: &mut [u8], old: &[u8], at: usize, new: u8) {
    out[..at].copy_from_slice(&old[..at]);
    out[at] = new;
    out[at + 1..].copy_from_slice(&old[at..]);
}
