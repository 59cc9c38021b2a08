//! An inner node: a prefix, perhaps a value, and children.

use super::fan::{Direct, Fan, Indexed, Sorted};
use super::slot::{Node, NodeMut, Slot};

/// The bytes that all keys below a node have in common, after those of the nodes above it.
#[derive(Debug)]
pub(super) enum Prefix {
    /// Up to 22 bytes, in the node itself.
    Short {
        len: u8,
        bytes: [u8; Self::SHORT],
    },
    Long(Box<[u8]>),
}

impl Prefix {
    const SHORT: usize = 22;

    pub(super) fn new(prefix: &[u8]) -> Self {
        if prefix.len() > Self::SHORT {
            return Self::Long(prefix.into());
        }
        let mut bytes = [0; Self::SHORT];
        bytes[..prefix.len()].copy_from_slice(prefix);
        Self::Short { len: prefix.len() as u8, bytes }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short { len, bytes } => &bytes[..usize::from(*len)],
            Self::Long(bytes) => bytes,
        }
    }

    /// What is left of `key` after the prefix.
    #[inline]
    pub(super) fn strip<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let prefix = self.bytes();
        if prefix.is_empty() { Some(key) } else { key.strip_prefix(prefix) }
    }
}

/// What every inner node has.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) prefix: Prefix,
    /// The value of the key that ends here, padded to eight bytes.
    pub(super) value: Option<[u8; 8]>,
}

impl Head {
    pub(super) fn new(prefix: &[u8], value: Option<&[u8]>) -> Self {
        Self { prefix: Prefix::new(prefix), value: value.map(padded) }
    }
}

/// A value of up to eight bytes, padded with zeros.
pub(super) fn padded(value: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..value.len()].copy_from_slice(value);
    bytes
}

/// An inner node. The alignment keeps the low bits of its address free for the tag of a slot.
#[repr(align(8))]
pub(super) struct Inner<F: ?Sized> {
    pub(super) head: Head,
    pub(super) fan: F,
}

impl Node {
    /// An inner node without children and with room for `children`.
    pub(super) fn inner(head: Head, children: usize) -> Self {
        match children {
            0..=4 => Self::Inner4(Box::new(Inner { head, fan: Sorted::new() })),
            5..=16 => Self::Inner16(Box::new(Inner { head, fan: Sorted::new() })),
            17..=48 => Self::Inner48(Box::new(Inner { head, fan: Indexed::new() })),
            _ => Self::Inner256(Box::new(Inner { head, fan: Direct::new() })),
        }
    }

    /// Adds a child to an inner node that has room for it.
    pub(super) fn add(&mut self, edge: u8, child: Slot) {
        match self {
            Self::Inner4(inner) => inner.fan.add(edge, child),
            Self::Inner16(inner) => inner.fan.add(edge, child),
            Self::Inner48(inner) => inner.fan.add(edge, child),
            Self::Inner256(inner) => inner.fan.add(edge, child),
            Self::Bucket(_) => unreachable!("a bucket has no children"),
        }
    }
}

/// Adds a child to the inner node in `slot`; the node grows to the next size if it is full.
pub(super) fn add_child(slot: &mut Slot, edge: u8, child: Slot) {
    let Some(NodeMut::Inner(inner)) = slot.node_mut() else { unreachable!("only inner nodes get children") };
    let len = inner.fan.len();
    if len < inner.fan.capacity() {
        inner.fan.add(edge, child);
    } else {
        let mut grown = resized(inner, len + 1);
        grown.add(edge, child);
        *slot = Slot::node(grown);
    }
}

/// Gives the inner node in `slot` the smallest size that leaves some room, so that it does not grow and shrink in
/// turns.
pub(super) fn shrink(slot: &mut Slot) {
    let Some(NodeMut::Inner(inner)) = slot.node_mut() else { return };
    let (len, capacity) = (inner.fan.len(), inner.fan.capacity());
    let fits = match capacity {
        256 => len <= 40,
        48 => len <= 12,
        16 => len <= 3,
        _ => false,
    };
    if fits {
        let smaller = resized(inner, len);
        *slot = Slot::node(smaller);
    }
}

/// Moves everything to a node with room for `children`.
fn resized(inner: &mut Inner<dyn Fan>, children: usize) -> Node {
    let head = Head {
        prefix: std::mem::replace(&mut inner.head.prefix, Prefix::new(b"")),
        value: inner.head.value.take(),
    };
    let mut node = Node::inner(head, children);
    let mut from = 0;
    while let Some((edge, _)) = inner.fan.next(from) {
        let child = inner.fan.find_mut(edge).map_or_else(Slot::empty, |slot| slot.replace(Slot::empty()));
        node.add(edge, child);
        from = usize::from(edge) + 1;
    }
    node
}
