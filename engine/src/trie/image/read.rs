//! An opened image, and how heap nodes are made of its nodes.
//!
//! Checksums guard against accidents, and a file with good checksums may still have been made by others. Whatever the
//! bytes are, materialising ends in a node or in an error. What keeps it finite: a child lies before its parent, and all
//! nodes together are not larger than their section.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::bucket::{Bucket, MAX_ENTRIES, Parts, set_end};
use super::super::fingerprint::fingerprint;
use super::super::inner::Head;
use super::super::slot::{Node, Slot};
use super::layout::{NO_ROOT, Shape, UNIT};
use super::near::Tail;
use super::nodes::{BucketView, Damage, Hit, InnerView, Nodes, View};
use super::point::Found;
use super::walk::Walker;
use crate::error::{Error, Result};
use crate::format::{Bytes, Header, Pages};

/// An opened image.
pub(in crate::trie) struct ImageFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Bytes,
    pub(super) header: Header,
    /// The checksums of the pages, unless it was opened without them.
    pub(super) pages: Option<Pages>,
    /// Where the nodes are in the file.
    pub(super) nodes: Range<usize>,
    pub(super) tail: Box<Tail>,
    pub(super) shape: Shape,
    /// Where the directory and the buckets of the point index are.
    pub(super) point: Option<[Range<usize>; 2]>,
    pub(super) used: Used,
}

/// What was materialised so far.
#[derive(Default)]
pub(super) struct Used {
    nodes: AtomicU64,
    bytes: AtomicU64,
}

impl ImageFile {
    pub(in crate::trie) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::trie) fn header(&self) -> &Header {
        &self.header
    }

    /// The nodes, to be read in place.
    #[inline]
    pub(in crate::trie) fn nodes(&self) -> Nodes<'_> {
        Nodes { bytes: &self.bytes[self.nodes.clone()], tail: &self.tail, shape: self.shape }
    }

    /// Where the nodes begin in the file.
    pub(in crate::trie) fn nodes_start(&self) -> usize {
        self.nodes.start
    }

    /// The unit of the root.
    #[inline]
    pub(in crate::trie) fn root(&self) -> Option<u32> {
        (self.header.root != NO_ROOT).then_some(self.header.root)
    }

    /// The value of a key, by the fastest way there is.
    #[inline]
    pub(in crate::trie) fn find(&self, key: &[u8]) -> std::result::Result<Option<Hit>, Damage> {
        match self.point() {
            Some(point) => self.settle(key, point.find(key)?),
            None => self.find_ordered(key),
        }
    }

    /// The value of a key of which the point index says this.
    #[inline(always)]
    fn settle(&self, key: &[u8], found: Found) -> std::result::Result<Option<Hit>, Damage> {
        match found {
            Found::Hit(hit) => Ok(Some(hit)),
            Found::Absent => Ok(None),
            Found::Unknown => self.find_ordered(key),
        }
    }

    /// The value of a key, by way of the nodes.
    #[inline]
    pub(in crate::trie) fn find_ordered(&self, key: &[u8]) -> std::result::Result<Option<Hit>, Damage> {
        match self.root() {
            Some(root) => self.nodes().find(root, key),
            None => Ok(None),
        }
    }

    /// The values of many keys, in no particular order.
    pub(in crate::trie) fn find_many<'i, 'k>(
        &'i self,
        keys: impl Iterator<Item = &'k [u8]>,
        mut answer: impl FnMut(usize, Option<Hit>),
    ) -> std::result::Result<(), Damage> {
        match (self.point(), self.root()) {
            (Some(point), _) => point.find_many(keys, |index, key, found| {
                answer(index, self.settle(key, found)?);
                Ok(())
            }),
            (None, Some(root)) => self.nodes().find_many(root, keys, answer),
            (None, None) => {
                keys.enumerate().for_each(|(index, _)| answer(index, None));
                Ok(())
            }
        }
    }

    /// The byte of a node in the section.
    #[inline]
    pub(in crate::trie) fn byte_of(unit: u32) -> usize {
        unit as usize * UNIT as usize
    }

    /// A walk over the entries below the node at `unit`, whose keys start there.
    pub(in crate::trie) fn walk(&self, unit: Option<u32>) -> Walker<'_> {
        Walker::new(self.nodes(), unit)
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
        if before + len > self.nodes.len() as u64 {
            return Err(self.damaged(Damage { at: 0, reason: "nodes overlap" }));
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
        let nodes = self.nodes();
        let at = Self::byte_of(unit);
        let view = match nodes.view(unit) {
            Ok(view) => view,
            Err(damage) => {
                // Nonsense on a damaged page is damage of the page.
                self.verify(at..at + 1)?;
                return Err(self.damaged(damage));
            }
        };
        let (len, far) = match &view {
            View::Inner(inner) => (inner.len, inner.far),
            View::Bucket(bucket) => (bucket.len, bucket.far),
        };
        self.verify(at..at + len)?;
        if let Some((at, len)) = far {
            self.verify(at..at + len)?;
        }
        let node = match &view {
            View::Inner(inner) => inner_node(inner),
            View::Bucket(bucket) => bucket_node(bucket, self.shape.slot),
        };
        Ok((node.map_err(|damage| self.damaged(damage))?, view.weight()))
    }

    /// Verifies the pages that bytes of the section of nodes lie on, if they were not verified before.
    fn verify(&self, range: Range<usize>) -> Result<()> {
        let Some(pages) = &self.pages else { return Ok(()) };
        let start = self.nodes.start;
        let (from, to) = ((start + range.start) as u64, (start + range.end).min(self.nodes.end) as u64);
        pages
            .verify(&self.bytes, from.min(to)..to)
            .map_err(|page| self.corrupt(page.start, "the checksum of the page does not match"))
    }

    /// The error for damage of the nodes.
    #[cold]
    pub(in crate::trie) fn damaged(&self, damage: Damage) -> Error {
        self.corrupt(self.nodes.start as u64 + damage.at, damage.reason)
    }

    #[cold]
    pub(super) fn corrupt(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::corrupt(&self.path, offset, reason)
    }
}

fn inner_node(inner: &InnerView<'_>) -> std::result::Result<Node, Damage> {
    let mut head = Head::new(inner.prefix, None);
    head.value = inner.value.map(|hit| hit.slot);
    let mut node = Node::inner(head, inner.children());
    for index in 0..inner.children() {
        let (edge, child) = inner.child(index)?;
        node.add(edge, Slot::image(child));
    }
    Ok(node)
}

/// Makes sure of what reading a bucket relies on, and leaves it to the first change whether the keys are in order.
fn bucket_node(bucket: &BucketView<'_>, width: usize) -> std::result::Result<Node, Damage> {
    let (n, mut ends, mut values) = (bucket.n, [0; 2 * MAX_ENTRIES], [0; 8 * MAX_ENTRIES]);
    let values = bucket.values(width, &mut values);
    let parts = |fingerprints, ends, tails| {
        let prefix = bucket.prefix;
        Node::Bucket(Bucket::new(&Parts { foreign: true, fingerprints, ends, prefix, values, tails }))
    };
    if let Some((prints, tails)) = bucket.plain() {
        for index in 0..n {
            set_end(&mut ends, index, bucket.end(index));
        }
        return Ok(parts(prints, &ends[..2 * n], tails));
    }
    let mut prints = [0; MAX_ENTRIES];
    let (mut tails, mut tail) = (Vec::new(), Vec::new());
    for (index, print) in prints.iter_mut().enumerate().take(n) {
        bucket.tail(index, &mut tail, 0, index > 0)?;
        *print = fingerprint(&tail);
        tails.extend_from_slice(&tail);
        set_end(&mut ends, index, tails.len());
    }
    Ok(parts(&prints[..n], &ends[..2 * n], &tails))
}
