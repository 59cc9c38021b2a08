//! Version 1: a record a node and a record an edge. The schema is `proto/dictionary_v1.proto`.
//!
//! Encoded, nodes have the numbers in which a walk in order comes to them, and each stands behind the edge to it.
//! Decoded, records come in any order and nodes have any numbers.

use std::collections::HashMap;

use super::super::out::{Out, varint};
use super::super::reader::Reader;
use super::super::receiver::Receiver;
use super::super::source::Neighbours;
use super::super::{Capacity, Format, Result, Sink, Source};
use super::graph::Graph;
use super::{BYTES, Common, Counts, NUMBER, expected, field, head, peek, tail, varint_len};

/// Numbers of the fields of a dictionary.
const NODE: u64 = 3;
const EDGE: u64 = 4;
/// Those of a node, and of an edge.
const ID: u64 = 1;
const FINAL: u64 = 2;
const VALUE: u64 = 3;
const SOURCE: u64 = 1;
const LABEL: u64 = 2;
const TARGET: u64 = 3;

/// The tags of records.
const NODE_TAG: u8 = (NODE << 3 | BYTES) as u8;
const EDGE_TAG: u8 = (EDGE << 3 | BYTES) as u8;

/// The tag of a field that is a number.
const fn number(field: u64) -> u8 {
    (field << 3 | NUMBER) as u8
}

/// Counts nodes, for room.
fn count<S: Source + ?Sized>(source: &S) -> Result<Counts> {
    let mut counts = Counts { nodes: 1, terms: source.len(), text: 0 };
    let mut neighbours = Neighbours::default();
    source.for_each(|term, _| {
        counts.nodes += (term.len() - neighbours.shared(term.as_bytes())?) as u64;
        counts.text += term.len() as u64;
        Ok(())
    })?;
    Ok(counts)
}

pub(in super::super) fn encode<S: Source + ?Sized>(
    source: &S,
    capacity: Capacity,
    out: &mut Out<'_>,
) -> Result<()> {
    let valued = source.has_values();
    // The numbers of the nodes on the way to the last term, the root first.
    let mut path: Vec<u64> = Vec::new();
    if capacity == Capacity::Exact {
        let counts = count(source)?;
        let id = varint_len(counts.nodes) as u64;
        let values = if valued { 11 } else { 0 };
        out.reserve(64 + counts.nodes * (9 + 3 * id) + counts.terms * (2 + values));
        path.reserve(64);
    }
    head(1, valued, out);
    path.push(0);
    let mut counts = Counts { nodes: 1, terms: 0, text: 0 };
    let mut neighbours = Neighbours::default();
    source.for_each(|term, value| {
        let shared = neighbours.shared(term.as_bytes())?;
        // The root has no edge before it that could hold its place: it is written with the first term.
        if counts.terms == 0 {
            node(0, term.is_empty().then_some(value), valued, out);
        }
        path.truncate(shared + 1);
        for (depth, &label) in term.as_bytes().iter().enumerate().skip(shared) {
            let id = counts.nodes;
            edge(path[depth], label, id, out);
            node(id, (depth + 1 == term.len()).then_some(value), valued, out);
            path.push(id);
            counts.nodes += 1;
        }
        counts.terms += 1;
        counts.text += term.len() as u64;
        out.settle()
    })?;
    if counts.terms == 0 {
        node(0, None, valued, out);
    }
    tail(counts, out);
    Ok(())
}

#[inline]
fn node(id: u64, value: Option<u64>, valued: bool, out: &mut Out<'_>) {
    let held = out.held();
    held.extend_from_slice(&[NODE_TAG, 0]);
    let start = held.len();
    if id > 0 {
        held.push(number(ID));
        varint(held, id);
    }
    if let Some(value) = value {
        held.extend_from_slice(&[number(FINAL), 1]);
        if valued && value > 0 {
            held.push(number(VALUE));
            varint(held, value);
        }
    }
    // At most 35 bytes: the length takes one.
    held[start - 1] = (held.len() - start) as u8;
}

#[inline]
fn edge(source: u64, label: u8, target: u64, out: &mut Out<'_>) {
    let held = out.held();
    held.extend_from_slice(&[EDGE_TAG, 0]);
    let start = held.len();
    if source > 0 {
        held.push(number(SOURCE));
        varint(held, source);
    }
    if label > 0 {
        held.push(number(LABEL));
        varint(held, u64::from(label));
    }
    held.push(number(TARGET));
    varint(held, target);
    held[start - 1] = (held.len() - start) as u8;
}

/// A node as it was read.
struct Node {
    value: u64,
    is_final: bool,
}

/// An edge as it was read, and where.
struct Edge {
    source: u64,
    target: u64,
    offset: usize,
    label: u8,
}

/// The places of nodes by their numbers.
enum Places {
    /// Every number so far is the place.
    Same,
    Mapped(HashMap<u64, u32>),
}

impl Places {
    fn get(&self, id: u64, nodes: usize) -> Option<u32> {
        match self {
            Self::Same => (id < nodes as u64).then_some(id as u32),
            Self::Mapped(places) => places.get(&id).copied(),
        }
    }

    /// Gives the next place to a number; false if it has one.
    fn push(&mut self, id: u64, nodes: usize, room: usize) -> bool {
        if let Self::Same = self {
            if id == nodes as u64 {
                return true;
            }
            let mut places = HashMap::with_capacity(room);
            places.extend((0..nodes).map(|it| (it as u64, it as u32)));
            *self = Self::Mapped(places);
        }
        match self {
            Self::Mapped(places) => places.insert(id, nodes as u32).is_none(),
            Self::Same => true,
        }
    }
}

/// Everything that was read.
struct Records {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    places: Places,
}

pub(in super::super) fn decode<S: Sink>(
    bytes: &[u8],
    capacity: Capacity,
    mut receiver: Receiver<'_, S>,
) -> Result<()> {
    let mut reader = Reader::new(bytes, Format::ProtobufV1);
    // A record takes at least two bytes.
    let room = peek(bytes, capacity).map_or(0, |it| it.nodes.min(bytes.len() as u64 / 4) as usize);
    let mut records =
        Records { nodes: Vec::with_capacity(room), edges: Vec::with_capacity(room), places: Places::Same };
    let mut common = Common::default();
    loop {
        // Nearly all fields are records, whose tag is a byte.
        let offset = reader.offset();
        match reader.peek() {
            Some(NODE_TAG) => {
                let (id, node) = read_node(reader.tagged_part("a node")?)?;
                if !records.places.push(id, records.nodes.len(), room) {
                    return Err(reader.malformed(offset, format!("node {id} is there twice")));
                }
                records.nodes.push(node);
            }
            Some(EDGE_TAG) => records.edges.push(read_edge(reader.tagged_part("an edge")?, offset)?),
            None => break,
            Some(_) => match common.take(1, Format::ProtobufV1, bytes, &mut reader)? {
                Some(other) if other.number == NODE || other.number == EDGE => {
                    let reason = format!("field {} is no record", other.number);
                    return Err(reader.malformed(other.offset, reason));
                }
                _ => {}
            },
        }
    }
    let counts = common.counts(&reader)?;
    let graph = records.graph(&reader)?;
    receiver.start(common.valued, expected(counts, capacity, records.nodes.len()))?;
    graph.emit(counts, reader.offset(), &mut receiver, |node, _| records.nodes[node as usize].value)
}

/// Tags of numbers are a byte, so the usual fields are told by it; what is not usual goes the long way.
fn read_node(mut reader: Reader<'_>) -> Result<(u64, Node)> {
    const ID_TAG: u8 = number(ID);
    const FINAL_TAG: u8 = number(FINAL);
    const VALUE_TAG: u8 = number(VALUE);
    let (mut id, mut node) = (0, Node { value: 0, is_final: false });
    while let Some(tag) = reader.peek() {
        match tag {
            ID_TAG => id = reader.tagged("a node's id")?,
            FINAL_TAG => node.is_final = reader.tagged("a node's mark")? != 0,
            VALUE_TAG => node.value = reader.tagged("a node's value")?,
            _ => skip(&mut reader, VALUE)?,
        }
    }
    Ok((id, node))
}

fn read_edge(mut reader: Reader<'_>, offset: usize) -> Result<Edge> {
    const SOURCE_TAG: u8 = number(SOURCE);
    const LABEL_TAG: u8 = number(LABEL);
    const TARGET_TAG: u8 = number(TARGET);
    let mut edge = Edge { source: 0, target: 0, offset, label: 0 };
    while let Some(tag) = reader.peek() {
        match tag {
            SOURCE_TAG => edge.source = reader.tagged("the source of an edge")?,
            LABEL_TAG => {
                let at = reader.offset();
                let label = reader.tagged("the label of an edge")?;
                edge.label = u8::try_from(label)
                    .map_err(|_| reader.malformed(at, format!("label {label} is no byte")))?;
            }
            TARGET_TAG => edge.target = reader.tagged("the target of an edge")?,
            _ => skip(&mut reader, TARGET)?,
        }
    }
    Ok(edge)
}

/// Passes over a field that is not known; those up to `known` are, and came in another form.
fn skip(reader: &mut Reader<'_>, known: u64) -> Result<()> {
    let field = field(reader)?;
    if field.number <= known {
        let reason = format!("field {} of a record is no number of seven-bit groups", field.number);
        return Err(reader.malformed(field.offset, reason));
    }
    Ok(())
}

impl Records {
    /// The tree they make.
    fn graph(&self, reader: &Reader<'_>) -> Result<Graph> {
        let nodes = self.nodes.len();
        let end = reader.offset();
        if nodes == 0 || nodes > u32::MAX as usize || self.edges.len() != nodes - 1 {
            let reason = format!("{nodes} nodes and {} edges are no tree", self.edges.len());
            return Err(reader.malformed(end, reason));
        }
        let place = |id: u64, edge: &Edge| {
            self.places.get(id, nodes).ok_or_else(|| {
                reader.malformed(edge.offset, format!("an edge names node {id}, which is not there"))
            })
        };
        let (mut reached, mut first) = (vec![false; nodes], vec![0_u32; nodes + 1]);
        for edge in &self.edges {
            let (source, target) = (place(edge.source, edge)?, place(edge.target, edge)?);
            first[source as usize + 1] += 1;
            if std::mem::replace(&mut reached[target as usize], true) {
                let reason = format!("a second edge leads to node {}", edge.target);
                return Err(reader.malformed(edge.offset, reason));
            }
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        // With one edge fewer than nodes and no node reached twice, one node is not reached.
        let root = reached.iter().position(|it| !it).unwrap_or(0) as u32;
        let mut filled = first.clone();
        let (mut labels, mut targets) = (vec![0; nodes - 1], vec![0_u32; nodes - 1]);
        let mut ascends = true;
        for edge in &self.edges {
            let (source, target) = (place(edge.source, edge)? as usize, place(edge.target, edge)?);
            let at = filled[source] as usize;
            ascends &= at == first[source] as usize || labels[at - 1] < edge.label;
            (labels[at], targets[at]) = (edge.label, target);
            filled[source] += 1;
        }
        let mut graph =
            Graph { root, first, labels, targets, finals: self.nodes.iter().map(|it| it.is_final).collect() };
        if !ascends && graph.sort().is_err() {
            return Err(reader.malformed(end, "two edges of a node have the same label"));
        }
        Ok(graph)
    }
}
