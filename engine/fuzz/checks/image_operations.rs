//! Any sequence of operations on a trie, with checkpoints and reopening in every way, against an ordered map.
//!
//! The input is a list of operations: a byte for what to do, one for how many bytes of the key before are kept, one for
//! how many new ones follow, and the new bytes.

#[path = "../../tests/support/quick.rs"]
mod quick;
#[path = "../../tests/support/strategies.rs"]
mod strategies;

use std::collections::BTreeMap;
use std::ops::Bound;

use engine::trie::Backing;
use engine::{OpenOptions, Trie, Verify};
use strategies::STRATEGIES;

type Model = BTreeMap<Vec<u8>, u64>;

/// How many entries one input may have visited. Each operation on everything costs as many as there are, so that without a
/// limit an input of some thousand bytes takes minutes, which a fuzzer cannot tell from an endless loop.
const MOST: usize = 200_000;

/// Checks one input.
pub(crate) fn check(mut data: &[u8]) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a");
    let (mut trie, mut model) = (Trie::<u8, u64>::new(), Model::new());
    let (mut key, mut number, mut left) = (Vec::new(), 0, MOST);
    while let Some((&[what, kept, new], rest)) = data.split_first_chunk() {
        let visited = if what & 7 < 5 { 1 } else { model.len() + 256 };
        let Some(less) = left.checked_sub(visited) else { break };
        left = less;
        let (new, rest) = rest.split_at(usize::from(new & 15).min(rest.len()));
        data = rest;
        key.truncate(usize::from(kept));
        key.extend_from_slice(new);
        number += 1;
        match what & 7 {
            0..3 => assert_eq!(trie.insert(&key, number).expect("memory"), model.insert(key.clone(), number)),
            3 => assert_eq!(trie.remove(&key).expect("a sound file"), model.remove(&key)),
            4 => look_around(&trie, &model, &key, usize::from(what >> 3)),
            5 => {
                let found = trie.prefix(&key).map(|entry| entry.expect("a sound file"));
                assert!(
                    found.eq(model
                        .range(key.clone()..)
                        .take_while(|entry| entry.0.starts_with(&key))
                        .map(|(key, value)| (key.clone(), *value)))
                );
            }
            // A run of keys that differ in one byte, for nodes of every size.
            6 => {
                for byte in (what >> 3)..=(what >> 3).saturating_mul(8) {
                    key.push(byte);
                    assert_eq!(trie.insert(&key, number).expect("memory"), model.insert(key.clone(), number));
                    key.pop();
                }
            }
            _ => {
                trie.checkpoint_to(&quick::Quick, &path).expect("a scratch file");
                let options = OpenOptions::new()
                    .strategy(STRATEGIES[usize::from(what >> 3 & 7)])
                    .verify(if what & 64 == 0 { Verify::Header } else { Verify::Structural })
                    .backing(if what & 128 == 0 { Backing::Map } else { Backing::Copy });
                trie = Trie::open(&path, options).expect("an image");
            }
        }
        assert_eq!(trie.len(), model.len() as u64);
    }
    assert!(trie.iter().map(|entry| entry.expect("a sound file")).eq(model.clone()));
    let keys: Vec<&Vec<u8>> = model.keys().collect();
    let values: Vec<Option<u64>> = model.values().map(|value| Some(*value)).collect();
    let keys: Vec<&[u8]> = keys.into_iter().map(Vec::as_slice).collect();
    assert_eq!(trie.get_many(&keys).expect("a sound file"), values);
    for key in model.keys() {
        assert_eq!(trie.remove(key).expect("a sound file"), model.get(key).copied());
    }
    assert!(trie.is_empty() && trie.iter().next().is_none());
}

/// Compares what is at a key and beside it.
fn look_around(trie: &Trie<u8, u64>, model: &Model, key: &[u8], most: usize) {
    let owned = |entry: Option<(&Vec<u8>, &u64)>| entry.map(|(key, value)| (key.clone(), *value));
    let behind = (Bound::Excluded(key), Bound::Unbounded);
    assert_eq!(trie.get(key).expect("a sound file"), model.get(key).copied());
    assert_eq!(trie.first().expect("a sound file"), owned(model.first_key_value()));
    assert_eq!(trie.last().expect("a sound file"), owned(model.last_key_value()));
    assert_eq!(trie.at_least(key).expect("a sound file"), owned(model.range(key.to_vec()..).next()));
    assert_eq!(trie.above(key).expect("a sound file"), owned(model.range::<[u8], _>(behind).next()));
    assert_eq!(trie.below(key).expect("a sound file"), owned(model.range(..key.to_vec()).next_back()));
    assert_eq!(trie.at_most(key).expect("a sound file"), owned(model.range(..=key.to_vec()).next_back()));
    let end = trie.range(key..).nth(most).map(|entry| entry.expect("a sound file").0);
    let end = end.as_deref().map_or(Bound::Unbounded, Bound::Included);
    for start in [Bound::Included(key), Bound::Excluded(key)] {
        let found = trie.range((start, end)).map(|entry| entry.expect("a sound file"));
        let expected = model.range::<[u8], _>((start, Bound::Unbounded)).take_while(|(other, _)| match end {
            Bound::Included(end) => other.as_slice() <= end,
            _ => true,
        });
        assert!(found.eq(expected.map(|(key, value)| (key.clone(), *value))));
    }
}
