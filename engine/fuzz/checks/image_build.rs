//! An image of any keys, in every profile and with every kind of value, against an ordered map.
//!
//! The input is a list of keys with their values: how many bytes of the key before are kept, how many new ones follow
//! and how often the last one is repeated, and the new bytes.

#[path = "../../tests/support/quick.rs"]
mod quick;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;
use std::path::Path;

use engine::trie::Stored;
use engine::{Image, ImageWriter, LoadStrategy, Profile, Rank, Trie, Verify};

/// Values are made of their number, which variable ones repeat.
type Model = BTreeMap<Vec<u8>, u64>;

/// Checks one input.
pub(crate) fn check(data: &[u8]) {
    let model: Model = keys(data).into_iter().zip(1..).collect();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("a");
    for profile in [Profile::Fast, Profile::Balanced, Profile::Compact] {
        write::<u64>(&model, &path, profile, |number| *number);
        compare::<u64, _>(&model, &path, |_, number| *number);
        for strategy in [LoadStrategy::Eager, LoadStrategy::Lazy, LoadStrategy::Mapped] {
            let trie = Trie::<u8, u64>::open(&path, strategy).expect("an image");
            assert!(trie.iter().map(|entry| entry.expect("an image")).eq(model.clone()));
        }
        write::<()>(&model, &path, profile, |_| ());
        compare::<(), _>(&model, &path, |_, _| ());
        write::<Rank>(&model, &path, profile, |_| ());
        compare::<Rank, _>(&model, &path, |rank, _| rank);
        let values: BTreeMap<u64, Vec<u8>> = model
            .values()
            .map(|&number| (number, number.to_le_bytes().repeat(number as usize % 5)))
            .collect();
        write::<[u8]>(&model, &path, profile, |number| &values[number]);
        compare_variable(&model, &values, &path);
    }
}

fn keys(mut data: &[u8]) -> Vec<Vec<u8>> {
    let (mut keys, mut key, mut room) = (Vec::new(), Vec::new(), 20_000_usize);
    while let Some((&[kept, new, repeated], rest)) = data.split_first_chunk() {
        let (new, rest) = rest.split_at(usize::from(new & 31).min(rest.len()));
        key.truncate(usize::from(kept));
        key.extend_from_slice(new);
        // Now and then a long one.
        let last = key.last().copied().unwrap_or(b'a');
        key.resize(key.len() + if repeated < 200 { 0 } else { usize::from(repeated) }, last);
        let Some(left) = room.checked_sub(key.len()) else { break };
        keys.push(key.clone());
        (data, room) = (rest, left);
    }
    keys
}

fn write<'m, V: Stored + ?Sized>(
    model: &'m Model,
    path: &Path,
    profile: Profile,
    value: impl Fn(&'m u64) -> V::Write<'m>,
) {
    let mut writer =
        ImageWriter::<u8, V>::create_on(&quick::Quick, path, profile, 1).expect("a scratch file");
    for (key, number) in model {
        writer.push(key, value(number)).expect("keys in order");
    }
    writer.finish().expect("a scratch file");
}

/// Compares the answers of an image with those of the map, whose values are made of rank and number.
fn compare<V, R: Clone + PartialEq + Debug>(model: &Model, path: &Path, value: impl Fn(u64, &u64) -> R)
where
    V: for<'i> Stored<Read<'i> = R> + ?Sized,
{
    let image = Image::<u8, V>::open(path, Verify::Structural).expect("an image");
    let expected: Vec<(Vec<u8>, R)> =
        model.iter().zip(0..).map(|((key, number), rank)| (key.clone(), value(rank, number))).collect();
    assert!(image.iter().map(|entry| entry.expect("an image")).eq(expected.iter().cloned()));
    assert!(image.iter().rev().map(|entry| entry.expect("an image")).eq(expected.iter().rev().cloned()));
    let mut asked: Vec<Vec<u8>> = expected.iter().map(|entry| entry.0.clone()).collect();
    // Keys beside those that are there.
    for (key, _) in expected.iter().take(60) {
        asked.push([key, &b"\0"[..]].concat());
        if let Some((last, start)) = key.split_last() {
            asked.push(start.to_vec());
            asked.push([start, &[last.wrapping_add(1)]].concat());
            asked.push([start, &[last ^ 0x80], &b"tail"[..]].concat());
        }
    }
    let borrowed: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
    let many = image.get_many(&borrowed).expect("an image");
    let entry = |at: Option<usize>| at.and_then(|at| expected.get(at)).cloned();
    for ((key, found), next) in borrowed.iter().zip(many).zip(borrowed.iter().cycle().skip(1)) {
        let at = expected.partition_point(|entry| entry.0.as_slice() < *key);
        let held = expected.get(at).filter(|entry| entry.0 == *key).map(|entry| entry.1.clone());
        let behind = at + usize::from(held.is_some());
        assert_eq!(image.get(key).expect("an image"), held);
        assert_eq!(image.get_ordered(key).expect("an image"), held);
        assert_eq!(found, held);
        assert_eq!(image.at_least(key).expect("an image"), entry(Some(at)));
        assert_eq!(image.above(key).expect("an image"), entry(Some(behind)));
        assert_eq!(image.below(key).expect("an image"), entry(at.checked_sub(1)));
        assert_eq!(image.at_most(key).expect("an image"), entry(behind.checked_sub(1)));
        let below = image.prefix(key).map(|entry| entry.expect("an image").0);
        assert!(
            below.eq(expected.iter().map(|entry| &entry.0).filter(|other| other.starts_with(key)).cloned())
        );
        let (start, end) = (Bound::Excluded(*key), Bound::Included(*next));
        let mut inside =
            expected.iter().filter(|entry| entry.0.as_slice() > *key && entry.0.as_slice() <= *next);
        let mut range = image.range((start, end)).map(|entry| entry.expect("an image").0);
        assert_eq!(range.next(), inside.next().map(|entry| entry.0.clone()));
        assert_eq!(range.next_back(), inside.next_back().map(|entry| entry.0.clone()));
    }
}

fn compare_variable(model: &Model, values: &BTreeMap<u64, Vec<u8>>, path: &Path) {
    let image = Image::<u8, [u8]>::open(path, Verify::Structural).expect("an image");
    let entries = image.iter().map(|entry| entry.expect("an image"));
    assert!(entries.eq(model.iter().map(|(key, number)| (key.clone(), values[number].as_slice()))));
    for (key, number) in model {
        assert_eq!(image.get(key).expect("an image"), Some(values[number].as_slice()));
    }
}
