//! Checksums: CRC-32 of headers and tables, and of every page of the sections.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes a page. Pages lie on multiples of this from the start of the file.
pub(crate) const PAGE_LEN: u64 = 4096;

/// CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320).
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The pages that cover `span` of a file; the first and the last may be cut by its ends.
#[derive(Clone, Debug)]
pub(crate) struct PageGrid {
    span: Range<u64>,
}

impl PageGrid {
    pub(crate) fn new(span: Range<u64>) -> Self {
        Self { span }
    }

    /// How many pages there are.
    pub(crate) fn len(&self) -> u64 {
        if self.span.is_empty() { 0 } else { self.span.end.div_ceil(PAGE_LEN) - self.first() }
    }

    fn first(&self) -> u64 {
        self.span.start / PAGE_LEN
    }

    /// The bytes of page `index`, counted from the first page of the grid.
    pub(crate) fn page(&self, index: u64) -> Range<u64> {
        let start = (self.first() + index) * PAGE_LEN;
        start.max(self.span.start)..(start + PAGE_LEN).min(self.span.end)
    }

    /// The checksums of all pages, four bytes each, as they are stored.
    pub(crate) fn encode(&self, file: &[u8]) -> Vec<u8> {
        (0..self.len()).flat_map(|index| crc32(slice(file, self.page(index))).to_le_bytes()).collect()
    }
}

fn slice(file: &[u8], range: Range<u64>) -> &[u8] {
    &file[range.start as usize..range.end as usize]
}

/// The stored checksums of a file, and which pages were found sound so far.
///
/// The file never changes, so a page is verified once, on first touch. Two threads may verify the same page at the
/// same time; both come to the same result.
#[derive(Debug)]
pub(crate) struct Pages {
    grid: PageGrid,
    /// Where the checksums are stored in the file.
    stored: usize,
    verified: Box<[AtomicU64]>,
}

impl Pages {
    /// `stored` is the offset of `grid.len()` checksums in the file.
    pub(crate) fn new(grid: PageGrid, stored: usize) -> Self {
        let words = grid.len().div_ceil(64);
        Self { grid, stored, verified: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Verifies the pages that `range` touches, or tells the bytes of the first bad one.
    pub(crate) fn verify(&self, file: &[u8], range: Range<u64>) -> Result<(), Range<u64>> {
        let first = self.grid.first();
        for index in range.start / PAGE_LEN - first..range.end.div_ceil(PAGE_LEN) - first {
            let (word, bit) = (&self.verified[(index / 64) as usize], 1 << (index % 64));
            // Relaxed: nothing is published through the bit, the bytes were there before the map was.
            if word.load(Ordering::Relaxed) & bit == 0 {
                self.verify_page(file, index)?;
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Verifies every page, whether it was verified before or not.
    pub(crate) fn verify_all(&self, file: &[u8]) -> Result<(), Range<u64>> {
        for index in 0..self.grid.len() {
            self.verify_page(file, index)?;
        }
        for word in &self.verified {
            word.store(u64::MAX, Ordering::Relaxed);
        }
        Ok(())
    }

    #[cold]
    fn verify_page(&self, file: &[u8], index: u64) -> Result<(), Range<u64>> {
        let page = self.grid.page(index);
        let at = self.stored + 4 * index as usize;
        let stored = file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        if stored == Some(crc32(slice(file, page.clone()))) { Ok(()) } else { Err(page) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn pages_are_cut_by_the_span() {
        let grid = PageGrid::new(128..8200);
        assert_eq!(grid.len(), 3);
        assert_eq!([grid.page(0), grid.page(1), grid.page(2)], [128..4096, 4096..8192, 8192..8200]);
        assert_eq!(PageGrid::new(128..128).len(), 0);
        assert_eq!(PageGrid::new(4096..4097).page(0), 4096..4097);
    }

    #[test]
    fn a_bad_page_is_found_when_it_is_touched() {
        let mut file = vec![7; 10_000];
        let grid = PageGrid::new(128..9_000);
        let stored = file.len();
        let table = grid.encode(&file);
        file.extend(table);
        file[5_000] ^= 1;
        let pages = Pages::new(grid, stored);
        assert_eq!(pages.verify(&file, 128..4_096), Ok(()));
        assert_eq!(pages.verify(&file, 4_000..4_100), Err(4_096..8_192));
        assert_eq!(pages.verify(&file, 8_192..8_193), Ok(()));
        assert_eq!(pages.verify_all(&file), Err(4_096..8_192));
    }
}
