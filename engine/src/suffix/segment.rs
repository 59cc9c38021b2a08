//! An immutable index of some texts, as the bytes of its file: built, or read in place.

use std::path::Path;

use super::Layout;
use super::docs::{self, Plan, Starts};
use super::grams;
use super::heads;
use super::sorted::{STEP, Sorted};
use super::texts::Texts;
use super::tree::{BUCKET_MOST, NO_NODE, Tree};
use super::view::{Array, Places, View};
use crate::error::{Error, Result};
use crate::format::{
    Bytes, ENTRY_LEN, HEADER_LEN, Head, Header, KIND_SUFFIX, PageGrid, Pages, Section, SectionId, Table,
    crc32,
};
use crate::symbol::{KeyKind, Symbol};
use crate::trie::{Backing, Verify};

/// The most bytes all texts of an index can have together, and the most texts.
pub(super) const MAX_LEN: usize = (1 << 31) - 2;

/// Texts that have fewer bytes together have no section REACH: comparing them takes no time worth a section.
const REACH_LEN: usize = 4096;

/// Texts that have fewer bytes together have no sections JUMP and GRAMS: the upper nodes of their tree stay in the
/// processor's cache.
const JUMPS_LEN: usize = 1 << 16;

/// The sections of a file and where they are.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Bytes,
    places: Places,
}

impl Segment {
    /// Indexes texts, in linear time and memory.
    pub(super) fn build<K: Symbol>(texts: &Texts, layout: Layout) -> Self {
        let file = encode::<K>(texts, layout);
        let path = Path::new("an index in memory");
        let built = Bytes::owned(file, path).and_then(|parts| Self::of(parts, path, Verify::Header));
        built.expect("what was just written can be read")
    }

    /// Opens a file; see [`super::SuffixIndex::open`].
    pub(super) fn open<K: Symbol>(path: &Path, backing: Backing, verify: Verify) -> Result<Self> {
        let parts = match backing {
            Backing::Map => Bytes::map(path)?,
            Backing::Copy => Bytes::copy(path)?,
        };
        let (header, ..) = &parts;
        header.expect_kind(KIND_SUFFIX, path)?;
        if header.key_kind != K::KIND {
            return Err(Error::KeyKind { path: path.to_owned(), found: header.key_kind, wanted: K::KIND });
        }
        let segment = Self::of(parts, path, verify)?;
        if verify == Verify::Structural {
            segment.verify::<K>(path)?;
        }
        Ok(segment)
    }

    fn of((header, head, bytes): (Header, Head, Bytes), path: &Path, verify: Verify) -> Result<Self> {
        // What was read already holds all that is looked at here, unless another writer puts it elsewhere: the first touch
        // of a mapped page takes as long as all the rest.
        let near = |end: usize| if end <= head.len() { &head[..] } else { &bytes[..] };
        let table =
            Table::decode(&header, near(HEADER_LEN + header.section_count as usize * ENTRY_LEN), path)?;
        table.check_padding(near(table.start() as usize), path)?;
        let span = |id| table.find(id, path).map(|span| span.start as usize..span.end as usize);
        let (text, array) = (span(SectionId::Text)?, span(SectionId::Array)?);
        let (tree, docs) = (span(SectionId::Tree)?, span(SectionId::Docs)?);
        let optional = |id| table.get(id).map_or(0..0, |span| span.start as usize..span.end as usize);
        let (next, jumps, reach) =
            (optional(SectionId::Next), optional(SectionId::Jumps), optional(SectionId::Reach));
        let (grams, heads) = (optional(SectionId::Grams), optional(SectionId::Heads));
        let checksums = table.find(SectionId::PageCrc, path)?;
        let grid = PageGrid::new(table.start()..checksums.start);
        if checksums.end != header.file_len || checksums.end - checksums.start != 4 * grid.len() {
            return Err(Error::corrupt(path, checksums.start, "page checksums do not match the sections"));
        }
        if verify != Verify::Header {
            table.verify(&bytes, path)?;
            Pages::new(grid, checksums.start as usize).verify_all(&bytes).map_err(|page| {
                Error::corrupt(path, page.start, "the checksum of the page does not match")
            })?;
        }
        let corrupt =
            |section: &std::ops::Range<usize>, reason| Error::corrupt(path, section.start as u64, reason);
        let chars = header.key_kind == KeyKind::Chars;
        let plan = Plan::of(&near(docs.start + docs::HEAD)[docs.start..], docs.len(), text.len(), chars)
            .filter(|plan| u64::from(plan.head.texts) == header.key_count)
            .ok_or_else(|| corrupt(&docs, "the texts do not fit their bytes"))?;
        let (suffixes, width) = (plan.head.suffixes as usize, plan.head.width);
        let fits = array.len() == array_len(suffixes, width) && text.len() <= MAX_LEN;
        if !fits || (!next.is_empty() && next.len() != 4 * suffixes) {
            return Err(corrupt(&array, "the suffixes are not as many as the texts say"));
        }
        if !reach.is_empty() && reach.len() != 4 * (text.len().div_ceil(STEP) + 1) {
            return Err(corrupt(&reach, "the samples are not as many as the texts say"));
        }
        if !grams.is_empty() && !grams.len().is_power_of_two() {
            return Err(corrupt(&grams, "the bits for strings are not a power of two"));
        }
        let places = Places {
            text,
            array,
            next,
            tree,
            jumps,
            grams,
            heads,
            chars,
            reach,
            docs,
            plan,
            root: header.root,
        };
        Ok(Self { bytes, places })
    }

    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View { bytes: &self.bytes, places: &self.places }
    }

    pub(super) fn texts(&self) -> u32 {
        self.places.plan.head.texts
    }

    pub(super) fn text_len(&self) -> usize {
        self.places.text.len()
    }

    /// The whole file.
    pub(super) fn file(&self) -> &[u8] {
        &self.bytes
    }

    /// What the segment was built as.
    pub(super) fn layout(&self) -> Layout {
        if self.places.plan.head.width == 32 { Layout::Fast } else { Layout::Compact }
    }

    /// All texts in their order, nothing in place of one that was removed. Together they are never longer than the section
    /// they are in, whatever is there.
    pub(super) fn all_texts(&self) -> impl Iterator<Item = Option<&[u8]>> + '_ {
        let docs = self.view().docs();
        (0..self.texts()).scan(self.text_len(), move |left, number| {
            let text = docs.text(number).map(|text| &text[..text.len().min(*left)]);
            *left -= text.map_or(0, <[u8]>::len);
            Some(text)
        })
    }

    /// Builds the file again from its texts and compares.
    fn verify<K: Symbol>(&self, path: &Path) -> Result<()> {
        let mut texts = Texts::default();
        let mut sound = true;
        for text in self.all_texts() {
            sound &= K::KIND == KeyKind::Bytes || std::str::from_utf8(text.unwrap_or_default()).is_ok();
            sound &= texts.push(text).is_ok();
        }
        if !sound || encode::<K>(&texts, self.layout()) != self.file() {
            return Err(Error::corrupt(
                path,
                self.places.text.start as u64,
                "the index is not that of its texts",
            ));
        }
        Ok(())
    }
}

/// Bytes of a suffix array.
fn array_len(suffixes: usize, width: u8) -> usize {
    if width == 32 { 4 * suffixes } else { (suffixes * usize::from(width)).div_ceil(8) + 8 }
}

/// What a section holds.
enum Content<'c> {
    Bytes(&'c [u8]),
    Numbers(&'c [u32]),
}

impl Content<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Numbers(numbers) => 4 * numbers.len(),
        }
    }

    /// Puts it at the end of a file, without a copy of all of it on the way.
    fn write(&self, file: &mut Vec<u8>) {
        match self {
            Self::Bytes(bytes) => file.extend_from_slice(bytes),
            Self::Numbers(numbers) => {
                for part in numbers.chunks(1024) {
                    let mut bytes = [[0; 4]; 1024];
                    for (bytes, number) in bytes.iter_mut().zip(part) {
                        *bytes = number.to_le_bytes();
                    }
                    file.extend_from_slice(bytes[..part.len()].as_flattened());
                }
            }
        }
    }
}

/// The file of an index. The same texts, kind and layout give the same bytes.
fn encode<K: Symbol>(texts: &Texts, layout: Layout) -> Vec<u8> {
    let Texts { text, ends, .. } = texts;
    let full: Vec<u32> = std::iter::once(0)
        .chain(ends.iter().copied())
        .zip(ends)
        .filter(|&(start, &end)| start < end)
        .map(|(start, _)| start)
        .collect();
    let sorted = Sorted::of(text, &Starts::new(&full, text.len()), K::starts);
    let fast = layout == Layout::Fast;
    let tree = Tree::of(text, &sorted, K::starts, if fast { 104 } else { BUCKET_MOST }, fast);
    // 32 bits are read in another way, and no start needs them.
    let width = if fast { 32 } else { (usize::BITS - text.len().leading_zeros()).clamp(1, 31) as u8 };
    let heads = if fast && (REACH_LEN..JUMPS_LEN).contains(&text.len()) && sorted.starts.len() <= heads::MOST
    {
        match K::KIND {
            KeyKind::Bytes => heads::encode::<{ heads::BYTES }>(text, &sorted),
            KeyKind::Chars => heads::encode::<{ heads::CHARS }>(text, &sorted),
        }
    } else {
        Vec::new()
    };
    let Sorted { starts, reach, .. } = sorted;
    let docs = docs::encode(texts, starts.len() as u32, width, K::KIND == KeyKind::Chars);
    let packed = if fast { Vec::new() } else { Array::pack(&starts, width) };
    let array = if fast { Content::Numbers(&starts) } else { Content::Bytes(&packed) };
    let reach = if text.len() < REACH_LEN { &[][..] } else { &reach };
    let (jumps, grams) =
        if text.len() < JUMPS_LEN { (&[][..], Vec::new()) } else { (&tree.jumps[..], grams::encode(text)) };
    // The head of DOCS, which is read at once, lies near that of the file.
    let mut sections = vec![
        (SectionId::Docs, Content::Bytes(&docs)),
        (SectionId::Text, Content::Bytes(text)),
        (SectionId::Array, array),
        (SectionId::Next, Content::Numbers(&tree.next)),
        (SectionId::Tree, Content::Bytes(&tree.nodes)),
        (SectionId::Jumps, Content::Bytes(jumps)),
        (SectionId::Reach, Content::Numbers(reach)),
        (SectionId::Grams, Content::Bytes(&grams)),
        (SectionId::Heads, Content::Bytes(&heads)),
    ];
    let optional = [SectionId::Next, SectionId::Jumps, SectionId::Reach, SectionId::Grams, SectionId::Heads];
    sections.retain(|(id, content)| content.len() > 0 || !optional.contains(id));
    let head_len = (HEADER_LEN + (sections.len() + 1) * ENTRY_LEN).next_multiple_of(64);
    let body: usize = sections.iter().map(|(_, content)| content.len().next_multiple_of(64)).sum();
    let mut file = Vec::with_capacity(head_len + body + body / 1024 + 64);
    file.resize(head_len, 0);
    let mut table = Vec::new();
    for (id, content) in sections {
        let start = file.len();
        content.write(&mut file);
        table.extend(Section::paged(id, start as u64..file.len() as u64).encode());
        file.resize(file.len().next_multiple_of(64), 0);
    }
    let at = file.len() as u64;
    let sums = PageGrid::new(head_len as u64..at).encode(&file);
    table.extend(Section::whole(SectionId::PageCrc, at, &sums).encode());
    file.extend(&sums);
    let header = Header {
        kind: KIND_SUFFIX,
        key_kind: K::KIND,
        ranks: false,
        value_width: 0,
        file_len: file.len() as u64,
        key_count: ends.len() as u64,
        created_seq: 1,
        node_count: tree.count,
        root: if tree.count == 0 { NO_NODE } else { tree.root },
        section_count: (table.len() / ENTRY_LEN) as u32,
        table_crc: crc32(&table),
    };
    file[..HEADER_LEN].copy_from_slice(&header.encode());
    file[HEADER_LEN..HEADER_LEN + table.len()].copy_from_slice(&table);
    file
}
