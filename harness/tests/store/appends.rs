//! What is appended comes back as it was, once, however often it is offered.

use crate::support::*;
use harness::store::{StoreError, Subject};
use harness::vocab::{RunState, Verdict};
use uuid::Uuid;

#[test]
fn a_registration_is_frozen() {
    let database = Database::new();
    let mut store = database.store();
    let first = registration("exp-1-lazy", 1);
    store.register(&first).unwrap();
    store.register(&first).unwrap();
    let amended = registration("exp-1-lazy", 2);
    store.register(&amended).unwrap();
    assert_eq!(store.registrations("exp-1-lazy").unwrap(), [first.clone(), amended.clone()]);
    assert_eq!(store.registrations("exp-2").unwrap(), []);
    assert_eq!(store.registrations("no\0such").unwrap(), []);

    let other = harness::store::Registration { version: 1, reason: None, ..amended };
    let error = store.register(&other).unwrap_err();
    assert!(matches!(&error, StoreError::Conflict { stored, given, .. }
        if *stored == first.digest && *given == other.digest));
    assert!(error.hint().unwrap().contains("--amend"));

    let lines = store.experiments().unwrap();
    assert_eq!((lines.len(), lines[0].version, lines[0].runs), (1, 2, 0));
}

#[test]
fn a_run_needs_its_registration() {
    let database = Database::new();
    let mut store = database.store();
    let registered = registration("exp-1-lazy", 1);
    let run = run_of(&registered);
    let error = store.begin_run(&run, &arms()).unwrap_err();
    assert_eq!(error.to_string(), "version 1 of `exp-1-lazy` is not registered");
    store.register(&registered).unwrap();
    let altered = harness::store::Run { registration: harness::vocab::Digest::of("other"), ..run.clone() };
    assert!(matches!(store.begin_run(&altered, &arms()), Err(StoreError::Conflict { .. })));
    store.begin_run(&run, &arms()).unwrap();
}

#[test]
fn a_run_comes_back_as_it_was() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.begin_run(&run, &arms()).unwrap();
    let cells = [cell_arm("eager"), cell_arm("lazy")];
    for block in 0..3 {
        let sets = [set("eager", block, &[34.0 + f64::from(block)]), set("lazy", block, &[0.7])];
        store.append_block(run.id, &sets, &cells).unwrap();
        store.append_block(run.id, &sets, &cells).unwrap();
    }
    let warmup = harness::store::SampleSet { warmup: true, at_ns: vec![], ..set("lazy", 0, &[9.0, 8.0]) };
    store.append_block(run.id, std::slice::from_ref(&warmup), &[]).unwrap();
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();

    let data = store.run(run.id).unwrap().unwrap();
    assert_eq!(data.run, run);
    assert_eq!(data.arms, arms());
    assert_eq!(data.cells, cells);
    assert_eq!(
        data.events.iter().map(|it| it.state).collect::<Vec<_>>(),
        [RunState::Running, RunState::Done]
    );
    let mut lazy = set("lazy", 0, &[0.7, 0.7, 0.7]);
    lazy.at_ns = vec![1_000; 3];
    let mut eager = set("eager", 0, &[34.0, 35.0, 36.0]);
    eager.at_ns = vec![1_000; 3];
    assert_eq!(data.sets, [eager, lazy, warmup]);
    assert_eq!(data.run.environment.to_string(), run.environment.to_string());

    let lines = store.runs(None).unwrap();
    assert_eq!((lines.len(), lines[0].samples, lines[0].state), (1, 6, RunState::Done));
    assert_eq!(lines[0].verdict, None);
    assert_eq!(store.runs(Some("exp-2")).unwrap(), []);
    assert_eq!(store.latest_run("exp-1-lazy").unwrap().unwrap().run.id, run.id);
    assert_eq!(store.latest_run("exp-2").unwrap(), None);
    assert_eq!(store.run(Uuid::now_v7()).unwrap(), None);
}

#[test]
fn verdicts_and_findings_come_back_as_they_were() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let findings = [finding(Subject::Hypothesis, "open-1m"), finding(Subject::Guard, "memory")];
    for seq in [1, 2] {
        let verdict = verdict(run.id, seq);
        store.append_verdict(&verdict, &findings).unwrap();
        store.append_verdict(&verdict, &findings).unwrap();
        assert_eq!(store.findings(run.id, seq).unwrap(), findings);
    }
    let stored = store.verdicts(run.id).unwrap();
    assert_eq!(stored, [verdict(run.id, 1), verdict(run.id, 2)]);
    // To the byte: the sign of zero, the spelling of numbers and the order of the keys.
    assert_eq!(stored[0].doc.to_string(), verdict(run.id, 1).doc.to_string());
    assert_eq!(store.runs(None).unwrap()[0].verdict, Some(Verdict::Accept));

    let other = harness::store::StoredVerdict { verdict: Verdict::Reject, ..verdict(run.id, 1) };
    let error = store.append_verdict(&other, &findings).unwrap_err();
    assert!(error.to_string().contains("verdict of verdict 1"), "{error}");
}

#[test]
fn what_is_stored_is_not_overwritten() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[set("eager", 0, &[1.0, 2.0])], &[cell_arm("eager")]).unwrap();
    let error = store.append_block(run.id, &[set("eager", 1, &[2.5])], &[]).unwrap_err();
    assert!(matches!(error, StoreError::Contradiction { .. }));
    assert!(error.to_string().ends_with("block 1: stored 2.0, given 2.5"), "{error}");

    let mut other = cell_arm("eager");
    other.result = "beef".to_owned();
    let error = store.append_block(run.id, &[], &[other]).unwrap_err();
    assert!(matches!(error, StoreError::Contradiction { .. }), "{error}");
    let error = store.append_event(run.id, &event(1, RunState::Failed)).unwrap_err();
    assert!(matches!(error, StoreError::Contradiction { .. }), "{error}");
    let other = harness::store::Run { seed: 1, ..run.clone() };
    let error = store.begin_run(&other, &arms()).unwrap_err();
    assert!(error.to_string().contains("seed of run"), "{error}");
    assert_eq!(store.run(run.id).unwrap().unwrap().sets, [set("eager", 0, &[1.0, 2.0])]);
}

#[test]
fn unknown_runs_and_arms_are_named() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let nobody = Uuid::now_v7();
    let error = store.append_event(nobody, &event(1, RunState::Running)).unwrap_err();
    assert!(matches!(error, StoreError::UnknownRun(it) if it == nobody));
    assert!(matches!(store.append_verdict(&verdict(nobody, 1), &[]), Err(StoreError::UnknownRun(_))));
    assert!(matches!(store.append_block(nobody, &[], &[cell_arm("lazy")]), Err(StoreError::UnknownRun(_))));
    let error = store.append_block(run.id, &[set("eagre", 0, &[1.0])], &[]).unwrap_err();
    assert!(error.to_string().contains("was not begun with each of eagre"), "{error}");
    let error = store.append_block(run.id, &[], &[cell_arm("eagre")]).unwrap_err();
    assert!(error.to_string().contains("has no arm eagre"), "{error}");
}

#[test]
fn writers_of_the_same_block_agree() {
    let database = Database::new();
    let (_store, run) = begun(&database);
    std::thread::scope(|scope| {
        for size in [1, 2, 4, 5] {
            let (database, run) = (&database, &run);
            scope.spawn(move || {
                let mut store = database.store();
                // Chunks of different sizes have different keys, and yet no block is stored twice.
                for block in (0..20).step_by(size) {
                    let sets = ["eager", "lazy"].map(|arm| harness::store::SampleSet {
                        at_ns: vec![7; size],
                        ..set(arm, block, &vec![1.0; size])
                    });
                    store.append_block(run.id, &sets, &[cell_arm("eager"), cell_arm("lazy")]).unwrap();
                }
            });
        }
    });
    let mut store = database.store();
    assert_eq!(store.runs(None).unwrap()[0].samples, 40);
    assert_eq!(store.run(run.id).unwrap().unwrap().sets.len(), 2);
}

#[test]
fn a_run_that_is_over_takes_nothing_more() {
    for state in [RunState::Done, RunState::Failed] {
        let database = Database::new();
        let (mut store, run) = begun(&database);
        let (sets, cells) = ([set("eager", 0, &[1.0, 2.0])], [cell_arm("eager")]);
        store.append_block(run.id, &sets, &cells).unwrap();
        store.append_event(run.id, &event(2, state)).unwrap();
        // What is there may be offered again, by a sync that was cut off.
        store.append_block(run.id, &sets, &cells).unwrap();
        let before = store.run(run.id).unwrap();
        for (more, echo) in [(vec![set("eager", 2, &[3.0])], vec![]), (vec![], vec![cell_arm("lazy")])] {
            let error = store.append_block(run.id, &more, &echo).unwrap_err();
            assert!(matches!(error, StoreError::Over(it) if it == run.id), "{error}");
            assert_eq!(
                error.to_string(),
                format!("run {} is over and its samples are sealed: nothing is added to it any more", run.id)
            );
            assert!(error.hint().unwrap().contains("a new run") && !error.is_away());
        }
        let sql = "insert into harness.sample_sets (run_id, metric, cell, arm, warmup, first_block, unit, n, \
                   \"values\", sha256) select run_id, metric, cell, arm, warmup, 9, unit, n, \"values\", sha256 \
                   from harness.sample_sets";
        let error = database.client().batch_execute(sql).unwrap_err();
        assert_eq!(error.as_db_error().unwrap().code().code(), "HL002", "{error}");
        assert_eq!(store.run(run.id).unwrap(), before);
    }
}

#[test]
fn a_bad_value_is_refused_before_anything_is_stored() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let sets = [set("eager", 0, &[1.0]), set("lazy", 0, &[1.5, bad, 1.7])];
        let error = store.append_block(run.id, &sets, &[]).unwrap_err();
        assert!(error.to_string().contains("open_time of arm lazy`: the sample of block 1 is"), "{error}");
    }
    assert!(
        store
            .append_block(run.id, &[set("eager", 0, &[])], &[])
            .unwrap_err()
            .to_string()
            .contains("no samples")
    );
    let error = store.append_block(run.id, &[set("ba\0se", 0, &[1.5, 1.6])], &[]).unwrap_err();
    assert_eq!(error.to_string(), "the store does not take `arm`: it has U+0000 at byte 2");
    let mut host = run.clone();
    host.id = Uuid::now_v7();
    host.environment = serde_json::json!({"cpu": "Z\0"});
    let error = store.begin_run(&host, &arms()).unwrap_err();
    assert!(error.to_string().contains("`environment.cpu`"), "{error}");
    assert_eq!(store.run(run.id).unwrap().unwrap().sets, []);
    assert_eq!(store.runs(None).unwrap().len(), 1);

    // The schema says the same to other writers.
    let mut client = database.client();
    for bad in ["NaN", "Infinity", "-Infinity", "NULL"] {
        let error = client.execute(
            "insert into harness.sample_sets (run_id, metric, cell, arm, warmup, first_block, unit, n, \"values\", \
               sha256) \
             values ($1, 'm', '', 'lazy', false, 0, 'ms', 2, $2::text::float8[], decode(repeat('00', 32), 'hex'))",
            &[&run.id, &format!("{{1,{bad}}}")],
        );
        let error = error.unwrap_err();
        assert_eq!(error.as_db_error().unwrap().constraint(), Some("finite_values"), "{bad}: {error}");
    }
}
