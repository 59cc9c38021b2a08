//! Case 26: very long keys and deep chains, on a small stack.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::BTreeSet;

use engine::{CharTrie, Error, LoadStrategy, Trie};
use serde_json::Value;

const SMALL_STACK: usize = 512 * 1024;

/// The distinct keys of the case.
fn keys() -> BTreeSet<String> {
    let case: Value =
        serde_json::from_str(&std::fs::read_to_string("tests/cases/26_long_keys.json").unwrap()).unwrap();
    let mut keys: BTreeSet<String> = (1..=5_000).map(|len| "a".repeat(len)).collect();
    for key in case["keys"].as_array().unwrap() {
        if let Some(fill) = key["fill"].as_str() {
            let count = key["len"].as_u64().or(key["chars"].as_u64()).unwrap();
            keys.insert(fill.repeat(count as usize));
        }
    }
    assert_eq!(keys.len() as u64, case["expect"]["len_after_all_distinct"].as_u64().unwrap());
    keys
}

fn check(trie: &CharTrie<u64>, keys: &BTreeSet<String>) {
    assert_eq!(trie.len(), keys.len() as u64);
    for key in keys {
        assert_eq!(trie.get(key).unwrap(), Some(key.len() as u64));
    }
    for absent in [0, 5_001, 32_766, 65_537, 999_999, 1_000_001] {
        assert_eq!(trie.get(&"a".repeat(absent)).unwrap(), None, "{absent}");
    }
    assert_eq!(trie.get(&"é".repeat(39_999)).unwrap(), None);
    assert!(trie.iter().map(|entry| entry.unwrap().0).eq(keys.iter().cloned()));
    assert_eq!(
        trie.prefix(&"a".repeat(4_990)).count(),
        keys.range("a".repeat(4_990).."b".to_owned()).count()
    );
}

#[test]
fn long_keys_need_little_stack() {
    let work = || {
        let keys = keys();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trie");
        let mut trie = CharTrie::<u64>::new();
        for key in keys.iter().rev() {
            assert_eq!(trie.insert(key, key.len() as u64).unwrap(), None);
        }
        check(&trie, &keys);
        trie.checkpoint(&path).unwrap();
        drop(trie);
        for strategy in [LoadStrategy::Eager, LoadStrategy::Lazy] {
            check(&CharTrie::open(&path, strategy).unwrap(), &keys);
            // Opened and dropped without being used, and used in the other order.
            drop(CharTrie::<u64>::open(&path, strategy).unwrap());
            let mut trie = CharTrie::<u64>::open(&path, strategy).unwrap();
            for key in &keys {
                assert_eq!(trie.remove(key).unwrap(), Some(key.len() as u64));
            }
            assert!(trie.is_empty() && trie.iter().next().is_none());
        }
    };
    std::thread::Builder::new().stack_size(SMALL_STACK).spawn(work).unwrap().join().unwrap();
}

/// Memory that is never touched costs nothing, so the key above the limit can be made.
#[test]
#[cfg(target_pointer_width = "64")]
fn keys_above_the_limit_are_refused() {
    let key = vec![0; engine::trie::MAX_KEY_LEN + 1];
    let mut trie = Trie::<u8, u64>::new();
    trie.insert(b"a", 1).unwrap();
    let refused = trie.insert(&key, 2);
    assert!(matches!(refused, Err(Error::KeyTooLong { limit: 0xFFFF_FFFF, .. })), "{refused:?}");
    assert_eq!((trie.len(), trie.get(b"a").unwrap(), trie.get(&key).unwrap()), (1, Some(1), None));
}
