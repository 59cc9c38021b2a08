//! A slot: one word that is empty, names a node of the image, or owns a node on the heap.
//!
//! Readers that share a slot may turn the name of an image node into the node itself. The word goes through
//! `empty | image -> heap node` at most once while it is shared; everything else needs `&mut`. That is the whole
//! argument for the `unsafe` below: a heap node that a shared reader has seen stays where it is until the slot is
//! borrowed mutably, and then there is no shared reader.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::blob::{Blob, Head as BlobHead};
use super::bucket::{Bucket, BucketRef};
use super::fan::{Direct, Fan, Indexed, Sorted};
use super::inner::Inner;

/// The low bits of a word say what it is; nodes are aligned to eight, so the bits are free.
mod tag {
    pub(super) const MASK: usize = 7;
    pub(super) const IMAGE: usize = 1;
    pub(super) const INNER4: usize = 2;
    pub(super) const INNER16: usize = 3;
    pub(super) const INNER48: usize = 4;
    pub(super) const INNER256: usize = 5;
    pub(super) const BUCKET: usize = 6;
}

/// See the module.
///
/// A slot may go to other threads because its word may, so what it owns must be able to: inner nodes are checked
/// below, and a bucket is a block of bytes.
pub(super) struct Slot(AtomicPtr<()>);

const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<Inner<Sorted<4>>>();
    may_be_shared::<Inner<Sorted<16>>>();
    may_be_shared::<Inner<Indexed>>();
    may_be_shared::<Inner<Direct>>();
};

/// What a slot holds.
pub(super) enum State<'a> {
    Empty,
    /// The node at this unit of the image, not materialised yet.
    Image(u32),
    Node(NodeRef<'a>),
}

/// A node that nobody else knows.
pub(super) enum Node {
    Inner4(Box<Inner<Sorted<4>>>),
    Inner16(Box<Inner<Sorted<16>>>),
    Inner48(Box<Inner<Indexed>>),
    Inner256(Box<Inner<Direct>>),
    Bucket(Bucket),
}

/// A node in a slot.
#[derive(Clone, Copy)]
pub(super) enum NodeRef<'a> {
    Inner4(&'a Inner<Sorted<4>>),
    Inner16(&'a Inner<Sorted<16>>),
    Inner48(&'a Inner<Indexed>),
    Inner256(&'a Inner<Direct>),
    Bucket(BucketRef<'a>),
}

/// A node in a slot, to change.
pub(super) enum NodeMut<'a> {
    Inner(&'a mut Inner<dyn Fan>),
    Bucket(&'a mut [u8]),
}

impl Slot {
    /// Holds nothing.
    pub(super) const fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Names the node at `unit` of the image.
    pub(super) fn image(unit: u32) -> Self {
        Self(AtomicPtr::new(image_word(unit)))
    }

    /// Owns `node`.
    pub(super) fn node(node: Node) -> Self {
        Self(AtomicPtr::new(into_word(node)))
    }

    #[inline]
    pub(super) fn load(&self) -> State<'_> {
        // Acquire: pairs with the release of `publish`, so that the node is seen as it was built.
        let word = self.0.load(Ordering::Acquire);
        // SAFETY: the word is in a slot that is borrowed for the result's lifetime.
        unsafe { read(word) }
    }

    /// Puts `node` in the place of the image node `unit`. If another thread was faster, its node stays, `node` is
    /// dropped and the second result is false.
    pub(super) fn publish(&self, unit: u32, node: Node) -> (State<'_>, bool) {
        let word = into_word(node);
        match self.0.compare_exchange(image_word(unit), word, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the word is in a slot that is borrowed for the result's lifetime.
            Ok(_) => (unsafe { read(word) }, true),
            Err(winner) => {
                // SAFETY: the word was just made from a node and was not stored anywhere.
                drop(unsafe { from_word(word) });
                // SAFETY: as above; the winner was read from this slot.
                (unsafe { read(winner) }, false)
            }
        }
    }

    /// The node in the slot, if it is on the heap.
    pub(super) fn node_mut(&mut self) -> Option<NodeMut<'_>> {
        let word = *self.0.get_mut();
        let raw = untagged(word);
        // SAFETY: `into_word` made the word from an owned node of the type its tag says; the slot still owns it, as
        // only `take` gives nodes away, and the slot is borrowed mutably for the result's lifetime.
        unsafe {
            match word.addr() & tag::MASK {
                tag::INNER4 => Some(NodeMut::Inner(&mut *raw.cast::<Inner<Sorted<4>>>())),
                tag::INNER16 => Some(NodeMut::Inner(&mut *raw.cast::<Inner<Sorted<16>>>())),
                tag::INNER48 => Some(NodeMut::Inner(&mut *raw.cast::<Inner<Indexed>>())),
                tag::INNER256 => Some(NodeMut::Inner(&mut *raw.cast::<Inner<Direct>>())),
                tag::BUCKET => Some(NodeMut::Bucket(Blob::borrow_mut(raw.cast::<BlobHead>()))),
                _ => None,
            }
        }
    }

    /// Takes the node out, if there is one on the heap, and leaves the slot empty.
    pub(super) fn take(&mut self) -> Option<Node> {
        let word = *self.0.get_mut();
        if word.addr() & tag::MASK <= tag::IMAGE {
            return None;
        }
        *self.0.get_mut() = ptr::null_mut();
        // SAFETY: the slot owned the node and has just forgotten it.
        Some(unsafe { from_word(word) })
    }

    /// Moves the content out and leaves the slot empty.
    pub(super) fn replace(&mut self, with: Self) -> Self {
        std::mem::replace(self, with)
    }
}

impl Drop for Slot {
    /// Takes subtrees apart with a list instead of the stack: tries can be as deep as their keys are long.
    fn drop(&mut self) {
        let Some(node) = self.take() else { return };
        if matches!(node, Node::Bucket(_)) {
            return;
        }
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            let mut holder = Self::node(node);
            if let Some(NodeMut::Inner(inner)) = holder.node_mut() {
                inner.fan.for_each_mut(&mut |slot| pending.extend(slot.take()));
            }
            // Its slots are empty now, so dropping the node goes no deeper.
            drop(holder.take());
        }
    }
}

fn image_word(unit: u32) -> *mut () {
    ptr::without_provenance_mut((unit as usize) << 3 | tag::IMAGE)
}

fn into_word(node: Node) -> *mut () {
    let (raw, tag): (*mut (), usize) = match node {
        Node::Inner4(inner) => (Box::into_raw(inner).cast(), tag::INNER4),
        Node::Inner16(inner) => (Box::into_raw(inner).cast(), tag::INNER16),
        Node::Inner48(inner) => (Box::into_raw(inner).cast(), tag::INNER48),
        Node::Inner256(inner) => (Box::into_raw(inner).cast(), tag::INNER256),
        Node::Bucket(bucket) => (bucket.into_blob().into_raw().cast(), tag::BUCKET),
    };
    raw.map_addr(|addr| addr | tag)
}

fn untagged(word: *mut ()) -> *mut () {
    word.map_addr(|addr| addr & !tag::MASK)
}

/// Takes the node of a word back.
///
/// # Safety
///
/// `word` comes from [`into_word`] and is taken back once.
unsafe fn from_word(word: *mut ()) -> Node {
    let raw = untagged(word);
    // SAFETY: the tag says which box or blob the pointer was made from.
    unsafe {
        match word.addr() & tag::MASK {
            tag::INNER4 => Node::Inner4(Box::from_raw(raw.cast())),
            tag::INNER16 => Node::Inner16(Box::from_raw(raw.cast())),
            tag::INNER48 => Node::Inner48(Box::from_raw(raw.cast())),
            tag::INNER256 => Node::Inner256(Box::from_raw(raw.cast())),
            _ => Node::Bucket(Bucket::from_blob(Blob::from_raw(raw.cast()))),
        }
    }
}

/// Reads a word.
///
/// # Safety
///
/// `word` was loaded from a slot that stays borrowed for `'a`.
#[inline]
unsafe fn read<'a>(word: *mut ()) -> State<'a> {
    let raw = untagged(word);
    // SAFETY: the tag says which box or blob the pointer was made from. The slot owns it, shared borrows of a slot
    // never free or change a node that was published, and the slot stays borrowed for `'a`.
    unsafe {
        State::Node(match word.addr() & tag::MASK {
            tag::INNER4 => NodeRef::Inner4(&*raw.cast()),
            tag::INNER16 => NodeRef::Inner16(&*raw.cast()),
            tag::INNER48 => NodeRef::Inner48(&*raw.cast()),
            tag::INNER256 => NodeRef::Inner256(&*raw.cast()),
            tag::BUCKET => NodeRef::Bucket(BucketRef::new(Blob::borrow(raw.cast()))),
            tag::IMAGE => return State::Image((word.addr() >> 3) as u32),
            _ => return State::Empty,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::Entry;
    use super::super::inner::{Head, add_child, shrink};
    use super::super::split::subtree;
    use super::*;

    fn leaf(suffix: &[u8]) -> Node {
        subtree(&[Entry { suffix, value: b"" }])
    }

    fn prefix_of(slot: &Slot) -> Vec<u8> {
        match slot.load() {
            State::Node(NodeRef::Bucket(bucket)) => bucket.prefix().to_vec(),
            State::Node(NodeRef::Inner4(inner)) => inner.head.prefix.bytes().to_vec(),
            _ => panic!("no node"),
        }
    }

    #[test]
    fn a_slot_is_what_was_put_in() {
        assert!(matches!(Slot::empty().load(), State::Empty));
        for unit in [0, 1, u32::MAX] {
            assert!(matches!(Slot::image(unit).load(), State::Image(found) if found == unit));
            assert!(Slot::image(unit).take().is_none());
            assert!(Slot::image(unit).node_mut().is_none());
        }
        let mut slot = Slot::node(leaf(b"abc"));
        assert_eq!(prefix_of(&slot), b"abc");
        assert!(slot.take().is_some());
        assert!(matches!(slot.load(), State::Empty));
    }

    #[test]
    fn the_first_to_publish_wins() {
        let slot = Slot::image(7);
        assert!(slot.publish(7, leaf(b"first")).1);
        let (State::Node(NodeRef::Bucket(seen)), false) = slot.publish(7, leaf(b"second")) else {
            panic!("the second one won")
        };
        assert_eq!(seen.prefix(), b"first");
    }

    #[test]
    fn many_threads_see_one_node() {
        let slot = Slot::image(7);
        let nodes: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| match slot.load() {
                        State::Image(unit) => match slot.publish(unit, leaf(b"abc")).0 {
                            State::Node(NodeRef::Bucket(bucket)) => bucket.prefix().as_ptr().addr(),
                            _ => 0,
                        },
                        State::Node(NodeRef::Bucket(bucket)) => bucket.prefix().as_ptr().addr(),
                        _ => 0,
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(nodes[0] != 0 && nodes.iter().all(|&node| node == nodes[0]), "{nodes:?}");
    }

    #[test]
    fn nodes_grow_and_shrink_with_their_children() {
        let mut slot = Slot::node(Node::inner(Head::new(b"p", None), 2));
        for edge in 0..=255_u8 {
            add_child(&mut slot, edge.wrapping_mul(37), Slot::node(leaf(&[edge.wrapping_mul(37)])));
        }
        for count in (0..=255_usize).rev() {
            let Some(NodeMut::Inner(inner)) = slot.node_mut() else { panic!("no inner node") };
            let mut from = 0;
            let mut seen = 0;
            while let Some((edge, child)) = inner.fan.next(from) {
                assert_eq!(prefix_of(child), [edge]);
                from = usize::from(edge) + 1;
                seen += 1;
            }
            assert_eq!(seen, count + 1);
            let edge = (count as u8).wrapping_mul(101);
            let removed = inner.fan.remove(edge).expect("it was there");
            assert_eq!(prefix_of(&removed), [edge]);
            assert!(inner.fan.find(edge).is_none() && inner.fan.remove(edge).is_none());
            shrink(&mut slot);
        }
        assert!(matches!(slot.load(), State::Node(NodeRef::Inner4(_))));
        assert_eq!(prefix_of(&slot), b"p");
    }

    #[test]
    fn deep_trees_are_dropped_without_the_stack() {
        let depth = if cfg!(miri) { 300 } else { 200_000 };
        let mut slot = Slot::node(leaf(b""));
        for _ in 0..depth {
            let mut above = Node::inner(Head::new(b"", None), 1);
            above.add(0, slot);
            slot = Slot::node(above);
        }
    }
}
