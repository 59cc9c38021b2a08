//! When samples were complete: kept short, given back to the nanosecond, by the store and by its views.

use crate::support::*;
use harness::store::{SampleSet, Store};
use harness::vocab::RunState;
use postgres::Client;

fn of(metric: &str, arm: &str, first_block: u32, at_ns: &[i64]) -> SampleSet {
    let values: Vec<f64> = at_ns.iter().map(|it| *it as f64 / 3.0).collect();
    SampleSet { metric: metric.to_owned(), at_ns: at_ns.to_vec(), ..set(arm, first_block, &values) }
}

/// How each row has its times: plain, off a line, packed, or those of another metric.
fn forms(client: &mut Client) -> Vec<String> {
    let rows = client.query(
        "select metric || ' ' || first_block || ' ' || case when at_ns is not null then 'plain' \
           when at_off is not null then 'line' when at_packed is not null then 'packed' when times_of is not null then times_of else 'none' end \
         from harness.sample_sets order by arm, first_block, metric",
        &[],
    );
    rows.unwrap().iter().map(|row| row.get(0)).collect()
}

/// What the views say of every sample's time, warm-ups not counted.
fn told(client: &mut Client, metric: &str) -> Vec<i64> {
    let mut one = |sql: &str| -> Vec<Option<i64>> {
        client.query(sql, &[&metric]).unwrap().iter().map(|row| row.get(0)).collect()
    };
    let samples = one("select at_ns from harness.samples where metric = $1 and arm = 'eager' order by block");
    let chunks = one(
        "select t from harness.sample_chunks, unnest(at_ns) with ordinality as u(t, i) where metric = $1 and arm = 'eager' \
         order by first_block, i",
    );
    assert_eq!(samples, chunks);
    samples.into_iter().flatten().collect()
}

#[test]
fn the_metrics_of_a_sample_share_its_time() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let even = [1_000_000, 2_000_017, 2_999_950, 4_000_003];
    // An hour between two blocks is off any line that 32 bits reach; a resumed run begins to count anew.
    let uneven = [5_000_000, 3_600_000_000_000, 7];
    let first = [of("a", "eager", 0, &even), of("b", "eager", 0, &even), of("c", "eager", 0, &[1, 2, 3, 5])];
    let later = [of("a", "eager", 4, &uneven), of("b", "eager", 4, &uneven)];
    let untimed = SampleSet { at_ns: vec![], ..of("a", "lazy", 0, &[1, 2]) };
    store.append_block(run.id, &first, &[]).unwrap();
    store.append_block(run.id, &later, &[]).unwrap();
    store.append_block(run.id, std::slice::from_ref(&untimed), &[]).unwrap();
    let mut client = database.client();
    assert_eq!(forms(&mut client), ["a 0 packed", "b 0 a", "c 0 packed", "a 4 plain", "b 4 a", "a 0 none"]);

    let all = [&even[..], &uneven].concat();
    for metric in ["a", "b"] {
        assert_eq!(told(&mut client, metric), all);
    }
    let sets = store.run(run.id).unwrap().unwrap().sets;
    assert_eq!(sets, [of("a", "eager", 0, &all), untimed, of("b", "eager", 0, &all), first[2].clone()]);
    // One metric alone is known with its times, and another time is another sample.
    store.append_block(run.id, &[of("b", "eager", 0, &all)], &[]).unwrap();
    let mut other = of("b", "eager", 0, &all);
    other.at_ns[1] += 1;
    let error = store.append_block(run.id, &[other], &[]).unwrap_err();
    assert!(error.to_string().contains("stored at 2000017 ns, given at 2000018 ns"), "{error}");
}

#[test]
fn many_times_are_off_a_line_and_few_are_packed() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    // Noise of every width, steps in either direction, starts below zero.
    let mut all = Vec::new();
    for (row, n) in [1, 2, 50, 128, 129, 300].into_iter().enumerate() {
        let at = |i: i64| -5_000_000 + (row as i64 - 2) * 1_000_003 * i + (i * i * 7_919) % (1 << (5 * row));
        let times: Vec<i64> = (0..n).map(at).collect();
        store.append_block(run.id, &[of("a", "eager", all.len() as u32, &times)], &[]).unwrap();
        all.extend(times);
    }
    let mut client = database.client();
    let forms = forms(&mut client);
    let forms: Vec<&str> = forms.iter().filter_map(|it| it.split(' ').next_back()).collect();
    assert_eq!(forms, ["packed", "packed", "packed", "packed", "line", "line"]);
    assert_eq!(told(&mut client, "a"), all);
    assert_eq!(store.run(run.id).unwrap().unwrap().sets, [of("a", "eager", 0, &all)]);
}

#[test]
fn the_elements_of_arrays_are_not_analysed() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    store.append_block(run.id, &[of("a", "eager", 0, &[1, 2, 3])], &[]).unwrap();
    store.append_block(run.id, &[of("a", "eager", 3, &[i64::MAX, 0, 3])], &[]).unwrap();
    let mut client = database.client();
    client.batch_execute("analyze harness.sample_sets").unwrap();
    let rows = client.query(
        "select attname::text from pg_stats where schemaname = 'harness' and tablename = 'sample_sets' \
         and attname in ('metric', 'values', 'at_ns', 'at_off', 'at_packed')",
        &[],
    );
    assert_eq!(rows.unwrap().iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>(), ["metric"]);
}

#[test]
fn times_that_are_gone_are_damage() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let sets = [of("a", "eager", 0, &[1, 2, 3]), of("b", "eager", 0, &[1, 2, 3])];
    store.append_block(run.id, &sets, &[]).unwrap();
    let mut client = database.client();
    // As its owner can: no superuser is needed.
    let taken = "alter table harness.sample_sets disable trigger user, drop constraint times_are_there; \
                 delete from harness.sample_sets where metric = 'a'";
    client.batch_execute(taken).unwrap();
    let error = store.run(run.id).unwrap_err();
    assert!(error.to_string().contains("have the times of metric a, which has none"), "{error}");
}

/// The tables as the fourth step made them, with what is in the store now.
fn as_of_step_four(client: &mut Client) {
    client.batch_execute("alter schema harness rename to newer").unwrap();
    client
        .batch_execute(
            "create schema harness; create table harness.schema_migrations (like newer.schema_migrations \
             including all); insert into harness.schema_migrations \
             select * from newer.schema_migrations where version <= 4",
        )
        .unwrap();
    for step in [
        include_str!("../../../schemas/0001_init.sql"),
        include_str!("../../../schemas/0002_append_only.sql"),
        include_str!("../../../schemas/0003_chain.sql"),
        include_str!("../../../schemas/0004_builds.sql"),
    ] {
        client.batch_execute(step).unwrap();
    }
    for table in [
        "experiments",
        "preregistrations",
        "arms",
        "environments",
        "runs",
        "run_arms",
        "cell_arms",
        "run_events",
        "chain",
    ] {
        client.batch_execute(&format!("insert into harness.{table} select * from newer.{table}")).unwrap();
    }
    client
        .batch_execute(
            "insert into harness.sample_sets (run_id, metric, cell, arm, warmup, first_block, unit, n, \"values\", \
               at_ns, sha256) \
             select s.run_id, s.metric, s.cell, s.arm, s.warmup, s.first_block, s.unit, s.n, s.\"values\", c.at_ns, \
               s.sha256 \
             from newer.sample_sets s join newer.sample_chunks c using (run_id, metric, cell, arm, first_block); \
             drop schema newer cascade",
        )
        .unwrap();
}

#[test]
fn what_an_older_harness_stored_reads_as_before() {
    let database = Database::new();
    let (mut store, run) = begun(&database);
    let times: Vec<i64> = (0..60).map(|it| 1_000 + it * 999_983).collect();
    let sets = [of("a", "eager", 0, &times), of("b", "eager", 0, &times)];
    store.append_block(run.id, &sets, &[]).unwrap();
    let before = store.run(run.id).unwrap().unwrap();
    drop(store);
    let mut client = database.client();
    as_of_step_four(&mut client);

    let mut store: Store = migrated(&database.url);
    assert_eq!(forms(&mut client), ["a 0 plain", "b 0 plain"]);
    assert_eq!(store.run(run.id).unwrap().unwrap(), before);
    assert_eq!(told(&mut client, "b"), times);
    // The run goes on in the new form, and its seal is that of a store which never had another.
    store.append_block(run.id, &[of("a", "eager", 60, &[7, 9]), of("b", "eager", 60, &[7, 9])], &[]).unwrap();
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    let whole = store.run(run.id).unwrap().unwrap();
    assert_eq!(told(&mut client, "a"), [&times[..], &[7, 9]].concat());
    let sealed = store.chain("exp-1-lazy").unwrap().pop().unwrap();
    let other = Database::new();
    let (mut fresh, _) = begun(&other);
    fresh.import(&whole, &[registration("exp-1-lazy", 1)], &[]).unwrap();
    let again = fresh.chain("exp-1-lazy").unwrap().into_iter().find(|it| it.object == sealed.object).unwrap();
    assert_eq!(again.body, sealed.body);
}
