//! The nodes on the heap: look-up, insert and remove over bytes.

use std::path::PathBuf;

use super::bucket::{Entry, set_value, vouch};
use super::fan::Fan;
use super::image::{Damage, ImageFile};
use super::inner::{Head, Inner, add_child, padded, shrink};
use super::slot::{Node, NodeMut, NodeRef, Slot, State};
use super::split::subtree;
use crate::error::{Error, Result};

/// A trie over bytes with values of `width` bytes.
pub(super) struct Tree {
    pub(super) root: Slot,
    /// Where nodes that are not materialised yet come from.
    pub(super) image: Option<ImageFile>,
    /// Accesses read what is not materialised where it is.
    pub(super) mapped: bool,
    /// The file it was opened from; empty for a trie made in memory.
    pub(super) origin: PathBuf,
    pub(super) width: usize,
    pub(super) len: u64,
}

/// Materialises the node in a slot that names a node of the image.
///
/// Only the image makes such slots, so there is one.
#[cold]
#[inline(never)]
fn materialise<'a>(image: Option<&ImageFile>, slot: &'a Slot, unit: u32) -> Result<Option<NodeRef<'a>>> {
    let image = image.expect("only an image has nodes to materialise");
    let (node, len) = image.node(unit)?;
    image.account(len)?;
    match slot.publish(unit, node) {
        (State::Node(node), true) => Ok(Some(node)),
        (State::Node(node), false) => {
            image.discount(len);
            Ok(Some(node))
        }
        _ => Ok(None),
    }
}

/// The node in a slot, materialised if need be.
#[inline]
pub(super) fn resolve<'a>(image: Option<&ImageFile>, slot: &'a Slot) -> Result<Option<NodeRef<'a>>> {
    match slot.load() {
        State::Node(node) => Ok(Some(node)),
        State::Empty => Ok(None),
        State::Image(unit) => materialise(image, slot, unit),
    }
}

/// One step of a look-up through an inner node.
enum Step<'a, 'k> {
    Here(Option<&'a [u8; 8]>),
    Down(&'a Slot, &'k [u8]),
    Nowhere,
}

#[inline(always)]
fn step<'a, 'k, F: Fan>(inner: &'a Inner<F>, key: &'k [u8]) -> Step<'a, 'k> {
    let Some(rest) = inner.head.prefix.strip(key) else { return Step::Nowhere };
    let Some((&edge, rest)) = rest.split_first() else { return Step::Here(inner.head.value.as_ref()) };
    inner.fan.find(edge).map_or(Step::Nowhere, |child| Step::Down(child, rest))
}

impl Tree {
    pub(super) fn new(width: usize) -> Self {
        Self { root: Slot::empty(), image: None, mapped: false, origin: PathBuf::new(), width, len: 0 }
    }

    #[inline]
    pub(super) fn resolve<'a>(&self, slot: &'a Slot) -> Result<Option<NodeRef<'a>>> {
        resolve(self.image.as_ref(), slot)
    }

    /// The image, and the unit of a node in it that is to be read in place.
    #[inline]
    pub(super) fn in_place(&self, slot: &Slot) -> Option<(&ImageFile, u32)> {
        match (slot.load(), &self.image) {
            (State::Image(unit), Some(image)) if self.mapped => Some((image, unit)),
            _ => None,
        }
    }

    /// The error for damage of the image.
    pub(super) fn damaged(&self, damage: Damage) -> Error {
        match &self.image {
            Some(image) => image.damaged(damage),
            None => Error::corrupt(&self.origin, damage.at, damage.reason),
        }
    }

    /// The error for a bucket that cannot be changed, which only an image written by others can hold.
    #[cold]
    fn unsound_bucket(&self) -> Error {
        Error::corrupt(&self.origin, 0, "keys of a bucket are not in order, or not under their fingerprints")
    }

    /// The error for a key of a char trie that is not UTF-8, which only an image written by others can hold.
    pub(super) fn foreign_key(&self, key: &[u8]) -> Error {
        let reason =
            format!("it says that keys are chars, and the key `{}` is not UTF-8", key.escape_ascii());
        Error::corrupt(&self.origin, 13, reason)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<[u8; 8]>> {
        let (mut slot, mut key) = (&self.root, key);
        loop {
            if self.mapped
                && let Some((image, unit)) = self.in_place(slot)
            {
                let found = image.nodes().find(unit, key);
                return found.map(|hit| hit.map(|hit| hit.slot)).map_err(|damage| image.damaged(damage));
            }
            let Some(node) = self.resolve(slot)? else { return Ok(None) };
            let taken = match node {
                NodeRef::Inner4(inner) => step(inner, key),
                NodeRef::Inner16(inner) => step(inner, key),
                NodeRef::Inner48(inner) => step(inner, key),
                NodeRef::Inner256(inner) => step(inner, key),
                NodeRef::Bucket(bucket) => {
                    return Ok(bucket.find(key).map(|index| padded(bucket.value(index, self.width))));
                }
            };
            match taken {
                Step::Down(child, rest) => (slot, key) = (child, rest),
                Step::Here(value) => return Ok(value.copied()),
                Step::Nowhere => return Ok(None),
            }
        }
    }

    /// Sets the value of a key and returns the one it had. After an error nothing has changed.
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<Option<[u8; 8]>> {
        let Some(old) = insert_below(self.image.as_ref(), &mut self.root, key, value)? else {
            return Err(self.unsound_bucket());
        };
        // Saturating: the count of a forged image may be anything.
        self.len = self.len.saturating_add(u64::from(old.is_none()));
        Ok(old)
    }

    /// Removes a key and returns its value. After an error nothing has changed.
    pub(super) fn remove(&mut self, key: &[u8]) -> Result<Option<[u8; 8]>> {
        let Some(place) = self.locate(key)? else { return Ok(None) };
        if let Some(NodeMut::Bucket(bucket)) = walk(&mut self.root, key, place.hops).node_mut()
            && !vouch(bucket)
        {
            return Err(self.unsound_bucket());
        }
        let image = self.image.as_ref();
        // A node that is left with one child takes the child's place, so the child must be there before anything
        // is changed.
        if let Some(inner) = place.parent {
            let above = walk(&mut self.root, key, inner);
            let edge = key[place.depth - 1];
            if let Some(NodeMut::Inner(inner)) = above.node_mut()
                && inner.fan.len() == 2
                && let Some(sibling) = other_child(inner, Some(edge))
            {
                resolve(image, sibling)?;
            }
        }
        let slot = walk(&mut self.root, key, place.hops);
        if let Some(NodeMut::Inner(inner)) = slot.node_mut()
            && inner.fan.len() == 1
            && let Some(child) = other_child(inner, None)
        {
            resolve(image, child)?;
        }
        let (old, emptied) = remove_here(slot, &key[place.depth..], self.width);
        if emptied {
            slot.take();
            if let Some(parent) = place.parent {
                let above = walk(&mut self.root, key, parent);
                if let Some(NodeMut::Inner(inner)) = above.node_mut() {
                    inner.fan.remove(key[place.depth - 1]);
                }
                tidy(above, self.width);
            }
        } else {
            tidy(slot, self.width);
        }
        self.len = self.len.saturating_sub(u64::from(old.is_some()));
        Ok(old)
    }

    /// Where the node that holds a key is; everything on the way is materialised.
    fn locate(&self, key: &[u8]) -> Result<Option<Place>> {
        let mut place = Place { hops: 0, parent: None, depth: 0 };
        let mut slot = &self.root;
        loop {
            let Some(node) = self.resolve(slot)? else { return Ok(None) };
            let rest = &key[place.depth..];
            let Some((inner, child)) = descend(node, rest) else {
                let held = match node {
                    NodeRef::Bucket(bucket) => bucket.find(rest).is_some(),
                    _ => {
                        head_of(node).is_some_and(|head| head.value.is_some() && head.prefix.bytes() == rest)
                    }
                };
                return Ok(held.then_some(place));
            };
            place = Place {
                hops: place.hops + 1,
                parent: Some(place.hops),
                depth: place.depth + inner.prefix.bytes().len() + 1,
            };
            slot = child;
        }
    }
}

/// Where a node is on the way of a key.
struct Place {
    /// Inner nodes above it.
    hops: usize,
    /// Inner nodes above its parent.
    parent: Option<usize>,
    /// Bytes of the key above it.
    depth: usize,
}

/// What an inner node has beside its children.
pub(super) fn head_of(node: NodeRef<'_>) -> Option<&Head> {
    match node {
        NodeRef::Inner4(inner) => Some(&inner.head),
        NodeRef::Inner16(inner) => Some(&inner.head),
        NodeRef::Inner48(inner) => Some(&inner.head),
        NodeRef::Inner256(inner) => Some(&inner.head),
        NodeRef::Bucket(_) => None,
    }
}

/// The children of an inner node.
pub(super) fn fan_of(node: NodeRef<'_>) -> Option<&dyn Fan> {
    match node {
        NodeRef::Inner4(inner) => Some(&inner.fan),
        NodeRef::Inner16(inner) => Some(&inner.fan),
        NodeRef::Inner48(inner) => Some(&inner.fan),
        NodeRef::Inner256(inner) => Some(&inner.fan),
        NodeRef::Bucket(_) => None,
    }
}

/// The child of an inner node on the way of a key.
fn descend<'a>(node: NodeRef<'a>, key: &[u8]) -> Option<(&'a Head, &'a Slot)> {
    let (head, fan) = (head_of(node)?, fan_of(node)?);
    let (&edge, _) = head.prefix.strip(key)?.split_first()?;
    fan.find(edge).map(|child| (head, child))
}

/// The slot below `hops` inner nodes on the way of a key, which was found there before.
fn walk<'a>(root: &'a mut Slot, key: &[u8], hops: usize) -> &'a mut Slot {
    let (mut slot, mut depth) = (root, 0);
    for _ in 0..hops {
        let Some(NodeMut::Inner(inner)) = slot.node_mut() else { unreachable!("the way was found before") };
        depth += inner.head.prefix.bytes().len() + 1;
        slot = inner.fan.find_mut(key[depth - 1]).expect("the way was found before");
    }
    slot
}

/// The first child that is not at `edge`.
fn other_child(inner: &Inner<dyn Fan>, edge: Option<u8>) -> Option<&Slot> {
    let (first, slot) = inner.fan.next(0)?;
    if Some(first) == edge {
        inner.fan.next(usize::from(first) + 1).map(|(_, slot)| slot)
    } else {
        Some(slot)
    }
}

/// Removes a key that the node in `slot` holds; the second result says that nothing is left of the node.
fn remove_here(slot: &mut Slot, rest: &[u8], width: usize) -> (Option<[u8; 8]>, bool) {
    if let Some(NodeMut::Inner(inner)) = slot.node_mut() {
        let old = inner.head.value.take();
        return (old, old.is_some() && inner.fan.len() == 0);
    }
    let State::Node(NodeRef::Bucket(bucket)) = slot.load() else { return (None, false) };
    let Some(index) = bucket.find(rest) else { return (None, false) };
    let old = padded(bucket.value(index, width));
    let mut entries: Vec<Entry> = Vec::with_capacity(bucket.len());
    let suffixes: Vec<Vec<u8>> =
        (0..bucket.len()).map(|entry| [bucket.prefix(), bucket.tail(entry)].concat()).collect();
    for (entry, suffix) in suffixes.iter().enumerate().filter(|&(entry, _)| entry != index) {
        entries.push(Entry { suffix, value: bucket.value(entry, width) });
    }
    if entries.is_empty() {
        return (Some(old), true);
    }
    let rest = subtree(&entries);
    *slot = Slot::node(rest);
    (Some(old), false)
}

/// Puts an inner node that lost something into its best form: smaller, merged with its only child, or a bucket.
fn tidy(slot: &mut Slot, width: usize) {
    let Some(NodeMut::Inner(inner)) = slot.node_mut() else { return };
    match (inner.fan.len(), inner.head.value) {
        (0, Some(value)) => {
            let suffix = inner.head.prefix.bytes();
            let bucket = subtree(&[Entry { suffix, value: &value[..width] }]);
            *slot = Slot::node(bucket);
        }
        (1, None) => {
            let Some((edge, _)) = inner.fan.next(0) else { return };
            let Some(mut child) = inner.fan.remove(edge) else { return };
            let above = [inner.head.prefix.bytes(), &[edge]].concat();
            lengthen(&mut child, &above, width);
            *slot = child;
        }
        _ => shrink(slot),
    }
}

/// Puts bytes before the prefix of the node in `slot`.
fn lengthen(slot: &mut Slot, above: &[u8], width: usize) {
    if let Some(NodeMut::Inner(inner)) = slot.node_mut() {
        let prefix = [above, inner.head.prefix.bytes()].concat();
        inner.head.prefix = super::inner::Prefix::new(&prefix);
        return;
    }
    let State::Node(NodeRef::Bucket(bucket)) = slot.load() else { return };
    let prefix = [above, bucket.prefix()].concat();
    let longer = super::bucket::Bucket::new(&super::bucket::Parts { prefix: &prefix, ..bucket.parts(width) });
    *slot = Slot::node(Node::Bucket(longer));
}

/// The value that a key had before.
type Old = Option<[u8; 8]>;

/// Inserts a key and returns the value it had; nothing if a bucket on its way is not sound, and nothing has changed then.
fn insert_below(image: Option<&ImageFile>, root: &mut Slot, key: &[u8], value: &[u8]) -> Result<Option<Old>> {
    let (mut slot, mut rest) = (root, key);
    loop {
        resolve(image, slot)?;
        match slot.node_mut() {
            None => {
                *slot = Slot::node(subtree(&[Entry { suffix: rest, value }]));
                return Ok(Some(None));
            }
            Some(NodeMut::Bucket(bucket)) => {
                return Ok(vouch(bucket).then(|| insert_in_bucket(slot, rest, value)));
            }
            Some(NodeMut::Inner(inner)) => {
                let prefix = inner.head.prefix.bytes();
                let shared = super::bucket::common_len(prefix, rest);
                if shared < prefix.len() {
                    part(slot, shared, rest, value);
                    return Ok(Some(None));
                }
                let Some((&edge, below)) = rest[shared..].split_first() else {
                    return Ok(Some(inner.head.value.replace(padded(value))));
                };
                if inner.fan.find(edge).is_none() {
                    add_child(slot, edge, Slot::node(subtree(&[Entry { suffix: below, value }])));
                    return Ok(Some(None));
                }
                // Borrowed anew: the node may have been replaced in the branch above.
                let Some(NodeMut::Inner(inner)) = slot.node_mut() else { unreachable!("it was one above") };
                slot = inner.fan.find_mut(edge).expect("it was there above");
                rest = below;
            }
        }
    }
}

/// Inserts into the bucket in `slot`, which becomes a subtree if it is full.
fn insert_in_bucket(slot: &mut Slot, rest: &[u8], value: &[u8]) -> Option<[u8; 8]> {
    let width = value.len();
    let State::Node(NodeRef::Bucket(bucket)) = slot.load() else { unreachable!("the caller found a bucket") };
    if let Some(index) = bucket.find(rest) {
        let old = padded(bucket.value(index, width));
        if let Some(NodeMut::Bucket(bytes)) = slot.node_mut() {
            set_value(bytes, index, value);
        }
        return Some(old);
    }
    let prefix = bucket.prefix();
    if let Some(bucket) = rest.strip_prefix(prefix).and_then(|tail| bucket.with(tail, value)) {
        *slot = Slot::node(Node::Bucket(bucket));
        return None;
    }
    let suffixes: Vec<Vec<u8>> =
        (0..bucket.len()).map(|index| [prefix, bucket.tail(index)].concat()).collect();
    let mut entries: Vec<Entry> = suffixes
        .iter()
        .enumerate()
        .map(|(index, suffix)| Entry { suffix, value: bucket.value(index, width) })
        .collect();
    let at = entries.partition_point(|entry| entry.suffix < rest);
    entries.insert(at, Entry { suffix: rest, value });
    let grown = subtree(&entries);
    *slot = Slot::node(grown);
    None
}

/// Parts the inner node in `slot` after the first `shared` bytes of its prefix, where `rest` leaves it.
fn part(slot: &mut Slot, shared: usize, rest: &[u8], value: &[u8]) {
    let Some(NodeMut::Inner(inner)) = slot.node_mut() else { unreachable!("the caller found an inner node") };
    let prefix = inner.head.prefix.bytes();
    let (edge, above) = (prefix[shared], prefix[..shared].to_vec());
    inner.head.prefix = super::inner::Prefix::new(&prefix[shared + 1..]);
    let here = rest.len() == shared;
    let mut node = Node::inner(Head::new(&above, here.then_some(value)), 2);
    if let Some((&new_edge, suffix)) = rest[shared..].split_first() {
        node.add(new_edge, Slot::node(subtree(&[Entry { suffix, value }])));
    }
    node.add(edge, slot.replace(Slot::empty()));
    *slot = Slot::node(node);
}
