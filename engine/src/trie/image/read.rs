//! Reads nodes of an image in place and makes heap nodes of them.
//!
//! Nothing in a file is believed: checksums guard against accidents, and a file with good checksums may still have
//! been made by others. Whatever the bytes are, reading them ends in a node or in an error. What keeps it finite:
//! a child lies before its parent, and all nodes together are not larger than their section.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::bucket::{Bucket, MAX_ENTRIES, Parts};
use super::super::inner::Head;
use super::super::slot::{Node, Slot};
use super::layout::{
    BUCKET_HEAD, FLAG_LONG_PREFIX, FLAG_VALUE, INNER_HEAD, KIND_BUCKET, KIND_INNER, KIND_MASK,
    LONG_PREFIX_LEN, UNIT,
};
use crate::error::{Error, Result};
use crate::format::{Bytes, Header, Pages};

/// An opened image.
pub(in crate::trie) struct Image {
    pub(super) path: PathBuf,
    pub(super) bytes: Bytes,
    pub(super) header: Header,
    pub(super) pages: Pages,
    /// Where the nodes are in the file.
    pub(super) nodes: Range<u64>,
    pub(super) used: Used,
}

/// What was materialised so far.
#[derive(Default)]
pub(super) struct Used {
    nodes: AtomicU64,
    bytes: AtomicU64,
}

impl Image {
    pub(in crate::trie) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::trie) fn header(&self) -> &Header {
        &self.header
    }

    /// How many nodes were materialised.
    pub(in crate::trie) fn materialised(&self) -> u64 {
        self.used.nodes.load(Ordering::Relaxed)
    }

    /// Counts a node of `len` bytes that is about to be used. Nodes that share bytes would let a small file unfold
    /// into a huge tree; their sum gives them away.
    pub(in crate::trie) fn account(&self, len: u64) -> Result<()> {
        self.used.nodes.fetch_add(1, Ordering::Relaxed);
        let before = self.used.bytes.fetch_add(len, Ordering::Relaxed);
        if before + len > self.nodes.end - self.nodes.start {
            return Err(self.corrupt(self.nodes.start, "nodes overlap"));
        }
        Ok(())
    }

    /// Takes back [`account`](Self::account) for a node that was not used after all.
    pub(in crate::trie) fn discount(&self, len: u64) {
        self.used.nodes.fetch_sub(1, Ordering::Relaxed);
        self.used.bytes.fetch_sub(len, Ordering::Relaxed);
    }

    /// Makes a heap node of the node at `unit`. The second result is how many bytes of the image belong to it.
    pub(in crate::trie) fn node(&self, unit: u32) -> Result<(Node, u64)> {
        let at = self.nodes.start + u64::from(unit) * UNIT;
        let head = self.slice(at, BUCKET_HEAD)?;
        let long = head[0] & FLAG_LONG_PREFIX != 0;
        let width = usize::from(self.header.value_width);
        let prefix_len = if long { LONG_PREFIX_LEN } else { usize::from(head[2]) };
        if long && head[2] != 0 {
            return Err(self.corrupt(at + 2, "a long prefix with a short one"));
        }
        if head[0] & !(KIND_MASK | FLAG_LONG_PREFIX | FLAG_VALUE) != 0 {
            return Err(self.corrupt(at, format!("`{}` is no kind of node", head[0])));
        }
        match head[0] & KIND_MASK {
            KIND_BUCKET if head[0] & FLAG_VALUE == 0 => {
                let n = usize::from(head[1]);
                let body = BUCKET_HEAD + n * (2 + width) + prefix_len + usize::from(head[3]);
                self.bucket(unit, self.slice(at, body)?, prefix_len)
            }
            KIND_INNER => {
                let value = if head[0] & FLAG_VALUE != 0 { width } else { 0 };
                let body = INNER_HEAD + value + prefix_len + 3 * (usize::from(head[1]) + 1);
                self.inner(unit, self.slice(at, body)?, value, prefix_len)
            }
            _ => Err(self.corrupt(at, format!("`{}` is no kind of node", head[0]))),
        }
    }

    fn bucket(&self, unit: u32, body: &[u8], prefix_len: usize) -> Result<(Node, u64)> {
        let at = self.nodes.start + u64::from(unit) * UNIT;
        let n = usize::from(body[1]);
        let width = usize::from(self.header.value_width);
        let tails_len = usize::from(body[3]);
        let (fingerprints, rest) = body[BUCKET_HEAD..].split_at(n);
        let ends = &rest[..n];
        let sound = (1..=MAX_ENTRIES).contains(&n)
            && ends.is_sorted()
            && ends.last().is_some_and(|&end| usize::from(end) == tails_len);
        if !sound {
            return Err(self.corrupt(at, "a bucket whose tails do not fit"));
        }
        if body[0] & FLAG_LONG_PREFIX == 0 {
            let bucket = Bucket::copied(prefix_len, tails_len, fingerprints, rest);
            return Ok((Node::Bucket(bucket), body.len() as u64));
        }
        let (values, rest) = rest[n..].split_at(n * width);
        let (held, tails) = rest.split_at(prefix_len);
        let (prefix, far) = self.prefix(unit, body[0], held)?;
        let bucket = Bucket::new(&Parts { fingerprints, ends, values, prefix, tails });
        Ok((Node::Bucket(bucket), body.len() as u64 + far))
    }

    fn inner(&self, unit: u32, body: &[u8], value_len: usize, prefix_len: usize) -> Result<(Node, u64)> {
        let at = self.nodes.start + u64::from(unit) * UNIT;
        let n = usize::from(body[1]) + 1;
        let cluster = u32::from_le_bytes([body[4], body[5], body[6], body[7]]);
        let (value, rest) = body[INNER_HEAD..].split_at(value_len);
        let (prefix, rest) = rest.split_at(prefix_len);
        let (edges, offsets) = rest.split_at(n);
        let has_value = body[0] & FLAG_VALUE != 0;
        if body[3] != 0 || (n == 1 && !has_value) || !edges.is_sorted_by(|a, b| a < b) {
            return Err(self.corrupt(at, "an inner node whose edges are not in order"));
        }
        let (prefix, far) = self.prefix(unit, body[0], prefix)?;
        let mut node = Node::inner(Head::new(prefix, has_value.then_some(value)), n);
        for (&edge, offset) in edges.iter().zip(offsets.chunks_exact(2)) {
            let child = cluster.checked_add(u32::from(u16::from_le_bytes([offset[0], offset[1]])));
            let Some(child) = child.filter(|&child| child < unit) else {
                return Err(self.corrupt(at, "an inner node before its child"));
            };
            node.add(edge, Slot::image(child));
        }
        Ok((node, body.len() as u64 + far))
    }

    /// The prefix that a node holds or refers to. The second result is how many bytes of it are outside the node.
    fn prefix<'i>(&'i self, unit: u32, kind: u8, held: &'i [u8]) -> Result<(&'i [u8], u64)> {
        if kind & FLAG_LONG_PREFIX == 0 {
            return Ok((held, 0));
        }
        let len = u32::from_le_bytes([held[0], held[1], held[2], held[3]]);
        let far = u32::from_le_bytes([held[4], held[5], held[6], held[7]]);
        if far >= unit {
            let at = self.nodes.start + u64::from(unit) * UNIT;
            return Err(self.corrupt(at, "a node before its prefix"));
        }
        let bytes = self.slice(self.nodes.start + u64::from(far) * UNIT, len as usize)?;
        Ok((bytes, u64::from(len)))
    }

    /// Bytes of the section of nodes, on pages that were verified.
    #[inline]
    fn slice(&self, at: u64, len: usize) -> Result<&[u8]> {
        let range = at..at + len as u64;
        if range.end > self.nodes.end {
            return Err(self.corrupt(at, "a node beyond the end of its section"));
        }
        self.pages
            .verify(&self.bytes, range.clone())
            .map_err(|page| self.corrupt(page.start, "the checksum of the page does not match"))?;
        Ok(&self.bytes[range.start as usize..range.end as usize])
    }

    #[cold]
    pub(super) fn corrupt(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, offset, reason)
    }
}
