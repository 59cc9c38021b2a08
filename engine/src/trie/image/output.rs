//! Where a file that is being built goes: into memory, or to storage as soon as a piece of it is complete.

use crate::error::Result;
use crate::format::{PAGE_LEN, Replacement, crc32};

/// Bytes that gather before they are written to storage; a multiple of a page.
const PIECE: usize = 2 << 20;

/// A file from its start on. Its first bytes come last, as they tell what the rest is.
pub(in crate::trie) struct Output<'s> {
    file: Option<Replacement<'s>>,
    /// What is not written yet.
    held: Vec<u8>,
    /// Bytes before it.
    written: u64,
    /// Checksums of the pages before it.
    sums: Vec<u8>,
    /// Bytes at the start that no page covers.
    head: usize,
}

impl<'s> Output<'s> {
    /// An output whose first `head` bytes are put in place by [`finish`](Self::finish).
    pub(super) fn new(file: Option<Replacement<'s>>, head: usize) -> Self {
        Self { file, held: vec![0; head], written: 0, sums: Vec::new(), head }
    }

    pub(super) fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.held.extend_from_slice(bytes);
        if self.file.is_some() && self.held.len() >= 2 * PIECE {
            self.write(PIECE)?;
        }
        Ok(())
    }

    pub(super) fn pad_to(&mut self, alignment: u64) {
        let missing = self.len().next_multiple_of(alignment) - self.len();
        self.held.resize(self.held.len() + missing as usize, 0);
    }

    /// Sums the pages of the first `len` held bytes, where every page but the very last is whole.
    fn sum(&mut self, len: usize) {
        for (index, page) in self.held[..len].chunks(PAGE_LEN as usize).enumerate() {
            let covered =
                if self.written == 0 && index == 0 { &page[self.head.min(page.len())..] } else { page };
            self.sums.extend_from_slice(&crc32(covered).to_le_bytes());
        }
    }

    fn write(&mut self, len: usize) -> Result<()> {
        self.sum(len);
        if let Some(file) = &mut self.file {
            let held = &self.held[..len];
            file.write(|file| file.write(held))?;
            self.held.drain(..len);
            self.written += len as u64;
        }
        Ok(())
    }

    /// The checksums of all pages so far. The last page ends here.
    pub(super) fn sums(&mut self) -> Vec<u8> {
        self.sum(self.held.len());
        std::mem::take(&mut self.sums)
    }

    /// Puts the first bytes in place. The result is the whole file, or the replacement that has it.
    pub(super) fn finish(mut self, head: &[u8]) -> Result<Finished<'s>> {
        if self.written == 0 {
            self.held[..head.len()].copy_from_slice(head);
        }
        let Some(mut file) = self.file else { return Ok(Finished::Memory(self.held)) };
        file.write(|file| file.write(&self.held))?;
        if self.written > 0 {
            file.write(|file| file.write_at(0, head))?;
        }
        Ok(Finished::Storage(file))
    }
}

/// A whole file.
pub(in crate::trie) enum Finished<'s> {
    Memory(Vec<u8>),
    /// Not yet under its name.
    Storage(Replacement<'s>),
}
