//! Prints how the suffix index stands against the structures of others, in rounds that take turns, so that what else the
//! machine does meets all of them. Times are the least of all rounds.

mod suffix_peers;
mod suffix_workload;

use engine::suffix::{Layout, SuffixIndex};
use harness::worker::{Error, Result};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 5;

/// A line for the reader; one who has left hears no more.
macro_rules! say {
    ($($line:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($line)*);
    }};
}

/// What is timed, and its name.
type Job<'j> = (&'j str, Box<dyn FnMut() + 'j>);

fn main() -> Result<()> {
    let folder = Path::new("target/bench-scratch/compare-suffix");
    std::fs::create_dir_all(folder).map_err(Error::context("failed to make a scratch folder"))?;
    ledger(folder)?;
    real(folder)?;
    growth(folder)
}

/// The least time of each of some jobs that take turns, in ns.
fn turns(jobs: &mut [Job<'_>]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; jobs.len()];
    for _ in 0..ROUNDS {
        for ((_, job), least) in jobs.iter_mut().zip(&mut least) {
            let started = Instant::now();
            job();
            *least = least.min(started.elapsed().as_nanos() as f64);
        }
    }
    least
}

/// The texts of the ledger: positions of the index against those of the `suffix` crate on all texts.
fn ledger(_: &Path) -> Result<()> {
    let failed = || Error::context("failed to build an index");
    let symbols = suffix_workload::texts::<u8>(0x5F00_0000, 256, 48);
    let queries = suffix_workload::queries(&symbols, 2048);
    let index = SuffixIndex::<u8>::from_texts(symbols.iter().map(Vec::as_slice)).map_err(failed())?;
    let snapshot = index.snapshot();
    let joined: Vec<String> = symbols.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let table = suffix::SuffixTable::new(joined.join("\n"));
    let strings: Vec<String> = queries.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    let mut out = Vec::new();
    let mut jobs: [Job<'_>; 3] = [
        (
            "positions, reused buffer",
            Box::new(|| {
                for query in &queries {
                    snapshot.positions_into(query, &mut out);
                    black_box(&out);
                }
            }),
        ),
        (
            "positions, allocating",
            Box::new(|| queries.iter().for_each(|query| drop(black_box(snapshot.positions(query))))),
        ),
        (
            "`suffix` positions",
            Box::new(|| {
                for query in &strings {
                    black_box(table.positions(query).to_vec());
                }
            }),
        ),
    ];
    let times = turns(&mut jobs);
    say!("ledger set, bytes (goal: at most 0.4 x `suffix`)");
    for ((name, _), time) in jobs.iter().zip(&times) {
        say!("  {name:28} {:8.1} ns   {:.2} x", time / 2048.0, time / times[2]);
    }
    Ok(())
}

/// Real text and the terms of the loading ledger as one text.
fn real(folder: &Path) -> Result<()> {
    let terms: String =
        (0..280_000).map(|i| format!("term{i:05} very_long_prefix_{}_x\n", i % 1000)).collect();
    for (name, text) in [("sources", suffix_peers::sources(8_000_000)?), ("terms", terms)] {
        let questions = suffix_peers::questions(&text, 50_000);
        let mut finders = Vec::new();
        say!("{name}, {} bytes: contains (goal: 0.4 x `suffix`, 0.2 x general-sam)", text.len());
        for structure in ["native-fast", "native-compact", "suffix", "libsais", "general-sam"] {
            finders.push((structure, suffix_peers::build(structure, &text, folder)?));
        }
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for (structure, finder) in &finders {
            let questions = &questions;
            let ask = move || {
                black_box(questions.iter().filter(|it| finder.contains(it)).count());
            };
            jobs.push((structure, Box::new(ask)));
        }
        let times = turns(&mut jobs);
        for ((structure, _), time) in jobs.iter().zip(&times) {
            let per = time / questions.len() as f64;
            say!("  {structure:28} {per:8.1} ns   {:.2} x `suffix`", time / times[2]);
        }
        drop(jobs);
        let native = &finders[0].1;
        let mut out = Vec::new();
        // What occurs more often measures memory, not the index.
        let few: Vec<&String> =
            questions.iter().filter(|it| native.positions(it, &mut out) && out.len() <= 100).collect();
        let started = Instant::now();
        black_box(few.iter().filter(|it| native.contains(it)).count());
        let (asked, started, mut all) = (started.elapsed(), Instant::now(), 0);
        for question in &few {
            native.positions(question, &mut out);
            all += out.len();
        }
        let each = (started.elapsed().as_nanos() as f64 - asked.as_nanos() as f64) / all as f64;
        say!("  locate: {each:.1} ns an occurrence beyond contains, {all} occurrences (goal: 40)");
        for layout in [Layout::Fast, Layout::Compact] {
            let len =
                std::fs::metadata(folder.join(format!("{layout:?}.suffix"))).map_or(0, |file| file.len());
            say!("  {layout:?}: {:.2} bytes a byte of text (goal: 10, 5.5)", len as f64 / text.len() as f64);
        }
    }
    Ok(())
}

/// Building, from 1 to 64 MiB of text.
fn growth(_: &Path) -> Result<()> {
    let failed = || Error::context("failed to build an index");
    say!("construction, ns a byte (goal: whole index at most 3 x libsais)");
    let period = "abracadabra".repeat(6_000_000);
    let random: String =
        (0..64_u64 << 20).map(|i| (b'a' + (suffix_workload::mix64(i) % 26) as u8) as char).collect();
    for (name, text) in [("random letters", &random), ("periodic", &period)] {
        for mib in [1, 4, 16, 64] {
            let part = &text.as_bytes()[..text.len().min(mib << 20)];
            let started = Instant::now();
            let array = suffix_peers::libsais_array(part)?;
            let theirs = started.elapsed();
            drop(array);
            let started = Instant::now();
            let index = SuffixIndex::<u8>::from_texts([part]).map_err(failed())?;
            let ours = started.elapsed();
            let per = |time: std::time::Duration| time.as_nanos() as f64 / part.len() as f64;
            say!(
                "  {name:14} {mib:3} MiB: index {:6.1}, libsais {:6.1}, {:.2} x, {:.2} bytes a byte",
                per(ours),
                per(theirs),
                per(ours) / per(theirs),
                index.snapshot().index_len() as f64 / part.len() as f64
            );
        }
    }
    Ok(())
}
