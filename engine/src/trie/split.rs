//! Builds the nodes for a few entries, as an insert needs them when a bucket is full.

use super::bucket::{Bucket, Entry, common};
use super::inner::Head;
use super::slot::{Node, Slot};

/// A subtree of sorted, distinct entries; there is at least one.
///
/// The same rule shapes images: a bucket if the entries fit into one, else an inner node where they part. It calls
/// itself at most once an entry, and a bucket never holds more than a few.
pub(super) fn subtree(entries: &[Entry]) -> Node {
    if let Some(bucket) = Bucket::pack(entries) {
        return Node::Bucket(bucket);
    }
    let shared = common(entries);
    let prefix = &entries[0].suffix[..shared];
    let (value, below) = match entries.split_first() {
        Some((first, rest)) if first.suffix.len() == shared => (Some(first.value), rest),
        _ => (None, entries),
    };
    let groups = below.chunk_by(|a, b| a.suffix[shared] == b.suffix[shared]);
    let mut node = Node::inner(Head::new(prefix, value), groups.clone().count());
    for group in groups {
        let stripped: Vec<Entry> =
            group.iter().map(|entry| Entry { suffix: &entry.suffix[shared + 1..], ..*entry }).collect();
        node.add(group[0].suffix[shared], Slot::node(subtree(&stripped)));
    }
    node
}
