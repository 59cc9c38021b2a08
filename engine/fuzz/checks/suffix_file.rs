//! Any bytes as the file of a suffix index: every question ends in an answer, and a file that passes `Verify::Structural`
//! answers as one that was made of its texts.
//!
//! The first byte says what the others are: a whole file whose checksums are put right or left wrong, or texts, of which a
//! file is made, and changes to it whose checksums are put right.

#[path = "../../tests/support/quick.rs"]
mod quick;
#[path = "repair.rs"]
mod repair;

use std::borrow::Borrow;
use std::path::Path;

use engine::suffix::Layout;
use engine::symbol::Symbol;
use engine::trie::Backing;
use engine::{OpenOptions, Scdawg, SuffixAutomaton, SuffixIndex, SuffixTree, Verify};

/// Bytes between two texts of an input, and between its texts and its changes.
const BORDERS: [u8; 2] = [0xFE, 0xFF];

/// Checks one input.
pub(crate) fn check(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a");
    let mut bytes = match how & 3 {
        0 | 1 => rest.to_vec(),
        _ if how & 8 == 0 => changed::<u8>(how, rest, &path),
        _ => changed::<char>(how, rest, &path),
    };
    if how & 3 != 0 {
        repair::repair(&mut bytes);
    }
    std::fs::write(&path, &bytes).expect("a scratch file");
    if bytes.get(13) == Some(&1) { open::<char>(&path, &bytes) } else { open::<u8>(&path, &bytes) }
}

/// A file of texts, and some of its bytes changed: three bytes a change, the place and the new one.
fn changed<K: Symbol>(how: u8, rest: &[u8], path: &Path) -> Vec<u8> {
    let end = rest.iter().position(|&byte| byte == BORDERS[1]).unwrap_or(rest.len());
    let (texts, changes) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
    let texts: Vec<K::Owned> = texts.split(|&byte| byte == BORDERS[0]).filter_map(K::key).collect();
    // Some dozens of the same make a tree of more than a bucket.
    let copies = 1 + usize::from(how >> 4) * 5;
    let all = texts.iter().cycle().take(texts.len() * copies).map(Borrow::borrow);
    let index = SuffixIndex::<K>::from_texts(all).expect("few texts");
    let layout = if how & 4 == 0 { Layout::Fast } else { Layout::Compact };
    index.checkpoint_to(&quick::Quick, path, layout).expect("a file of few texts");
    let mut bytes = std::fs::read(path).expect("it was just written");
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        // Behind the header, over the whole file.
        let at = 64 + at * (bytes.len() - 64) / 65_536;
        bytes[at] = change[2];
    }
    bytes
}

fn open<K: Symbol>(path: &Path, bytes: &[u8]) {
    let open = |verify, backing| {
        SuffixIndex::<K>::open(path, OpenOptions::new().verify(verify).backing(backing)).ok()
    };
    let _ = open(Verify::Full, Backing::Copy).map(|index| index.texts());
    if let Some(index) = open(Verify::Structural, Backing::Copy) {
        compare(&index, bytes);
    }
    if let Some(index) = open(Verify::Header, Backing::Map) {
        ask(index, bytes, path);
    }
}

/// Patterns: pieces of the file, and some that are short.
fn patterns<K: Symbol>(bytes: &[u8]) -> Vec<K::Owned> {
    let pieces =
        (1..12).map(|piece| bytes.len() * piece / 13).map(|at| &bytes[at..(at + at % 14).min(bytes.len())]);
    let fixed = [&b""[..], b"a", b"ab", b"aaaa", b"\x7F", "\u{10FFFF}".as_bytes(), &[0; 300]];
    pieces.chain(fixed).filter_map(K::key).collect()
}

/// A sound file against the plainest search.
fn compare<K: Symbol>(index: &SuffixIndex<K>, bytes: &[u8]) {
    let snapshot = index.snapshot();
    let texts: Vec<&[u8]> = (0..snapshot.texts()).filter_map(|number| snapshot.text_bytes(number)).collect();
    for pattern in patterns::<K>(bytes) {
        let plain = K::bytes(pattern.borrow());
        if !plain.is_empty() {
            let count = |text: &&[u8]| text.windows(plain.len()).filter(|part| *part == plain).count();
            assert_eq!(snapshot.count(pattern.borrow()), texts.iter().map(count).sum::<usize>() as u64);
        }
        let longest = snapshot.longest_common_substring(pattern.borrow());
        let found = &plain[longest];
        assert!(
            found.is_empty() || texts.iter().any(|text| text.windows(found.len()).any(|part| part == found))
        );
    }
}

/// Asks everything there is to ask.
fn ask<K: Symbol>(index: SuffixIndex<K>, bytes: &[u8], path: &Path) {
    let snapshot = index.snapshot();
    for pattern in patterns::<K>(bytes) {
        let pattern: &K::Key = pattern.borrow();
        let count = snapshot.count(pattern);
        assert_eq!(snapshot.positions(pattern).len() as u64, count);
        assert_eq!(snapshot.occurrences(pattern).count() as u64, count);
        let _ = (snapshot.contains(pattern), snapshot.longest_common_substring(pattern));
    }
    if let Some(all) = K::key(bytes) {
        snapshot.longest_common_substring(all.borrow());
    }
    let _ = (snapshot.distinct_substrings().is_ok(), snapshot.iter().take(100).count());
    index.remove(snapshot.texts() / 2);
    for pattern in patterns::<K>(bytes) {
        let _ = (index.contains(pattern.borrow()), index.count(pattern.borrow()));
    }
    let copy = path.with_extension("copy");
    if index.checkpoint_to(&quick::Quick, &copy, Layout::Compact).is_ok() {
        let _ = SuffixIndex::<K>::open(&copy, Verify::Full).map(|copy| copy.texts());
    }
    // Forged intervals can make the graph of few bytes large.
    let graph = Scdawg::from(index);
    for pattern in patterns::<K>(bytes).iter().take(6) {
        if let Some(found) = graph.find(pattern.borrow()) {
            let _ = (found.rights().len(), found.lefts().len(), found.maximal().count());
        }
    }
    let _ = graph.nodes().take(5).count();
    if let Ok(index) = SuffixIndex::<K>::open(path, Verify::Header) {
        let _ = SuffixTree::from(index).nodes().take(60).count();
    }
    if let Ok(index) = SuffixIndex::<K>::open(path, Verify::Header) {
        let _ = SuffixAutomaton::from(index).states().take(5).count();
    }
}
