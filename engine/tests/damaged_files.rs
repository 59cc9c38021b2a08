//! Files that are flipped, cut or forged: an error, or the original trie, and never anything else.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/terms.rs"]
mod terms;

use std::collections::BTreeMap;
use std::path::Path;

use engine::format::HEADER_LEN;
use engine::trie::{Backing, Verify};
use engine::{ByteImage, ByteTrie, CharTrie, Error, LoadStrategy, OpenOptions, Result};

/// A trie with every kind of node, on two pages.
fn sample() -> BTreeMap<Vec<u8>, u64> {
    let mut sample: BTreeMap<Vec<u8>, u64> =
        (0..=255_u8).map(|byte| (vec![byte, b'x'], u64::from(byte))).collect();
    sample.extend(terms::ledger_terms(60).into_iter().map(String::into_bytes).zip(1_000..));
    sample.extend((0..20).map(|len| (vec![b'a'; len], 7)));
    sample.insert([&[b'b'; 300][..], b"1"].concat(), 1);
    sample.insert([&[b'b'; 300][..], &[b'c'; 300][..]].concat(), 2);
    sample
}

fn write(sample: &BTreeMap<Vec<u8>, u64>, path: &Path) -> Vec<u8> {
    let mut trie = ByteTrie::new();
    for (key, value) in sample {
        trie.insert(key, *value).unwrap();
    }
    trie.checkpoint(path).unwrap();
    std::fs::read(path).unwrap()
}

/// Writes a file anew: some file systems sync one that is cut to nothing and written again.
fn write_anew(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

/// Opens a file, reads everything in three ways and says whether it is the original.
fn read(path: &Path, options: OpenOptions, original: &BTreeMap<Vec<u8>, u64>) -> Result<()> {
    let trie = ByteTrie::<u64>::open(path, options)?;
    let mut damage = None;
    for (key, value) in original {
        match trie.get(key) {
            Ok(found) => assert_eq!(found, Some(*value), "a wrong answer instead of an error"),
            Err(found) => damage = Some(found),
        }
    }
    let entries: Result<BTreeMap<Vec<u8>, u64>> = trie.iter().collect();
    match (entries, damage) {
        (Ok(entries), None) => assert!(entries == *original && trie.len() == original.len() as u64),
        (Err(found), Some(_)) | (Err(found), None) => {
            assert!(trie.checkpoint(path.with_extension("copy")).is_err());
            return Err(found);
        }
        (Ok(_), Some(damage)) => panic!("iteration did not meet {damage}"),
    }
    Ok(())
}

fn options() -> [OpenOptions; 6] {
    let new = OpenOptions::new();
    [
        new.strategy(LoadStrategy::Mapped).verify(Verify::Full),
        new.strategy(LoadStrategy::Depth(2)),
        new.strategy(LoadStrategy::Eager),
        new,
        new.verify(Verify::Full),
        new.verify(Verify::Full).backing(Backing::Copy),
    ]
}

#[test]
fn every_flipped_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, broken) = (folder.path().join("a.trie"), folder.path().join("b.trie"));
    let sample = sample();
    let good = write(&sample, &path);
    assert!(good.len() > 4_096 + 1_024, "{}", good.len());
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        write_anew(&broken, &bytes);
        // Every byte in two ways, every way at every third byte.
        for options in options().into_iter().skip(at % 3).step_by(3) {
            let damage = read(&broken, options, &sample);
            assert!(damage.is_err(), "byte {at} {options:?}");
            if at >= HEADER_LEN {
                assert!(matches!(damage, Err(Error::Corrupt { .. })), "byte {at} {options:?} {damage:?}");
            }
        }
    }
    for options in options() {
        read(&path, options, &sample).unwrap();
    }
}

/// A node that begins on a sound page and ends on a damaged one.
#[test]
fn damage_behind_a_page_border_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, broken) = (folder.path().join("a.trie"), folder.path().join("b.trie"));
    let terms = terms::ledger_terms(2_000);
    let sample: BTreeMap<Vec<u8>, u64> = terms.into_iter().map(String::into_bytes).zip(0..).collect();
    let good = write(&sample, &path);
    for border in (4_096..good.len() - 128).step_by(4_096) {
        for at in border..border + 48 {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            write_anew(&broken, &bytes);
            let damage = read(&broken, OpenOptions::new(), &sample);
            assert!(
                matches!(damage, Err(Error::Corrupt { offset, .. }) if offset == border as u64),
                "{at} {damage:?}"
            );
        }
    }
}

#[test]
fn every_cut_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (path, broken) = (folder.path().join("a.trie"), folder.path().join("b.trie"));
    let sample = sample();
    let good = write(&sample, &path);
    for len in 0..good.len() {
        write_anew(&broken, &good[..len]);
        for options in options().into_iter().skip(len % 3).step_by(3) {
            let Err(refused) = ByteTrie::<u64>::open(&broken, options) else { panic!("opened {len} bytes") };
            assert!(len == 0 || matches!(refused, Error::Corrupt { .. }), "{len} {refused:?}");
        }
    }
    write_anew(&broken, &[&good[..], b"\0"].concat());
    assert!(ByteTrie::<u64>::open(&broken, LoadStrategy::Lazy).is_err());
}

#[test]
fn the_error_names_file_offset_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let mut bytes = write(&sample(), &path);
    bytes[5_000] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let Err(refused) = ByteTrie::<u64>::open(&path, LoadStrategy::Eager) else { panic!("opened") };
    let message = refused.to_string();
    assert!(
        message.contains("a.trie") && message.contains("byte 4096") && message.contains("checksum"),
        "{message}"
    );
    std::fs::write(&path, &bytes[..100]).unwrap();
    let Err(refused) = ByteTrie::<u64>::open(&path, LoadStrategy::Lazy) else { panic!("opened") };
    let expected = format!("the header promises {} bytes and the file has 100", bytes.len());
    assert!(refused.to_string().contains(&expected), "{refused}");
}

/// A damaged page makes an access fail and leaves the trie usable and unchanged.
#[test]
fn a_failed_change_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = terms::ledger_terms(2_000);
    let sample: BTreeMap<Vec<u8>, u64> = terms.into_iter().map(String::into_bytes).zip(0..).collect();
    let mut bytes = write(&sample, &path);
    bytes[9_000] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let mut trie = ByteTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    let mut failed = 0;
    for key in sample.keys() {
        let len = trie.len();
        if trie.remove(key).is_err() {
            failed += 1;
            assert!(trie.insert(key, 1).is_err() || trie.get(key).unwrap().is_some());
        } else {
            assert_eq!(trie.len(), len - 1);
            assert_eq!(trie.get(key).ok().flatten(), None);
        }
    }
    assert!(failed > 0 && failed < 1_000, "{failed}");
    assert_eq!(trie.len(), failed);
}

/// Puts right every checksum of a file with the two sections of version 1.
fn forge(bytes: &mut [u8]) {
    let put = |bytes: &mut [u8], at: usize, crc: u32| bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
    let pages_at = u64::from_le_bytes(bytes[104..112].try_into().unwrap()) as usize;
    for (index, at) in (pages_at..bytes.len()).step_by(4).enumerate() {
        let page = (index * 4_096).max(128)..((index + 1) * 4_096).min(pages_at);
        let crc = crc32fast::hash(&bytes[page]);
        put(bytes, at, crc);
    }
    let crc = crc32fast::hash(&bytes[pages_at..]);
    put(bytes, 96 + 24, crc);
    let crc = crc32fast::hash(&bytes[64..128]);
    put(bytes, 56, crc);
    let crc = crc32fast::hash(&bytes[..60]);
    put(bytes, 60, crc);
}

/// Read in place and not verified, a damaged file may answer wrongly, and nothing worse.
#[test]
fn damage_is_survived_without_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let sample = sample();
    let good = write(&sample, &path);
    let mut opened = 0;
    for at in (0..good.len()).step_by(3) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 7);
        write_anew(&path, &bytes);
        let Ok(image) = ByteImage::<u64>::open(&path, Verify::Header) else { continue };
        opened += 1;
        look_around(&image, sample.keys().skip(at % 40).step_by(40));
        assert!(ByteImage::<u64>::open(&path, Verify::Full).is_err(), "byte {at}");
    }
    assert!(opened > good.len() / 6, "{opened}");
}

/// Asks an image that may hold anything in every way there is.
fn look_around<'k>(image: &ByteImage<u64>, keys: impl Iterator<Item = &'k Vec<u8>>) {
    let limit = 2_000;
    let keys: Vec<&[u8]> = keys.map(Vec::as_slice).collect();
    assert!(image.iter().take(limit).count() < limit);
    assert!(image.iter().rev().take(limit).count() < limit);
    let _ = image.get_many(&keys);
    for key in keys {
        let _ = (image.get(key), image.get_ordered(key), image.at_least(key), image.at_most(key));
        let _ = (image.below(key), image.above(key), image.first(), image.last());
        assert!(image.prefix(&key[..key.len() / 2]).take(limit).count() < limit);
        let mut cursor = image.cursor();
        let _ = (cursor.seek(key), cursor.next(), cursor.prev(), cursor.prev(), cursor.next());
    }
}

/// Checksums that fit do not make a file sound. Answers may be wrong then, but there are answers or errors.
#[test]
fn forged_files_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let good = write(&sample(), &path);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let good_keys: Vec<Vec<u8>> = sample().into_keys().collect();
    let (mut opened, mut sound, rounds) = (0, 0, 2_000);
    for _ in 0..rounds {
        let mut bytes = good.clone();
        for _ in 0..1 + random() % 4 {
            let at = 16 + random() as usize % (bytes.len() - 16);
            bytes[at] = random() as u8;
        }
        let sections_kept = bytes[64..128] == good[64..128];
        if sections_kept {
            forge(&mut bytes);
        }
        write_anew(&path, &bytes);
        if let Ok(image) = ByteImage::<u64>::open(&path, Verify::Header) {
            look_around(&image, good_keys.iter().step_by(101));
        }
        if ByteImage::<u64>::open(&path, Verify::Structural).is_ok() {
            sound += 1;
        }
        for options in options() {
            let Ok(mut trie) = ByteTrie::<u64>::open(&path, options) else { continue };
            opened += 1;
            let keys: Vec<Vec<u8>> =
                trie.iter().take(10_000).map_while(|entry| entry.ok().map(|(key, _)| key)).collect();
            assert!(keys.len() < 10_000);
            for key in keys.iter().step_by(7) {
                let _ = (trie.get(key), trie.prefix(&key[..key.len() / 2]).count(), trie.remove(key));
            }
        }
    }
    assert!(opened > rounds / 2, "{opened}");
    // A value, or a byte of padding, may be anything.
    assert!(sound < rounds, "{sound}");
}

#[test]
fn keys_that_are_not_utf8_are_refused_by_a_char_trie() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let sample = BTreeMap::from([(b"a".to_vec(), 1), (b"b\xFF".to_vec(), 2), (b"c".to_vec(), 3)]);
    let mut bytes = write(&sample, &path);
    bytes[13] = 1;
    forge(&mut bytes);
    std::fs::write(&path, &bytes).unwrap();
    for strategy in [LoadStrategy::Eager, LoadStrategy::Lazy] {
        let trie = CharTrie::<u64>::open(&path, strategy).unwrap();
        assert_eq!((trie.get("a").unwrap(), trie.get("c").unwrap()), (Some(1), Some(3)));
        let mut entries = trie.iter();
        assert_eq!(entries.next().unwrap().unwrap(), ("a".to_owned(), 1));
        let message = entries.next().unwrap().unwrap_err().to_string();
        assert!(message.contains("a.trie") && message.contains("`b\\xff` is not UTF-8"), "{message}");
        assert!(entries.next().is_none());
    }
}

/// What a forger can do to a bucket and be read: nothing that is wrong becomes worse by a change.
#[test]
fn a_bucket_that_is_not_sound_is_read_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let sample = BTreeMap::from([(b"a".to_vec(), 1), (b"b".to_vec(), 2), (b"c".to_vec(), 3)]);
    let good = write(&sample, &path);
    // Head, fingerprints, one length, the least value and a byte for each, tails.
    let (prints, tails) = (128 + 4, 128 + 4 + 3 + 1 + 8 + 3);
    assert_eq!(good[tails..tails + 3], *b"abc");
    let (mut unordered, mut misfiled) = (good.clone(), good);
    unordered.swap(prints, prints + 2);
    unordered.swap(tails, tails + 2);
    misfiled[prints] ^= 1;
    for (mut bytes, found) in [(unordered, Some(3)), (misfiled, None)] {
        forge(&mut bytes);
        write_anew(&path, &bytes);
        for strategy in [LoadStrategy::Eager, LoadStrategy::Lazy, LoadStrategy::Mapped] {
            let mut trie = ByteTrie::<u64>::open(&path, strategy).unwrap();
            assert_eq!((trie.get(b"a").unwrap(), trie.get(b"b").unwrap()), (found, Some(2)));
            assert_eq!(trie.iter().count(), 3);
            for refused in [trie.insert(b"d", 4), trie.insert(b"a", 4), trie.remove(b"b")] {
                let message = refused.unwrap_err().to_string();
                assert!(message.contains("a.trie") && message.contains("keys of a bucket"), "{message}");
            }
            assert_eq!((trie.len(), trie.get(b"b").unwrap()), (3, Some(2)));
            assert!(
                ByteTrie::<u64>::open(&path, OpenOptions::from(strategy).verify(Verify::Structural)).is_err()
            );
        }
    }
}

/// Two edges to one child, level upon level, would unfold into 2^60 nodes.
#[test]
fn nodes_that_overlap_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let mut nodes = vec![2, 1, 0];
    nodes.resize(16, 0);
    let mut below = 0_u32;
    for _ in 0..60 {
        let unit = nodes.len() as u32 / 8;
        nodes.extend([1, 1, 0, 0]);
        nodes.extend(below.to_le_bytes());
        nodes.extend([b'a', b'b', 0, 0, 0, 0, 0, 0]);
        below = unit;
    }
    let mut bytes = write(&BTreeMap::new(), &path)[..128].to_vec();
    nodes.resize(nodes.len() + 64, 0);
    let nodes_len = nodes.len();
    bytes.extend(nodes);
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    let pages_at = bytes.len() as u64;
    bytes.extend([0; 4]);
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(16, pages_at + 4);
    put(24, 900);
    put(40, u64::from(below) << 32 | 61);
    put(80, nodes_len as u64);
    put(104, pages_at);
    put(112, 4);
    forge(&mut bytes);
    std::fs::write(&path, &bytes).unwrap();
    let Err(refused) = ByteTrie::<u64>::open(&path, LoadStrategy::Eager) else { panic!("opened") };
    assert!(refused.to_string().contains("nodes overlap"), "{refused}");
    let trie = ByteTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    assert_eq!(trie.get(&[b'a'; 60]).unwrap(), Some(0));
    let end = trie.iter().find_map(Result::err).unwrap();
    assert!(end.to_string().contains("nodes overlap"), "{end}");
}
