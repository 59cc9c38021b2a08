//! Any bytes as a file: every question ends in an answer or an error, and a file that passes `Verify::Structural`
//! answers as one that was made of its keys.
//!
//! The first byte says what the others are: a whole file whose checksums are put right, a whole file as it is, or
//! numbers for the header and the bytes of the sections.

#[path = "image_file.rs"]
mod file;
#[path = "../../tests/support/quick.rs"]
mod quick;

use std::borrow::Borrow;
use std::fmt::Debug;
use std::path::Path;

use engine::symbol::Symbol;
use engine::trie::{Backing, Stored, Value};
use engine::{Image, LoadStrategy, OpenOptions, Rank, Trie, Verify};

use file::Head;

const WIDTHS: [u8; 4] = [0, 4, 8, 255];
const VERIFY: [Verify; 3] = [Verify::Header, Verify::Full, Verify::Structural];
const STRATEGIES: [LoadStrategy; 6] = [
    LoadStrategy::Eager,
    LoadStrategy::Lazy,
    LoadStrategy::Depth(2),
    LoadStrategy::Depth(usize::MAX),
    LoadStrategy::Parallel(2),
    LoadStrategy::Mapped,
];

/// Checks one input.
pub(crate) fn check(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = match how & 3 {
        0 => rest.to_vec(),
        1 => {
            let mut bytes = rest.to_vec();
            file::repair(&mut bytes);
            bytes
        }
        _ => {
            let Some(bytes) = composed(how, rest) else { return };
            bytes
        }
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a");
    std::fs::write(&path, &bytes).expect("a scratch file");
    let width = bytes.get(14).copied().unwrap_or(8);
    match bytes.get(13) {
        Some(1) => by_width::<char>(&path, width, &bytes),
        _ => by_width::<u8>(&path, width, &bytes),
    }
}

/// The file that numbers and sections make.
fn composed(how: u8, rest: &[u8]) -> Option<Vec<u8>> {
    let ([root_low, root_high, keys, nodes, len_low, len_high, lines], body) = rest.split_first_chunk()?;
    let (section, rest) =
        body.split_at(usize::from(u16::from_le_bytes([*len_low, *len_high])).min(body.len()));
    let (lines, buckets) = rest.split_at((usize::from(*lines) * 64).min(rest.len()));
    let head = Head {
        ranks: how & 4 != 0,
        chars: how & 8 != 0,
        value_width: WIDTHS[usize::from(how >> 4 & 3)],
        key_count: u64::from(*keys),
        node_count: u32::from(*nodes),
        root: u32::from(u16::from_le_bytes([*root_low, *root_high])),
    };
    let all = [(1, section), (16, buckets), (17, lines)];
    Some(file::compose(&head, if how & 64 == 0 { &all[..1] } else { &all }))
}

/// The symbols that there are, and what all their keys can do.
trait Key: Symbol<Owned: Ord + Clone + Debug> {}

impl<K: Symbol<Owned: Ord + Clone + Debug>> Key for K {}

fn by_width<K: Key>(path: &Path, width: u8, bytes: &[u8]) {
    ask_images::<K, Rank>(path, bytes);
    match width {
        0 => ask_all::<K, ()>(path, bytes, |_| ()),
        4 => ask_all::<K, u32>(path, bytes, |number| number as u32),
        8 => ask_all::<K, u64>(path, bytes, |number| number),
        _ => {
            ask_images::<K, [u8]>(path, bytes);
        }
    }
}

/// Keys to ask for: pieces of the file, and some that are short.
fn probes<K: Symbol>(bytes: &[u8]) -> Vec<K::Owned> {
    let pieces =
        (1..12).map(|piece| bytes.len() * piece / 13).map(|at| &bytes[at..(at + at % 7).min(bytes.len())]);
    let fixed = [&b""[..], b"a", b"ab", b"aaaa", b"\x7F", "\u{10FFFF}".as_bytes(), &[0; 300]];
    pieces.chain(fixed).filter_map(K::key).collect()
}

fn ask_all<K: Key, V>(path: &Path, bytes: &[u8], value: impl Fn(u64) -> V)
where
    V: Value + Copy + PartialEq + Debug + for<'i> Stored<Read<'i> = V>,
{
    let sound = ask_images::<K, V>(path, bytes);
    let expected: Option<Vec<(K::Owned, V)>> = sound.then(|| {
        let image = Image::<K, V>::open(path, Verify::Structural).expect("it was opened before");
        image.iter().map(|entry| entry.expect("its structure was verified")).collect()
    });
    for strategy in STRATEGIES {
        for verify in VERIFY {
            let Ok(mut trie) = Trie::<K, V>::open(path, OpenOptions::new().strategy(strategy).verify(verify))
            else {
                assert!(!sound, "{strategy:?} {verify:?} refuses a sound file");
                continue;
            };
            let mut keys = probes::<K>(bytes);
            if strategy != LoadStrategy::Eager {
                ask_trie(&trie, &keys);
            }
            assert!(trie.iter().count() <= bytes.len());
            match &expected {
                Some(expected) => {
                    assert!(
                        trie.iter().map(|entry| entry.expect("a sound file")).eq(expected.iter().cloned())
                    );
                }
                None => keys.extend(trie.iter().flatten().map(|(key, _)| key).step_by(3).take(40)),
            }
            ask_trie(&trie, &keys);
            for (key, number) in keys.iter().zip(0..) {
                let key: &K::Key = key.borrow();
                let set = trie.insert(key, value(number)).is_ok();
                assert!(!set || trie.get(key).ok() == Some(Some(value(number))));
                if number % 2 == 0 && trie.remove(key).is_ok() && sound {
                    assert_eq!(trie.get(key).ok(), Some(None));
                }
            }
            let copy = path.with_extension("copy");
            let written = trie.checkpoint_to(&quick::Quick, &copy).is_ok();
            assert!(written || !sound);
            if sound {
                let image = Image::<K, V>::open(&copy, Verify::Structural).expect("a new image");
                assert_eq!(image.len(), trie.len());
            }
        }
    }
}

fn ask_trie<K: Key, V: Value>(trie: &Trie<K, V>, keys: &[K::Owned]) {
    let borrowed: Vec<&K::Key> = keys.iter().map(Borrow::borrow).collect();
    let _ = (trie.get_many(&borrowed), trie.first().is_ok(), trie.last().is_ok());
    for pair in borrowed.windows(2) {
        let (key, other) = (pair[0], pair[1]);
        let _ = (trie.get(key), trie.contains(key), trie.prefix(key).count(), trie.range(key..other).count());
        let _ = (trie.at_least(key).is_ok(), trie.at_most(key).is_ok());
        let _ = (trie.above(key).is_ok(), trie.below(key).is_ok());
    }
}

/// Asks images of the file everything there is; true if its structure is sound.
fn ask_images<K: Key, V: Stored + ?Sized>(path: &Path, bytes: &[u8]) -> bool {
    let mut sound = false;
    for verify in VERIFY {
        for backing in [Backing::Map, Backing::Copy] {
            let Ok(image) = Image::<K, V>::open(path, OpenOptions::new().verify(verify).backing(backing))
            else {
                continue;
            };
            let mut keys = probes::<K>(bytes);
            keys.extend(image.iter().flatten().map(|(key, _)| key).step_by(3).take(40));
            ask_image(&image, &keys, bytes.len());
            if verify == Verify::Structural {
                sound = true;
                let entries: Vec<K::Owned> = image
                    .iter()
                    .map(|entry| entry.map(|(key, _)| key))
                    .collect::<Result<_, _>>()
                    .expect("sound");
                assert_eq!(entries.len() as u64, image.len());
                assert!(entries.is_sorted_by(|a, b| a < b));
                assert!(
                    image.iter().rev().map(|entry| entry.expect("sound").0).eq(entries.into_iter().rev())
                );
            }
        }
    }
    sound
}

fn ask_image<K: Key, V: Stored + ?Sized>(image: &Image<K, V>, keys: &[K::Owned], most: usize) {
    assert!(image.iter().count() <= most);
    assert!(image.iter().rev().count() <= most);
    let borrowed: Vec<&K::Key> = keys.iter().map(Borrow::borrow).collect();
    let _ = image.get_many(&borrowed).map(|answers| assert_eq!(answers.len(), keys.len()));
    let _ = (image.first().is_ok(), image.last().is_ok());
    for pair in keys.windows(2) {
        let (key, other): (&K::Key, &K::Key) = (pair[0].borrow(), pair[1].borrow());
        let _ = (image.get(key).is_ok(), image.get_ordered(key).is_ok(), image.contains(key).is_ok());
        let _ = (image.at_least(key).is_ok(), image.at_most(key).is_ok());
        let _ = (image.above(key).is_ok(), image.below(key).is_ok());
        assert!(image.prefix(key).count() <= most);
        assert!(image.range(key..other).take(50).count() <= 50);
        let (mut range, mut taken) = (image.range(key..), 0);
        while taken < 50 && (if taken % 2 == 0 { range.next() } else { range.next_back() }).is_some() {
            taken += 1;
        }
        let mut cursor = image.cursor();
        let mut moved = cursor.seek(key);
        for step in 0..20 {
            let _ = (moved, cursor.key().map(<[u8]>::len), cursor.value().is_ok());
            moved = if step % 5 < 3 { cursor.next() } else { cursor.prev() };
        }
    }
}
