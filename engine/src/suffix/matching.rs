//! Matching statistics: for each place of a query, the longest part that ends there and occurs (Chang and Lawler 1994).
//!
//! The query is read symbol by symbol; a part that cannot go on loses its first symbol and tries again. Losing one is a
//! step along the link of the stored node above, and from there down to the same length, which all together takes time in
//! proportion to the query. Below the nodes is a bucket, where the samples of [`View::reach`] tell neighbours that share
//! enough without reading all of it again.

use std::cmp::Ordering;
use std::ops::Range;

use super::docs::u32_of;
use super::sorted::STEP;
use super::tree::{BUCKET_MOST, NO_NODE, Node};
use super::view::{View, partition};
use crate::symbol::Symbol;

/// The part of `query` with the most symbols that occurs, the first of several, and its symbols.
pub(super) fn longest<K: Symbol>(view: &View<'_>, query: &[u8]) -> (usize, Range<usize>) {
    let next = |at: usize| (at + 1..query.len()).find(|&at| K::starts(query[at])).unwrap_or(query.len());
    let mut best = (0, 0..0);
    let mut walk = Walk::new(view);
    let (mut start, mut symbols, mut from) = (0, 0, 0);
    while from < query.len() {
        let to = next(from);
        let mut at = from;
        while at < to {
            if walk.extend(query[at]) {
                at += 1;
            } else if start < from {
                let first = start;
                start = next(start);
                symbols -= 1;
                walk.shorten(start - first, &query[start..at]);
            } else {
                break;
            }
        }
        if at == to {
            symbols += 1;
            if symbols > best.0 {
                best = (symbols, start..to);
            }
        } else {
            // This symbol does not occur.
            walk = Walk::new(view);
            start = to;
        }
        from = to;
    }
    best
}

/// A string that occurs, and where it lies in the tree.
struct Walk<'w, 'v> {
    view: &'w View<'v>,
    /// Bytes of the string.
    len: usize,
    /// The suffixes that begin with it.
    range: Range<usize>,
    /// The last stored node on the way to it, itself included.
    above: u32,
    /// Where it lies from there.
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// It is the string of the node.
    Node,
    /// On the way to another node.
    Edge(u32),
    /// Below all nodes.
    Bucket,
}

impl<'w, 'v> Walk<'w, 'v> {
    fn new(view: &'w View<'v>) -> Self {
        let mut walk = Self { view, len: 0, range: 0..0, above: NO_NODE, place: Place::Bucket };
        walk.descend(NO_NODE, &[], None);
        walk
    }

    fn node(&self, unit: u32) -> Option<Node<'v>> {
        Node::at(self.view.tree(), unit)
    }

    /// The string with one byte more, if that occurs; else nothing changes.
    fn extend(&mut self, byte: u8) -> bool {
        match self.place {
            Place::Node => {
                let Some(edge) = self.node(self.above).and_then(|node| node.edge(byte)) else { return false };
                if edge.node != NO_NODE && edge.node >= self.above {
                    return false;
                }
                self.range = edge.first..edge.end.min(self.view.places.plan.head.suffixes as usize);
                self.place = if edge.node == NO_NODE { Place::Bucket } else { Place::Edge(edge.node) };
            }
            Place::Edge(_) => {
                if self.view.text().get(self.view.array().get(self.range.start) + self.len) != Some(&byte) {
                    return false;
                }
            }
            Place::Bucket => {
                let order = |index: usize| self.symbol(index).cmp(&Some(byte));
                let start = partition(self.range.clone(), |index| order(index) == Ordering::Less);
                let end = partition(start..self.range.end, |index| order(index) == Ordering::Equal);
                if start == end {
                    return false;
                }
                self.range = start..end;
            }
        }
        self.len += 1;
        if let Place::Edge(below) = self.place
            && self.node(below).is_none_or(|node| node.depth <= self.len)
        {
            (self.above, self.place) = (below, Place::Node);
        }
        true
    }

    /// What follows the string in a suffix; nothing at the end of its text.
    fn symbol(&self, index: usize) -> Option<u8> {
        let at = self.view.array().get(index) + self.len;
        if self.len > 0 && self.view.docs().next_start(at, at + 1).is_some() {
            return None;
        }
        self.view.text().get(at).copied()
    }

    /// Takes the first `lost` bytes, which are a symbol, off; `rest` is what stays.
    fn shorten(&mut self, lost: usize, rest: &[u8]) {
        let link = self.node(self.above).map_or(NO_NODE, |node| node.link);
        let occurrence = self.view.array().get(self.range.start) + lost;
        self.descend(link, rest, Some(occurrence));
    }

    /// Goes to `string`, which occurs at `occurrence`, from a node whose string it begins with; from the top if that is
    /// none.
    fn descend(&mut self, from: u32, string: &[u8], occurrence: Option<usize>) {
        let view = self.view;
        self.len = string.len();
        self.range = 0..view.places.plan.head.suffixes as usize;
        let fits = |unit: u32| self.node(unit).filter(|node| node.depth <= string.len());
        let mut unit = if fits(from).is_some() { from } else { view.places.root };
        let Some(mut node) = fits(unit) else {
            self.above = NO_NODE;
            self.place = if unit == NO_NODE { Place::Bucket } else { Place::Edge(unit) };
            return self.find(string, occurrence);
        };
        self.range = node.first..node.end.min(view.places.plan.head.suffixes as usize);
        loop {
            (self.above, self.place) = (unit, Place::Node);
            let Some(edge) = string.get(node.depth).and_then(|&key| node.edge(key)) else { return };
            self.range = edge.first..edge.end.min(view.places.plan.head.suffixes as usize);
            let child = self.node(edge.node).filter(|child| edge.node < unit && child.depth > node.depth);
            match child {
                Some(child) if child.depth <= string.len() => (unit, node) = (edge.node, child),
                Some(_) => {
                    self.place = Place::Edge(edge.node);
                    return;
                }
                None => {
                    self.place = Place::Bucket;
                    return self.find(string, occurrence);
                }
            }
        }
    }

    /// Leaves those of a bucket that begin with `string`, one of which starts at `occurrence`.
    fn find(&mut self, string: &[u8], occurrence: Option<usize>) {
        let Range { start, end } = self.range;
        let (Place::Bucket, Some(occurrence)) = (self.place, occurrence) else { return };
        if string.is_empty() {
            return;
        }
        if end.saturating_sub(start) > BUCKET_MOST {
            // Below the last level of a tree that has not all nodes, and in forged ones.
            let order = |index: usize| self.view.compare(self.view.array().get(index), 0, string);
            let low = partition(start..end, |index| order(index) == Ordering::Less);
            self.range = low..partition(low..end, |index| order(index) == Ordering::Equal);
            return;
        }
        let known = (start..end).find(|&index| self.view.array().get(index) == occurrence).unwrap_or(start);
        let mut low = known;
        while low > start && self.shares(low) {
            low -= 1;
        }
        let high = (known + 1..end).find(|&index| !self.shares(index)).unwrap_or(end);
        self.range = low..high;
    }

    /// Whether a suffix has as many bytes as the string in common with the one before it.
    fn shares(&self, index: usize) -> bool {
        let view = self.view;
        let (at, before) = (view.array().get(index), view.array().get(index - 1));
        let wanted = at + self.len;
        let (mut known, mut most) = (at, usize::MAX);
        if !view.reach().is_empty() {
            known = at.max(u32_of(view.reach(), at / STEP) as usize);
            most = u32_of(view.reach(), at / STEP + 1) as usize;
        }
        if known >= wanted || most < wanted {
            return known >= wanted;
        }
        let skipped = known - at;
        let part = |at: usize| {
            let from = (at + skipped).max(at + 1);
            let ends = view.docs().next_start(from, at + self.len).is_some();
            view.text().get(at + skipped..at + self.len).filter(|_| !ends)
        };
        part(at).is_some_and(|one| part(before) == Some(one))
    }
}
