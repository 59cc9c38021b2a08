//! Materialises many nodes at once: all of them, or those near the root.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::{panic, thread};

use super::slot::{NodeRef, Slot};
use super::tree::{Tree, fan_of, head_of};
use crate::error::{Error, Result};

/// Subtrees a thread, so that all of them end at about the same time.
const SHARES: usize = 64;

/// Materialises every node by `threads` threads (0: as many as there are processors), checks that they are as many as the
/// header says, and lets go of the image. The result is how many nodes there are.
pub(super) fn everything(tree: &mut Tree, threads: usize) -> Result<u64> {
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        some => some,
    };
    let keys = if threads == 1 { below(tree, vec![&tree.root])? } else { together(tree, threads)? };
    let Some(image) = tree.image.take() else { return Ok(0) };
    let nodes = image.materialised();
    if keys != tree.len || nodes != u64::from(image.header().node_count) {
        let reason = format!("the header promises {} keys and the nodes hold {keys}", tree.len);
        return Err(Error::corrupt(image.path(), 24, reason));
    }
    Ok(nodes)
}

/// Materialises the nodes that have fewer than `depth` nodes above them.
pub(super) fn to_depth(tree: &Tree, depth: usize) -> Result<()> {
    let mut level = vec![&tree.root];
    for _ in 0..depth {
        let mut next = Vec::new();
        for slot in level {
            if let Some(node) = tree.resolve(slot)? {
                children(node, &mut next);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(())
}

/// The keys that a node holds itself.
fn own_keys(node: NodeRef<'_>) -> u64 {
    match node {
        NodeRef::Bucket(bucket) => bucket.len() as u64,
        inner => u64::from(head_of(inner).is_some_and(|head| head.value.is_some())),
    }
}

/// Adds the children of a node, the first one first.
fn children<'t>(node: NodeRef<'t>, to: &mut Vec<&'t Slot>) {
    let mut from = 0;
    while let Some((edge, child)) = fan_of(node).and_then(|fan| fan.next(from)) {
        to.push(child);
        from = usize::from(edge) + 1;
    }
}

/// Materialises what is below some slots and counts the keys.
fn below(tree: &Tree, mut pending: Vec<&Slot>) -> Result<u64> {
    let mut keys = 0;
    while let Some(slot) = pending.pop() {
        let Some(node) = tree.resolve(slot)? else { continue };
        keys += own_keys(node);
        let first = pending.len();
        children(node, &mut pending);
        // In the order of the keys, so that neighbours come to lie side by side in memory.
        pending[first..].reverse();
    }
    Ok(keys)
}

/// Materialises everything: the upper levels alone, then whole subtrees in parallel.
fn together(tree: &Tree, threads: usize) -> Result<u64> {
    let (mut level, mut keys) = (vec![&tree.root], 0);
    while !level.is_empty() && level.len() < threads.saturating_mul(SHARES) {
        let mut next = Vec::new();
        for slot in level {
            if let Some(node) = tree.resolve(slot)? {
                keys += own_keys(node);
                children(node, &mut next);
            }
        }
        level = next;
    }
    let (next, total) = (AtomicUsize::new(0), AtomicU64::new(keys));
    // More threads than shares would have nothing to do.
    let threads = threads.min(level.len());
    let work = || -> Result<()> {
        while let Some(&slot) = level.get(next.fetch_add(1, Ordering::Relaxed)) {
            total.fetch_add(below(tree, vec![slot])?, Ordering::Relaxed);
        }
        Ok(())
    };
    let mut outcome = Ok(());
    thread::scope(|scope| {
        // Where the system gives fewer threads, those that there are do the work.
        let others: Vec<_> =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        outcome = work();
        for other in others {
            let ended = other.join().unwrap_or_else(|fault| panic::resume_unwind(fault));
            if outcome.is_ok() {
                outcome = ended;
            }
        }
    });
    outcome.map(|()| total.into_inner())
}
