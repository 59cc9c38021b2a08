//! Checksums put right after bytes were changed, so that the changes are looked at.

pub(crate) const HEADER_LEN: usize = 64;
pub(crate) const ENTRY_LEN: usize = 32;
pub(crate) const PAGE_LEN: usize = 4_096;

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes
        .get(at..at + len)
        .map_or(0, |bytes| bytes.iter().rev().fold(0, |number: usize, &byte| number << 8 | usize::from(byte)))
}

/// Puts right the length and every checksum of a file, as far as its section table makes sense.
pub(crate) fn repair(bytes: &mut [u8]) {
    let len = bytes.len();
    put(bytes, 16, &(len as u64).to_le_bytes());
    let sections = number(bytes, 48, 4).min(64);
    let last = HEADER_LEN + sections.saturating_sub(1) * ENTRY_LEN;
    let (start, pages_at) = (number(bytes, HEADER_LEN + 8, 8), number(bytes, last + 8, 8));
    if start < pages_at && pages_at < len {
        for (index, at) in (pages_at..len).step_by(4).enumerate() {
            let page = (start / PAGE_LEN + index) * PAGE_LEN;
            let (from, to) = (page.max(start), (page + PAGE_LEN).min(pages_at));
            if from < to {
                let crc = crc32fast::hash(&bytes[from..to]);
                put(bytes, at, &crc.to_le_bytes());
            }
        }
        let crc = crc32fast::hash(&bytes[pages_at..]);
        put(bytes, last + 24, &crc.to_le_bytes());
    }
    if let Some(table) = bytes.get(HEADER_LEN..HEADER_LEN + sections * ENTRY_LEN) {
        let crc = crc32fast::hash(table);
        put(bytes, 56, &crc.to_le_bytes());
    }
    if let Some(head) = bytes.get(..60) {
        let crc = crc32fast::hash(head);
        put(bytes, 60, &crc.to_le_bytes());
    }
}
