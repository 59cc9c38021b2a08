//! The last entry of a tree, and the last one up to some key.

use super::image::{Hit, Walker};
use super::inner::padded;
use super::mapped::{before, until};
use super::slot::{NodeRef, Slot};
use super::tree::{Tree, fan_of, head_of};
use crate::error::Result;

/// A key, and its value.
pub(super) type Entry = (Vec<u8>, [u8; 8]);

/// What lies to the left of the way of a key, the nearest of it.
enum Left<'t> {
    Value([u8; 8]),
    Below(&'t Slot),
}

impl Tree {
    /// The last entry.
    pub(super) fn last(&self) -> Result<Option<Entry>> {
        self.last_below(&self.root, Vec::new())
    }

    /// The last entry whose key is below `end`, or is `end` if it is included.
    ///
    /// One way down to where `end` is or would be; from there the way down to the last entry of what is left of it.
    pub(super) fn last_until<'t>(&'t self, end: &[u8], included: bool) -> Result<Option<Entry>> {
        let (mut slot, mut rest, mut left) = (&self.root, end, None);
        loop {
            let above = || end[..end.len() - rest.len()].to_vec();
            if self.in_place(slot).is_some() {
                let walk =
                    |walk: &mut Walker<'t>| if included { until(walk, rest) } else { before(walk, rest) };
                match self.last_in_place(slot, above(), walk)? {
                    None => break,
                    entry => return Ok(entry),
                }
            }
            let Some(node) = self.resolve(slot)? else { break };
            let own = self.prefix_of(node);
            let Some(wanted) = rest.strip_prefix(own) else {
                if rest < own {
                    break;
                }
                return self.last_below(slot, above());
            };
            if let NodeRef::Bucket(bucket) = node {
                let inside = |&index: &usize| {
                    let tail = bucket.tail(index);
                    tail < wanted || (included && tail == wanted)
                };
                let Some(index) = (0..bucket.len()).rev().find(inside) else { break };
                let key = [&above(), own, bucket.tail(index)].concat();
                return Ok(Some((key, padded(bucket.value(index, self.width)))));
            }
            let (Some(head), Some(fan)) = (head_of(node), fan_of(node)) else { break };
            let value = head.value;
            let here = end.len() - wanted.len();
            let Some((&edge, below)) = wanted.split_first() else {
                if let (Some(value), true) = (value, included) {
                    return Ok(Some((end.to_vec(), value)));
                }
                break;
            };
            if let Some((edge, child)) = fan.before(usize::from(edge)) {
                left = Some((here, Some(edge), Left::Below(child)));
            } else if let Some(value) = value {
                left = Some((here, None, Left::Value(value)));
            }
            let Some(child) = fan.find(edge) else { break };
            (slot, rest) = (child, below);
        }
        let Some((depth, edge, left)) = left else { return Ok(None) };
        let mut key = end[..depth].to_vec();
        key.extend(edge);
        match left {
            Left::Value(value) => Ok(Some((key, value))),
            Left::Below(slot) => self.last_below(slot, key),
        }
    }

    /// The last entry below a slot, whose keys start with `key`.
    fn last_below<'t>(&'t self, slot: &'t Slot, mut key: Vec<u8>) -> Result<Option<Entry>> {
        let mut slot = slot;
        loop {
            if self.in_place(slot).is_some() {
                return self.last_in_place(slot, key, Walker::last);
            }
            let Some(node) = self.resolve(slot)? else { return Ok(None) };
            key.extend_from_slice(self.prefix_of(node));
            if let NodeRef::Bucket(bucket) = node {
                let index = bucket.len() - 1;
                key.extend_from_slice(bucket.tail(index));
                return Ok(Some((key, padded(bucket.value(index, self.width)))));
            }
            let Some((edge, child)) = fan_of(node).and_then(|fan| fan.before(256)) else { return Ok(None) };
            key.push(edge);
            slot = child;
        }
    }

    /// Where a walk over a node that is read in place goes to.
    fn last_in_place<'t>(
        &'t self,
        slot: &Slot,
        mut key: Vec<u8>,
        go: impl FnOnce(&mut Walker<'t>) -> std::result::Result<Option<Hit>, super::image::Damage>,
    ) -> Result<Option<Entry>> {
        let Some((image, unit)) = self.in_place(slot) else { return Ok(None) };
        let mut walk = image.walk(Some(unit));
        let hit = go(&mut walk).map_err(|damage| image.damaged(damage))?;
        key.extend_from_slice(walk.key());
        Ok(hit.map(|hit| (key, hit.slot)))
    }

    /// What all keys of a node start with.
    pub(super) fn prefix_of<'t>(&self, node: NodeRef<'t>) -> &'t [u8] {
        match node {
            NodeRef::Bucket(bucket) => bucket.prefix(),
            NodeRef::Inner4(inner) => inner.head.prefix.bytes(),
            NodeRef::Inner16(inner) => inner.head.prefix.bytes(),
            NodeRef::Inner48(inner) => inner.head.prefix.bytes(),
            NodeRef::Inner256(inner) => inner.head.prefix.bytes(),
        }
    }
}
