//! Sequences of operations against an ordered map.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/quick.rs"]
mod quick;
#[path = "support/strategies.rs"]
mod strategies;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use engine::symbol::Symbol;
use engine::{LoadStrategy, Trie};
use proptest::prelude::*;
use strategies::STRATEGIES;

#[derive(Clone, Debug)]
enum Operation {
    Insert(Vec<u8>, u64),
    Remove(Vec<u8>),
    Get(Vec<u8>),
    Prefix(Vec<u8>),
    /// Removes a key that is there: the n-th, modulo their count.
    RemoveNth(usize),
    Reopen(LoadStrategy),
}

/// Runs operations on a trie and on a map and compares every answer.
fn run<K: Symbol>(operations: &[Operation]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let (mut trie, mut model) = (Trie::<K, u64>::new(), BTreeMap::<Vec<u8>, u64>::new());
    let key_of = |bytes: &[u8]| K::key(bytes).expect("the strategy makes keys of this symbol");
    for operation in operations {
        match operation {
            Operation::Insert(key, value) => {
                assert_eq!(
                    trie.insert(key_of(key).borrow(), *value).unwrap(),
                    model.insert(key.clone(), *value)
                );
            }
            Operation::Remove(key) => {
                assert_eq!(trie.remove(key_of(key).borrow()).unwrap(), model.remove(key));
            }
            Operation::RemoveNth(n) => {
                if let Some(key) = model.keys().nth(n % model.len().max(1)).cloned() {
                    assert_eq!(trie.remove(key_of(&key).borrow()).unwrap(), model.remove(&key));
                }
            }
            Operation::Get(key) => {
                assert_eq!(trie.get(key_of(key).borrow()).unwrap(), model.get(key).copied());
                assert_eq!(trie.contains(key_of(key).borrow()).unwrap(), model.contains_key(key));
            }
            Operation::Prefix(prefix) => {
                let found: Vec<(Vec<u8>, u64)> = trie
                    .prefix(key_of(prefix).borrow())
                    .map(|entry| entry.map(|(key, value)| (K::bytes(key.borrow()).to_vec(), value)).unwrap())
                    .collect();
                let expected: Vec<(Vec<u8>, u64)> = model
                    .iter()
                    .filter(|(key, _)| key.starts_with(prefix))
                    .map(|(key, value)| (key.clone(), *value))
                    .collect();
                assert_eq!(found, expected);
            }
            Operation::Reopen(strategy) => {
                trie.checkpoint_to(&quick::Quick, &path).unwrap();
                let bytes = std::fs::read(&path).unwrap();
                trie = Trie::open(&path, *strategy).unwrap();
                // The shape of the nodes never shows: only the sequence number differs from a new trie's bytes.
                let mut anew = Trie::<K, u64>::new();
                for (key, value) in model.iter().rev() {
                    anew.insert(key_of(key).borrow(), *value).unwrap();
                }
                anew.checkpoint_to(&quick::Quick, &path).unwrap();
                assert_eq!(std::fs::read(&path).unwrap()[64..], bytes[64..]);
            }
        }
        assert_eq!(trie.len(), model.len() as u64);
    }
    let found: Vec<(Vec<u8>, u64)> = trie
        .iter()
        .map(|entry| entry.map(|(key, value)| (K::bytes(key.borrow()).to_vec(), value)).unwrap())
        .collect();
    assert_eq!(found, model.into_iter().collect::<Vec<_>>());
}

fn operation(keys: impl Strategy<Value = Vec<u8>> + Clone) -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (keys.clone(), any::<u64>()).prop_map(|(key, value)| Operation::Insert(key, value)),
        2 => keys.clone().prop_map(Operation::Remove),
        5 => any::<usize>().prop_map(Operation::RemoveNth),
        3 => keys.clone().prop_map(Operation::Get),
        1 => keys.prop_map(Operation::Prefix),
        1 => prop::sample::select(&STRATEGIES[..]).prop_map(Operation::Reopen),
    ]
}

/// Keys that share much: few bytes, and now and then a long run.
fn byte_keys() -> impl Strategy<Value = Vec<u8>> + Clone {
    let few = prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0x7F, 0x80, 0xFF]), 0..7);
    let any_byte = prop::collection::vec(any::<u8>(), 0..3);
    let long = (0_usize..4, few.clone()).prop_map(|(runs, end)| [vec![b'a'; runs * 150], end].concat());
    prop_oneof![6 => few, 3 => any_byte, 1 => long]
}

fn char_keys() -> impl Strategy<Value = Vec<u8>> + Clone {
    let symbols = prop::sample::select(vec!['\0', 'a', 'b', 'é', 'ê', '日', '本', '\u{10FFFF}']);
    prop::collection::vec(symbols, 0..6)
        .prop_map(|symbols| symbols.into_iter().collect::<String>().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_agree_with_a_map(operations in prop::collection::vec(operation(byte_keys()), 1..400)) {
        run::<u8>(&operations);
    }

    #[test]
    fn chars_agree_with_a_map(operations in prop::collection::vec(operation(char_keys()), 1..400)) {
        run::<char>(&operations);
    }
}
