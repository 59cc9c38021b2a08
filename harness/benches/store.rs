//! What the store costs beside the least that Postgres could cost, and how long looking into a large one takes:
//! `cargo bench -p harness --bench store`. Ten million samples, or `HARNESS_BENCH_SAMPLES` of them.
//!
//! Times depend on what else the machine does; ratios are of one run of this program. Nothing is asserted.

#![expect(clippy::print_stdout, reason = "the measurements are for whoever asked for them")]

use harness::prereg::parse;
use harness::store::{Event, Git, Registration, Run, RunArm, SampleSet, Store, StoreOptions, StoredVerdict};
use harness::verify::{self, Source, State};
use harness::vocab::{RunState, Verdict};
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::Type;
use postgres::{Client, NoTls};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use uuid::Uuid;

const METRICS: usize = 18;
const BLOCKS: usize = 1000;
const A_RUN: usize = METRICS * 2 * BLOCKS;

fn timed<T>(body: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let value = body();
    (value, began.elapsed().as_secs_f64())
}

/// Two arms and eighteen metrics; one hypothesis if `claims`.
fn toml(id: &str, claims: bool) -> String {
    let metrics: String =
        (0..METRICS).map(|it| format!("[metrics.m{it}]\nunit = \"ms\"\nbetter = \"lower\"\n")).collect();
    let claim = "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nmargin = 0.01\n";
    format!(
        "id = \"{id}\"\ntitle = \"Bench\"\nledger = \"{id}\"\nclaim = \"none\"\n[worker]\ncommand = [\"true\"]\n\
         system = \"none\"\n[arms.a]\nrole = \"control\"\nparams = {{ way = 1 }}\n[arms.b]\nrole = \"treatment\"\nparams = {{ way = 2 }}\n\
         [design]\nwarmups = 0\nsamples = {BLOCKS}\n{metrics}{}",
        if claims { claim } else { "" }
    )
}

fn register(store: &mut Store, id: &str, claims: bool) -> Registration {
    let prereg = parse(&toml(id, claims), id).expect("a registration");
    let registration = Registration {
        experiment: id.to_owned(),
        title: prereg.title.clone(),
        version: 1,
        canonical: prereg.canonical(),
        doc: prereg.to_json(),
        digest: prereg.digest(),
        git: Git { commit: "unknown".to_owned(), dirty: false },
        registered_at: "2026-01-10T08:00:00Z".parse().expect("a time"),
        reason: None,
    };
    store.register(&registration).expect("a store");
    registration
}

/// Samples that no compression makes smaller.
fn sets(seed: u64, times: bool) -> Vec<SampleSet> {
    let mut rng = harness::stats::rng::Rng::new(seed);
    let mut sets = Vec::new();
    for metric in 0..METRICS {
        for arm in ["a", "b"] {
            let values = (0..BLOCKS).map(|_| 1.0 + (rng.next_u64() >> 12) as f64 * 1e-17).collect();
            let at_ns =
                if times { (0..BLOCKS as i64).map(|it| it * 1_000_003).collect() } else { Vec::new() };
            sets.push(SampleSet {
                metric: format!("m{metric}"),
                cell: String::new(),
                arm: arm.to_owned(),
                warmup: false,
                first_block: 0,
                unit: "ms".to_owned(),
                values,
                at_ns,
            });
        }
    }
    sets
}

/// Stores a run and gives the time that it took.
fn measure(store: &mut Store, registration: &Registration, sets: &[SampleSet]) -> (Uuid, f64) {
    let run = Run {
        id: Uuid::now_v7(),
        experiment: registration.experiment.clone(),
        version: 1,
        registration: registration.digest,
        host: "host".to_owned(),
        environment: serde_json::json!({ "cpu": "none" }),
        harness: env!("CARGO_PKG_VERSION").to_owned(),
        seed: 1,
        git: registration.git.clone(),
        started_at: "2026-01-10T09:00:00Z".parse().expect("a time"),
    };
    let arms = ["a", "b"].map(|arm| RunArm {
        arm: arm.to_owned(),
        command: vec!["true".to_owned()],
        env: std::collections::BTreeMap::new(),
        binary: None,
        build: None,
    });
    store.begin_run(&run, &arms).expect("a store");
    let ((), time) = timed(|| store.append_block(run.id, sets, &[]).expect("a store"));
    let done = Event { seq: 2, at: run.started_at, state: RunState::Done, detail: None };
    store.append_event(run.id, &done).expect("a store");
    let verdict = StoredVerdict {
        run: run.id,
        seq: 1,
        verdict: Verdict::Recorded,
        doc: serde_json::json!({}),
        harness: run.harness.clone(),
        decided_at: run.started_at,
    };
    store.append_verdict(&verdict, &[]).expect("a store");
    (run.id, time)
}

/// The same arrays by binary COPY into a table that has nothing but them.
fn copy(client: &mut Client, sets: &[SampleSet]) -> f64 {
    let ((), time) = timed(|| {
        let mut transaction = client.transaction().expect("a server");
        let sink = transaction.copy_in("copy raw_arrays from stdin binary").expect("a table");
        let mut writer = BinaryCopyInWriter::new(sink, &[Type::INT4, Type::FLOAT8_ARRAY, Type::INT8_ARRAY]);
        for (i, set) in sets.iter().enumerate() {
            let times = (!set.at_ns.is_empty()).then_some(&set.at_ns);
            writer.write(&[&(i as i32), &set.values, &times]).expect("a row");
        }
        writer.finish().expect("a copy");
        transaction.commit().expect("a commit");
    });
    time
}

fn program(project: &Path, args: &[&str]) -> f64 {
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harness"));
        let (output, time) =
            timed(|| command.args(args).arg("-q").current_dir(project).output().expect("a program"));
        assert!(
            output.status.code().is_some_and(|it| it == 0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        time
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn bytes(client: &mut Client, sql: &str) -> f64 {
    client.query_one(sql, &[]).expect("a size").get::<_, i64>(0) as f64
}

fn main() {
    let wanted =
        std::env::var("HARNESS_BENCH_SAMPLES").ok().and_then(|it| it.parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path();
    std::fs::create_dir(project.join("experiments")).expect("a folder");
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let options = StoreOptions {
        project: project.to_owned(),
        url: None,
        pg_bin: None,
        data_home: home.join(".local/share"),
        autoinstall: true,
        notice: &|_| {},
    };
    let mut store = Store::open(&options).expect("a store");
    let url = store.url();
    let url = url.split("&options=").next().expect("an address");
    let mut client = Client::connect(url, NoTls).expect("a server");
    client
        .batch_execute(
            "create table raw_arrays (i int, \"values\" float8[], at_ns bigint[]); \
             alter table raw_arrays alter column \"values\" set storage external, \
               alter column at_ns set storage external",
        )
        .expect("a table");
    let large = register(&mut store, "large", false);
    // Runs in turn, so that both meet the same machine.
    for times in [true, false] {
        let runs = wanted / 2 / A_RUN;
        let (mut stored, mut copied) = (0.0, 0.0);
        for run in 0..runs {
            let sets = sets(run as u64, times);
            stored += measure(&mut store, &large, &sets).1;
            copied += copy(&mut client, &sets);
        }
        let n = (runs * A_RUN) as f64;
        println!(
            "store {n:>9} samples{}  {:6.2} s per 10 million, raw COPY {:6.2}: ratio {:.2}",
            if times { ", with times   " } else { ", without times" },
            stored / n * 1e7,
            copied / n * 1e7,
            stored / copied
        );
    }
    // As a run of few samples a set stores it: blocks of 50.
    for (table, times) in [("fifty", "null::bigint[]"), ("fifty_timed", "s.at_ns[k * 50 + 1 : k * 50 + 50]")]
    {
        client
            .batch_execute(&format!(
                "create table {table} (like harness.sample_sets including all); \
                 insert into {table} (run_id, metric, cell, arm, warmup, first_block, unit, n, \"values\", at_ns, sha256) \
                 select s.run_id, s.metric, s.cell, s.arm, s.warmup, k * 50, s.unit, 50, \
                   s.\"values\"[k * 50 + 1 : k * 50 + 50], {times}, s.sha256 \
                 from (select * from harness.sample_sets where at_ns is not null limit 1000) s, \
                   generate_series(0, 19) k"
            ))
            .expect("a table");
        let size = bytes(&mut client, &format!("select pg_table_size('{table}')"));
        let keys = bytes(&mut client, &format!("select pg_indexes_size('{table}')"));
        let n = bytes(&mut client, &format!("select sum(n)::bigint from {table}"));
        println!(
            "disk, blocks of 50, {table:<12} {:5.1} bytes a sample, {:4.1} more for the key",
            size / n,
            keys / n
        );
    }
    let size = bytes(&mut client, "select pg_total_relation_size('harness.sample_sets')");
    let n = bytes(&mut client, "select sum(n)::bigint from harness.sample_sets");
    println!("disk, blocks of 1000              {:5.1} bytes a sample, half of them with times", size / n);
    client.batch_execute("vacuum analyze").expect("a server");

    let id = client
        .query_one("select run_id::text from harness.runs limit 1", &[])
        .expect("a run")
        .get::<_, String>(0);
    println!("harness show RUN, {n:.0} samples    {:6.1} ms", program(project, &["show", &id]) * 1e3);
    println!("harness list, {n:.0} samples        {:6.1} ms", program(project, &["list"]) * 1e3);
    for (name, claims) in [("plain", false), ("claiming", true)] {
        let registration = register(&mut store, name, claims);
        let runs = 1_000_000 / A_RUN;
        for run in 0..runs {
            measure(&mut store, &registration, &sets(run as u64 + 7, true));
        }
        let (source, read) = timed(|| Source::of_store(&mut store, name).expect("a store"));
        let ((checks, _), checked) = timed(|| verify::experiment(project, source, None));
        let held = checks.iter().filter(|it| it.state == State::Holds).count();
        println!(
            "verify {:>7} samples, {name:<9}  {:6.2} s: {read:.2} s to read, {checked:.2} s to recompute; {held} checks hold",
            runs * A_RUN,
            read + checked
        );
    }
    drop(client);
    store.close().expect("a server");
}
