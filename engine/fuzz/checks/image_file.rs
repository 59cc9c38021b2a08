//! Files whose checksums are right and whose bytes may be anything.

#[path = "repair.rs"]
mod repair;

pub(crate) use repair::repair;
use repair::{ENTRY_LEN, HEADER_LEN, PAGE_LEN, put};

/// What a composed file says about itself.
pub(crate) struct Head {
    pub(crate) ranks: bool,
    pub(crate) chars: bool,
    pub(crate) value_width: u8,
    pub(crate) key_count: u64,
    pub(crate) node_count: u32,
    pub(crate) root: u32,
}

/// A file of these sections, each with its id, in which everything is right but what is in them.
pub(crate) fn compose(head: &Head, sections: &[(u16, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; (HEADER_LEN + (sections.len() + 1) * ENTRY_LEN).next_multiple_of(64)];
    let start = bytes.len();
    put(&mut bytes, 0, b"\x89TRIE\r\n\x1A");
    put(&mut bytes, 8, &[4, 0, u8::from(head.ranks), 0, 1, u8::from(head.chars), head.value_width, 12]);
    put(&mut bytes, 24, &head.key_count.to_le_bytes());
    put(&mut bytes, 40, &head.node_count.to_le_bytes());
    put(&mut bytes, 44, &head.root.to_le_bytes());
    put(&mut bytes, 48, &(sections.len() as u32 + 1).to_le_bytes());
    let entry = |bytes: &mut [u8], index: usize, id: u16, flags: u8, off: usize, len: usize| {
        let at = HEADER_LEN + index * ENTRY_LEN;
        put(bytes, at, &id.to_le_bytes());
        put(bytes, at + 2, &[flags, 0, 64, 0]);
        put(bytes, at + 8, &(off as u64).to_le_bytes());
        put(bytes, at + 16, &(len as u64).to_le_bytes());
    };
    for (index, (id, section)) in sections.iter().enumerate() {
        let off = bytes.len();
        bytes.extend_from_slice(section);
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        entry(&mut bytes, index, *id, 3, off, section.len());
    }
    let pages_at = bytes.len();
    let sums = 4 * (pages_at.div_ceil(PAGE_LEN) - start / PAGE_LEN);
    entry(&mut bytes, sections.len(), 15, 1, pages_at, sums);
    bytes.resize(pages_at + sums, 0);
    repair(&mut bytes);
    bytes
}
