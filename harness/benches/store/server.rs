//! How long the private server keeps its user waiting, and how quiet it is.

use super::{line, timed};
use harness::store::{Store, StoreOptions};
use std::path::Path;
use std::time::Duration;

fn ask(options: &StoreOptions<'_>) -> (Store, f64) {
    timed(|| {
        let mut store = Store::open(options).expect("a store");
        store.experiments().expect("a store");
        store
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] * 1e3
}

/// Voluntary and involuntary context switches of the processes that work in `data`.
fn switches(data: &Path) -> u64 {
    let count = |process: &Path| -> u64 {
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        let lines = status.lines().filter(|it| it.contains("ctxt_switches"));
        lines.filter_map(|it| it.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
    };
    let works = |process: &Path| std::fs::read_link(process.join("cwd")).is_ok_and(|it| it == data);
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|it| it.path());
    all.filter(|it| works(it)).map(|it| count(&it)).sum()
}

pub(crate) fn starts_and_stops(options: &StoreOptions<'_>) {
    let (store, first) = ask(options);
    println!("PostgreSQL {}", store.server_version());
    line("first use to first query, from found programs", first, 3.0, "s");
    let mut stops = vec![timed(|| store.close().expect("a server")).1];
    let mut starts = Vec::new();
    for _ in 0..9 {
        let (store, start) = ask(options);
        starts.push(start);
        stops.push(timed(|| store.close().expect("a server")).1);
    }
    line("next start to first query, median of 9", median(starts), 150.0, "ms");
    line("stop, median of 10", median(stops), 150.0, "ms");
    let (store, _) = ask(options);
    let data = options.project.canonicalize().expect("a folder").join(".harness/pg/data");
    let before = switches(&data);
    std::thread::sleep(Duration::from_secs(30));
    line("context switches of the idle server in 30 s", (switches(&data) - before) as f64, 10.0, "");
    store.close().expect("a server");
}
