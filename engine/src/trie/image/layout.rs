//! Numbers that the writer and the reader of nodes share. `FORMAT.md` has the pictures.

/// Nodes are found by units of this many bytes from the start of their section.
pub(super) const UNIT: u64 = 8;

/// `root` of an image without nodes.
pub(super) const NO_ROOT: u32 = u32::MAX;

/// Largest section of nodes, in bytes.
pub(in crate::trie) const MAX_SECTION: u64 = (u32::MAX as u64) * UNIT;

/// Zeros at the end of the section of nodes, so that reads of fixed length stay inside it.
pub(super) const GUARD: usize = 64;

/// First byte of a node: its kind in the low half, flags in the high half.
pub(super) const KIND_MASK: u8 = 0x0F;
pub(super) const KIND_INNER: u8 = 1;
pub(super) const KIND_BUCKET: u8 = 2;

/// The prefix is elsewhere in the section; the node has its length and its unit in its place.
pub(super) const FLAG_LONG_PREFIX: u8 = 0x10;

/// An inner node with a value.
pub(super) const FLAG_VALUE: u8 = 0x20;

/// An inner node whose children are found in a table.
pub(super) const FLAG_TABLE: u8 = 0x40;

/// A bucket whose tails are all equally long.
pub(super) const FLAG_EVEN: u8 = 0x20;

/// A bucket whose lengths take two bytes an entry.
pub(super) const FLAG_WIDE: u8 = 0x40;

/// A bucket whose tails leave out what they share with the one before.
pub(super) const FLAG_FRONT: u8 = 0x80;

/// Bytes before the parts of variable length.
pub(super) const INNER_HEAD: usize = 8;
pub(super) const BUCKET_HEAD: usize = 4;

/// Bytes of a rank.
pub(super) const RANK_LEN: usize = 4;

/// Bytes that stand for a long prefix: length and unit, four bytes each.
pub(super) const LONG_PREFIX_LEN: usize = 8;

/// Longest prefix inside a node.
pub(super) const MAX_SHORT_PREFIX: usize = 255;

/// Most children that are found by comparing edges.
pub(super) const MAX_LISTED: usize = 32;

/// The offset of an edge without child in a table, which has one for every edge between the first and the last.
pub(super) const NO_CHILD: u16 = u16::MAX;

/// `value_width` of a file with values of variable length, and the bytes that refer to one.
pub(in crate::trie) const VARIABLE: u8 = 255;
pub(super) const REFERENCE_LEN: usize = 4;

/// What stands for a value in the nodes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trie) struct Shape {
    /// Bytes an entry of a bucket.
    pub(super) slot: usize,
    /// Nodes tell the rank of their first key.
    pub(super) ranks: bool,
}

impl Shape {
    /// The shape that a header announces, if this build knows it.
    pub(super) fn of(value_width: u8, ranks: bool) -> Option<Self> {
        let slot = match value_width {
            0 | 4 | 8 => usize::from(value_width),
            VARIABLE => REFERENCE_LEN,
            _ => return None,
        };
        Some(Self { slot, ranks })
    }

    /// Bytes of the rank that a bucket, or a key that ends at an inner node, has.
    pub(super) fn rank_len(self) -> usize {
        if self.ranks { RANK_LEN } else { 0 }
    }
}
