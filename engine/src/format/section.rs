//! The section table: what lies where in a file.

use std::ops::Range;
use std::path::Path;

use super::checksum::crc32;
use super::header::{HEADER_LEN, Header, u16_at, u32_at, u64_at};
use crate::error::{Error, Result};

/// Bytes an entry of the table.
pub(crate) const ENTRY_LEN: usize = 32;

/// Sections that this build writes start at multiples of this; those it reads say it themselves.
const ALIGN: u16 = 64;

/// More sections than any file has; bounds what a damaged count can ask for.
const MAX_SECTIONS: u32 = 64;

/// A reader that does not know the section must refuse the file.
const FLAG_REQUIRED: u16 = 1;

/// The section is covered by page checksums; its own checksum is zero.
const FLAG_PAGED: u16 = 2;

/// A section this build knows. The numbers of later ones are reserved in `FORMAT.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum SectionId {
    /// Nodes of a trie.
    Trie = 1,
    /// The texts of a suffix index, one behind the other.
    Text = 4,
    /// Its suffix array.
    Array = 5,
    /// Bytes that follow each suffix's bucket.
    Next = 6,
    /// The upper nodes of its tree.
    Tree = 7,
    /// Which text a position lies in.
    Docs = 8,
    /// Ways into the tree of a suffix index.
    Jumps = 12,
    /// What its suffixes share with each other.
    Reach = 13,
    /// Short strings that occur in the texts of a suffix index.
    Grams = 14,
    /// Checksums of the pages of all other sections.
    PageCrc = 15,
    /// Buckets of a point index.
    Point = 16,
    /// Where each of them starts.
    Directory = 17,
    /// Where suffixes with the same first bytes are in the array of a small suffix index.
    Heads = 18,
}

/// One entry of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    id: u16,
    flags: u16,
    off: u64,
    len: u64,
    crc: u32,
}

impl Section {
    /// A required section that is covered by page checksums.
    pub(crate) fn paged(id: SectionId, span: Range<u64>) -> Self {
        Self {
            id: id as u16,
            flags: FLAG_REQUIRED | FLAG_PAGED,
            off: span.start,
            len: span.end - span.start,
            crc: 0,
        }
    }

    /// A required section with its own checksum.
    pub(crate) fn whole(id: SectionId, off: u64, bytes: &[u8]) -> Self {
        Self { id: id as u16, flags: FLAG_REQUIRED, off, len: bytes.len() as u64, crc: crc32(bytes) }
    }

    /// Its bytes in the file.
    pub(crate) fn span(&self) -> Range<u64> {
        self.off..self.off + self.len
    }

    pub(crate) fn encode(&self) -> [u8; ENTRY_LEN] {
        let mut out = [0; ENTRY_LEN];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.id.to_le_bytes());
        put(2, &self.flags.to_le_bytes());
        put(4, &ALIGN.to_le_bytes());
        put(8, &self.off.to_le_bytes());
        put(16, &self.len.to_le_bytes());
        put(24, &self.crc.to_le_bytes());
        out
    }
}

/// The decoded table of a file.
#[derive(Debug)]
pub(crate) struct Table {
    sections: Vec<Section>,
}

impl Table {
    /// Decodes and checks the table that `header` announces: checksum, order, bounds and flags.
    /// Every section then lies inside `file`; its bytes were not looked at.
    pub(crate) fn decode(header: &Header, file: &[u8], path: &Path) -> Result<Self> {
        let corrupt = |offset: usize, reason: String| Error::corrupt(path, offset as u64, reason);
        if header.section_count > MAX_SECTIONS {
            return Err(corrupt(
                48,
                format!("{} sections are more than {MAX_SECTIONS}", header.section_count),
            ));
        }
        let end = HEADER_LEN + header.section_count as usize * ENTRY_LEN;
        let Some(table) = file.get(HEADER_LEN..end) else {
            return Err(corrupt(file.len(), "the file ends inside the section table".to_owned()));
        };
        if crc32(table) != header.table_crc {
            return Err(corrupt(HEADER_LEN, "the checksum of the section table does not match".to_owned()));
        }
        let mut sections = Vec::with_capacity(header.section_count as usize);
        let mut free = end as u64;
        for (index, entry) in table.chunks_exact(ENTRY_LEN).enumerate() {
            let at = HEADER_LEN + index * ENTRY_LEN;
            let section = Section {
                id: u16_at(entry, 0),
                flags: u16_at(entry, 2),
                off: u64_at(entry, 8),
                len: u64_at(entry, 16),
                crc: u32_at(entry, 24),
            };
            let align = u64::from(u16_at(entry, 4));
            check_entry(&section, entry, at, path)?;
            let inside = section.off.checked_add(section.len).is_some_and(|end| end <= header.file_len);
            // Only padding may lie between sections, or bytes would go unchecked.
            if !inside || section.off != free.next_multiple_of(align) {
                return Err(corrupt(
                    at + 8,
                    format!("section `{}` is not where the one before it ends", section.id),
                ));
            }
            free = section.span().end;
            sections.push(section);
        }
        if free != header.file_len {
            return Err(Error::corrupt(path, free, "bytes after the last section"));
        }
        Ok(Self { sections })
    }

    /// Refuses padding between the table and the first section that is not zero. `file` reaches to that section.
    pub(crate) fn check_padding(&self, file: &[u8], path: &Path) -> Result<()> {
        let end = HEADER_LEN + self.sections.len() * ENTRY_LEN;
        let padding = file.get(end..self.start() as usize).unwrap_or(&[]);
        if padding.iter().any(|&byte| byte != 0) {
            return Err(Error::corrupt(path, end as u64, "padding after the section table is not zero"));
        }
        Ok(())
    }

    /// Verifies the sections that have a checksum of their own.
    pub(crate) fn verify(&self, file: &[u8], path: &Path) -> Result<()> {
        for section in self.sections.iter().filter(|section| section.flags & FLAG_PAGED == 0) {
            let span = section.span();
            if crc32(&file[span.start as usize..span.end as usize]) != section.crc {
                let reason = format!("the checksum of section `{}` does not match", section.id);
                return Err(Error::corrupt(path, section.off, reason));
            }
        }
        Ok(())
    }

    /// Where the first section starts.
    pub(crate) fn start(&self) -> u64 {
        self.sections.first().map_or(0, |section| section.off)
    }

    /// The section of that id, if there is one.
    pub(crate) fn get(&self, id: SectionId) -> Option<Range<u64>> {
        self.sections.iter().find(|section| section.id == id as u16).map(Section::span)
    }

    /// The section of that id, which every file of its kind must have.
    pub(crate) fn find(&self, id: SectionId, path: &Path) -> Result<Range<u64>> {
        self.get(id).ok_or_else(|| {
            Error::corrupt(path, HEADER_LEN as u64, format!("section `{}` is missing", id as u16))
        })
    }
}

/// Refuses what this build does not know about an entry.
fn check_entry(section: &Section, entry: &[u8], at: usize, path: &Path) -> Result<()> {
    let unsupported = |offset: usize, found| {
        Err(Error::Unsupported { path: path.to_owned(), offset: offset as u64, found })
    };
    let known = [
        SectionId::Trie,
        SectionId::Text,
        SectionId::Array,
        SectionId::Next,
        SectionId::Tree,
        SectionId::Docs,
        SectionId::Jumps,
        SectionId::Reach,
        SectionId::Grams,
        SectionId::PageCrc,
        SectionId::Point,
        SectionId::Directory,
        SectionId::Heads,
    ];
    let known = known.iter().any(|&id| id as u16 == section.id);
    if !known && section.flags & FLAG_REQUIRED != 0 {
        return unsupported(at, format!("required section `{}`", section.id));
    }
    if section.flags & !(FLAG_REQUIRED | FLAG_PAGED) != 0 {
        return unsupported(at + 2, format!("section flags `{}`", section.flags));
    }
    let align = u16_at(entry, 4);
    if !align.is_power_of_two() || align < ALIGN {
        return unsupported(at + 4, format!("section alignment `{align}`"));
    }
    if u16_at(entry, 6) != 0 || u32_at(entry, 28) != 0 {
        return unsupported(at + 6, "a reserved field that is not zero".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::header::KIND_TRIE;
    use super::*;
    use crate::symbol::KeyKind;

    fn header(file_len: u64, section_count: u32, table_crc: u32) -> Header {
        Header {
            kind: KIND_TRIE,
            key_kind: KeyKind::Bytes,
            ranks: false,
            value_width: 0,
            file_len,
            key_count: 0,
            created_seq: 0,
            node_count: 0,
            root: 0,
            section_count,
            table_crc,
        }
    }

    /// Decodes the table of a file of zeros that has these sections.
    fn decode_all(sections: &[Section], file_len: u64, spoil: impl FnOnce(&mut [u8])) -> Result<Table> {
        let table: Vec<u8> = sections.iter().flat_map(Section::encode).collect();
        let header = header(file_len, sections.len() as u32, crc32(&table));
        let mut file = header.encode().to_vec();
        file.extend(table);
        file.resize(file_len as usize, 0);
        spoil(&mut file);
        let table = Table::decode(&header, &file, Path::new("x"))?;
        table.check_padding(&file, Path::new("x"))?;
        table.verify(&file, Path::new("x"))?;
        Ok(table)
    }

    /// A trie section and one more.
    fn decode(extra: Section) -> Result<Table> {
        decode_all(&[Section::paged(SectionId::Trie, 128..168), extra], 264, |_| ())
    }

    #[test]
    fn padding_after_the_table_is_zero() {
        let one = [Section::paged(SectionId::Trie, 128..168)];
        assert!(decode_all(&one, 168, |_| ()).is_ok());
        for at in 96..128 {
            let refused = decode_all(&one, 168, |file| file[at] = 1);
            assert!(matches!(refused, Err(Error::Corrupt { offset: 96, .. })), "{at} {refused:?}");
        }
    }

    #[test]
    fn a_table_beyond_the_file_is_refused() {
        let many = vec![Section::paged(SectionId::Trie, 128..128); 64];
        assert!(matches!(decode_all(&many, 200, |_| ()), Err(Error::Corrupt { offset: 200, .. })));
        let more = vec![Section::paged(SectionId::Trie, 128..128); 65];
        assert!(matches!(decode_all(&more, 10_000, |_| ()), Err(Error::Corrupt { offset: 48, .. })));
    }

    #[test]
    fn optional_sections_of_later_builds_are_skipped() {
        let later = Section { id: 900, flags: FLAG_PAGED, off: 192, len: 72, crc: 0 };
        let table = decode(later.clone()).unwrap();
        assert_eq!(table.find(SectionId::Trie, Path::new("x")).unwrap(), 128..168);
        assert!(table.find(SectionId::PageCrc, Path::new("x")).is_err());
        let required = decode(Section { flags: FLAG_REQUIRED | FLAG_PAGED, ..later });
        assert!(matches!(required, Err(Error::Unsupported { offset: 96, .. })), "{required:?}");
    }

    #[test]
    fn sections_out_of_place_are_refused() {
        for (off, len) in
            [(128, 72), (192, 73), (192, 71), (256, 8), (192, u64::MAX), (u64::MAX - 63, 64), (200, 64)]
        {
            let refused = decode(Section { id: 900, flags: FLAG_PAGED, off, len, crc: 0 });
            assert!(matches!(refused, Err(Error::Corrupt { .. })), "{off} {len} {refused:?}");
        }
    }

    #[test]
    fn sections_may_ask_for_pages_of_their_own() {
        let wide = |off, align: u16| {
            let mut table = Section::paged(SectionId::Trie, off..off + 8).encode();
            table[4..6].copy_from_slice(&align.to_le_bytes());
            let header = header(off + 8, 1, crc32(&table));
            let mut file = vec![0; off as usize + 8];
            file[64..96].copy_from_slice(&table);
            Table::decode(&header, &file, Path::new("x")).map(|table| table.start())
        };
        assert_eq!(wide(4_096, 4_096).unwrap(), 4_096);
        assert!(matches!(wide(4_096, 64), Err(Error::Corrupt { offset: 72, .. })));
        assert!(matches!(wide(128, 4_096), Err(Error::Corrupt { offset: 72, .. })));
        for align in [0, 1, 32, 96] {
            assert!(matches!(wide(128, align), Err(Error::Unsupported { offset: 68, .. })), "{align}");
        }
    }

    #[test]
    fn a_section_without_pages_has_its_own_checksum() {
        let good = Section { id: 900, flags: 0, off: 192, len: 72, crc: crc32(&[0; 72]) };
        assert!(decode(good.clone()).is_ok());
        assert!(decode(Section { crc: 0, ..good }).is_err());
    }
}
