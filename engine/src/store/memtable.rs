//! Changes that are in no image yet, in the order of their keys.
//!
//! A B+tree whose nodes are shared: a clone costs one count, and a change of a table copies the nodes on its way that
//! another table has as well. So every version of the store has its own table, which never changes under a reader, and no
//! memory needs to be reclaimed later. Nothing is ever taken out: a removal is an entry too.

use std::ops::Bound;
use std::sync::Arc;

/// Entries of a leaf, children of an inner node.
const MOST: usize = 32;

/// What became of a key: its value as little-endian bytes, or gone.
pub(super) type Change = Option<u64>;

#[derive(Clone)]
struct Entry {
    key: Arc<[u8]>,
    change: Change,
}

#[derive(Clone)]
struct Child {
    /// No key below is less; for the first child it is not looked at.
    from: Arc<[u8]>,
    node: Arc<Node>,
}

#[derive(Clone)]
enum Node {
    Leaf(Vec<Entry>),
    Inner(Vec<Child>),
}

/// A sorted map from keys to changes.
#[derive(Clone, Default)]
pub(super) struct Memtable {
    root: Option<Arc<Node>>,
    len: usize,
    bytes: usize,
}

impl Memtable {
    /// How many keys have an entry.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of all keys.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Change> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(entries) => {
                    let at = entries.binary_search_by(|entry| (*entry.key).cmp(key)).ok()?;
                    return Some(entries[at].change);
                }
                Node::Inner(children) => node = &children[child_of(children, key)].node,
            }
        }
    }

    pub(super) fn set(&mut self, key: &[u8], change: Change) {
        let root = self.root.get_or_insert_with(|| Arc::new(Node::Leaf(Vec::with_capacity(MOST))));
        let (new, split) = insert(Arc::make_mut(root), key, change);
        if let Some(right) = split {
            let left = Child { from: Arc::from(&b""[..]), node: Arc::clone(root) };
            *root = Arc::new(Node::Inner(vec![left, right]));
        }
        if new {
            self.len += 1;
            self.bytes += key.len();
        }
    }

    /// Sets many keys, which come in order and once each. An empty table is built leaf by leaf.
    pub(super) fn fill<'k>(&mut self, changes: impl Iterator<Item = (&'k [u8], Change)>) {
        if self.root.is_some() {
            changes.for_each(|(key, change)| self.set(key, change));
            return;
        }
        let (mut level, mut leaf) = (Vec::new(), Vec::new());
        let close = |leaf: &mut Vec<Entry>, level: &mut Vec<Child>| {
            let from = Arc::clone(&leaf[0].key);
            level.push(Child { from, node: Arc::new(Node::Leaf(std::mem::take(leaf))) });
        };
        for (key, change) in changes {
            if leaf.len() == MOST {
                close(&mut leaf, &mut level);
            }
            if leaf.is_empty() {
                leaf.reserve_exact(MOST);
            }
            leaf.push(Entry { key: Arc::from(key), change });
            self.len += 1;
            self.bytes += key.len();
        }
        if !leaf.is_empty() {
            close(&mut leaf, &mut level);
        }
        while level.len() > 1 {
            let mut above = Vec::with_capacity(level.len().div_ceil(MOST));
            let mut below = level.into_iter().peekable();
            while let Some(first) = below.peek() {
                let from = Arc::clone(&first.from);
                let node = Arc::new(Node::Inner(below.by_ref().take(MOST).collect()));
                above.push(Child { from, node });
            }
            level = above;
        }
        self.root = level.pop().map(|root| root.node);
    }

    /// A walk whose first entry is the first one within `start`.
    pub(super) fn walk(&self, start: Bound<&[u8]>) -> Walk<'_> {
        let mut walk = Walk { above: Vec::new(), leaf: &[] };
        let mut next = self.root.as_deref();
        while let Some(node) = next {
            next = match node {
                Node::Inner(children) => {
                    let at = match start {
                        Bound::Included(key) | Bound::Excluded(key) => child_of(children, key),
                        Bound::Unbounded => 0,
                    };
                    walk.above.push(&children[at + 1..]);
                    Some(&children[at].node)
                }
                Node::Leaf(entries) => {
                    let at = entries.partition_point(|entry| match start {
                        Bound::Included(key) => *entry.key < *key,
                        Bound::Excluded(key) => *entry.key <= *key,
                        Bound::Unbounded => false,
                    });
                    walk.leaf = &entries[at..];
                    None
                }
            };
        }
        walk.settle();
        walk
    }
}

fn child_of(children: &[Child], key: &[u8]) -> usize {
    children[1..].partition_point(|child| *child.from <= *key)
}

/// Whether the key is new, and the node that is to stand behind this one.
fn insert(node: &mut Node, key: &[u8], change: Change) -> (bool, Option<Child>) {
    match node {
        Node::Leaf(entries) => match entries.binary_search_by(|entry| (*entry.key).cmp(key)) {
            Ok(at) => {
                entries[at].change = change;
                (false, None)
            }
            Err(at) => {
                entries.insert(at, Entry { key: Arc::from(key), change });
                let split = split(entries, at).map(|right| Child {
                    from: Arc::clone(&right[0].key),
                    node: Arc::new(Node::Leaf(right)),
                });
                (true, split)
            }
        },
        Node::Inner(children) => {
            let at = child_of(children, key);
            let (new, right) = insert(Arc::make_mut(&mut children[at].node), key, change);
            let Some(right) = right else { return (new, None) };
            children.insert(at + 1, right);
            let split = split(children, at + 1)
                .map(|right| Child { from: Arc::clone(&right[0].from), node: Arc::new(Node::Inner(right)) });
            (new, split)
        }
    }
}

/// The right part of a list that has just become too long: a half, or only the last one if that was put in last, so
/// that ascending keys leave full nodes behind.
fn split<T>(list: &mut Vec<T>, put: usize) -> Option<Vec<T>> {
    if list.len() <= MOST {
        return None;
    }
    let at = if put + 1 == list.len() { put } else { list.len() / 2 };
    let mut right = Vec::with_capacity(MOST + 1);
    right.extend(list.drain(at..));
    Some(right)
}

/// Walks a table upwards.
pub(super) struct Walk<'m> {
    /// Children that come later, for every inner node on the way.
    above: Vec<&'m [Child]>,
    /// What is left of the leaf; empty only at the end.
    leaf: &'m [Entry],
}

impl<'m> Walk<'m> {
    /// Leaves a leaf that is done.
    fn settle(&mut self) {
        while self.leaf.is_empty() {
            let Some(later) = self.above.pop() else { return };
            let Some((first, later)) = later.split_first() else { continue };
            self.above.push(later);
            match &*first.node {
                Node::Leaf(entries) => self.leaf = entries,
                Node::Inner(children) => self.above.push(children),
            }
        }
    }

    pub(super) fn key(&self) -> Option<&'m [u8]> {
        self.leaf.first().map(|entry| &*entry.key)
    }

    pub(super) fn change(&self) -> Option<Change> {
        self.leaf.first().map(|entry| entry.change)
    }

    pub(super) fn advance(&mut self) {
        self.leaf = self.leaf.get(1..).unwrap_or(&[]);
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn all(walk: Walk<'_>) -> Vec<(Vec<u8>, Change)> {
        let mut walk = walk;
        let mut found = Vec::new();
        while let (Some(key), Some(change)) = (walk.key(), walk.change()) {
            found.push((key.to_vec(), change));
            walk.advance();
        }
        found
    }

    #[test]
    fn ascending_keys_leave_full_leaves() {
        let mut table = Memtable::default();
        for key in 0_u32..1024 {
            table.set(&key.to_be_bytes(), Some(1));
        }
        let mut walk = table.walk(Bound::Unbounded);
        let mut leaves = 0;
        while walk.key().is_some() {
            leaves += usize::from(walk.leaf.len() == MOST);
            walk.advance();
        }
        assert_eq!(leaves, 1024 / MOST);
    }

    proptest! {
        #[test]
        fn is_filled_as_if_key_by_key(len in 0_u32..3_000, more in prop::collection::vec((0_u32..3_000, any::<u64>()), 0..200)) {
            let keys: Vec<_> = (0..len).map(|key| (key * 2).to_be_bytes()).collect();
            let (mut filled, mut single) = (Memtable::default(), Memtable::default());
            filled.fill(keys.iter().map(|key| (&key[..], Some(1))));
            keys.iter().for_each(|key| single.set(key, Some(1)));
            for (key, value) in &more {
                filled.set(&key.to_be_bytes(), Some(*value));
                single.set(&key.to_be_bytes(), Some(*value));
            }
            prop_assert_eq!((filled.len(), filled.bytes()), (single.len(), single.bytes()));
            prop_assert_eq!(all(filled.walk(Bound::Unbounded)), all(single.walk(Bound::Unbounded)));
            let again: Vec<_> = more.iter().map(|(key, _)| (key * 3).to_be_bytes()).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            filled.fill(again.iter().map(|key| (&key[..], None)));
            again.iter().for_each(|key| single.set(key, None));
            prop_assert_eq!(all(filled.walk(Bound::Unbounded)), all(single.walk(Bound::Unbounded)));
            for key in 0..len * 2 {
                prop_assert_eq!(filled.get(&key.to_be_bytes()), single.get(&key.to_be_bytes()));
            }
        }

        #[test]
        fn is_a_sorted_map_and_clones_stay_as_they_are(
            sets in prop::collection::vec((prop::collection::vec(0_u8..4, 0..6), prop::option::of(any::<u64>())), 0..600),
            start in prop::collection::vec(0_u8..4, 0..4),
            cut in 0_usize..600,
        ) {
            let (mut table, mut model) = (Memtable::default(), BTreeMap::new());
            let mut kept = (table.clone(), model.clone());
            for (index, (key, change)) in sets.iter().enumerate() {
                if index == cut {
                    kept = (table.clone(), model.clone());
                }
                table.set(key, *change);
                model.insert(key.clone(), *change);
            }
            for (table, model) in [(&table, &model), (&kept.0, &kept.1)] {
                prop_assert_eq!(table.len(), model.len());
                prop_assert_eq!(table.bytes(), model.keys().map(Vec::len).sum::<usize>());
                for (key, _) in &sets {
                    prop_assert_eq!(table.get(key), model.get(key).copied());
                }
                for bound in [Bound::Included(&start[..]), Bound::Excluded(&start[..]), Bound::Unbounded] {
                    let expected: Vec<_> = model
                        .range::<[u8], _>((bound, Bound::Unbounded))
                        .map(|(key, change)| (key.clone(), *change))
                        .collect();
                    prop_assert_eq!(all(table.walk(bound)), expected);
                }
            }
        }
    }
}
