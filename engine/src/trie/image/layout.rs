//! Numbers that the writer and the reader of nodes share. `FORMAT.md` has the pictures.

/// Nodes are found by units of this many bytes from the start of their section.
pub(super) const UNIT: u64 = 8;

/// `root` of an image without nodes.
pub(super) const NO_ROOT: u32 = u32::MAX;

/// Largest section of nodes, in bytes.
pub(super) const MAX_SECTION: u64 = (u32::MAX as u64) * UNIT;

/// First byte of a node: its kind in the low half, flags in the high half.
pub(super) const KIND_MASK: u8 = 0x0F;
pub(super) const KIND_INNER: u8 = 1;
pub(super) const KIND_BUCKET: u8 = 2;

/// The prefix is elsewhere in the section; the node has its length and its unit in its place.
pub(super) const FLAG_LONG_PREFIX: u8 = 0x10;

/// An inner node with a value.
pub(super) const FLAG_VALUE: u8 = 0x20;

/// Bytes before the parts of variable length.
pub(super) const INNER_HEAD: usize = 8;
pub(super) const BUCKET_HEAD: usize = 4;

/// Bytes that stand for a long prefix: length and unit, four bytes each.
pub(super) const LONG_PREFIX_LEN: usize = 8;

/// Longest prefix inside a node.
pub(super) const MAX_SHORT_PREFIX: usize = 255;
