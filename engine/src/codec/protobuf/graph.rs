//! A tree of nodes that was read from records, and its terms in order.

use super::super::receiver::Receiver;
use super::super::{Result, Sink};
use super::Counts;

/// Nodes and their edges, which lie together for each node.
pub(super) struct Graph {
    pub(super) root: u32,
    /// Where the edges of each node begin, and at the end their number.
    pub(super) first: Vec<u32>,
    /// The byte of each edge.
    pub(super) labels: Vec<u8>,
    /// The node that each edge leads to. Every node but the root has one edge to it.
    pub(super) targets: Vec<u32>,
    /// Whether a term ends at each node.
    pub(super) finals: Vec<bool>,
}

/// An open node of a walk: its edges not yet followed.
struct Frame {
    next: u32,
    end: u32,
}

impl Graph {
    /// Gives every term to the receiver and checks the counts. `value` gets a node and the number of its term.
    ///
    /// Each node has one edge to it, so a walk from the root never comes to a node twice; a node it does not come to is
    /// on a cycle or hangs on one.
    pub(super) fn emit<S: Sink>(
        &self,
        counts: Counts,
        offset: usize,
        receiver: &mut Receiver<'_, S>,
        mut value: impl FnMut(u32, u64) -> u64,
    ) -> Result<()> {
        let (mut term, mut open) = (Vec::new(), Vec::new());
        let mut visited = 0_u64;
        let mut node = self.root;
        loop {
            visited += 1;
            if self.finals[node as usize] {
                let value = value(node, receiver.terms());
                receiver.composed(&term, value, offset)?;
            }
            let (next, end) = (self.first[node as usize], self.first[node as usize + 1]);
            open.push(Frame { next, end });
            // Up to the next node with an edge not yet followed.
            let edge = loop {
                let Some(frame) = open.last_mut() else {
                    return self.check(counts, visited, offset, receiver);
                };
                if frame.next < frame.end {
                    frame.next += 1;
                    break frame.next - 1;
                }
                open.pop();
                term.pop();
            };
            term.push(self.labels[edge as usize]);
            node = self.targets[edge as usize];
        }
    }

    fn check<S: Sink>(
        &self,
        counts: Counts,
        visited: u64,
        offset: usize,
        receiver: &Receiver<'_, S>,
    ) -> Result<()> {
        let all = self.finals.len() as u64;
        if visited != all {
            let reason = format!("{} of {all} nodes are not below the root: there is a cycle", all - visited);
            return Err(receiver.malformed(offset, reason));
        }
        let found = Counts { nodes: all, terms: receiver.terms(), text: receiver.text() as u64 };
        if found != counts {
            let reason = format!(
                "the counts promise {} nodes, {} terms and {} bytes of terms; found {}, {} and {}",
                counts.nodes, counts.terms, counts.text, found.nodes, found.terms, found.text
            );
            return Err(receiver.malformed(offset, reason));
        }
        Ok(())
    }
}

impl Graph {
    /// Brings the edges of every node into the order of their bytes. The error is a node that has two with the same.
    pub(super) fn sort(&mut self) -> std::result::Result<(), usize> {
        let mut edges = Vec::new();
        for (node, span) in self.first.windows(2).enumerate() {
            let span = span[0] as usize..span[1] as usize;
            if ascends(&self.labels[span.clone()]) {
                continue;
            }
            edges.clear();
            edges.extend(
                self.labels[span.clone()].iter().copied().zip(self.targets[span.clone()].iter().copied()),
            );
            edges.sort_unstable();
            if edges.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(node);
            }
            for (at, &(label, target)) in span.zip(&edges) {
                (self.labels[at], self.targets[at]) = (label, target);
            }
        }
        Ok(())
    }
}

/// Whether bytes are in order and each is there once.
pub(super) fn ascends(labels: &[u8]) -> bool {
    labels.is_sorted_by(|a, b| a < b)
}
