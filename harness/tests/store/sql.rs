//! What people type.

use crate::support::*;
use harness::store::Subject;
use harness::vocab::RunState;
use postgres::{Client, NoTls};

#[test]
fn samples_are_a_word() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let sets = [set("eager", 0, &[30.0, 40.0]), set("eager", 2, &[50.0]), set("lazy", 0, &[1.0, 2.0, 3.0])];
    store.append_block(run.id, &sets, &[]).unwrap();
    let warmup = harness::store::SampleSet { warmup: true, at_ns: vec![], ..set("lazy", 0, &[900.0]) };
    store.append_block(run.id, &[warmup], &[]).unwrap();
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    store.append_verdict(&verdict(run.id, 1), &[finding(Subject::Hypothesis, "open-1m")]).unwrap();

    let mut client = Client::connect(&store.url(), NoTls).unwrap();
    let rows = client
        .query(
            "select arm, avg(value) from samples where experiment = 'exp-1-lazy' group by arm order by arm",
            &[],
        )
        .unwrap();
    let means: Vec<(String, f64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(means, [("eager".to_owned(), 40.0), ("lazy".to_owned(), 2.0)]);

    let row = client
        .query_one(
            "select version, run_id, host, metric, cell, role, unit, block, value, at_ns from samples \
             where arm = 'eager' and block = 1",
            &[],
        )
        .unwrap();
    assert_eq!((row.get::<_, i32>(0), row.get::<_, uuid::Uuid>(1)), (1, run.id));
    assert_eq!((row.get::<_, &str>(2), row.get::<_, &str>(3)), ("quiet-otter", "open_time"));
    assert_eq!((row.get::<_, &str>(4), row.get::<_, &str>(5)), ("terms=1000", "control"));
    assert_eq!((row.get::<_, &str>(6), row.get::<_, i32>(7)), ("ms", 1));
    assert_eq!((row.get::<_, f64>(8), row.get::<_, i64>(9)), (40.0, 1_001));

    let row = client.query_one("select value, at_ns from warmups", &[]).unwrap();
    assert_eq!((row.get::<_, f64>(0), row.get::<_, Option<i64>>(1)), (900.0, None));
    let row = client
        .query_one(
            "select l.experiment, l.state, v.verdict from latest_runs l join verdicts v using (run_id)",
            &[],
        )
        .unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), ("exp-1-lazy", "done"));
    let row = client.query_one("select kind, ln_p from findings where finding = 'supported'", &[]).unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, f64>(1)), ("hypothesis", -1234.5));
}

#[test]
fn rows_are_not_changed() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[set("eager", 0, &[1.0])], &[]).unwrap();
    let mut client = database.client();
    for statement in [
        "update harness.runs set seed = 1",
        "delete from harness.sample_sets",
        "truncate harness.verdicts cascade",
        "update harness.preregistrations set canonical = ''",
        "delete from harness.run_events",
    ] {
        let error = client.batch_execute(statement).unwrap_err();
        let error = error.as_db_error().unwrap();
        assert_eq!(error.code().code(), "HL001", "{statement}");
        assert!(error.message().contains("append-only"));
    }
}
