//! What the store costs, beside what issue and design ask of it: `cargo bench -p harness --bench store`. Ten million
//! samples, or `HARNESS_BENCH_SAMPLES` of them; two to three minutes. `-- verify` asks for one part alone, of `server`,
//! `disk`, `ingest` (with `look`) and `verify`.
//!
//! Times depend on what else the machine does; the ratio to COPY is of one run of this program, both in turn. Nothing is
//! asserted: every line ends with the goal and the share of it that was used.

#![expect(clippy::print_stdout, reason = "the measurements are for whoever asked for them")]

mod server;

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

/// Prints what was measured beside the most that it should be.
pub(crate) fn line(what: &str, measured: f64, goal: f64, unit: &str) {
    println!("{what:<58} {measured:9.2} {unit:<5} goal {goal:6} {:4.0} % of it", measured / goal * 100.0);
}

pub(crate) fn timed<T>(body: impl FnOnce() -> T) -> (T, f64) {
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

/// Samples that no compression makes smaller, of `metrics` metrics in so many cells that a block has the same number
/// of samples always. One arm waits for the other: its samples are a millisecond apart, give or take.
fn sets(seed: u64, metrics: usize, first_block: usize, blocks: usize) -> Vec<SampleSet> {
    let mut rng = harness::stats::rng::Rng::new(seed);
    let mut sets = Vec::new();
    for cell in 0..METRICS / metrics {
        for arm in ["a", "b"] {
            let mut at = 1_000_000 * (first_block + cell) as i64;
            let mut next = || {
                at += 950_000 + (rng.next_u64() % 100_000) as i64;
                at
            };
            let at_ns: Vec<i64> = (0..blocks).map(|_| next()).collect();
            for metric in 0..metrics {
                let values = (0..blocks).map(|_| 1.0 + (rng.next_u64() >> 12) as f64 * 1e-17).collect();
                sets.push(SampleSet {
                    metric: format!("m{metric}"),
                    cell: if metrics == METRICS { String::new() } else { format!("terms={cell}") },
                    arm: arm.to_owned(),
                    warmup: false,
                    first_block: first_block as u32,
                    unit: "ms".to_owned(),
                    values,
                    at_ns: at_ns.clone(),
                });
            }
        }
    }
    sets
}

fn begin(store: &mut Store, registration: &Registration) -> Run {
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
    run
}

/// Stores a run and gives the time that its samples took.
fn measure(store: &mut Store, registration: &Registration, sets: &[SampleSet]) -> f64 {
    let run = begin(store, registration);
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
    time
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

/// Stores runs, and the same arrays by COPY, in turn: both meet the same machine.
fn ingest(store: &mut Store, client: &mut Client, wanted: usize) {
    client
        .batch_execute(
            "create table raw_arrays (i int, \"values\" float8[], at_ns bigint[]); \
             alter table raw_arrays alter column \"values\" set storage external, \
               alter column at_ns set storage external",
        )
        .expect("a table");
    let large = register(store, "large", false);
    let (mut stored, mut copied) = (0.0, 0.0);
    let runs = wanted.div_ceil(A_RUN);
    for run in 0..runs {
        let sets = sets(run as u64, METRICS, 0, BLOCKS);
        stored += measure(store, &large, &sets);
        copied += copy(client, &sets);
    }
    let n = (runs * A_RUN) as f64;
    println!("{n:.0} samples stored in {stored:.2} s, by COPY of the same arrays in {copied:.2} s");
    line("store, as a multiple of raw binary COPY", stored / copied, 1.5, "times");
    client.batch_execute("drop table raw_arrays").expect("a server");
}

/// What runs of few samples take on the disk: blocks of 50, with keys and times.
fn disk(store: &mut Store, client: &mut Client) {
    let size = "select pg_total_relation_size('harness.sample_sets')";
    for metrics in [METRICS, 6, 3, 2, 1] {
        let registration = register(store, &format!("fifty-{metrics}"), false);
        let (before, mut n) = (bytes(client, size), 0);
        for run in 0..4 {
            let run = (begin(store, &registration), run);
            for chunk in 0..40 {
                let sets = sets(run.1 * 100 + chunk as u64, metrics, chunk * 50, 50);
                n += sets.iter().map(|it| it.values.len()).sum::<usize>();
                store.append_block(run.0.id, &sets, &[]).expect("a store");
            }
        }
        let s = if metrics == 1 { "" } else { "s" };
        let what = format!("disk, blocks of 50, {metrics} metric{s}, with times and keys");
        line(&what, (bytes(client, size) - before) / n as f64, 16.0, "B");
    }
}

fn look(client: &mut Client, project: &Path) {
    client.batch_execute("vacuum analyze").expect("a server");
    let id = client
        .query_one(
            "select r.run_id::text from harness.runs r join harness.experiments using (experiment_id) \
             where slug = 'large' limit 1",
            &[],
        )
        .expect("a run")
        .get::<_, String>(0);
    line("harness show RUN", program(project, &["show", &id]) * 1e3, 50.0, "ms");
    line("harness list", program(project, &["list"]) * 1e3, 100.0, "ms");
}

fn check(store: &mut Store, project: &Path) {
    for (name, claims) in [("plain", false), ("claiming", true)] {
        let registration = register(store, name, claims);
        let runs = 1_000_000 / A_RUN;
        for run in 0..runs {
            measure(store, &registration, &sets(run as u64 + 7, METRICS, 0, BLOCKS));
        }
        let (source, read) = timed(|| Source::of_store(store, name).expect("a store"));
        let ((checks, _), checked) = timed(|| verify::experiment(project, source, None));
        let held = checks.iter().filter(|it| it.state == State::Holds).count();
        let what = format!("verify {} samples, {name}", runs * A_RUN);
        line(&what, read + checked, 2.0, "s");
        println!("  {read:.2} s to read, {checked:.2} s to recompute; {held} checks hold");
    }
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_wanted = |part: &str| named.is_empty() || named.iter().any(|it| it == part);
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
    if is_wanted("server") {
        server::starts_and_stops(&options);
    }
    let mut store = Store::open(&options).expect("a store");
    let url = store.url();
    let url = url.split("&options=").next().expect("an address");
    let mut client = Client::connect(url, NoTls).expect("a server");
    if is_wanted("disk") {
        disk(&mut store, &mut client);
    }
    if is_wanted("ingest") {
        ingest(&mut store, &mut client, wanted);
        look(&mut client, project);
    }
    if is_wanted("verify") {
        check(&mut store, project);
    }
    drop(client);
    store.close().expect("a server");
}
