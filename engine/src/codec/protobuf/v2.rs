//! Version 2: the adjacency list of every node, in columns of differences. The schema is
//! `proto/dictionary_v2.proto`.
//!
//! Nodes have the numbers in which a walk leaves them, so a node stands behind all nodes below it, its list is complete
//! when it is written, and a cycle cannot be expressed. Columns come in pieces of some thousand nodes: to a decoder
//! of Protocol Buffers, packed fields in pieces are one field.

use super::super::out::{Out, varint};
use super::super::reader::Reader;
use super::super::receiver::Receiver;
use super::super::source::Neighbours;
use super::super::{Capacity, Format, Result, Sink, Source};
use super::graph::{Graph, ascends};
use super::{BYTES, Common, Content, Counts, Field, expected, head, peek, tail};

/// Numbers of the columns.
const HEADS: u64 = 3;
const LABELS: u64 = 4;
const BACKS: u64 = 5;
const VALUES: u64 = 6;

/// Bytes of a piece of the columns.
const PIECE: usize = 16 << 10;

/// Columns that are being written.
#[derive(Default)]
struct Columns {
    heads: Vec<u8>,
    labels: Vec<u8>,
    backs: Vec<u8>,
    values: Vec<u8>,
}

impl Columns {
    fn each(&mut self) -> [(u64, &mut Vec<u8>); 4] {
        [
            (HEADS, &mut self.heads),
            (LABELS, &mut self.labels),
            (BACKS, &mut self.backs),
            (VALUES, &mut self.values),
        ]
    }

    /// Puts the columns into the message.
    fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        for (field, column) in self.each() {
            if !column.is_empty() {
                out.push(&[(field << 3 | BYTES) as u8]);
                out.varint(column.len() as u64);
                out.push(column);
                column.clear();
            }
        }
        out.settle()
    }
}

/// A node on the way to the last term, whose list is not complete.
struct Open {
    /// The byte of the edge to it.
    label: u8,
    is_final: bool,
    /// Where its edges begin among those of all open nodes.
    edges: usize,
}

/// What has been encoded so far.
struct Encoding {
    columns: Columns,
    open: Vec<Open>,
    /// The edges of the open nodes to complete ones, those of each node together.
    edges: Vec<(u8, u64)>,
    nodes: u64,
}

impl Encoding {
    /// Completes open nodes until `depth` are left.
    #[inline]
    fn close(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(node) = self.open.pop() else { return };
            let id = self.nodes;
            let edges = &self.edges[node.edges..];
            varint(&mut self.columns.heads, (edges.len() as u64) << 1 | u64::from(node.is_final));
            for &(label, target) in edges {
                varint(&mut self.columns.labels, u64::from(label));
                varint(&mut self.columns.backs, id - target);
            }
            self.edges.truncate(node.edges);
            self.edges.push((node.label, id));
            self.nodes += 1;
        }
    }
}

pub(in super::super) fn encode<S: Source + ?Sized>(
    source: &S,
    capacity: Capacity,
    out: &mut Out<'_>,
) -> Result<()> {
    let valued = source.has_values();
    let mut it = Encoding { columns: Columns::default(), open: Vec::new(), edges: Vec::new(), nodes: 0 };
    if capacity == Capacity::Exact {
        // A piece a column, and in the message what a node takes when numbers are near.
        for (_, column) in it.columns.each() {
            column.reserve(PIECE + 64);
        }
        it.open.reserve(64);
        it.edges.reserve(256);
        out.reserve(64 + source.text_len()? + if valued { 3 } else { 1 } * source.len());
    }
    head(2, valued, out);
    it.open.push(Open { label: 0, is_final: false, edges: 0 });
    let mut counts = Counts::default();
    let mut neighbours = Neighbours::default();
    let mut before = 0_u64;
    source.for_each(|term, value| {
        let shared = neighbours.shared(term.as_bytes())?;
        it.close(shared + 1);
        for &label in &term.as_bytes()[shared..] {
            it.open.push(Open { label, is_final: false, edges: it.edges.len() });
        }
        if let Some(node) = it.open.last_mut() {
            node.is_final = true;
        }
        if valued {
            varint(&mut it.columns.values, zigzag(value.wrapping_sub(before) as i64));
            before = value;
        }
        counts.terms += 1;
        counts.text += term.len() as u64;
        if it.columns.labels.len() >= PIECE || it.columns.values.len() >= PIECE {
            it.columns.flush(out)?;
        }
        Ok(())
    })?;
    it.close(0);
    it.columns.flush(out)?;
    tail(Counts { nodes: it.nodes, ..counts }, out);
    Ok(())
}

/// Numbers near zero, of either sign, to small ones.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Columns that were read, and where the last piece of each began.
#[derive(Default)]
struct Read {
    /// Where the edges of each node begin, and at the end their number.
    first: Vec<u32>,
    finals: Vec<bool>,
    labels: Vec<u8>,
    backs: Vec<u64>,
    values: Vec<u64>,
    heads_at: usize,
    backs_at: usize,
}

impl Read {
    /// Reads a column, in one piece or in many, packed or a number at a time.
    fn take(&mut self, field: Field<'_>, reader: &Reader<'_>) -> Result<()> {
        let (number, offset) = (field.number, field.offset);
        match number {
            HEADS => self.heads_at = offset,
            BACKS => self.backs_at = offset,
            _ => {}
        }
        match field.content {
            Content::Number(value) => self.push(number, value, offset, reader),
            Content::Bytes(mut piece) => {
                while !piece.is_empty() {
                    let offset = piece.offset();
                    let value = piece.varint("a number of a column")?;
                    self.push(number, value, offset, reader)?;
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn push(&mut self, column: u64, value: u64, offset: usize, reader: &Reader<'_>) -> Result<()> {
        match column {
            HEADS => {
                let before = self.first.last().copied().unwrap_or(0);
                let end = u32::try_from(value >> 1).ok().and_then(|degree| before.checked_add(degree));
                let Some(end) = end else {
                    let reason = format!("a node with {} edges makes too many", value >> 1);
                    return Err(reader.malformed(offset, reason));
                };
                self.first.push(end);
                self.finals.push(value & 1 == 1);
            }
            LABELS => {
                let label = u8::try_from(value);
                self.labels
                    .push(label.map_err(|_| reader.malformed(offset, format!("label {value} is no byte")))?);
            }
            BACKS => self.backs.push(value),
            VALUES => self.values.push(value),
            _ => {}
        }
        Ok(())
    }

    fn graph(self, reader: &Reader<'_>) -> Result<(Graph, Vec<u64>)> {
        let nodes = self.finals.len();
        let edges = self.first.last().copied().unwrap_or(0) as usize;
        if nodes == 0 || edges != nodes - 1 || self.labels.len() != edges || self.backs.len() != edges {
            let (labels, backs) = (self.labels.len(), self.backs.len());
            let reason = format!(
                "{nodes} nodes with {edges} edges, {labels} labels and {backs} differences are no tree"
            );
            return Err(reader.malformed(self.heads_at, reason));
        }
        let mut reached = vec![false; nodes];
        let mut targets = Vec::with_capacity(edges);
        let mut in_order = true;
        for (node, span) in self.first.windows(2).enumerate() {
            let span = span[0] as usize..span[1] as usize;
            in_order &= ascends(&self.labels[span.clone()]);
            for &back in &self.backs[span] {
                let target = usize::try_from(back)
                    .ok()
                    .filter(|&back| back > 0 && back <= node)
                    .map(|back| node - back);
                let fresh = target.filter(|&target| !std::mem::replace(&mut reached[target], true));
                let Some(target) = fresh else {
                    let reason = format!(
                        "an edge of node {node} goes back by {back}: to no node, or to one that has an edge"
                    );
                    return Err(reader.malformed(self.backs_at, reason));
                };
                targets.push(target as u32);
            }
        }
        let root = (nodes - 1) as u32;
        let mut graph = Graph { root, first: self.first, labels: self.labels, targets, finals: self.finals };
        if !in_order && let Err(node) = graph.sort() {
            let reason = format!("two edges of node {node} have the same label");
            return Err(reader.malformed(self.heads_at, reason));
        }
        Ok((graph, self.values))
    }
}

pub(in super::super) fn decode<S: Sink>(
    bytes: &[u8],
    capacity: Capacity,
    mut receiver: Receiver<'_, S>,
) -> Result<()> {
    let mut reader = Reader::new(bytes, Format::ProtobufV2);
    let mut read = Read::default();
    if let Some(counts) = peek(bytes, capacity) {
        // A node takes at least a byte.
        let nodes = counts.nodes.min(bytes.len() as u64) as usize;
        read.first.reserve_exact(nodes + 1);
        read.finals.reserve_exact(nodes);
        read.labels.reserve_exact(nodes);
        read.backs.reserve_exact(nodes);
    }
    read.first.push(0);
    let mut common = Common::default();
    while !reader.is_empty() {
        let Some(field) = common.take(2, Format::ProtobufV2, bytes, &mut reader)? else { continue };
        if common.valued && read.values.capacity() == 0 && capacity == Capacity::Exact {
            let terms = peek(bytes, capacity).map_or(0, |it| it.terms);
            read.values.reserve_exact(terms.min(bytes.len() as u64) as usize);
        }
        if (HEADS..=VALUES).contains(&field.number) {
            read.take(field, &reader)?;
        }
    }
    let counts = common.counts(&reader)?;
    let (graph, values) = read.graph(&reader)?;
    if values.len() as u64 != if common.valued { counts.terms } else { 0 } {
        let reason = format!("{} values for {} terms", values.len(), counts.terms);
        return Err(reader.malformed(reader.offset(), reason));
    }
    receiver.start(common.valued, expected(counts, capacity, graph.finals.len()))?;
    let mut value = 0_u64;
    graph.emit(counts, reader.offset(), &mut receiver, |_, term| {
        let step = values.get(term as usize).copied().unwrap_or(0);
        value = value.wrapping_add(unzigzag(step) as u64);
        value
    })
}
