use super::*;
use crate::store::Git;
use crate::vocab::{Digest, Verdict};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

const CANONICAL: &str = "id = \"e\"\n";

fn registration() -> Registration {
    Registration {
        experiment: "e".to_owned(),
        title: "E".to_owned(),
        version: 1,
        canonical: CANONICAL.to_owned(),
        doc: json!({"arms": {"b": {"role": "control"}, "a": {"role": "treatment"}}}),
        digest: Digest::of(CANONICAL),
        git: Git { commit: "unknown".to_owned(), dirty: false },
        registered_at: "2026-01-10T08:00:00Z".parse().unwrap(),
        reason: None,
    }
}

fn run() -> Run {
    Run {
        id: Uuid::now_v7(),
        experiment: "e".to_owned(),
        version: 1,
        registration: Digest::of(CANONICAL),
        host: "h".to_owned(),
        environment: json!({"z": 1e16, "a": -0.0}),
        harness: "0.1.0".to_owned(),
        seed: u64::MAX >> 1,
        git: Git { commit: "unknown".to_owned(), dirty: true },
        started_at: "2026-01-10T09:00:00.123456Z".parse().unwrap(),
    }
}

fn arms() -> Vec<RunArm> {
    let arm = |name: &str| RunArm {
        arm: name.to_owned(),
        command: vec!["worker".to_owned()],
        env: BTreeMap::new(),
        binary: None,
        build: None,
    };
    vec![arm("b"), arm("a")]
}

fn set(arm: &str, block: u32, value: f64) -> SampleSet {
    SampleSet {
        metric: "time".to_owned(),
        cell: String::new(),
        arm: arm.to_owned(),
        warmup: false,
        first_block: block,
        unit: "ms".to_owned(),
        values: vec![value],
        at_ns: vec![i64::from(block)],
    }
}

fn event(seq: u32, state: RunState) -> Event {
    Event { seq, at: "2026-01-10T09:00:01Z".parse().unwrap(), state, detail: None }
}

/// A project with the spool of a run of `n` blocks.
fn spooled(n: u32) -> (tempfile::TempDir, Run, Spool) {
    let root = tempfile::tempdir().unwrap();
    let run = run();
    let mut spool = Spool::create(root.path(), &registration(), &run, &arms()).unwrap();
    for block in 0..n {
        spool.block(&[set("b", block, 1.5), set("a", block, -0.0)], &[]).unwrap();
    }
    (root, run, spool)
}

fn records(root: &Path, run: &Run) -> PathBuf {
    folder(root, &run.id.to_string()).join(file::NAME)
}

#[test]
fn what_is_spooled_is_read_back_bit_for_bit_and_in_order() {
    let (root, run, mut spool) = spooled(3);
    let cell =
        CellArm { cell: String::new(), arm: "a".into(), effective: json!({"x": 1}), result: "d".into() };
    spool.block(&[set("a", 3, 5e-324), set("b", 3, f64::MAX)], std::slice::from_ref(&cell)).unwrap();
    spool.event(&event(2, RunState::Done)).unwrap();
    let verdict = StoredVerdict {
        run: run.id,
        seq: 1,
        verdict: Verdict::Accept,
        doc: json!({"n": 4}),
        harness: "0.1.0".into(),
        decided_at: "2026-01-10T09:00:02Z".parse().unwrap(),
    };
    spool.verdict(&verdict, &[]).unwrap();
    let held = read(root.path(), run.id).unwrap();
    assert_eq!(held.registrations, [registration()]);
    assert_eq!(held.verdicts, [(verdict, vec![])]);
    let data = held.data.unwrap();
    assert_eq!(data.run, run);
    assert_eq!(data.arms.iter().map(|it| it.arm.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(data.cells, [cell]);
    let states: Vec<_> = data.events.iter().map(|it| it.state).collect();
    assert_eq!(states, [RunState::Running, RunState::Done]);
    // One set an arm, whatever was appended when.
    let bits: Vec<Vec<u64>> =
        data.sets.iter().map(|it| it.values.iter().map(|it| it.to_bits()).collect()).collect();
    let (minus_zero, one_and_a_half) = ((-0.0_f64).to_bits(), 1.5_f64.to_bits());
    assert_eq!(
        bits,
        [
            vec![minus_zero, minus_zero, minus_zero, 1],
            vec![one_and_a_half, one_and_a_half, one_and_a_half, f64::MAX.to_bits()],
        ]
    );
}

#[test]
fn a_spool_cut_anywhere_holds_whole_records_and_goes_on() {
    let (root, run, spool) = spooled(4);
    let path = records(root.path(), &run);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    let full = read(root.path(), run.id).unwrap().data.unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let held = read(root.path(), run.id).unwrap();
        let blocks = held.data.as_ref().map_or(0, |it| it.sets.first().map_or(0, |it| it.values.len()));
        seen.insert(blocks);
        let Some(data) = held.data else { continue };
        for (found, all) in data.sets.iter().zip(&full.sets) {
            assert_eq!(found.values, all.values[..found.values.len()], "cut at {cut}");
        }
        if cut % 64 != 0 {
            continue;
        }
        let mut spool = Spool::resume(root.path(), &registration(), &data).unwrap();
        let next = u32::try_from(blocks).unwrap();
        spool.block(&[set("b", next, 9.0), set("a", next, 9.0)], &[]).unwrap();
        drop(spool);
        let after = read(root.path(), run.id).unwrap().data.unwrap();
        assert_eq!(after.sets[0].values.len(), blocks + 1, "cut at {cut}");
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_bad_record_before_good_ones_is_named_and_a_bad_last_one_is_cut_off() {
    let (root, run, spool) = spooled(3);
    let path = records(root.path(), &run);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    let last = whole.windows(4).rposition(|it| *it == [0xa5, b'r', b'e', b'c']).unwrap();
    for at in (MAGIC_LENGTH..whole.len()).step_by(7) {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        fs::write(&path, &bad).unwrap();
        let read = read(root.path(), run.id);
        if at < last {
            let told = read.unwrap_err().to_string();
            assert!(
                told.contains("is damaged: record ") && told.contains("is not what was written"),
                "{told}"
            );
            // Nobody goes on with it, or loads it.
            assert!(Spool::take(root.path(), run.id).is_err());
        } else {
            let data = read.unwrap().data.unwrap();
            assert_eq!(data.sets[0].values.len(), 2);
        }
    }
    fs::write(&path, b"harness spool 2\n").unwrap();
    let told = read(root.path(), run.id).unwrap_err().to_string();
    assert!(told.contains("does not begin as a spool of this harness does"), "{told}");
}

const MAGIC_LENGTH: usize = frame::MAGIC.len();

#[test]
fn a_claimed_length_is_not_believed() {
    let (root, run, spool) = spooled(1);
    let path = records(root.path(), &run);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    for length in [u32::MAX, 33 << 20, 1 << 20] {
        let mut bad = whole.clone();
        bad.extend_from_slice(&[0xa5, b'r', b'e', b'c']);
        bad.extend_from_slice(&length.to_le_bytes());
        bad.extend_from_slice(&[0; 20]);
        fs::write(&path, &bad).unwrap();
        assert!(read(root.path(), run.id).unwrap().data.is_some());
        drop(Spool::take(root.path(), run.id).unwrap().unwrap());
        assert_eq!(fs::read(&path).unwrap(), whole, "the torn end is cut off");
    }
}

#[test]
fn what_no_store_takes_is_not_spooled() {
    let (root, run, mut spool) = spooled(1);
    let before = fs::read(records(root.path(), &run)).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        let told = spool.block(&[set("a", 1, bad)], &[]).unwrap_err().to_string();
        assert!(told.contains("not a finite number"), "{told}");
    }
    let told = spool.block(&[set("a\0", 1, 1.0)], &[]).unwrap_err().to_string();
    assert!(told.contains("U+0000"), "{told}");
    assert_eq!(fs::read(records(root.path(), &run)).unwrap(), before);
}

#[test]
fn one_process_at_a_time_has_it() {
    let (root, run, spool) = spooled(1);
    assert!(Spool::take(root.path(), run.id).unwrap().is_none());
    // Reading waits for nobody.
    assert!(read(root.path(), run.id).unwrap().data.is_some());
    assert_eq!(runs(root.path()).unwrap(), [run.id]);
    drop(spool);
    Spool::take(root.path(), run.id).unwrap().unwrap().remove().unwrap();
    assert!(Spool::take(root.path(), run.id).unwrap().is_none());
    assert!(runs(root.path()).unwrap().is_empty());
    assert!(read(root.path(), run.id).unwrap().data.is_none());
}

#[test]
fn a_resumed_run_has_all_of_it_in_its_spool_again() {
    let (root, run, mut spool) = spooled(5);
    spool.event(&event(2, RunState::Aborted)).unwrap();
    let all = spool.held().unwrap().data.unwrap();
    spool.remove().unwrap();
    // As a store gives it back: nothing is here any more.
    drop(Spool::resume(root.path(), &registration(), &all).unwrap());
    let held = read(root.path(), run.id).unwrap();
    assert_eq!((held.registrations, held.data.as_ref()), (vec![registration()], Some(&all)));
    // A store that has less adds nothing.
    let mut less = all.clone();
    less.sets.truncate(1);
    less.events.truncate(1);
    let size = fs::metadata(records(root.path(), &run)).unwrap().len();
    drop(Spool::resume(root.path(), &registration(), &less).unwrap());
    assert_eq!(fs::metadata(records(root.path(), &run)).unwrap().len(), size);
    // One that has something else is told so.
    less.sets[0].values[2] = 7.0;
    let told = Spool::resume(root.path(), &registration(), &less).unwrap_err().to_string();
    assert!(told.contains("block 2: stored -0.0, given 7.0"), "{told}");
}

#[test]
fn registrations_are_kept_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    assert!(!has_registrations(root.path()));
    let second = Registration { version: 2, reason: Some("why".into()), ..registration() };
    for it in [registration(), second.clone()] {
        Registrations::open(root.path()).unwrap().append(&it).unwrap();
    }
    assert!(has_registrations(root.path()));
    assert_eq!(registrations(root.path()).unwrap(), [registration(), second]);
    assert!(runs(root.path()).unwrap().is_empty(), "it is no run");
    Registrations::open(root.path()).unwrap().remove().unwrap();
    assert!(registrations(root.path()).unwrap().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_the_bytes_reading_ends(bytes in proptest::collection::vec(any::<u8>(), 0..400), whole in any::<bool>()) {
        let root = tempfile::tempdir().unwrap();
        let run = Uuid::now_v7();
        let folder = folder(root.path(), &run.to_string());
        fs::create_dir_all(&folder).unwrap();
        let mut text = frame::MAGIC.to_vec();
        if whole {
            frame::write(&mut text, &bytes).unwrap();
        } else {
            text.extend(&bytes);
        }
        fs::write(folder.join(file::NAME), text).unwrap();
        let _ = read(root.path(), run);
    }

    #[test]
    fn samples_come_back_as_they_were(values in proptest::collection::vec(any::<f64>().prop_filter("finite", |it| it.is_finite()), 1..40)) {
        let (root, run, mut spool) = spooled(0);
        for (block, value) in (0..).zip(&values) {
            spool.block(&[set("a", block, *value)], &[]).unwrap();
        }
        let held = read(root.path(), run.id).unwrap().data.unwrap();
        let bits = |it: &[f64]| it.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&held.sets[0].values), bits(&values));
    }
}
