//! The header: what a file is, before anything in it is believed.

use std::path::Path;

use super::checksum::crc32;
use crate::error::{Error, Result};
use crate::symbol::KeyKind;

/// The first eight bytes of every image. The byte above 0x7F and the line ends catch transfers in text mode.
pub const MAGIC: [u8; 8] = *b"\x89TRIE\r\n\x1A";

/// The newest version of the format that this build reads, and the one it writes.
pub const NEWEST_VERSION: u16 = 4;

/// Bytes a header.
pub const HEADER_LEN: usize = 64;

/// Feature bit 0: nodes tell ranks.
const FEATURE_RANKS: u16 = 1;

/// `kind` of a file that holds a trie.
pub(crate) const KIND_TRIE: u8 = 1;

/// `kind` of a file that holds a suffix index.
pub(crate) const KIND_SUFFIX: u8 = 2;

/// `page_shift` of this version: pages of 4096 bytes.
const PAGE_SHIFT: u8 = 12;

/// A decoded header. Offsets and widths are in `FORMAT.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u8,
    pub(crate) key_kind: KeyKind,
    /// Nodes tell the rank of their first key.
    pub(crate) ranks: bool,
    pub(crate) value_width: u8,
    pub(crate) file_len: u64,
    pub(crate) key_count: u64,
    pub(crate) created_seq: u64,
    pub(crate) node_count: u32,
    pub(crate) root: u32,
    pub(crate) section_count: u32,
    pub(crate) table_crc: u32,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(8, &NEWEST_VERSION.to_le_bytes());
        put(10, &(if self.ranks { FEATURE_RANKS } else { 0 }).to_le_bytes());
        put(12, &[self.kind, self.key_kind.code(), self.value_width, PAGE_SHIFT]);
        put(16, &self.file_len.to_le_bytes());
        put(24, &self.key_count.to_le_bytes());
        put(32, &self.created_seq.to_le_bytes());
        put(40, &self.node_count.to_le_bytes());
        put(44, &self.root.to_le_bytes());
        put(48, &self.section_count.to_le_bytes());
        put(56, &self.table_crc.to_le_bytes());
        let crc = crc32(&out[..60]);
        out[60..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Decodes the header at the start of `file`, of which the system says that it has `len` bytes.
    pub(crate) fn decode(file: &[u8], len: u64, path: &Path) -> Result<Self> {
        let magic = &file[..file.len().min(MAGIC.len())];
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(Error::Foreign { path: path.to_owned(), found: describe(magic) });
        }
        let Some((head, _)) = file.split_first_chunk::<HEADER_LEN>() else {
            return Err(Error::corrupt(
                path,
                len,
                format!("the file ends inside the header of {HEADER_LEN} bytes"),
            ));
        };
        // The place of this checksum is the same in every version.
        if crc32(&head[..60]) != u32_at(head, 60) {
            return Err(Error::corrupt(path, 0, "the checksum of the header does not match"));
        }
        let version = u16_at(head, 8);
        if version > NEWEST_VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, newest: NEWEST_VERSION });
        }
        let unsupported = |offset, what: &str, found: u64| Error::Unsupported {
            path: path.to_owned(),
            offset,
            found: format!("{what} `{found}`"),
        };
        if version < NEWEST_VERSION {
            return Err(unsupported(8, "format version", u64::from(version)));
        }
        let features = u16_at(head, 10);
        if features & !FEATURE_RANKS != 0 {
            return Err(unsupported(10, "feature bits", u64::from(features)));
        }
        if head[12] != KIND_TRIE && head[12] != KIND_SUFFIX {
            return Err(unsupported(12, "kind of index", u64::from(head[12])));
        }
        let key_kind =
            KeyKind::from_code(head[13]).ok_or_else(|| unsupported(13, "key kind", u64::from(head[13])))?;
        if head[15] != PAGE_SHIFT {
            return Err(unsupported(15, "page shift", u64::from(head[15])));
        }
        let file_len = u64_at(head, 16);
        if file_len != len {
            let reason = format!("the header promises {file_len} bytes and the file has {len}");
            return Err(Error::corrupt(path, file_len.min(len), reason));
        }
        if u32_at(head, 52) != 0 {
            return Err(unsupported(52, "reserved field", u64::from(u32_at(head, 52))));
        }
        Ok(Self {
            kind: head[12],
            key_kind,
            ranks: features & FEATURE_RANKS != 0,
            value_width: head[14],
            file_len,
            key_count: u64_at(head, 24),
            created_seq: u64_at(head, 32),
            node_count: u32_at(head, 40),
            root: u32_at(head, 44),
            section_count: u32_at(head, 48),
            table_crc: u32_at(head, 56),
        })
    }
}

impl Header {
    /// Refuses a file that holds another kind of index.
    pub(crate) fn expect_kind(&self, kind: u8, path: &Path) -> Result<()> {
        if self.kind == kind {
            return Ok(());
        }
        let name = match self.kind {
            KIND_TRIE => "a trie, not a suffix index,",
            _ => "a suffix index, not a trie,",
        };
        Err(Error::Unsupported { path: path.to_owned(), offset: 12, found: name.to_owned() })
    }
}

fn describe(found: &[u8]) -> String {
    if found.is_empty() { "an empty file".to_owned() } else { format!("`{}`", found.escape_ascii()) }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            kind: KIND_TRIE,
            key_kind: KeyKind::Chars,
            ranks: true,
            value_width: 8,
            file_len: 1_000,
            key_count: 3,
            created_seq: 0x0102_0304_0506_0708,
            node_count: 1,
            root: 7,
            section_count: 2,
            table_crc: 0xDEAD_BEEF,
        }
    }

    #[test]
    fn a_header_survives_its_bytes() {
        let bytes = header().encode();
        assert_eq!(Header::decode(&bytes, 1_000, Path::new("x")).unwrap(), header());
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let good = header().encode();
        for bit in 0..8 * HEADER_LEN {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::decode(&bytes, 1_000, Path::new("x")).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let mut bytes = header().encode();
        bytes[8] = 5;
        let crc = crc32(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        let refused = Header::decode(&bytes, 1_000, Path::new("x"));
        assert!(matches!(refused, Err(Error::Version { found: 5, newest: 4, .. })), "{refused:?}");
    }

    #[test]
    fn an_older_version_is_named() {
        for version in [1, 2, 3] {
            let mut bytes = header().encode();
            bytes[8] = version;
            let crc = crc32(&bytes[..60]);
            bytes[60..].copy_from_slice(&crc.to_le_bytes());
            let refused = Header::decode(&bytes, 1_000, Path::new("x")).unwrap_err().to_string();
            assert!(refused.contains(&format!("format version `{version}` at byte 8")), "{refused}");
        }
    }

    #[test]
    fn another_length_is_a_cut_file() {
        let refused = Header::decode(&header().encode(), 999, Path::new("x"));
        assert!(matches!(refused, Err(Error::Corrupt { offset: 999, .. })), "{refused:?}");
    }
}
