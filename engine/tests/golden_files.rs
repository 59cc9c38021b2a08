//! Files of the newest version of the format are read by every build and written byte for byte; an older one is refused
//! by name.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/strategies.rs"]
mod strategies;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::trie::Value;
use engine::{ByteTrie, CharTrie, Result};
use strategies::STRATEGIES;

/// All lengths, all edges, long prefixes, values at inner nodes.
fn byte_entries() -> BTreeMap<Vec<u8>, u64> {
    let mut entries: BTreeMap<Vec<u8>, u64> =
        (0..=255_u8).map(|byte| (vec![b'n', byte, byte ^ 0x55], u64::from(byte) << 40)).collect();
    entries.extend((0..40).map(|len| (vec![b'a'; len], u64::MAX - len as u64)));
    entries.insert(vec![b'z'; 1_000], 1);
    entries.insert([&[b'z'; 400][..], &[0; 400][..]].concat(), 2);
    entries
}

fn char_entries() -> BTreeMap<String, ()> {
    let syllables = ["", "日", "本", "語", "é", "ß", "Ω", "\u{10FFFF}", "x"];
    let mut entries = BTreeMap::new();
    for a in syllables {
        for b in syllables {
            for c in syllables {
                entries.insert([a, b, c].concat(), ());
            }
        }
    }
    entries
}

fn narrow_entries() -> BTreeMap<String, u32> {
    (0..300_u32).map(|i| (format!("{}-{}", i % 17, i.wrapping_mul(2_654_435_761)), i)).collect()
}

fn char_trie<V: Value>(entries: BTreeMap<String, V>) -> CharTrie<V> {
    let mut trie = CharTrie::new();
    for (key, value) in entries.into_iter().rev() {
        trie.insert(&key, value).unwrap();
    }
    trie
}

fn byte_trie() -> ByteTrie {
    let mut trie = ByteTrie::new();
    for (key, value) in byte_entries() {
        trie.insert(&key, value).unwrap();
    }
    trie
}

fn golden(name: &str) -> PathBuf {
    Path::new("tests/golden/v4").join(name)
}

fn write_all(to: impl Fn(&str) -> PathBuf) {
    byte_trie().checkpoint(to("bytes-u64.trie")).unwrap();
    char_trie(char_entries()).checkpoint(to("chars-set.trie")).unwrap();
    char_trie(narrow_entries()).checkpoint(to("chars-u32.trie")).unwrap();
    ByteTrie::<u64>::new().checkpoint(to("empty.trie")).unwrap();
}

#[test]
fn golden_files_are_read() {
    for strategy in STRATEGIES {
        let bytes = ByteTrie::<u64>::open(golden("bytes-u64.trie"), strategy).unwrap();
        assert_eq!(bytes.iter().collect::<Result<BTreeMap<_, _>>>().unwrap(), byte_entries());
        let set = CharTrie::<()>::open(golden("chars-set.trie"), strategy).unwrap();
        assert_eq!(set.iter().collect::<Result<BTreeMap<_, _>>>().unwrap(), char_entries());
        let narrow = CharTrie::<u32>::open(golden("chars-u32.trie"), strategy).unwrap();
        assert_eq!(narrow.iter().collect::<Result<BTreeMap<_, _>>>().unwrap(), narrow_entries());
        let empty = ByteTrie::<u64>::open(golden("empty.trie"), strategy).unwrap();
        assert!(empty.is_empty() && empty.iter().next().is_none() && empty.get(b"").unwrap().is_none());
    }
}

#[test]
fn golden_files_are_written_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    write_all(|name| folder.path().join(name));
    let mut names = 0;
    for file in std::fs::read_dir("tests/golden/v4").unwrap() {
        let name = file.unwrap().file_name();
        let written = std::fs::read(folder.path().join(&name)).unwrap();
        assert!(written == std::fs::read(golden(&name.to_string_lossy())).unwrap(), "{name:?}");
        names += 1;
    }
    assert_eq!(names, 4);
}

/// Versions 1 to 3 were never released.
#[test]
fn an_older_version_is_refused_by_name() {
    for (version, strategy) in STRATEGIES.into_iter().flat_map(|it| [(1, it), (2, it), (3, it)]) {
        let path = format!("tests/golden/v{version}/bytes-u64.trie");
        let refused = ByteTrie::<u64>::open(path, strategy).unwrap_err();
        assert!(refused.to_string().contains(&format!("format version `{version}` at byte 8")), "{refused}");
    }
}

/// Run once for a new version of the format, which gets a folder of its own; files of a version never change.
#[test]
#[ignore = "writes the golden files of a new version"]
fn write_golden_files() {
    write_all(golden);
}
