//! Cases 24 and 25: every answer of an operation file, in memory and after reopening under each strategy.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/quick.rs"]
mod quick;
#[path = "support/sha256.rs"]
mod sha256;

use std::borrow::Borrow;
use std::path::Path;

use engine::symbol::Symbol;
use engine::{LoadStrategy, Trie};
use serde_json::Value;

/// When the trie is written and opened again.
#[derive(Clone, Copy, Debug)]
enum Reopen {
    Never,
    WhenTold(LoadStrategy),
    EveryTime(LoadStrategy),
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn key_of(line: &Value) -> Vec<u8> {
    match (line["key"].as_str(), line["hex"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (_, Some(digits)) => unhex(digits),
        _ => panic!("no key in {line}"),
    }
}

/// Runs a file; lines whose key is none of the symbol's do not apply, and then counts and digests do not either.
fn run<K: Symbol>(name: &str, reopen: Reopen) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let all_keys = K::key(b"\xFF").is_some();
    let script = std::fs::read_to_string(Path::new("tests/cases").join(name)).unwrap();
    let mut trie = Trie::<K, u64>::new();
    for (index, line) in script.lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        let context = format!("{name}:{} {reopen:?} {line}", index + 1);
        let listed = |trie: &Trie<K, u64>, prefix: Option<&K::Key>| -> Vec<Vec<u8>> {
            let entries = prefix.map_or_else(|| trie.iter(), |prefix| trie.prefix(prefix));
            entries.map(|entry| K::bytes(entry.unwrap().0.borrow()).to_vec()).collect()
        };
        let expected_list = || -> Vec<String> {
            let list = line["expect_hex"].as_array().unwrap();
            let texts = list.iter().map(|item| item.as_str().unwrap().to_owned());
            texts.filter(|text| K::key(&unhex(text)).is_some()).collect()
        };
        match line["op"].as_str().unwrap() {
            "len" => assert!(!all_keys || trie.len() == line["expect"].as_u64().unwrap(), "{context}"),
            "iter" if line.get("expect_hex").is_some() => {
                let found: Vec<String> = listed(&trie, None).iter().map(|key| hex(key)).collect();
                assert_eq!(found, expected_list(), "{context}");
            }
            "iter" => {
                let found = listed(&trie, None);
                assert!(found.is_sorted(), "{context}");
                if all_keys {
                    let joined: Vec<u8> = found
                        .iter()
                        .flat_map(|key| [&(key.len() as u32).to_le_bytes()[..], key].concat())
                        .collect();
                    assert_eq!(found.len() as u64, line["expect_count"].as_u64().unwrap(), "{context}");
                    let expected = line["sha256_of_concat(len_u32_le+key)"].as_str().unwrap();
                    assert_eq!(sha256::sha256_hex(&joined), expected, "{context}");
                }
            }
            "checkpoint" => {
                if let Reopen::WhenTold(_) = reopen {
                    trie.checkpoint(&path).unwrap();
                }
            }
            "reopen" => {
                if let Reopen::WhenTold(strategy) = reopen {
                    trie = Trie::open(&path, strategy).unwrap();
                }
            }
            operation => {
                let Some(key) = K::key(&key_of(&line)) else { continue };
                let key: &K::Key = key.borrow();
                match operation {
                    "get" => assert_eq!(trie.get(key).unwrap(), line["expect"].as_u64(), "{context}"),
                    "insert" => {
                        let old = trie.insert(key, line["val"].as_u64().unwrap()).unwrap();
                        assert_eq!(old.is_none(), line["expect_new"].as_bool().unwrap(), "{context}");
                    }
                    "remove" => {
                        let old = trie.remove(key).unwrap();
                        assert_eq!(old.is_some(), line["expect_removed"].as_bool().unwrap(), "{context}");
                    }
                    "prefix" => {
                        let found: Vec<String> =
                            listed(&trie, Some(key)).iter().map(|key| hex(key)).collect();
                        assert_eq!(found, expected_list(), "{context}");
                    }
                    other => panic!("unknown operation {other}"),
                }
            }
        }
        if let Reopen::EveryTime(strategy) = reopen {
            trie.checkpoint_to(&quick::Quick, &path).unwrap();
            trie = Trie::open(&path, strategy).unwrap();
        }
    }
}

fn run_all(name: &str) {
    for reopen in [
        Reopen::Never,
        Reopen::WhenTold(LoadStrategy::Eager),
        Reopen::WhenTold(LoadStrategy::Lazy),
        Reopen::EveryTime(LoadStrategy::Eager),
        Reopen::EveryTime(LoadStrategy::Lazy),
    ] {
        run::<u8>(name, reopen);
        run::<char>(name, reopen);
    }
}

#[test]
fn keys_that_are_prefixes_empty_or_hold_nul() {
    run_all("24_prefix_operations.jsonl");
}

#[test]
fn nodes_with_up_to_256_children() {
    run_all("25_fanout_operations.jsonl");
}

#[test]
fn digests_are_sha256() {
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256::sha256_hex(b"abc"), expected);
}
