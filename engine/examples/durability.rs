//! Times what durability costs here: commits against syncs, recovery, and a checkpoint; and says which goals are met.
//!
//! `cargo run --release -p engine --example durability`; the times hang on the disk, the ratio much less.
#![expect(clippy::print_stdout, reason = "it is a program")]

#[path = "../tests/support/terms.rs"]
mod terms;

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use engine::{CharStore, Durability};

const GROUP: usize = 64;
const ROUNDS: usize = 400;
const TERMS: usize = 1_000_000;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Says whether a goal is met.
fn mark(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Seconds, for ratios.
fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Time this thread had a processor, where the system tells: on a busy machine it says more than the clock.
fn processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn commits(terms: &[String]) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let mut file = File::create(folder.path().join("plain"))?;
    let store = CharStore::<u64>::open(folder.path().join("store"), Durability::Sync)?;
    let (mut plain, mut commits) = (Vec::new(), Vec::new());
    // In turns, as disks have moods.
    for group in terms.chunks(GROUP).take(ROUNDS) {
        let start = Instant::now();
        file.write_all(&[7; 128])?;
        file.sync_data()?;
        plain.push(start.elapsed());
        let start = Instant::now();
        let mut writer = store.writer();
        for term in group {
            writer.insert(term, 1)?;
        }
        writer.commit()?;
        commits.push(start.elapsed());
    }
    let total: Duration = commits.iter().sum();
    let sync = median(&mut plain);
    let rate = (GROUP * commits.len()) as f64 / seconds(total);
    let ideal = GROUP as f64 / seconds(sync);
    println!("append 128 B + fdatasync, median     {sync:?}");
    println!("commit of {GROUP} inserts, median         {:?}", median(&mut commits));
    println!(
        "durable inserts in groups of {GROUP}      {rate:.0}/s = {:.2} of {GROUP} / median; goal 0.50: {}",
        rate / ideal,
        mark(rate >= 0.5 * ideal)
    );

    let folder = tempfile::tempdir()?;
    let group = Durability::Group { max_wait: Duration::from_millis(1), max_bytes: 48 * GROUP };
    let store = CharStore::<u64>::open(folder.path().join("store"), group)?;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = terms
            .chunks(100)
            .take(GROUP)
            .map(|own| scope.spawn(|| own.iter().try_for_each(|term| store.insert(term, 1).map(drop))))
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    let (rate, syncs) = ((100 * GROUP) as f64 / seconds(start.elapsed()), store.statistics().syncs);
    println!(
        "durable inserts of {GROUP} threads         {rate:.0}/s = {:.2} of {GROUP} / median; {} inserts in {syncs} syncs",
        rate / ideal,
        100 * GROUP
    );
    Ok(())
}

fn recovery_and_checkpoint(terms: &[String]) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    let store = CharStore::<u64>::open(&path, Durability::Async)?;
    // In no order: every 7919th term, a prime.
    let start = Instant::now();
    for index in 0..terms.len() {
        let at = index * 7919 % terms.len();
        store.insert(&terms[at], at as u64)?;
    }
    let rate = terms.len() as f64 / seconds(start.elapsed());
    println!("inserts of one thread, not synced    {rate:.0}/s, each a commit");
    store.close()?;
    let (start, before) = (Instant::now(), processor());
    let store = CharStore::<u64>::open(&path, Durability::Sync)?;
    let recovered = store.statistics().recovered_operations as f64;
    let rate = recovered / seconds(start.elapsed());
    println!(
        "recovery                             {rate:.0} operations/s, unsorted, each a commit; goal 1000000: {}",
        mark(rate >= 1e6)
    );
    if let (Some(before), Some(after)) = (before, processor()) {
        let rate = recovered / seconds(after.saturating_sub(before));
        println!("recovery                             {rate:.0} operations a second of processor time");
    }
    let start = Instant::now();
    store.checkpoint()?;
    let took = start.elapsed();
    println!(
        "checkpoint of {} terms, synced   {took:?}; goal 500 ms: {}",
        terms.len(),
        mark(took <= Duration::from_millis(500))
    );
    drop(store);
    let store = CharStore::<u64>::open(&path, Durability::Async)?;
    for term in terms.iter().step_by(100) {
        store.insert(term, 0)?;
    }
    let start = Instant::now();
    store.checkpoint()?;
    println!("checkpoint of {} changes beside it {:?}", terms.len() / 100, start.elapsed());
    drop(store);
    let start = Instant::now();
    let store = CharStore::<u64>::open(&path, Durability::Sync)?;
    println!("open and first lookup after that     {:?} ({:?})", start.elapsed(), store.get(&terms[7])?);
    Ok(())
}

fn main() -> Outcome<()> {
    let terms = terms::ledger_terms(TERMS);
    commits(&terms)?;
    recovery_and_checkpoint(&terms)
}
