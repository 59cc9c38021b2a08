//! Files of suffix indexes: kept, refused, and damaged in every way that is cheap to try.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/quick.rs"]
mod quick;

use std::path::Path;

use engine::format::{Disk, FaultStorage};
use engine::suffix::Layout;
use engine::trie::Backing;
use engine::{ByteTrie, CharTrie, Error, LoadStrategy, OpenOptions, SuffixIndex, SuffixTree, Verify};
use proptest::prelude::*;

const LAYOUTS: [Layout; 2] = [Layout::Fast, Layout::Compact];

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{}日本{}", "ab".repeat(i % 9), i * 7919 % 101)).collect()
}

fn written(folder: &Path, layout: Layout, count: usize) -> Vec<u8> {
    let texts = texts(count);
    let index = SuffixIndex::<char>::from_texts(texts.iter().map(String::as_str)).unwrap();
    let path = folder.join("good");
    index.checkpoint_to(&quick::Quick, &path, layout).unwrap();
    std::fs::read(path).unwrap()
}

/// Asks everything there is to ask; answers may be wrong.
fn ask(index: SuffixIndex<char>) {
    let snapshot = index.snapshot();
    for pattern in ["", "a", "ab", "abab", "日本", "日本1", "zz", "abababababababababab", "日本7日本99"]
    {
        let positions = snapshot.positions(pattern);
        assert_eq!(positions.len() as u64, snapshot.count(pattern));
        assert_eq!(snapshot.occurrences(pattern).count(), positions.len());
        snapshot.contains(pattern);
    }
    snapshot.longest_common_substring("xxab日本77ab日本1");
    for number in 0..snapshot.texts().min(1000) {
        let _ = snapshot.text(number);
    }
    let _ = snapshot.distinct_substrings();
    let tree = SuffixTree::from(index);
    // Forged intervals can make the tree of few bytes large.
    assert!(tree.nodes().take(5_000).all(|node| node.count() < u64::from(u32::MAX)));
}

#[test]
fn files_are_determined_by_texts_and_layout() {
    let folder = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let one = written(folder.path(), layout, 60);
        let grown = SuffixIndex::<char>::new();
        for text in texts(60) {
            grown.push(&text).unwrap();
        }
        let path = folder.path().join("grown");
        grown.checkpoint(&path, layout).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), one);
        for backing in [Backing::Map, Backing::Copy] {
            let options = OpenOptions::from(Verify::Structural).backing(backing);
            let opened = SuffixIndex::<char>::open(&path, options).unwrap();
            // Rewritten from what was opened, and grown from there.
            opened.checkpoint(folder.path().join("again"), layout).unwrap();
            assert_eq!(std::fs::read(folder.path().join("again")).unwrap(), one);
            assert_eq!(opened.push("日本語").unwrap(), 60);
            assert_eq!(opened.count("日本"), 61);
            assert_eq!(grown.count("日本"), 60);
        }
    }
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let open = |verify: Verify| SuffixIndex::<u8>::open(&path, verify).map(|index| index.texts());
    ByteTrie::<u64>::new().checkpoint(&path).unwrap();
    let refused = open(Verify::Header).unwrap_err().to_string();
    assert!(refused.contains("a trie, not a suffix index, at byte 12"), "{refused}");
    std::fs::write(&path, "notes").unwrap();
    assert!(matches!(open(Verify::Header), Err(Error::Foreign { .. })));
    written(folder.path(), Layout::Fast, 60);
    std::fs::rename(folder.path().join("good"), &path).unwrap();
    assert!(matches!(open(Verify::Header), Err(Error::KeyKind { .. })));
    let refused = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap_err().to_string();
    assert!(refused.contains("a suffix index, not a trie, at byte 12"), "{refused}");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(open(Verify::Header), Err(Error::Io { attempt: "open", .. })));
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(open(Verify::Header), Err(Error::NotAFile { .. })));
}

#[test]
fn every_cut_and_every_changed_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad");
    for layout in LAYOUTS {
        let good = written(folder.path(), layout, 60);
        for len in (0..good.len()).step_by(37) {
            std::fs::write(&path, &good[..len]).unwrap();
            assert!(SuffixIndex::<char>::open(&path, Verify::Header).is_err(), "cut to {len}");
        }
        for at in (0..good.len()).step_by(29) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bad).unwrap();
            let full = SuffixIndex::<char>::open(&path, Verify::Full).map(|index| index.texts());
            assert!(full.is_err(), "byte {at}");
            if let Ok(index) = SuffixIndex::open(&path, Verify::Header) {
                ask(index);
            }
        }
    }
}

#[test]
fn a_failed_checkpoint_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let index = SuffixIndex::<char>::from_texts(["old"]).unwrap();
    index.checkpoint(&path, Layout::Compact).unwrap();
    let before = std::fs::read(&path).unwrap();
    index.push("new").unwrap();
    for failing in 1.. {
        let result = index.checkpoint_to(&FaultStorage::new(Disk, failing), &path, Layout::Compact);
        let now = std::fs::read(&path).unwrap();
        if result.is_ok() {
            assert_ne!(now, before);
            break;
        }
        let opened = SuffixIndex::<char>::open(&path, Verify::Structural).unwrap();
        assert!(now == before || opened.count("new") == 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sound checksums over bytes that make no sense.
    #[test]
    fn forged_sections_are_survived(
        fast in any::<bool>(),
        // The larger one has a section HEADS.
        count in prop::sample::select(vec![60_usize, 400]),
        changes in prop::collection::vec((0.0..1.0, any::<u8>()), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let layout = if fast { Layout::Fast } else { Layout::Compact };
        let mut file = written(folder.path(), layout, count);
        let first = 64 + 32 * u32::from_le_bytes(file[48..52].try_into().unwrap()) as usize;
        for (place, byte) in changes {
            let at = first + (place * (file.len() - first) as f64) as usize;
            file[at] = byte;
        }
        let path = folder.path().join("forged");
        std::fs::write(&path, &file).unwrap();
        // Pages are not verified here, so what was written is what is read.
        if let Ok(index) = SuffixIndex::open(&path, Verify::Header) {
            ask(index);
        }
        prop_assert!(SuffixIndex::<char>::open(&path, Verify::Structural).is_err());
    }
}
