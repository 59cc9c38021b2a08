//! Sequences of operations against an ordered map.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/quick.rs"]
mod quick;
#[path = "support/strategies.rs"]
mod strategies;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

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
    /// What is between two keys, and beside each.
    Range(Vec<u8>, Vec<u8>),
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
            Operation::Range(from, to) => {
                look_around(&trie, &model, from);
                look_between(&trie, &model, from, to);
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

/// An entry with the bytes of its key.
fn plain<K: Symbol>(entry: (K::Owned, u64)) -> (Vec<u8>, u64) {
    (K::bytes(entry.0.borrow()).to_vec(), entry.1)
}

/// Compares the neighbours of a key, and many lookups at once.
fn look_around<K: Symbol>(trie: &Trie<K, u64>, model: &BTreeMap<Vec<u8>, u64>, key: &[u8]) {
    let wanted = K::key(key).unwrap();
    let wanted: &K::Key = wanted.borrow();
    let owned = |entry: Option<(&Vec<u8>, &u64)>| entry.map(|(key, value)| (key.clone(), *value));
    let all = (Bound::Excluded(key), Bound::Unbounded);
    assert_eq!(trie.first().unwrap().map(plain::<K>), owned(model.first_key_value()));
    assert_eq!(trie.last().unwrap().map(plain::<K>), owned(model.last_key_value()));
    assert_eq!(trie.at_least(wanted).unwrap().map(plain::<K>), owned(model.range(key.to_vec()..).next()));
    assert_eq!(trie.above(wanted).unwrap().map(plain::<K>), owned(model.range::<[u8], _>(all).next()));
    assert_eq!(
        trie.at_most(wanted).unwrap().map(plain::<K>),
        owned(model.range(..=key.to_vec()).next_back())
    );
    assert_eq!(trie.below(wanted).unwrap().map(plain::<K>), owned(model.range(..key.to_vec()).next_back()));
    let keys: Vec<K::Owned> = model.keys().map(|key| K::key(key).unwrap()).chain(K::key(key)).collect();
    let values = model.values().map(|value| Some(*value)).chain([model.get(key).copied()]);
    assert!(trie.get_many(&keys).unwrap().into_iter().eq(values));
}

/// Compares the entries between two keys, with every kind of bounds.
fn look_between<K: Symbol>(trie: &Trie<K, u64>, model: &BTreeMap<Vec<u8>, u64>, from: &[u8], to: &[u8]) {
    let (start, end) = (K::key(from).unwrap(), K::key(to).unwrap());
    fn bounds<Q: ?Sized>(key: &Q) -> [Bound<&Q>; 3] {
        [Bound::Included(key), Bound::Excluded(key), Bound::Unbounded]
    }
    for (start, from) in bounds::<K::Key>(start.borrow()).into_iter().zip(bounds(from)) {
        for (end, to) in bounds::<K::Key>(end.borrow()).into_iter().zip(bounds(to)) {
            let found = trie.range((start, end)).map(|entry| plain::<K>(entry.unwrap()));
            let expected = model.iter().filter(|(key, _)| (from, to).contains(key.as_slice()));
            assert!(found.eq(expected.map(|(key, value)| (key.clone(), *value))), "{from:?} {to:?}");
        }
    }
}

fn operation(keys: impl Strategy<Value = Vec<u8>> + Clone) -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (keys.clone(), any::<u64>()).prop_map(|(key, value)| Operation::Insert(key, value)),
        2 => keys.clone().prop_map(Operation::Remove),
        5 => any::<usize>().prop_map(Operation::RemoveNth),
        3 => keys.clone().prop_map(Operation::Get),
        1 => keys.clone().prop_map(Operation::Prefix),
        3 => (keys.clone(), keys).prop_map(|(from, to)| Operation::Range(from, to)),
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
