//! Any bytes as an image, a log or a manifest: an answer or an error, never a crash, a loop or memory out of proportion.
//!
//! The first byte says as what. Checksums are put right, so that what lies behind them is reached.
#![no_main]

use std::cell::OnceCell;
use std::path::Path;

use engine::trie::{Backing, Verify};
use engine::{ByteImage, ByteStore, ByteTrie, CharImage, Durability, LoadStrategy, OpenOptions};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SCRATCH: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

fn number(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 4)
        .map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize)
}

/// Puts the length, the checksum of the table and that of the header right.
fn seal_image(bytes: &mut [u8]) {
    let len = (bytes.len() as u64).to_le_bytes();
    put(bytes, 16, &len);
    let table = 64..64_usize.saturating_add(number(bytes, 48).min(64) * 32);
    if let Some(sum) = bytes.get(table).map(crc32fast::hash) {
        put(bytes, 56, &sum.to_le_bytes());
    }
    if let Some(sum) = bytes.get(..60).map(crc32fast::hash) {
        put(bytes, 60, &sum.to_le_bytes());
    }
}

fn seal_log(bytes: &mut [u8]) {
    if let Some(sum) = bytes.get(..60).map(crc32fast::hash) {
        put(bytes, 60, &sum.to_le_bytes());
    }
    let mut at = 64_usize;
    while let Some(record) = bytes.get(at..at.saturating_add(24 + number(bytes, at))) {
        if record.len() < 24 {
            break;
        }
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&1_u64.to_le_bytes());
        hasher.update(&record[..4]);
        hasher.update(&record[8..]);
        let sum = hasher.finalize().rotate_right(15).wrapping_add(0xA282_EAD8);
        let len = record.len();
        put(bytes, at + 4, &sum.to_le_bytes());
        at += len;
    }
}

fn ask_image(path: &Path) {
    let keys = [&b""[..], b"a", b"term00001", b"\xFF\xFF"];
    for options in [OpenOptions::from(Verify::Header), OpenOptions::from(Verify::Structural)] {
        if let Ok(image) = ByteImage::<u64>::open(path, options.backing(Backing::Copy)) {
            for key in keys {
                let _ = (image.get(key), image.get_ordered(key), image.at_most(key), image.above(key));
            }
            let _ = image.get_many(&keys);
            let _ = image.iter().take(10_000).count() + image.iter().rev().take(10_000).count();
        }
    }
    if let Ok(image) = CharImage::<[u8]>::open(path, Verify::Header) {
        let _ = (image.get("a"), image.iter().take(10_000).count());
    }
    for strategy in [LoadStrategy::Lazy, LoadStrategy::Eager] {
        if let Ok(mut trie) = ByteTrie::<u64>::open(path, strategy) {
            let _ = (trie.get(b"term00001"), trie.insert(b"term", 1), trie.remove(b"a"));
            let _ = trie.iter().take(10_000).count();
        }
    }
}

fn ask_store(directory: &Path) {
    if let Ok(store) = ByteStore::<u64>::open(directory, Durability::Async) {
        let _ = (store.get(b"a"), store.snapshot().iter().count());
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&what, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    SCRATCH.with(|scratch| {
        let scratch = scratch.get_or_init(|| tempfile::tempdir().expect("a scratch folder")).path();
        match what % 4 {
            0 | 1 => {
                if what.is_multiple_of(4) {
                    seal_image(&mut bytes);
                }
                let path = scratch.join("image.trie");
                std::fs::write(&path, bytes).expect("a scratch file");
                ask_image(&path);
            }
            what => {
                let directory = scratch.join("store");
                let _ = std::fs::remove_dir_all(&directory);
                drop(ByteStore::<u64>::open(&directory, Durability::Async).expect("an empty store"));
                let name = if what == 2 { "log-1.wal" } else { "MANIFEST" };
                if what == 2 {
                    seal_log(&mut bytes);
                } else if let Some(sum) = bytes.get(..124).map(crc32fast::hash) {
                    put(&mut bytes, 124, &sum.to_le_bytes());
                }
                std::fs::write(directory.join(name), bytes).expect("a scratch file");
                ask_store(&directory);
            }
        }
    });
});
