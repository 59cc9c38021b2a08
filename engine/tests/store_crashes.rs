//! Whatever a machine was doing when it stopped, reopening gives every acknowledged commit and nothing never asked for.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/crash.rs"]
mod crash;
#[path = "support/quick.rs"]
mod quick;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crash::{Choices, CrashStorage};
use engine::store::{CharStore, Durability};
use engine::{Error, Result};

type Model = BTreeMap<String, u64>;

/// What a machine did before it stopped.
struct Run {
    storage: CrashStorage,
    /// The content after each commit that was asked for; the first one is that at the start.
    states: Vec<Model>,
    /// The last commit that must be there.
    safe: usize,
    finished: bool,
}

/// One commit: changes the store and the model in the same way.
fn commit(store: &CharStore<u64>, model: &mut Model, step: usize, choices: &mut Choices) -> Result<u64> {
    let mut writer = store.writer();
    let changes = if step.is_multiple_of(7) { 90 } else { 1 + choices.below(2) };
    for change in 0..changes {
        let key = format!("键{:03}", choices.below(120));
        let value = (step * 1000 + change) as u64;
        if choices.below(3) == 0 {
            assert_eq!(writer.remove(&key)?, model.remove(&key));
        } else {
            assert_eq!(writer.insert(&key, value)?, model.insert(key, value));
        }
    }
    // A commit is never empty.
    writer.insert("step", step as u64)?;
    model.insert("step".to_owned(), step as u64);
    assert_eq!(writer.len(), model.len() as u64);
    writer.commit()
}

/// Opens the store in `directory`, which holds `start`, and works until the machine stops after `fuse` mutations.
fn run(directory: &Path, start: Model, steps: usize, durability: Durability, fuse: usize) -> Run {
    let storage = CrashStorage::new(directory, fuse);
    let mut run = Run { storage: storage.clone(), states: vec![start], safe: 0, finished: false };
    let Ok(store) = CharStore::<u64>::open_on(Arc::new(storage), directory, durability) else { return run };
    let mut choices = Choices::new(steps as u64);
    for step in 1..=steps {
        let mut model = run.states[run.states.len() - 1].clone();
        let committed = commit(&store, &mut model, step, &mut choices);
        run.states.push(model);
        if committed.is_err() {
            let later = store.insert("never", 1);
            assert!(matches!(later, Err(Error::Stopped { .. })), "{later:?}");
            return run;
        }
        if durability != Durability::Async {
            run.safe = run.states.len() - 1;
        }
        if step % 5 == 0 {
            if store.checkpoint().is_err() {
                return run;
            }
            run.safe = run.states.len() - 1;
        }
    }
    run.finished = store.close().is_ok();
    if run.finished {
        run.safe = run.states.len() - 1;
    }
    run
}

fn content(directory: &Path) -> Model {
    let store = CharStore::<u64>::open_on(Arc::new(quick::Quick), directory, Durability::Sync).unwrap();
    let snapshot = store.snapshot();
    let content: Model = snapshot.iter().map(Result::unwrap).collect();
    assert_eq!(snapshot.len(), content.len() as u64);
    content
}

/// The commit after which a directory has what it has.
fn found(run: &Run, directory: &Path, what: &str) -> usize {
    let content = content(directory);
    let found = run.states.iter().rposition(|state| *state == content);
    let found = found.unwrap_or_else(|| panic!("{what}: never asked for: {content:?}"));
    assert!(found >= run.safe, "{what}: has commit {found}, and {} was acknowledged", run.safe);
    found
}

fn crash_everywhere(durability: Durability, seeds: u64) {
    let mut torn = 0;
    for fuse in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let run = run(folder.path(), Model::new(), 16, durability, fuse);
        for seed in 0..seeds {
            let after = tempfile::tempdir().unwrap();
            run.storage.after_crash(seed, after.path());
            let what = format!("{durability:?}, stopped after {fuse}, seed {seed}");
            let at = found(&run, after.path(), &what);
            torn += usize::from(at + 1 < run.states.len());
            // Opening changed nothing that matters.
            assert_eq!(found(&run, after.path(), &what), at);
        }
        if run.finished {
            assert!(fuse > 60, "{fuse}");
            assert_eq!(run.storage.left(), 0, "every mutation was the last one once");
            break;
        }
    }
    assert!(torn > 10, "crashes took commits that were not acknowledged: {torn}");
}

#[test]
fn acknowledged_commits_outlive_a_crash_at_every_mutation() {
    crash_everywhere(Durability::Sync, 8);
}

#[test]
fn without_syncs_a_crash_leaves_a_first_part_of_the_commits() {
    crash_everywhere(Durability::Async, 8);
}

#[test]
fn a_crash_during_recovery_loses_nothing_either() {
    for fuse in (3..).step_by(11) {
        let folder = tempfile::tempdir().unwrap();
        let first = run(folder.path(), Model::new(), 12, Durability::Sync, fuse);
        for seed in [1, 2 + fuse as u64] {
            for again in 0.. {
                let second = tempfile::tempdir().unwrap();
                first.storage.after_crash(seed, second.path());
                let copy = tempfile::tempdir().unwrap();
                first.storage.after_crash(seed, copy.path());
                let start = content(copy.path());
                let run = run(second.path(), start, 5, Durability::Sync, again);
                for seed in [0, 1, again as u64 + 2] {
                    let third = tempfile::tempdir().unwrap();
                    run.storage.after_crash(seed, third.path());
                    found(&run, third.path(), &format!("stopped after {fuse} and {again}"));
                }
                if run.finished {
                    break;
                }
            }
        }
        if first.finished {
            break;
        }
    }
}
