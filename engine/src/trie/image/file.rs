//! A whole file: header, table, nodes, page checksums.

use std::path::Path;

use super::layout::{NO_ROOT, UNIT};
use super::read::{Image, Used};
use super::write::{Entries, write_nodes};
use crate::error::{Error, Result};
use crate::format::{
    Bytes, ENTRY_LEN, HEADER_LEN, Header, PageGrid, Pages, Section, SectionId, Table, crc32,
};
use crate::symbol::KeyKind;
use crate::trie::options::{Backing, Verify};
use crate::trie::slot::Slot;

/// Header and a table of two sections; a multiple of 64, so the nodes follow at once.
const NODES_AT: usize = HEADER_LEN + 2 * ENTRY_LEN;

impl Entries {
    /// The bytes of a file that holds the entries. The same entries and numbers give the same bytes.
    pub(in crate::trie) fn encode(
        &self,
        key_kind: KeyKind,
        value_width: u8,
        created_seq: u64,
    ) -> Result<Vec<u8>> {
        let mut file = vec![0; NODES_AT];
        let nodes = write_nodes(self, &mut file, NODES_AT)?;
        let nodes_end = file.len() as u64;
        file.resize(file.len().next_multiple_of(64), 0);
        let pages_at = file.len() as u64;
        let checksums = PageGrid::new(NODES_AT as u64..pages_at).encode(&file);
        let table = [
            Section::paged(SectionId::Trie, NODES_AT as u64..nodes_end).encode(),
            Section::whole(SectionId::PageCrc, pages_at, &checksums).encode(),
        ]
        .concat();
        file.extend_from_slice(&checksums);
        let header = Header {
            key_kind,
            value_width,
            file_len: file.len() as u64,
            key_count: self.len() as u64,
            created_seq,
            node_count: nodes.count,
            root: nodes.root,
            section_count: 2,
            table_crc: crc32(&table),
        };
        file[..HEADER_LEN].copy_from_slice(&header.encode());
        file[HEADER_LEN..NODES_AT].copy_from_slice(&table);
        Ok(file)
    }
}

impl Image {
    /// Opens a file for reading in place. Never creates or changes one.
    pub(in crate::trie) fn open(
        path: &Path,
        key_kind: KeyKind,
        value_width: u8,
        backing: Backing,
        verify: Verify,
    ) -> Result<Self> {
        let (header, bytes) = match backing {
            Backing::Map => Bytes::map(path)?,
            Backing::Copy => Bytes::copy(path)?,
        };
        if header.key_kind != key_kind {
            return Err(Error::KeyKind { path: path.to_owned(), found: header.key_kind, wanted: key_kind });
        }
        if header.value_width != value_width {
            let (found, wanted) = (header.value_width, value_width);
            return Err(Error::ValueWidth { path: path.to_owned(), found, wanted });
        }
        let table = Table::decode(&header, &bytes, path)?;
        let nodes = table.find(SectionId::Trie, path)?;
        let checksums = table.find(SectionId::PageCrc, path)?;
        let grid = PageGrid::new(table.start()..checksums.start);
        if checksums.end != header.file_len || checksums.end - checksums.start != 4 * grid.len() {
            return Err(Error::corrupt(path, checksums.start, "page checksums do not match the sections"));
        }
        let pages = Pages::new(grid, checksums.start as usize);
        let image = Self { path: path.to_owned(), bytes, header, pages, nodes, used: Used::default() };
        if verify == Verify::Full {
            image.verify_all()?;
        }
        let (root, units) = (image.header.root, (image.nodes.end - image.nodes.start).div_ceil(UNIT));
        if (root == NO_ROOT) != (image.header.key_count == 0) || (root != NO_ROOT && u64::from(root) >= units)
        {
            return Err(image.corrupt(44, "the root is not in the section of nodes"));
        }
        Ok(image)
    }

    /// Verifies the checksum of every page.
    pub(in crate::trie) fn verify_all(&self) -> Result<()> {
        self.pages
            .verify_all(&self.bytes)
            .map_err(|page| self.corrupt(page.start, "the checksum of the page does not match"))
    }

    /// A slot that names the root.
    pub(in crate::trie) fn root(&self) -> Slot {
        if self.header.root == NO_ROOT { Slot::empty() } else { Slot::image(self.header.root) }
    }
}
