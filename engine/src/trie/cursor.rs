//! Walks a tree in the order of its keys.

use super::bucket::BucketRef;
use super::image::Walker;
use super::inner::padded;
use super::slot::{NodeRef, Slot};
use super::tree::{Tree, fan_of, head_of};
use crate::error::Result;

/// A walk over a tree, or over the part below a prefix. Nodes are materialised when it comes to them.
pub(super) struct Cursor<'t> {
    tree: &'t Tree,
    /// The key of the entry that was returned last.
    key: Vec<u8>,
    /// A node that was not entered yet.
    pending: Option<&'t Slot>,
    frames: Vec<Frame<'t>>,
}

/// A node on the way, and how much of it was returned.
enum Frame<'t> {
    Inner {
        node: NodeRef<'t>,
        /// Bytes of the key at the end of its prefix.
        depth: usize,
        /// The value was not returned yet.
        value: bool,
        /// Children from this edge on were not visited yet.
        from: usize,
    },
    Bucket {
        bucket: BucketRef<'t>,
        /// Bytes of the key at the end of its prefix.
        depth: usize,
        next: usize,
        end: usize,
    },
    /// What is read in place.
    Mapped {
        walk: Walker<'t>,
        /// Bytes of the key above it.
        depth: usize,
        /// Its keys start with these bytes.
        within: Vec<u8>,
        /// Where it begins, until it has.
        start: Option<Vec<u8>>,
    },
}

impl<'t> Cursor<'t> {
    /// A walk over everything.
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self { tree, key: Vec::new(), pending: Some(&tree.root), frames: Vec::new() }
    }

    /// A walk over the keys that start with `prefix`.
    pub(super) fn below(tree: &'t Tree, prefix: &[u8]) -> Result<Self> {
        let mut cursor = Self { tree, key: Vec::new(), pending: None, frames: Vec::new() };
        let (mut slot, mut rest) = (&tree.root, prefix);
        loop {
            if cursor.enter_in_place(slot, rest, rest) {
                break;
            }
            let Some(node) = tree.resolve(slot)? else { break };
            if let NodeRef::Bucket(bucket) = node {
                cursor.enter_bucket_below(bucket, rest);
                break;
            }
            let (Some(head), Some(fan)) = (head_of(node), fan_of(node)) else { break };
            let own = head.prefix.bytes();
            if own.starts_with(rest) {
                cursor.pending = Some(slot);
                break;
            }
            let Some((&edge, below)) = rest.strip_prefix(own).and_then(<[u8]>::split_first) else { break };
            let Some(child) = fan.find(edge) else { break };
            cursor.key.extend_from_slice(own);
            cursor.key.push(edge);
            (slot, rest) = (child, below);
        }
        Ok(cursor)
    }

    /// Enters a bucket for the entries that start with `rest`: a run, as they are sorted.
    fn enter_bucket_below(&mut self, bucket: BucketRef<'t>, rest: &[u8]) {
        let own = bucket.prefix();
        let wanted = if own.starts_with(rest) { Some(&b""[..]) } else { rest.strip_prefix(own) };
        let Some(wanted) = wanted else { return };
        let mut matching = (0..bucket.len()).filter(|&index| bucket.tail(index).starts_with(wanted));
        let Some(next) = matching.next() else { return };
        let end = next + 1 + matching.count();
        self.key.extend_from_slice(own);
        self.frames.push(Frame::Bucket { bucket, depth: self.key.len(), next, end });
    }

    /// A walk over the keys that are not below `start`.
    pub(super) fn from(tree: &'t Tree, start: &[u8]) -> Result<Self> {
        let mut cursor = Self { tree, key: Vec::new(), pending: None, frames: Vec::new() };
        let (mut slot, mut rest) = (&tree.root, start);
        while !cursor.enter_in_place(slot, b"", rest) {
            let Some(node) = tree.resolve(slot)? else { break };
            let own = tree.prefix_of(node);
            let Some(wanted) = rest.strip_prefix(own) else {
                if rest < own {
                    cursor.pending = Some(slot);
                }
                break;
            };
            let Some(fan) = fan_of(node) else {
                cursor.enter_bucket_from(node, wanted);
                break;
            };
            let Some((&edge, below)) = wanted.split_first() else {
                cursor.pending = Some(slot);
                break;
            };
            cursor.key.extend_from_slice(own);
            let (depth, from) = (cursor.key.len(), usize::from(edge) + 1);
            cursor.frames.push(Frame::Inner { node, depth, value: false, from });
            let Some(child) = fan.find(edge) else { break };
            cursor.key.push(edge);
            (slot, rest) = (child, below);
        }
        Ok(cursor)
    }

    /// Enters a bucket for the entries whose tails are not below `wanted`.
    fn enter_bucket_from(&mut self, node: NodeRef<'t>, wanted: &[u8]) {
        let NodeRef::Bucket(bucket) = node else { return };
        let end = bucket.len();
        let next = (0..end).find(|&index| bucket.tail(index) >= wanted).unwrap_or(end);
        self.key.extend_from_slice(bucket.prefix());
        self.frames.push(Frame::Bucket { bucket, depth: self.key.len(), next, end });
    }

    /// Enters a node that is read in place, for the entries that start with `within`, from `start` on.
    fn enter_in_place(&mut self, slot: &Slot, within: &[u8], start: &[u8]) -> bool {
        let Some((image, unit)) = self.tree.in_place(slot) else { return false };
        let (walk, depth, within) = (image.walk(Some(unit)), self.key.len(), within.to_vec());
        self.frames.push(Frame::Mapped { walk, depth, within, start: Some(start.to_vec()) });
        true
    }

    fn enter(&mut self, slot: &'t Slot) -> Result<()> {
        if self.enter_in_place(slot, b"", b"") {
            return Ok(());
        }
        match self.tree.resolve(slot)? {
            None => {}
            Some(NodeRef::Bucket(bucket)) => self.enter_bucket_below(bucket, b""),
            Some(node) => {
                if let Some(head) = head_of(node) {
                    self.key.extend_from_slice(head.prefix.bytes());
                    self.frames.push(Frame::Inner { node, depth: self.key.len(), value: true, from: 0 });
                }
            }
        }
        Ok(())
    }

    /// Goes to the next entry and returns its value; its key is then in [`key`](Self::key). After an error there is
    /// nothing more.
    pub(super) fn advance(&mut self) -> Result<Option<[u8; 8]>> {
        let width = self.tree.width;
        loop {
            if let Some(slot) = self.pending.take()
                && let Err(damage) = self.enter(slot)
            {
                self.frames.clear();
                return Err(damage);
            }
            match self.frames.last_mut() {
                None => return Ok(None),
                Some(Frame::Bucket { bucket, depth, next, end }) if *next < *end => {
                    let index = *next;
                    *next += 1;
                    self.key.truncate(*depth);
                    self.key.extend_from_slice(bucket.tail(index));
                    return Ok(Some(padded(bucket.value(index, width))));
                }
                Some(Frame::Inner { node, depth, value, from }) => {
                    self.key.truncate(*depth);
                    if std::mem::take(value)
                        && let Some(value) = head_of(*node).and_then(|head| head.value)
                    {
                        return Ok(Some(value));
                    }
                    if let Some((edge, child)) = fan_of(*node).and_then(|fan| fan.next(*from)) {
                        *from = usize::from(edge) + 1;
                        self.key.push(edge);
                        self.pending = Some(child);
                        continue;
                    }
                }
                Some(Frame::Bucket { .. }) => {}
                Some(Frame::Mapped { walk, depth, within, start }) => {
                    let found = match start.take() {
                        Some(start) => walk.seek(&start),
                        None => walk.next(),
                    };
                    match found {
                        Ok(Some(hit)) if walk.key().starts_with(within) => {
                            self.key.truncate(*depth);
                            self.key.extend_from_slice(walk.key());
                            return Ok(Some(hit.slot));
                        }
                        Ok(_) => {}
                        Err(damage) => {
                            self.frames.clear();
                            return Err(self.tree.damaged(damage));
                        }
                    }
                }
            }
            self.frames.pop();
        }
    }

    pub(super) fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// The key of the entry that [`advance`](Self::advance) went to.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }
}
