//! Messages of Protocol Buffers from terms and back, as one would write it with derived types.

use crate::messages::{Tail, v1, v2};

/// A trie whose nodes hold the children in order.
#[derive(Default)]
struct Node {
    is_final: bool,
    children: Vec<(u8, usize)>,
}

/// Terms come in order, so a term's next node is the last child or a new one.
fn trie_of(terms: &[String]) -> Vec<Node> {
    let mut nodes = vec![Node::default()];
    for term in terms {
        let mut at = 0;
        for &byte in term.as_bytes() {
            at = match nodes[at].children.last() {
                Some(&(label, child)) if label == byte => child,
                _ => {
                    let child = nodes.len();
                    nodes[at].children.push((byte, child));
                    nodes.push(Node::default());
                    child
                }
            };
        }
        nodes[at].is_final = true;
    }
    nodes
}

fn tail_of(terms: &[String], nodes: usize) -> Option<Tail> {
    let text_bytes = terms.iter().map(|it| it.len() as u64).sum();
    Some(Tail { node_count: nodes as u64, term_count: terms.len() as u64, text_bytes, crc32: None })
}

pub(crate) fn v1_of(terms: &[String]) -> v1::Dictionary {
    let trie = trie_of(terms);
    let mut message =
        v1::Dictionary { version: 1, tail: tail_of(terms, trie.len()), ..v1::Dictionary::default() };
    for (id, node) in trie.iter().enumerate() {
        message.nodes.push(v1::Node { id: id as u64, r#final: node.is_final, value: 0 });
        for &(label, child) in &node.children {
            let edge = v1::Edge { source_id: id as u64, label: u32::from(label), target_id: child as u64 };
            message.edges.push(edge);
        }
    }
    message
}

pub(crate) fn v2_of(terms: &[String]) -> v2::Dictionary {
    let trie = trie_of(terms);
    let mut message =
        v2::Dictionary { version: 2, tail: tail_of(terms, trie.len()), ..v2::Dictionary::default() };
    // Nodes get their numbers as a walk leaves them.
    let mut numbers = vec![0; trie.len()];
    let mut open = vec![(0, 0)];
    while let Some((node, next)) = open.last_mut() {
        if let Some(&(_, child)) = trie[*node].children.get(*next) {
            *next += 1;
            open.push((child, 0));
            continue;
        }
        let node = *node;
        let number = message.heads.len();
        numbers[node] = number;
        message.heads.push((trie[node].children.len() as u64) << 1 | u64::from(trie[node].is_final));
        for &(label, child) in &trie[node].children {
            message.labels.push(u32::from(label));
            message.backs.push((number - numbers[child]) as u64);
        }
        open.pop();
    }
    message
}

/// The terms below a root, by recursion turned into a stack.
fn terms_of(nodes: &[Node], root: usize) -> Vec<String> {
    let (mut terms, mut open, mut term) = (Vec::new(), vec![(root, 0)], Vec::new());
    if nodes[root].is_final {
        terms.push(String::new());
    }
    while let Some((node, next)) = open.last_mut() {
        if let Some(&(label, child)) = nodes[*node].children.get(*next) {
            *next += 1;
            term.push(label);
            if nodes[child].is_final {
                terms.push(String::from_utf8(term.clone()).expect("the terms were UTF-8"));
            }
            open.push((child, 0));
        } else {
            open.pop();
            term.pop();
        }
    }
    terms
}

pub(crate) fn terms_of_v1(message: &v1::Dictionary) -> Vec<String> {
    let node = |it: &v1::Node| Node { is_final: it.r#final, children: Vec::new() };
    let mut nodes: Vec<Node> = message.nodes.iter().map(node).collect();
    for edge in &message.edges {
        nodes[edge.source_id as usize].children.push((edge.label as u8, edge.target_id as usize));
    }
    terms_of(&nodes, 0)
}

pub(crate) fn terms_of_v2(message: &v2::Dictionary) -> Vec<String> {
    let mut edges = message.labels.iter().zip(&message.backs);
    let node = |(number, head): (usize, &u64)| Node {
        is_final: head & 1 == 1,
        children: edges
            .by_ref()
            .take((head >> 1) as usize)
            .map(|(&label, &back)| (label as u8, number - back as usize))
            .collect(),
    };
    let nodes: Vec<Node> = message.heads.iter().enumerate().map(node).collect();
    terms_of(&nodes, nodes.len() - 1)
}
