//! A flipped bit anywhere in a store is found, or does not matter.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/quick.rs"]
mod quick;

use std::path::Path;
use std::sync::Arc;

use engine::store::{CharStore, Durability, StoreOptions};
use engine::trie::Verify;
use engine::{Error, Result};

const PAGE: usize = 4096;

fn content(directory: &Path) -> Result<Vec<(String, u64)>> {
    let options = StoreOptions::new().verify(Verify::Full);
    let store = CharStore::<u64>::open_on(Arc::new(quick::Quick), directory, options)?;
    store.snapshot().iter().collect()
}

/// A store of all kinds of files, with some commits in the log.
fn build(directory: &Path) {
    let store = CharStore::<u64>::open_on(Arc::new(quick::Quick), directory, Durability::Sync).unwrap();
    let mut writer = store.writer();
    for index in 0..4000 {
        writer.insert(&format!("long enough for some pages {index:05}"), index).unwrap();
    }
    writer.commit().unwrap();
    store.checkpoint().unwrap();
    let mut writer = store.writer();
    for index in 0..200 {
        writer.insert(&format!("later {index}"), index).unwrap();
        writer.remove(&format!("long enough for some pages {:05}", index * 7)).unwrap();
    }
    writer.commit().unwrap();
    store.checkpoint().unwrap();
    for index in 0..50 {
        store.insert(&format!("logged {index}"), index).unwrap();
    }
    store.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_any_page_of_any_file_is_found_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    let whole = content(folder.path()).unwrap();
    assert_eq!(whole.len(), 4050);
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["LOCK", "MANIFEST", "base-2.trie", "delta-3.trie", "gone-3.trie", "log-4.wal"]);
    for name in &names {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        let pages = bytes.chunks(PAGE).enumerate();
        // Somewhere in every page, and everywhere in what is small and dense.
        let dense = name.ends_with(".wal") || name == "MANIFEST";
        let places = pages.flat_map(|(page, chunk)| {
            let step = if dense { 37 } else { chunk.len().div_ceil(2) };
            (0..chunk.len()).step_by(step).map(move |at| (page * PAGE + at, at % 8))
        });
        for (at, bit) in places {
            let damaged = tempfile::tempdir().unwrap();
            copy(folder.path(), damaged.path());
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            std::fs::write(damaged.path().join(name), flipped).unwrap();
            match content(damaged.path()) {
                Ok(found) => {
                    assert!(name == "MANIFEST" || at + 24 >= bytes.len(), "{name} at {at}: not found");
                    assert_eq!(found, whole, "{name} at {at}");
                }
                Err(
                    Error::Corrupt { .. }
                    | Error::Io { .. }
                    | Error::Unsupported { .. }
                    | Error::Foreign { .. },
                ) => {}
                Err(other) => panic!("{name} at {at}: {other}"),
            }
        }
    }
}

#[test]
fn a_missing_or_cut_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    for name in ["MANIFEST", "base-2.trie", "delta-3.trie", "gone-3.trie", "log-4.wal"] {
        for cut in [None, Some(0), Some(70), Some(100)] {
            let damaged = tempfile::tempdir().unwrap();
            copy(folder.path(), damaged.path());
            let path = damaged.path().join(name);
            match cut {
                None => std::fs::remove_file(path).unwrap(),
                Some(len) => std::fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap(),
            }
            let found = content(damaged.path());
            // Of a log that was cut at its end nobody can know what was there.
            let unknowable = name == "log-4.wal" && cut.is_some_and(|len| len >= 64);
            assert!(found.is_err() || unknowable, "{name} {cut:?}: {found:?}");
        }
    }
}
