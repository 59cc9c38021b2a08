//! A store gives what a `BTreeMap` gives, over bytes and chars, whatever happens in between.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/quick.rs"]
mod quick;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use engine::store::{Durability, Snapshot, Store, StoreOptions};
use engine::symbol::Symbol;
use engine::trie::{Backing, Value, Verify};
use engine::{ByteStore, CharStore, Error, Profile};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Insert(usize, u32),
    Remove(usize),
    Batch(Vec<(usize, Option<u32>)>, bool),
    Swap(usize, bool, Option<u32>),
    Range(usize, usize),
    Checkpoint,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0_usize..150;
    let change = (key.clone(), prop::option::weighted(0.7, any::<u32>()));
    prop_oneof![
        8 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Step::Insert(key, value)),
        4 => key.clone().prop_map(Step::Remove),
        2 => (prop::collection::vec(change, 0..80), any::<bool>()).prop_map(|(changes, commit)| Step::Batch(changes, commit)),
        2 => (key.clone(), any::<bool>(), prop::option::of(any::<u32>())).prop_map(|(key, right, new)| Step::Swap(key, right, new)),
        2 => (key.clone(), key).prop_map(|(from, to)| Step::Range(from, to)),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ]
}

type Model<K> = BTreeMap<<K as Symbol>::Owned, u32>;

fn equal<K: Symbol, V: Value + Into<u32>>(snapshot: &Snapshot<K, V>, model: &Model<K>)
where
    K::Owned: Ord + Clone + Debug,
{
    assert_eq!(snapshot.len(), model.len() as u64);
    let found: Vec<_> =
        snapshot.iter().map(|entry| entry.map(|(key, value)| (key, value.into())).unwrap()).collect();
    assert_eq!(found, model.iter().map(|(key, value)| (key.clone(), *value)).collect::<Vec<_>>());
}

fn follow<K: Symbol>(steps: &[Step], keys: &[K::Owned], options: StoreOptions)
where
    K::Key: Ord,
    K::Owned: Ord + Clone + Debug,
{
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::<K, u32>::open_on(Arc::new(quick::Quick), folder.path(), options).unwrap();
    let (mut store, mut model) = (open(), Model::<K>::new());
    let mut kept: Option<(Snapshot<K, u32>, Model<K>)> = None;
    for step in steps {
        match step {
            Step::Insert(key, value) => {
                let key = &keys[*key];
                assert_eq!(store.insert(key.borrow(), *value).unwrap(), model.insert(key.clone(), *value));
            }
            Step::Remove(key) => {
                let key = keys[*key].borrow();
                assert_eq!(store.remove(key).unwrap(), model.remove(key));
            }
            Step::Batch(changes, commit) => {
                let (mut writer, mut changed) = (store.writer(), model.clone());
                for (key, value) in changes {
                    let key = &keys[*key];
                    assert_eq!(writer.get(key.borrow()).unwrap(), changed.get(key.borrow()).copied());
                    match value {
                        Some(value) => assert_eq!(
                            writer.insert(key.borrow(), *value).unwrap(),
                            changed.insert(key.clone(), *value)
                        ),
                        None => {
                            assert_eq!(writer.remove(key.borrow()).unwrap(), changed.remove(key.borrow()));
                        }
                    }
                }
                assert_eq!(writer.len(), changed.len() as u64);
                if *commit {
                    writer.commit().unwrap();
                    model = changed;
                }
            }
            Step::Swap(key, right, new) => {
                let key = &keys[*key];
                let there = model.get(key.borrow()).copied();
                let expected = if *right { there } else { Some(there.map_or(0, |value| value ^ 1)) };
                let swapped = store.compare_and_swap(key.borrow(), expected.as_ref(), *new).unwrap();
                assert_eq!(swapped, if *right { Ok(()) } else { Err(there) });
                match new {
                    Some(new) if *right => drop(model.insert(key.clone(), *new)),
                    None if *right => drop(model.remove(key.borrow())),
                    _ => {}
                }
            }
            Step::Range(from, to) => {
                let (from, to) = (keys[*from].borrow(), keys[*to].borrow());
                let snapshot = store.snapshot();
                assert_eq!(store.reader().get(from).unwrap(), model.get(from).copied());
                assert_eq!(snapshot.contains(to).unwrap(), model.contains_key(to));
                let bounds = (Bound::Excluded(from), Bound::Included(to));
                let found: Vec<_> = snapshot.range(bounds).map(Result::unwrap).collect();
                let within = |key: &K::Key| key > from && key <= to;
                let expected: Vec<_> = model
                    .iter()
                    .filter(|(key, _)| within((*key).borrow()))
                    .map(|(key, value)| (key.clone(), *value))
                    .collect();
                assert_eq!(found, expected);
                let found: Vec<_> = snapshot.prefix(from).map(|entry| entry.unwrap().0).collect();
                let starts = |key: &&K::Owned| K::bytes((*key).borrow()).starts_with(K::bytes(from));
                assert_eq!(found, model.keys().filter(starts).cloned().collect::<Vec<_>>());
                kept = Some((snapshot, model.clone()));
            }
            Step::Checkpoint => store.checkpoint().unwrap(),
            Step::Reopen => {
                drop(store);
                store = open();
            }
        }
    }
    equal(&store.snapshot(), &model);
    if let Some((snapshot, model)) = kept {
        equal(&snapshot, &model);
    }
    drop(store);
    equal(&open().snapshot(), &model);
}

fn options() -> impl Strategy<Value = StoreOptions> {
    let group = Durability::Group { max_wait: Duration::from_micros(1), max_bytes: 100 };
    let durability = prop_oneof![Just(Durability::Sync), Just(group), Just(Durability::Async)];
    let backing = prop_oneof![Just(Backing::Map), Just(Backing::Copy)];
    let verify = prop_oneof![Just(Verify::Header), Just(Verify::Structural)];
    let profile = prop_oneof![Just(Profile::Balanced), Just(Profile::Fast), Just(Profile::Compact)];
    (durability, backing, verify, profile).prop_map(|(durability, backing, verify, profile)| {
        StoreOptions::new().durability(durability).backing(backing).verify(verify).profile(profile)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn over_bytes(steps in prop::collection::vec(step(), 0..60), options in options()) {
        let key = |index: usize| [&vec![0xFF; index % 3][..], &[index as u8][..index.min(1)], &vec![0; index / 50]].concat();
        let mut keys: Vec<Vec<u8>> = (0..150).map(key).collect();
        keys.sort();
        follow::<u8>(&steps, &keys, options);
    }

    #[test]
    fn over_chars(steps in prop::collection::vec(step(), 0..60), options in options()) {
        let mut keys: Vec<String> = (0..150).map(|index| format!("{}{index}", ["", "日本", "é"][index % 3])).collect();
        keys[0].clear();
        follow::<char>(&steps, &keys, options);
    }
}

#[test]
fn readers_see_whole_commits_while_threads_write_and_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let durability = Durability::Group { max_wait: Duration::from_micros(200), max_bytes: 60 };
    let store = CharStore::<u64>::open_on(Arc::new(quick::Quick), folder.path(), durability).unwrap();
    let done = AtomicBool::new(false);
    // Writers and checkpoints begin together.
    let begin = Barrier::new(4);
    std::thread::scope(|scope| {
        let readers = [0; 2].map(|_| {
            scope.spawn(|| {
                let mut reader = store.reader();
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let snapshot = reader.snapshot();
                    let (left, right) = (snapshot.get("left").unwrap(), snapshot.get("right").unwrap());
                    assert_eq!(left, right, "both sides of a commit");
                    assert!(left >= Some(last) || last == 0, "time goes forward");
                    last = left.unwrap_or(0);
                    assert!(snapshot.len() >= last);
                }
            })
        });
        // The last checkpoint comes after the last commit: there is one however threads are scheduled.
        let checkpoints = scope.spawn(|| {
            begin.wait();
            loop {
                let last = done.load(Ordering::Relaxed);
                store.checkpoint().unwrap();
                if last {
                    break;
                }
            }
        });
        let writers = [0; 3].map(|_| {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..300 {
                    let mut writer = store.writer();
                    let next = writer.get("left").unwrap().unwrap_or(0) + 1;
                    writer.insert("left", next).unwrap();
                    writer.insert("right", next).unwrap();
                    writer.insert(&format!("{next:05}"), next).unwrap();
                    let seq = writer.commit().unwrap();
                    assert!(store.snapshot().seq() >= seq, "acknowledged means seen");
                }
            })
        });
        // Who fails must not leave the others waiting.
        let ended = writers.map(std::thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|it| it.unwrap());
        checkpoints.join().unwrap();
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(store.get("left").unwrap(), Some(900));
    assert_eq!(store.snapshot().len(), 902);
    let statistics = store.statistics();
    assert!(statistics.checkpoints > 0 && statistics.seq >= 900, "{statistics:?}");
    assert_eq!(statistics.pinned_bytes, 0, "nobody holds old images");
    drop(store);
    let store = CharStore::<u64>::open(folder.path(), Durability::Sync).unwrap();
    assert_eq!(store.snapshot().iter().count(), 902);
}

#[test]
fn a_snapshot_holds_its_images_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ByteStore::<u64>::open_on(Arc::new(quick::Quick), folder.path(), Durability::Sync).unwrap();
    let store = open();
    for key in 0..1000_u32 {
        store.insert(&key.to_be_bytes(), 1).unwrap();
    }
    store.checkpoint().unwrap();
    let old = store.snapshot();
    let image = folder.path().join("base-2.trie").metadata().unwrap().len();
    // A little goes beside the base, much into a new one.
    store.remove(&1_u32.to_be_bytes()).unwrap();
    store.insert(b"x", 5).unwrap();
    store.checkpoint().unwrap();
    let statistics = store.statistics();
    assert_eq!((statistics.base_keys, statistics.delta_keys, statistics.pinned_bytes), (1000, 2, 0));
    for key in 0..500_u32 {
        store.remove(&key.to_be_bytes()).unwrap();
    }
    store.checkpoint().unwrap();
    let statistics = store.statistics();
    assert_eq!((statistics.base_keys, statistics.delta_keys, statistics.pinned_bytes), (501, 0, image));
    assert_eq!(statistics.memory_keys, 0);
    drop(store);
    assert_eq!(open().snapshot().len(), 501);
    assert_eq!((old.len(), old.iter().map(Result::unwrap).count()), (1000, 1000));
}

#[test]
fn other_types_and_a_second_owner_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = CharStore::<u64>::open(&path, Durability::Sync).unwrap();
    let second = CharStore::<u64>::open(&path, Durability::Sync);
    assert!(matches!(second, Err(Error::Locked { by: "this process", .. })), "{second:?}");
    store.close().unwrap();
    assert!(matches!(ByteStore::<u64>::open(&path, Durability::Sync), Err(Error::KeyKind { .. })));
    assert!(matches!(CharStore::<u32>::open(&path, Durability::Sync), Err(Error::ValueWidth { .. })));
    assert!(CharStore::<u64>::open(&path, Durability::Sync).is_ok());
    assert!(CharStore::<u64>::open(Path::new("/dev/null/store"), Durability::Sync).is_err());
}
