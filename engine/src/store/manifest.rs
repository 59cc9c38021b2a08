//! The manifest: which files a store consists of.

use std::path::{Path, PathBuf};

use super::record::u64_at;
use crate::error::{Error, Result};
use crate::format::crc32;
use crate::symbol::KeyKind;

const MAGIC: [u8; 8] = *b"\x89TSTORE\n";
const VERSION: u16 = 1;
/// Bytes of a slot that are used.
const USED: usize = 128;
/// Bytes from slot to slot: no device writes two of them at once.
const STRIDE: usize = 4096;
/// Bytes of the file.
pub(super) const MANIFEST_LEN: usize = 2 * STRIDE;

/// What one slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) kind: KeyKind,
    pub(super) width: u8,
    /// 1 more than that of the slot before; odd ones are in the second slot.
    pub(super) generation: u64,
    /// The last commit that the images hold.
    pub(super) seq: u64,
    /// Keys after that commit.
    pub(super) len: u64,
    /// The first log segment to replay.
    pub(super) segment: u64,
    /// Numbers of the images, 0 where there is none.
    pub(super) base: u64,
    pub(super) delta: u64,
    pub(super) gone: u64,
}

impl Manifest {
    /// Where in the file it goes, and its bytes there.
    pub(super) fn encode(&self) -> (u64, [u8; USED]) {
        let mut bytes = [0; USED];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[13] = self.kind.code();
        bytes[14] = self.width;
        let numbers = [self.generation, self.seq, self.len, self.segment, self.base, self.delta, self.gone];
        for (number, place) in numbers.iter().zip(bytes[16..].chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let sum = crc32(&bytes[..USED - 4]);
        bytes[USED - 4..].copy_from_slice(&sum.to_le_bytes());
        (self.generation % 2 * STRIDE as u64, bytes)
    }

    /// A whole file with this slot in it.
    pub(super) fn file(&self) -> Vec<u8> {
        let (offset, slot) = self.encode();
        let mut bytes = vec![0; MANIFEST_LEN];
        bytes[offset as usize..][..USED].copy_from_slice(&slot);
        bytes
    }

    /// The newer one of the slots that are whole.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`], [`Error::Version`], [`Error::KeyKind`], [`Error::ValueWidth`], [`Error::Unsupported`] and
    /// [`Error::Corrupt`], as for an image.
    pub(super) fn read(bytes: &[u8], path: &Path, kind: KeyKind, width: u8) -> Result<Self> {
        let slots = bytes.chunks(STRIDE).take(2).map(|slot| Slot { bytes: slot, path });
        let sound = slots.filter(Slot::is_sound);
        let Some(newest) = sound.max_by_key(|slot| u64_at(slot.bytes, 16)) else {
            let magics = [0, STRIDE].map(|at| bytes.get(at..at + 8));
            return Err(if magics.contains(&Some(&MAGIC[..])) {
                Error::corrupt(path, 0, "both slots of the manifest are damaged")
            } else {
                let found = format!("`{}`", bytes[..bytes.len().min(8)].escape_ascii());
                Error::Foreign { path: path.to_owned(), found }
            });
        };
        newest.decode(kind, width)
    }
}

struct Slot<'b> {
    bytes: &'b [u8],
    path: &'b Path,
}

impl Slot<'_> {
    fn is_sound(&self) -> bool {
        let bytes = self.bytes;
        bytes.len() >= USED
            && bytes[..8] == MAGIC
            && crc32(&bytes[..USED - 4]).to_le_bytes() == bytes[USED - 4..USED]
    }

    fn decode(&self, kind: KeyKind, width: u8) -> Result<Manifest> {
        let (bytes, path) = (self.bytes, PathBuf::from(self.path));
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version > VERSION {
            return Err(Error::Version { path, found: version, newest: VERSION });
        }
        let Some(found) = KeyKind::from_code(bytes[13]) else {
            return Err(Error::Unsupported { path, offset: 13, found: format!("key kind `{}`", bytes[13]) });
        };
        if found != kind {
            return Err(Error::KeyKind { path, found, wanted: kind });
        }
        if bytes[14] != width {
            return Err(Error::ValueWidth { path, found: bytes[14], wanted: width });
        }
        let known = version == VERSION && bytes[10..13] == [0; 3] && bytes[15] == 0;
        if !known || bytes[72..USED - 4].iter().any(|&byte| byte != 0) {
            let found = "a field of a manifest that this build does not know".to_owned();
            return Err(Error::Unsupported { path, offset: 10, found });
        }
        let [generation, seq, len, segment, base, delta, gone] =
            std::array::from_fn(|index| u64_at(bytes, 16 + 8 * index));
        Ok(Manifest { kind, width, generation, seq, len, segment, base, delta, gone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Manifest = Manifest {
        kind: KeyKind::Chars,
        width: 8,
        generation: 6,
        seq: 20,
        len: 3,
        segment: 2,
        base: 5,
        delta: 0,
        gone: 0,
    };

    fn read(bytes: &[u8]) -> Result<Manifest> {
        Manifest::read(bytes, Path::new("m"), KeyKind::Chars, 8)
    }

    #[test]
    fn a_torn_slot_leaves_the_other_one() {
        let second = Manifest { generation: 7, seq: 30, ..FIRST };
        let mut bytes = FIRST.file();
        assert_eq!(read(&bytes).unwrap(), FIRST);
        let (offset, slot) = second.encode();
        assert_eq!(offset, 4096);
        for cut in 0..slot.len() {
            let mut torn = bytes.clone();
            torn[4096..4096 + cut].copy_from_slice(&slot[..cut]);
            assert_eq!(read(&torn).unwrap(), FIRST, "cut at {cut}");
        }
        bytes[4096..4096 + slot.len()].copy_from_slice(&slot);
        assert_eq!(read(&bytes).unwrap(), second);
        bytes[20] ^= 1;
        assert_eq!(read(&bytes).unwrap(), second);
        bytes[4096 + 20] ^= 1;
        assert!(matches!(read(&bytes), Err(Error::Corrupt { .. })));
    }

    #[test]
    fn other_files_and_other_types_are_refused_by_name() {
        assert!(matches!(read(b"SQLite format 3"), Err(Error::Foreign { .. })));
        assert!(matches!(read(b""), Err(Error::Foreign { .. })));
        let bytes = FIRST.file();
        let other = Manifest::read(&bytes, Path::new("m"), KeyKind::Bytes, 8);
        assert!(matches!(other, Err(Error::KeyKind { .. })));
        let other = Manifest::read(&bytes, Path::new("m"), KeyKind::Chars, 4);
        assert!(matches!(other, Err(Error::ValueWidth { .. })));
    }
}
