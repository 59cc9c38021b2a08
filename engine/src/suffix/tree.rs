//! The upper part of the suffix tree: the section STREE, and K4 for what is below it.
//!
//! Only nodes that more suffixes pass than a bucket may have are stored; below them, a bucket is a run of the suffix
//! array. Units are 4 bytes from the start of the section. A node lies behind its children:
//!
//! ```text
//! 0   depth    u32     bytes from the root
//! 4   edges    u16     children
//! 6   inner    u16     1 if one of them is a node, else 0
//! 8   keys     edges   first byte of each edge, ascending
//!     zeros            to a multiple of 4
//!     starts   edges u32   first suffix of each child; suffixes that end at the node come before
//!     nodes    edges u32   only with `inner`: unit of the child, 0xFFFFFFFF for a bucket
//! ```

use super::docs::u32_of;
use super::sorted::Sorted;

/// No node.
pub(super) const NO_NODE: u32 = u32::MAX;

/// The tree of sorted suffixes while it is built.
pub(super) struct Tree {
    pub(super) nodes: Vec<u8>,
    pub(super) count: u32,
    pub(super) root: u32,
    /// The first bytes of each suffix below its bucket's edge, as a number; only if asked for.
    pub(super) next: Vec<u32>,
}

/// An interval of suffixes that is not complete.
struct Open {
    depth: u32,
    first: u32,
    /// Where its children begin in `bounds`, without the first, and in `inner`.
    bounds: usize,
    inner: usize,
}

struct Builder<'t, E> {
    text: &'t [u8],
    starts: &'t [u32],
    /// Whether some text ends at a position.
    ends: E,
    tree: Tree,
    /// Where children of open intervals begin, without the first child of each.
    bounds: Vec<u32>,
    /// Nodes that wait for their parent: first suffix and unit.
    inner: Vec<(u32, u32)>,
    wants_next: bool,
}

impl Tree {
    /// Builds the tree over buckets of at most `bucket` suffixes, in time and memory linear in their number.
    pub(super) fn of(
        text: &[u8],
        sorted: &Sorted,
        ends: impl Fn(usize) -> bool,
        bucket: usize,
        wants_next: bool,
    ) -> Self {
        let count = sorted.starts.len();
        let next = if wants_next { vec![0; count] } else { Vec::new() };
        let tree = Self { nodes: Vec::new(), count: 0, root: NO_NODE, next };
        let (bounds, inner) = (Vec::new(), Vec::new());
        let mut builder = Builder { text, starts: &sorted.starts, ends, tree, bounds, inner, wants_next };
        let mut open = vec![Open { depth: 0, first: 0, bounds: 0, inner: 0 }];
        for at in 1..=count as u32 {
            let shared = sorted.shared.get(at as usize).copied();
            // The first suffix of what was closed is that of what holds it.
            let (mut first, mut inner) = (at - 1, builder.inner.len());
            while let Some(closed) = open.pop_if(|top| shared.is_none_or(|shared| top.depth > shared)) {
                first = closed.first;
                inner = closed.inner;
                builder.close(&closed, at, bucket);
            }
            let Some(shared) = shared else { break };
            if open.last().is_none_or(|top| top.depth < shared) {
                open.push(Open { depth: shared, first, bounds: builder.bounds.len(), inner });
            }
            builder.bounds.push(at);
        }
        if builder.tree.root == NO_NODE {
            builder.fill_next(0..count, 0);
        }
        builder.tree
    }
}

impl<E: Fn(usize) -> bool> Builder<'_, E> {
    fn close(&mut self, closed: &Open, end: u32, bucket: usize) {
        let bounds = self.bounds.split_off(closed.bounds);
        let inner = self.inner.split_off(closed.inner);
        // A root that does not branch stands for its only child.
        if (end - closed.first) as usize <= bucket || bounds.is_empty() {
            self.inner.extend(inner);
            return;
        }
        let mut inner = inner.into_iter().peekable();
        let (mut keys, mut starts, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = std::iter::once(closed.first).chain(bounds).peekable();
        while let Some(start) = all.next() {
            let node = inner.next_if(|&(first, _)| first == start).map_or(NO_NODE, |(_, unit)| unit);
            let at = self.starts[start as usize] as usize + closed.depth as usize;
            if self.is_over(start as usize, closed.depth as usize) {
                continue;
            }
            keys.push(self.text[at]);
            starts.push(start);
            nodes.push(node);
            if node == NO_NODE {
                let end = all.peek().copied().unwrap_or(end);
                self.fill_next(start as usize..end as usize, closed.depth + 1);
            }
        }
        let has_inner = nodes.iter().any(|&node| node != NO_NODE);
        let out = &mut self.tree.nodes;
        let unit = (out.len() / 4) as u32;
        out.extend(closed.depth.to_le_bytes());
        out.extend((keys.len() as u16).to_le_bytes());
        out.extend(u16::from(has_inner).to_le_bytes());
        out.extend(&keys);
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
        if has_inner {
            out.extend(nodes.iter().flat_map(|node| node.to_le_bytes()));
        }
        self.tree.count += 1;
        self.tree.root = unit;
        self.inner.push((closed.first, unit));
    }

    /// Whether the `index`-th suffix has no more than `len` bytes. At its own start, another text may end.
    fn is_over(&self, index: usize, len: usize) -> bool {
        len > 0 && (self.ends)(self.starts[index] as usize + len)
    }

    fn fill_next(&mut self, range: std::ops::Range<usize>, depth: u32) {
        if !self.wants_next {
            return;
        }
        for index in range {
            let mut bytes = [0; 4];
            for (step, byte) in bytes.iter_mut().enumerate() {
                let skipped = depth as usize + step;
                if self.is_over(index, skipped) {
                    break;
                }
                *byte = self.text[self.starts[index] as usize + skipped];
            }
            self.tree.next[index] = u32::from_be_bytes(bytes);
        }
    }
}

/// A stored node, read in place.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) depth: usize,
    keys: &'a [u8],
    starts: &'a [u8],
    nodes: Option<&'a [u8]>,
}

/// Where an edge leads.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) first: usize,
    /// The first suffix of the next child; `None` for the last one.
    pub(super) end: Option<usize>,
    pub(super) node: u32,
}

impl<'a> Node<'a> {
    /// The node at a unit, or `None` if there can be none.
    #[inline]
    pub(super) fn at(section: &'a [u8], unit: u32) -> Option<Self> {
        let bytes = section.get((unit as usize).checked_mul(4)?..)?;
        let (head, rest) = bytes.split_first_chunk::<8>()?;
        let depth = u32_of(head, 0) as usize;
        let edges = usize::from(u16::from_le_bytes([head[4], head[5]]));
        let (keys, rest) = rest.split_at_checked(edges.next_multiple_of(4))?;
        let (starts, rest) = rest.split_at_checked(4 * edges)?;
        let nodes = if head[6] == 0 { None } else { Some(rest.get(..4 * edges)?) };
        Some(Self { depth, keys: &keys[..edges], starts, nodes })
    }

    /// The edge whose first byte is `key`.
    #[inline]
    pub(super) fn edge(&self, key: u8) -> Option<Edge> {
        let index = if self.keys.len() <= 8 {
            self.keys.iter().position(|&it| it == key)?
        } else {
            memchr::memchr(key, self.keys)?
        };
        let end = (index + 1 < self.keys.len()).then(|| u32_of(self.starts, index + 1) as usize);
        let node = self.nodes.map_or(NO_NODE, |nodes| u32_of(nodes, index));
        Some(Edge { first: u32_of(self.starts, index) as usize, end, node })
    }
}
