//! The upper part of the suffix tree: the section STREE, and K4 for what is below it.
//!
//! Only nodes that more suffixes pass than a bucket may have are stored, and of those only as many levels as there is room for;
//! below them, a bucket is a run of the suffix array. Units are 4 bytes from the start of the section. A node lies behind its children:
//!
//! ```text
//! 0   depth    u32     bytes from the root
//! 4   first    u32     first suffix that passes
//! 8   end      u32     one behind the last
//! 12  link     u32     unit of the node of the same string without its first symbol, 0xFFFFFFFF if there is none
//! 16  edges    u16     children
//! 18  inner    u16     1 if one of them is a node, else 0
//! 20  keys     edges   first byte of each edge, ascending
//!     zeros            to a multiple of 4
//!     starts   edges u32   first suffix of each child; suffixes that end at the node come before
//!     nodes    edges u32   only with `inner`: unit of the child, 0xFFFFFFFF for a bucket
//! ```

use super::borders::Borders;
use super::docs::u32_of;
use super::jump;
use super::sorted::Sorted;
use crate::simd::equal16;

/// No node.
pub(super) const NO_NODE: u32 = u32::MAX;

/// More suffixes than this pass every stored node in any layout.
pub(super) const BUCKET_MOST: usize = 128;

/// Bytes of a node before its keys.
const HEAD: usize = 20;

/// No node is deeper. Longer parts that are there often are those of periodic texts.
const DEEPEST: u32 = 4095;

/// From so many suffixes on, all nodes together take at most 3 bytes for 4 suffixes.
const LARGE: usize = 1 << 16;

/// Where the link of a node is.
const LINK: usize = 12;

/// The tree of sorted suffixes while it is built.
pub(super) struct Tree {
    pub(super) nodes: Vec<u8>,
    pub(super) count: u32,
    pub(super) root: u32,
    /// The first bytes of each suffix below its bucket's edge, as a number; only if asked for.
    pub(super) next: Vec<u32>,
    /// The section JUMP.
    pub(super) jumps: Vec<u8>,
}

/// An interval of suffixes that is not complete.
struct Open {
    depth: u32,
    first: u32,
    /// Where its children begin in `bounds`, without the first, and in `inner`.
    bounds: usize,
    inner: usize,
}

struct Builder<'t> {
    text: &'t [u8],
    starts: &'t [u32],
    borders: &'t Borders,
    tree: Tree,
    /// Where children of open intervals begin, without the first child of each.
    bounds: Vec<u32>,
    /// Nodes that wait for their parent: first suffix and unit.
    inner: Vec<(u32, u32)>,
    wants_next: bool,
    /// More suffixes than this pass every node.
    bucket: usize,
    /// The most bytes before the root of a node.
    deepest: u32,
    /// The most bytes that all nodes may take.
    room: usize,
    /// Bytes that nodes of each depth take, or would.
    sizes: Vec<u64>,
}

impl Tree {
    /// Builds the tree over buckets of at most `bucket` suffixes, in time and memory linear in their number. A symbol
    /// begins where `begins` says so.
    ///
    /// If nodes would take too many bytes, as in periodic and in random texts, only the upper ones are stored: as many levels
    /// as there is room for.
    pub(super) fn of(
        text: &[u8],
        sorted: &Sorted<'_>,
        begins: impl Fn(u8) -> bool,
        bucket: usize,
        wants_next: bool,
    ) -> Self {
        let count = sorted.starts.len();
        let room = if count < LARGE { 4 * count } else { count / 4 * 3 };
        let grow = |deepest: u32, next: Vec<u32>| {
            let tree = Self { nodes: Vec::new(), count: 0, root: NO_NODE, next, jumps: Vec::new() };
            let mut builder = Builder {
                text,
                starts: &sorted.starts,
                borders: &sorted.borders,
                tree,
                bounds: Vec::new(),
                inner: Vec::new(),
                wants_next,
                bucket,
                deepest,
                room,
                sizes: vec![0; deepest as usize + 1],
            };
            builder.grow(sorted);
            builder
        };
        let mut builder = grow(DEEPEST, if wants_next { vec![0; count] } else { Vec::new() });
        if builder.is_full() {
            let mut sum = 0;
            let fits = |size: &&u64| {
                sum += **size;
                sum <= room as u64
            };
            // One level is there in any case: it has no more edges than there are bytes.
            let levels = builder.sizes.iter().take_while(fits).count().max(1);
            builder = grow(levels as u32 - 1, builder.tree.next);
        }
        if builder.tree.root == NO_NODE {
            builder.fill_next(0..count, 0);
        }
        let mut tree = builder.tree;
        tree.finish(text, &sorted.starts, begins);
        tree
    }

    /// Sets the links of all nodes and makes the jumps. A node is found from the link of its parent, so that all together
    /// take time in proportion to the nodes.
    fn finish(&mut self, text: &[u8], starts: &[u32], begins: impl Fn(u8) -> bool) {
        let mut jumps = Vec::new();
        let mut waiting = Vec::from_iter((self.root != NO_NODE).then_some((self.root, 0, NO_NODE)));
        while let Some((unit, above, from)) = waiting.pop() {
            let Some(node) = Node::at(&self.nodes, unit) else { continue };
            let string = &text[starts[node.first] as usize..][..node.depth];
            jump::add(&mut jumps, string, above, unit);
            let symbol = (1..string.len()).find(|&at| begins(string[at])).unwrap_or(string.len());
            let link = self.below(if from == NO_NODE { self.root } else { from }, &string[symbol..]);
            for index in 0..node.edges {
                let child = node.edge_at(index).node;
                if child != NO_NODE {
                    waiting.push((child, node.depth, link));
                }
            }
            let at = 4 * unit as usize + LINK;
            self.nodes[at..at + 4].copy_from_slice(&link.to_le_bytes());
        }
        self.jumps = jump::encode(&jumps);
    }

    /// The node of a string that begins with that of `from`; [`NO_NODE`] if no node has it.
    fn below(&self, from: u32, string: &[u8]) -> u32 {
        let mut unit = from;
        while let Some(node) = Node::at(&self.nodes, unit) {
            match string.get(node.depth) {
                Some(&key) => unit = node.edge(key).map_or(NO_NODE, |edge| edge.node),
                None => return if node.depth == string.len() { unit } else { NO_NODE },
            }
        }
        NO_NODE
    }
}

impl Builder<'_> {
    /// Goes through the suffixes and closes the intervals of those that share something.
    fn grow(&mut self, sorted: &Sorted<'_>) {
        let count = self.starts.len();
        let mut open = vec![Open { depth: 0, first: 0, bounds: 0, inner: 0 }];
        for at in 1..=count as u32 {
            // What is deeper than any node need not be told apart.
            let shared = ((at as usize) < count).then(|| sorted.shared(at as usize, self.deepest + 1));
            // The first suffix of what was closed is that of what holds it.
            let (mut first, mut inner) = (at - 1, self.inner.len());
            while let Some(closed) = open.pop_if(|top| shared.is_none_or(|shared| top.depth > shared)) {
                first = closed.first;
                inner = closed.inner;
                self.close(&closed, at);
            }
            let Some(shared) = shared else { break };
            if open.last().is_none_or(|top| top.depth < shared) {
                open.push(Open { depth: shared, first, bounds: self.bounds.len(), inner });
            }
            if shared <= self.deepest {
                self.bounds.push(at);
            }
        }
    }

    /// Whether there is no room for all nodes.
    fn is_full(&self) -> bool {
        self.tree.nodes.len() > self.room
    }

    fn close(&mut self, closed: &Open, end: u32) {
        // A root that does not branch stands for its only child. Nodes below wait for the next one above.
        if (end - closed.first) as usize <= self.bucket || self.bounds.len() == closed.bounds {
            self.bounds.truncate(closed.bounds);
            return;
        }
        let bounds = self.bounds.split_off(closed.bounds);
        let inner = self.inner.split_off(closed.inner);
        let mut inner = inner.into_iter().peekable();
        let (mut keys, mut starts, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = std::iter::once(closed.first).chain(bounds).peekable();
        let last = end;
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
        let numbers = keys.len() * (1 + usize::from(has_inner));
        self.sizes[closed.depth as usize] += (HEAD + keys.len().next_multiple_of(4) + 4 * numbers) as u64;
        if self.is_full() {
            // Counted only.
            self.inner.push((closed.first, 0));
            return;
        }
        let out = &mut self.tree.nodes;
        let unit = (out.len() / 4) as u32;
        for number in [closed.depth, closed.first, last, NO_NODE] {
            out.extend(number.to_le_bytes());
        }
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
        len > 0 && self.borders.has(self.starts[index] as usize + len)
    }

    fn fill_next(&mut self, range: std::ops::Range<usize>, depth: u32) {
        if !self.wants_next || self.is_full() {
            return;
        }
        for index in range {
            let at = self.starts[index] as usize + depth as usize;
            // At the start of a suffix, another one may end.
            let len = self.borders.near(at + usize::from(depth == 0)).map_or(4, |end| end - at);
            self.tree.next[index] = match self.text[at..].first_chunk() {
                Some(&bytes) if len >= 4 => u32::from_be_bytes(bytes),
                _ => {
                    let mut bytes = [0; 4];
                    let rest = &self.text[at..][..len.min(4)];
                    bytes[..rest.len()].copy_from_slice(rest);
                    u32::from_be_bytes(bytes)
                }
            };
        }
    }
}

/// A stored node, read in place. Its numbers can be anything.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) depth: usize,
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) link: u32,
    edges: usize,
    inner: bool,
    /// The section from the keys on.
    body: &'a [u8],
}

/// Where an edge leads.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) first: usize,
    /// One behind the last suffix.
    pub(super) end: usize,
    pub(super) node: u32,
}

impl<'a> Node<'a> {
    /// The node at a unit, or `None` if there can be none.
    #[inline]
    pub(super) fn at(section: &'a [u8], unit: u32) -> Option<Self> {
        let bytes = section.get((unit as usize).checked_mul(4)?..)?;
        let (head, body) = bytes.split_first_chunk::<HEAD>()?;
        let number = |index| u32_of(head, index);
        Some(Self {
            depth: number(0) as usize,
            first: number(1) as usize,
            end: number(2) as usize,
            link: number(3),
            edges: (number(4) & 0xFFFF) as usize,
            inner: number(4) >> 16 != 0,
            body,
        })
    }

    /// The edge whose first byte is `key`.
    #[inline]
    pub(super) fn edge(&self, key: u8) -> Option<Edge> {
        let index = index_of(self.body, self.edges, key);
        (index < self.edges).then(|| self.edge_at(index))
    }

    #[inline]
    fn edge_at(&self, index: usize) -> Edge {
        let rest = self.body.get(self.edges.next_multiple_of(4)..).unwrap_or_default().as_chunks().0;
        let number = |index: usize| rest.get(index).map_or(0, |&number| u32::from_le_bytes(number));
        let end = if index + 1 < self.edges { number(index + 1) as usize } else { self.end };
        let node = if self.inner { number(self.edges + index) } else { NO_NODE };
        Edge { first: number(index) as usize, end, node }
    }
}

/// Which of the first `count` bytes is `key`; `count` or more if none is.
#[inline]
fn index_of(bytes: &[u8], count: usize, key: u8) -> usize {
    let equal = |from: usize| {
        let keys = bytes.get(from..)?.first_chunk::<32>()?;
        let ([low, high], _) = keys.as_chunks() else { return None };
        Some(u64::from(equal16(low, key) | equal16(high, key) << 16))
    };
    // All at once: which of them it is cannot be guessed. What lies behind them does not count.
    match (equal(0), count) {
        (Some(found), ..=32) => found.trailing_zeros() as usize,
        (Some(found), ..=64) => match equal(32) {
            Some(more) => (found | more << 32).trailing_zeros() as usize,
            None => index_of_any(bytes, count, key),
        },
        _ => index_of_any(bytes, count, key),
    }
}

/// The same where there are more bytes, or fewer behind them, than are compared at once.
#[cold]
#[inline(never)]
fn index_of_any(bytes: &[u8], count: usize, key: u8) -> usize {
    bytes.iter().take(count).position(|&it| it == key).unwrap_or(usize::MAX)
}
