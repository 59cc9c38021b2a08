//! Any sequence of operations on a store gives what it gives on a `BTreeMap`, also over checkpoints, openings and crashes
//! of the process.
#![no_main]

use std::collections::BTreeMap;
use std::ops::Bound;

use engine::{ByteStore, Durability};
use libfuzzer_sys::fuzz_target;

type Model = BTreeMap<Vec<u8>, u64>;

/// Takes operations from bytes: a code, then a short key over a small alphabet.
struct Input<'d>(&'d [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn key(&mut self) -> Option<Vec<u8>> {
        let shape = self.byte()?;
        let len = usize::from(shape % 6);
        (0..len).map(|_| self.byte().map(|byte| if shape < 128 { byte % 4 } else { byte })).collect()
    }
}

fn equal(store: &ByteStore<u64>, model: &Model) {
    let snapshot = store.snapshot();
    assert_eq!(snapshot.len(), model.len() as u64);
    let found: Vec<_> = snapshot.iter().map(|entry| entry.expect("sound images")).collect();
    assert!(found.iter().map(|(key, value)| (key, value)).eq(model), "{found:?} is not {model:?}");
}

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let open = || ByteStore::<u64>::open(folder.path(), Durability::Async).expect("a sound store");
    let (mut store, mut model, mut input) = (open(), Model::new(), Input(data));
    let mut kept = None;
    let mut value = 0;
    while let (Some(code), Some(key)) = (input.byte(), input.key()) {
        value += 1;
        match code % 12 {
            0..=3 => assert_eq!(store.insert(&key, value).expect("a disk"), model.insert(key, value)),
            4 | 5 => assert_eq!(store.remove(&key).expect("a disk"), model.remove(&key)),
            6 => {
                let mut writer = store.writer();
                let mut changed = model.clone();
                for index in 0..code / 4 {
                    let key = [&key[..], &[index % 8]].concat();
                    if index.is_multiple_of(3) {
                        assert_eq!(writer.remove(&key).expect("a disk"), changed.remove(&key));
                    } else {
                        assert_eq!(writer.insert(&key, value).expect("a disk"), changed.insert(key, value));
                    }
                }
                if code < 128 {
                    writer.commit().expect("a disk");
                    model = changed;
                }
            }
            7 => {
                let expected = model.get(&key).copied().filter(|_| code < 200);
                let new = (code % 5 > 0).then_some(value);
                let swapped = store.compare_and_swap(&key, expected.as_ref(), new).expect("a disk");
                if expected == model.get(&key).copied() {
                    assert_eq!(swapped, Ok(()));
                    match new {
                        Some(value) => model.insert(key, value),
                        None => model.remove(&key),
                    };
                } else {
                    assert_eq!(swapped, Err(model.get(&key).copied()));
                }
            }
            8 => store.checkpoint().expect("a disk"),
            9 => {
                drop(store);
                store = open();
            }
            10 => {
                let snapshot = store.snapshot();
                assert_eq!(snapshot.get(&key).expect("sound images"), model.get(&key).copied());
                let bounds = (Bound::Excluded(&key[..]), Bound::Unbounded);
                let above: Vec<_> =
                    snapshot.range(bounds).map(|entry| entry.expect("sound images")).collect();
                let expected = model.range::<[u8], _>(bounds).map(|(key, value)| (key.clone(), *value));
                assert!(above.into_iter().eq(expected));
                let below = snapshot.prefix(&key).count();
                assert_eq!(below, model.keys().filter(|found| found.starts_with(&key)).count());
            }
            _ => kept = Some((store.snapshot(), model.clone())),
        }
    }
    equal(&store, &model);
    if let Some((snapshot, model)) = kept {
        let found: Model = snapshot.iter().map(|entry| entry.expect("sound images")).collect();
        assert_eq!(found, model, "a snapshot stays as it was");
    }
    drop(store);
    equal(&open(), &model);
});
