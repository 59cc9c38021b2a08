//! How long things take, with `fsync` on: `cargo test --release --test store -- --ignored --nocapture speed`.

#![expect(clippy::print_stdout, reason = "the measurements are for whoever asked for them")]

use crate::clusters::Project;
use crate::support::*;
use harness::store::SampleSet;
use harness::vocab::RunState;
use std::time::{Duration, Instant};

fn timed<T>(body: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let value = body();
    (value, began.elapsed().as_secs_f64() * 1e3)
}

fn report(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what:<44} median {:8.2} ms, p95 {:8.2} ms, n = {}", at(0.5), at(0.95), times.len());
}

/// 36 series: 18 metrics of two arms.
fn sets(first_block: u32, n: usize) -> Vec<SampleSet> {
    let values: Vec<f64> = (0..n).map(|i| i as f64 / 7.0).collect();
    (0..18)
        .flat_map(|metric| ["eager", "lazy"].map(|arm| (metric, arm)))
        .map(|(metric, arm)| SampleSet { metric: format!("m{metric}"), ..set(arm, first_block, &values) })
        .collect()
}

/// Voluntary and involuntary context switches of the server's processes.
fn switches(project: &Project) -> u64 {
    let count = |pid: &i32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let lines = status.lines().filter(|it| it.contains("ctxt_switches"));
        lines.filter_map(|it| it.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
    };
    project.pids().iter().map(count).sum()
}

#[test]
#[ignore = "takes a minute and asserts nothing"]
fn speed() {
    let project = Project::new();
    let (store, first) = timed(|| {
        let mut store = project.open();
        store.experiments().unwrap();
        store
    });
    println!("PostgreSQL {}", store.server_version());
    report("first open to first query", vec![first]);
    let mut stop = vec![timed(|| store.close().unwrap()).1];
    let mut next = Vec::new();
    let mut adopt = Vec::new();
    for _ in 0..10 {
        let (store, time) = timed(|| {
            let mut store = project.open();
            store.experiments().unwrap();
            store
        });
        next.push(time);
        let (second, time) = timed(|| {
            let mut store = project.open();
            store.experiments().unwrap();
            store
        });
        adopt.push(time);
        drop(second);
        stop.push(timed(|| store.close().unwrap()).1);
    }
    report("next open to first query", next);
    report("open of a running server to first query", adopt);
    report("stop", stop);

    let mut store = project.open();
    let registration = registration("exp-1-lazy", 1);
    store.register(&registration).unwrap();
    let run = run_of(&registration);
    store.begin_run(&run, &arms()).unwrap();
    let blocks = (0..200).map(|block| timed(|| store.append_block(run.id, &sets(block, 1), &[]).unwrap()).1);
    report("append_block, 36 sets, n = 1", blocks.collect());
    let blocks = (1..30).map(|i| timed(|| store.append_block(run.id, &sets(i * 1000, 1000), &[]).unwrap()).1);
    report("append_block, 36 sets, n = 1000", blocks.collect());
    store.append_event(run.id, &event(2, RunState::Done)).unwrap();
    report("run, 1 million samples", (0..3).map(|_| timed(|| store.run(run.id).unwrap()).1).collect());
    report("runs", (0..10).map(|_| timed(|| store.runs(None).unwrap()).1).collect());

    let before = switches(&project);
    std::thread::sleep(Duration::from_secs(30));
    println!("{:<44} {} in 30 s, {} processes", "idle", switches(&project) - before, project.pids().len());
    store.close().unwrap();
}
