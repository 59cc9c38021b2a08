//! Images against an ordered map: every profile, every kind of value, every question.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "../fuzz/checks/image_file.rs"]
mod file;
#[path = "support/quick.rs"]
mod quick;
#[path = "support/terms.rs"]
mod terms;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;

use engine::trie::{Backing, Stored};
use engine::{ByteImage, ByteTrie, CharImage, Error, Image, ImageWriter, LoadStrategy, OpenOptions, Profile};
use engine::{Rank, Verify};
use proptest::prelude::*;

const PROFILES: [Profile; 3] = [Profile::Fast, Profile::Balanced, Profile::Compact];

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Writes an image of `model`, whose values `value` makes of its bytes.
fn write<'m, V: Stored + ?Sized>(
    model: &'m Model,
    path: &Path,
    profile: Profile,
    value: impl Fn(&'m [u8]) -> V::Write<'m>,
) {
    let mut writer = ImageWriter::<u8, V>::create_on(&quick::Quick, path, profile, 7).unwrap();
    for (key, bytes) in model {
        writer.push(key, value(bytes)).unwrap();
    }
    writer.finish().unwrap();
}

/// Compares every answer of an image with that of the model, whose values `value` makes of rank and bytes.
fn check<'i, V: Stored + ?Sized>(
    image: &'i Image<u8, V>,
    model: &Model,
    probes: &[Vec<u8>],
    value: impl Fn(u64, &[u8]) -> V::Read<'i>,
) where
    V::Read<'i>: Copy + PartialEq + std::fmt::Debug,
{
    let entries: Vec<(Vec<u8>, V::Read<'i>)> =
        model.iter().zip(0..).map(|((key, bytes), rank)| (key.clone(), value(rank, bytes))).collect();
    assert_eq!(image.len(), entries.len() as u64);
    assert!(image.iter().map(Result::unwrap).eq(entries.iter().cloned()));
    assert!(image.iter().rev().map(Result::unwrap).eq(entries.iter().rev().cloned()));
    assert_eq!(image.first().unwrap(), entries.first().cloned());
    assert_eq!(image.last().unwrap(), entries.last().cloned());
    let mut questions: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    questions.extend(probes.iter().map(Vec::as_slice));
    let many = image.get_many(&questions).unwrap();
    for (key, found) in questions.iter().zip(many) {
        let at = entries.partition_point(|entry| entry.0.as_slice() < *key);
        let held = entries.get(at).filter(|entry| entry.0 == *key);
        let behind = at + usize::from(held.is_some());
        assert_eq!(found, held.map(|entry| entry.1), "{key:?}");
        assert_eq!(image.get(key).unwrap(), held.map(|entry| entry.1), "{key:?}");
        assert_eq!(image.get_ordered(key).unwrap(), held.map(|entry| entry.1), "{key:?}");
        assert_eq!(image.at_least(key).unwrap(), entries.get(at).cloned(), "{key:?}");
        assert_eq!(image.above(key).unwrap(), entries.get(behind).cloned(), "{key:?}");
        assert_eq!(image.below(key).unwrap(), entries[..at].last().cloned(), "{key:?}");
        assert_eq!(image.at_most(key).unwrap(), entries[..behind].last().cloned(), "{key:?}");
        let within = entries.iter().filter(|entry| entry.0.starts_with(key)).cloned();
        assert!(image.prefix(key).map(Result::unwrap).eq(within), "{key:?}");
        let mut cursor = image.cursor();
        assert_eq!(cursor.seek(key).unwrap(), at < entries.len());
        if at < entries.len() {
            assert_eq!(cursor.key(), Some(entries[at].0.as_slice()));
            for _ in 0..3 {
                assert_eq!(cursor.prev().unwrap(), at > 0);
                if at > 0 {
                    assert_eq!(cursor.key(), Some(entries[at - 1].0.as_slice()));
                    assert!(cursor.next().unwrap());
                    assert_eq!(cursor.value().unwrap(), Some(entries[at].1));
                } else {
                    assert!(cursor.first().unwrap());
                }
            }
        }
    }
    for pair in questions.windows(2).step_by(3) {
        let bounds = [Bound::Included(pair[0]), Bound::Excluded(pair[0]), Bound::Unbounded];
        for start in bounds {
            for end in [Bound::Included(pair[1]), Bound::Excluded(pair[1]), Bound::Unbounded] {
                let inside = |key: &[u8]| {
                    (match start {
                        Bound::Included(start) => key >= start,
                        Bound::Excluded(start) => key > start,
                        Bound::Unbounded => true,
                    }) && match end {
                        Bound::Included(end) => key <= end,
                        Bound::Excluded(end) => key < end,
                        Bound::Unbounded => true,
                    }
                };
                let expected: Vec<_> = entries.iter().filter(|entry| inside(&entry.0)).cloned().collect();
                let range = || image.range((start, end)).map(Result::unwrap);
                assert!(range().eq(expected.iter().cloned()), "{start:?} {end:?}");
                assert!(range().rev().eq(expected.iter().rev().cloned()), "{start:?} {end:?}");
                // From both ends in turn.
                let (mut range, mut both) = (range(), Vec::new());
                while let Some(entry) = if both.len() % 2 == 0 { range.next() } else { range.next_back() } {
                    both.push(entry.0);
                }
                assert!(range.next().is_none() && range.next_back().is_none());
                both.sort_unstable();
                assert!(both.iter().eq(expected.iter().map(|entry| &entry.0)), "{start:?} {end:?}");
            }
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(5, |number, &byte| number.wrapping_mul(257) + u64::from(byte))
}

/// All kinds of values, all profiles, all ways to open.
fn check_all(model: &Model, probes: &[Vec<u8>]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    for profile in PROFILES {
        write::<u64>(model, &path, profile, number);
        for (verify, backing) in [
            (Verify::Header, Backing::Map),
            (Verify::Full, Backing::Copy),
            (Verify::Structural, Backing::Map),
        ] {
            let options = OpenOptions::new().verify(verify).backing(backing);
            let image = ByteImage::<u64>::open(&path, options).unwrap();
            assert_eq!((image.has_point_index(), image.created_seq()), (profile == Profile::Fast, 7));
            check(&image, model, probes, |_, bytes| number(bytes));
        }
        // The same file as a trie: strategies make heap nodes of whatever the profile is.
        for strategy in [LoadStrategy::Eager, LoadStrategy::Mapped] {
            let trie = ByteTrie::<u64>::open(&path, strategy).unwrap();
            let expected = model.iter().map(|(key, bytes)| (key.clone(), number(bytes)));
            assert!(trie.iter().map(Result::unwrap).eq(expected));
            for (key, bytes) in model {
                assert_eq!(trie.get(key).unwrap(), Some(number(bytes)));
            }
        }
        write::<u32>(model, &path, profile, |bytes| number(bytes) as u32);
        let image = ByteImage::<u32>::open(&path, Verify::Structural).unwrap();
        check(&image, model, probes, |_, bytes| number(bytes) as u32);
        write::<()>(model, &path, profile, |_| ());
        let image = ByteImage::<()>::open(&path, Verify::Structural).unwrap();
        check(&image, model, probes, |_, _| ());
        assert!(matches!(ByteImage::<Rank>::open(&path, Verify::Header), Err(Error::Unsupported { .. })));
        write::<Rank>(model, &path, profile, |_| ());
        let image = ByteImage::<Rank>::open(&path, Verify::Structural).unwrap();
        check(&image, model, probes, |rank, _| rank);
        write::<[u8]>(model, &path, profile, |bytes| bytes);
        let image = ByteImage::<[u8]>::open(&path, Verify::Structural).unwrap();
        let leaked: BTreeMap<Vec<u8>, &'static [u8]> =
            model.values().map(|bytes| (bytes.clone(), &*bytes.clone().leak())).collect();
        check(&image, model, probes, |_, bytes| leaked[bytes]);
    }
}

/// Keys that share much: few bytes, and now and then a long run.
fn keys() -> impl Strategy<Value = Vec<u8>> + Clone {
    let few = prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0x7F, 0x80, 0xFF]), 0..7);
    let any_byte = prop::collection::vec(any::<u8>(), 0..3);
    let long = (0_usize..4, few.clone()).prop_map(|(runs, end)| [vec![b'a'; runs * 150], end].concat());
    prop_oneof![6 => few, 3 => any_byte, 1 => long]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn images_agree_with_a_map(
        model in prop::collection::btree_map(keys(), prop::collection::vec(any::<u8>(), 0..12), 0..120),
        probes in prop::collection::vec(keys(), 0..30),
    ) {
        check_all(&model, &probes);
    }
}

#[test]
fn terms_of_the_ledger_agree_too() {
    let terms = terms::ledger_terms(400);
    let model: Model =
        terms.iter().map(|term| (term.clone().into_bytes(), term.clone().into_bytes())).collect();
    let probes: Vec<Vec<u8>> = terms.iter().map(|term| [&term.as_bytes()[..4], b"~"].concat()).collect();
    check_all(&model, &probes[..20]);
}

/// For some of them a point index has no room, and a set would have nothing to put down for the empty one.
#[test]
fn keys_of_all_lengths_agree_too() {
    let lens = (0..6_000).step_by(409).chain(4_070..4_092);
    let model: Model = lens.map(|len| (vec![b'a'; len], len.to_le_bytes().to_vec())).collect();
    let probes: Vec<Vec<u8>> = (1..6_000).step_by(409).map(|len| vec![b'a'; len]).collect();
    check_all(&model, &probes);
}

/// What a forged point index has besides the keys is found by walking all of them.
#[test]
fn an_entry_that_is_no_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let keys: Model = [b"a", b"b", b"c"].map(|key| (key.to_vec(), Vec::new())).into();
    let sections = |keys: &Model| {
        write::<u64>(keys, &path, Profile::Fast, |_| 7);
        let file = std::fs::read(&path).unwrap();
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
        let spans = [64, 96, 128].map(|at| number(at + 8)..number(at + 8) + number(at + 16));
        let root = u32::from_le_bytes(file[44..48].try_into().unwrap());
        (spans.map(|span| file[span].to_vec()), root)
    };
    let ([_, buckets, directory], _) = sections(&keys);
    let fewer: Model = keys.clone().into_iter().take(2).collect();
    let ([nodes, own_buckets, own_directory], root) = sections(&fewer);
    for (buckets, directory, sound) in [(&own_buckets, &own_directory, true), (&buckets, &directory, false)] {
        let head =
            file::Head { ranks: false, chars: false, value_width: 8, key_count: 2, node_count: 1, root };
        let file = file::compose(&head, &[(1, &nodes), (16, buckets), (17, directory)]);
        assert!(ByteImage::<u64>::from_bytes(file.clone(), Verify::Full).is_ok());
        let walked = ByteImage::<u64>::from_bytes(file, Verify::Structural);
        assert!(walked.is_ok() == sound, "{walked:?}");
    }
}

/// A checkpoint and a writer give the same bytes for the same entries.
#[test]
fn a_checkpoint_is_a_balanced_image() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let terms = terms::ledger_terms(3_000);
    let mut trie = engine::CharTrie::<u64>::new();
    let mut writer = ImageWriter::<char, u64>::create_on(&quick::Quick, &a, Profile::Balanced, 1).unwrap();
    for (term, rank) in terms.iter().zip(0..) {
        writer.push(term, rank).unwrap();
        trie.insert(term, rank).unwrap();
    }
    writer.finish().unwrap();
    trie.checkpoint(&b).unwrap();
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap());
}

/// More than the writer holds at a time, so that it writes pieces and comes back to the start.
#[test]
fn a_large_image_is_written_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let value = |i: u64| vec![i as u8; 1_000 + (i % 100) as usize];
    let mut writer =
        ImageWriter::<char, [u8]>::create_on(&quick::Quick, &path, Profile::Balanced, 1).unwrap();
    for i in 0..8_000 {
        writer.push(&format!("{i:06}"), &value(i)).unwrap();
    }
    writer.finish().unwrap();
    let image = CharImage::<[u8]>::open(&path, Verify::Structural).unwrap();
    for i in (0..8_000).step_by(37) {
        assert_eq!(image.get(&format!("{i:06}")).unwrap(), Some(&value(i)[..]));
    }
}

#[test]
fn keys_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut writer = ImageWriter::<char, u64>::create(&path, Profile::Balanced).unwrap();
    writer.push("b", 1).unwrap();
    for key in ["", "a", "b"] {
        let refused = writer.push(key, 2).unwrap_err().to_string();
        assert!(refused.contains(&format!("key `{key}` does not come after `b`")), "{refused}");
    }
    writer.push("ba", 2).unwrap();
    writer.finish().unwrap();
    assert_eq!(CharImage::<u64>::open(&path, Verify::Structural).unwrap().len(), 2);
}

#[test]
fn an_unfinished_image_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut writer = ImageWriter::<char, u64>::create(&path, Profile::Balanced).unwrap();
    writer.push("b", 1).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Whatever fails on the way, the path has the old image or the new one.
#[test]
fn a_failing_storage_leaves_the_old_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let write = |storage: &dyn engine::format::Storage, len: u64| -> engine::Result<()> {
        let mut writer = ImageWriter::<char, [u8]>::create_on(storage, &path, Profile::Fast, len)?;
        for i in 0..len {
            writer.push(&format!("{i:06}"), &[7; 400])?;
        }
        writer.finish()
    };
    write(&quick::Quick, 10).unwrap();
    for fuse in 0.. {
        let storage = engine::format::FaultStorage::new(quick::Quick, fuse);
        let written = write(&storage, 12_000);
        let image = CharImage::<[u8]>::open(&path, Verify::Full).unwrap();
        assert!(image.len() == if written.is_ok() { 12_000 } else { 10 } || storage.left() == 0);
        if written.is_ok() {
            break;
        }
    }
}
