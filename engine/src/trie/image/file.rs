//! A whole file: header, table, nodes, point index, page checksums.

use std::path::Path;

use super::build::Builder;
use super::layout::{GUARD, NO_ROOT, Shape, VARIABLE};
use super::near::Tail;
use super::output::{Finished, Output};
use super::point::{Found, Point, PointBuilder};
use super::read::{ImageFile, Used};
use crate::error::{Error, Result};
use crate::format::{
    Bytes, ENTRY_LEN, HEADER_LEN, Head, Header, KIND_TRIE, PageGrid, Pages, Replacement, Section, SectionId,
    Table, crc32,
};
use crate::symbol::KeyKind;
use crate::trie::options::{Backing, Verify};

/// What a file is to be like.
#[derive(Clone, Copy, Debug)]
pub(in crate::trie) struct Recipe {
    pub(in crate::trie) key_kind: KeyKind,
    pub(in crate::trie) value_width: u8,
    pub(in crate::trie) ranks: bool,
    pub(in crate::trie) front_coded: bool,
    pub(in crate::trie) point: bool,
    pub(in crate::trie) created_seq: u64,
}

impl Recipe {
    /// Bytes of header and table, and where the nodes start.
    fn head_len(&self) -> usize {
        let sections = if self.point { 4 } else { 2 };
        (HEADER_LEN + sections * ENTRY_LEN).next_multiple_of(64)
    }
}

/// A file that is being built from keys in order.
pub(in crate::trie) struct FileBuilder {
    recipe: Recipe,
    shape: Shape,
    builder: Builder,
    point: Option<PointBuilder>,
}

/// The pieces of a finished file before its checksums.
type Spans = Vec<(SectionId, std::ops::Range<u64>)>;

impl FileBuilder {
    /// A builder, and the output that every further call needs.
    pub(in crate::trie) fn new(recipe: Recipe, file: Option<Replacement<'_>>) -> (Self, Output<'_>) {
        let out = Output::new(file, recipe.head_len());
        let shape =
            Shape::of(recipe.value_width, recipe.ranks).expect("the types of values have known widths");
        let builder = Builder::new(shape, recipe.front_coded, &out);
        (Self { recipe, shape, builder, point: recipe.point.then(PointBuilder::default) }, out)
    }

    pub(in crate::trie) fn last(&self) -> Option<&[u8]> {
        self.builder.last()
    }

    /// Adds an entry whose key is above all before. `value` has the width of the file, or is of variable length.
    pub(in crate::trie) fn push(&mut self, key: &[u8], value: &[u8], out: &mut Output<'_>) -> Result<()> {
        let reference;
        let slot = if self.recipe.value_width == VARIABLE {
            reference = self.builder.variable(value, out)?;
            &reference[..]
        } else {
            value
        };
        if let Some(point) = &mut self.point {
            let rank = self.shape.ranks.then_some(self.builder.len() as u32);
            point.push(key, slot, rank);
        }
        Ok(self.builder.push(key, slot, out)?)
    }

    /// Completes the file. The same entries and recipe give the same bytes.
    pub(in crate::trie) fn finish<'s>(self, mut out: Output<'s>) -> Result<Finished<'s>> {
        let (recipe, key_count) = (self.recipe, self.builder.len());
        let nodes_at = recipe.head_len() as u64;
        let built = self.builder.finish(&mut out)?;
        out.push(&[0; GUARD])?;
        let mut spans: Spans = vec![(SectionId::Trie, nodes_at..out.len())];
        if let Some(point) = self.point {
            out.pad_to(64);
            let start = out.len();
            let directory = point.finish(&mut out)?;
            spans.push((SectionId::Point, start..out.len()));
            out.pad_to(64);
            let start = out.len();
            out.push(&directory)?;
            spans.push((SectionId::Directory, start..out.len()));
        }
        out.pad_to(64);
        let pages_at = out.len();
        let sums = out.sums();
        let mut table: Vec<u8> =
            spans.into_iter().flat_map(|(id, span)| Section::paged(id, span).encode()).collect();
        table.extend(Section::whole(SectionId::PageCrc, pages_at, &sums).encode());
        let header = Header {
            kind: KIND_TRIE,
            key_kind: recipe.key_kind,
            ranks: recipe.ranks,
            value_width: recipe.value_width,
            file_len: pages_at + sums.len() as u64,
            key_count,
            created_seq: recipe.created_seq,
            node_count: built.nodes,
            root: built.root,
            section_count: (table.len() / ENTRY_LEN) as u32,
            table_crc: crc32(&table),
        };
        out.push(&sums)?;
        out.finish(&[&header.encode()[..], &table].concat())
    }
}

impl ImageFile {
    /// Opens a file for reading in place. Never creates or changes one.
    ///
    /// If `pages` is false, the page checksums are left alone unless `verify` asks for them.
    pub(in crate::trie) fn open(
        path: &Path,
        key_kind: KeyKind,
        value_width: u8,
        ranks: bool,
        backing: Backing,
        verify: Verify,
        pages: bool,
    ) -> Result<Self> {
        let loaded = match backing {
            Backing::Map => Bytes::map(path)?,
            Backing::Copy => Bytes::copy(path)?,
        };
        Self::of(loaded, path, key_kind, value_width, ranks, verify, pages)
    }

    /// Takes the bytes of a file whose header is sound; `path` is what errors name.
    pub(in crate::trie) fn of(
        (header, head, bytes): (Header, Head, Bytes),
        path: &Path,
        key_kind: KeyKind,
        value_width: u8,
        ranks: bool,
        verify: Verify,
        pages: bool,
    ) -> Result<Self> {
        header.expect_kind(KIND_TRIE, path)?;
        if header.key_kind != key_kind {
            return Err(Error::KeyKind { path: path.to_owned(), found: header.key_kind, wanted: key_kind });
        }
        if header.value_width != value_width {
            let (found, wanted) = (header.value_width, value_width);
            return Err(Error::ValueWidth { path: path.to_owned(), found, wanted });
        }
        let unsupported = |offset, found: &str| {
            Err(Error::Unsupported { path: path.to_owned(), offset, found: found.to_owned() })
        };
        if ranks && !header.ranks {
            return unsupported(10, "an image without ranks, which were asked for,");
        }
        let Some(shape) = Shape::of(value_width, header.ranks) else {
            return unsupported(14, "a width of values that is not known");
        };
        // The table of a file by another writer may be longer, or the sections further away.
        let near = header.section_count <= 4;
        let table = Table::decode(&header, if near { &head } else { &bytes }, path)?;
        table.check_padding(if table.start() <= head.len() as u64 { &head } else { &bytes }, path)?;
        let nodes = table.find(SectionId::Trie, path)?;
        let checksums = table.find(SectionId::PageCrc, path)?;
        let grid = PageGrid::new(table.start()..checksums.start);
        if checksums.end != header.file_len || checksums.end - checksums.start != 4 * grid.len() {
            return Err(Error::corrupt(path, checksums.start, "page checksums do not match the sections"));
        }
        let pages = if pages || verify != Verify::Header {
            table.verify(&bytes, path)?;
            Some(Pages::new(grid, checksums.start as usize))
        } else {
            None
        };
        let point = match (table.get(SectionId::Directory), table.get(SectionId::Point)) {
            (Some(directory), Some(buckets)) if !directory.is_empty() => {
                Some([directory, buckets].map(span_of))
            }
            (None, None) => None,
            _ => return Err(Error::corrupt(path, 64, "a point index without its directory, or the reverse")),
        };
        let (path, nodes, used) = (path.to_owned(), span_of(nodes), Used::default());
        let tail = Box::new(Tail::of(&bytes[nodes.clone()]));
        let image = Self { path, bytes, header, pages, nodes, tail, shape, point, used };
        if verify != Verify::Header {
            image.verify_pages()?;
        }
        let (root, len) = (image.header.root, image.nodes.len());
        let inside = root != NO_ROOT && Self::byte_of(root) < len;
        if (root == NO_ROOT) != (image.header.key_count == 0) || (root != NO_ROOT && !inside) {
            return Err(image.corrupt(44, "the root is not in the section of nodes"));
        }
        // A key takes at least one byte.
        if image.header.key_count > len as u64 {
            return Err(image.corrupt(24, "more keys than the nodes have bytes"));
        }
        if verify == Verify::Structural {
            image.verify_structure()?;
        }
        Ok(image)
    }

    /// Verifies the checksum of every page.
    fn verify_pages(&self) -> Result<()> {
        let Some(pages) = &self.pages else { return Ok(()) };
        pages
            .verify_all(&self.bytes)
            .map_err(|page| self.corrupt(page.start, "the checksum of the page does not match"))
    }

    /// Walks everything: the keys are in order, are as many as the header says, and are found.
    fn verify_structure(&self) -> Result<()> {
        let mut walk = self.walk(self.root());
        let (mut count, mut before) = (0_u64, Vec::new());
        // Keys that the point index leaves to the nodes.
        let mut left = 0;
        let point = self.point();
        let mut entry = walk.first().map_err(|damage| self.damaged(damage))?;
        while let Some(hit) = entry {
            let key = walk.key();
            let fault = if count > 0 && key <= before.as_slice() {
                Some("keys are not in order")
            } else if self.header.key_kind == KeyKind::Chars && std::str::from_utf8(key).is_err() {
                Some("keys are chars, and one is not UTF-8")
            } else if self.header.ranks && hit.rank != count {
                Some("a rank is not the number of keys before")
            } else if self.find(key).map_err(|damage| self.damaged(damage))? != Some(hit) {
                Some("a key is not found where it is")
            } else if self.find_ordered(key).map_err(|damage| self.damaged(damage))? != Some(hit) {
                Some("a key is not found in the nodes")
            } else {
                None
            };
            if let Some(fault) = fault {
                return Err(self.corrupt(self.nodes.start as u64, fault));
            }
            if self.header.value_width == VARIABLE {
                self.nodes().variable(&hit.slot).map_err(|damage| self.damaged(damage))?;
            }
            if let Some(point) = &point {
                let found = point.find(key).map_err(|damage| self.damaged(damage))?;
                left += u64::from(found == Found::Unknown);
            }
            before.clear();
            before.extend_from_slice(key);
            count += 1;
            entry = walk.next().map_err(|damage| self.damaged(damage))?;
        }
        let (entered, _) = walk.entered();
        if count != self.header.key_count || entered != u64::from(self.header.node_count) {
            let (keys, nodes) = (self.header.key_count, self.header.node_count);
            let reason =
                format!("the header promises {keys} keys in {nodes} nodes, found {count} in {entered}");
            return Err(self.corrupt(24, reason));
        }
        // All keys are found, so whatever else it has is no key.
        if let Some(point) = point
            && point.entries().map_err(|damage| self.damaged(damage))? + left != count
        {
            return Err(self.corrupt(64, "the point index has entries that are no keys"));
        }
        Ok(())
    }

    /// The point index, if there is one.
    #[inline]
    pub(in crate::trie) fn point(&self) -> Option<Point<'_>> {
        let [directory, buckets] = self.point.as_ref()?;
        Some(Point::new(&self.bytes[directory.clone()], &self.bytes[buckets.clone()], self.shape))
    }
}

fn span_of(section: std::ops::Range<u64>) -> std::ops::Range<usize> {
    section.start as usize..section.end as usize
}
