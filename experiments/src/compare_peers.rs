//! Prints how the engine's images stand against other dictionaries, all asked in turn in one run.
//!
//! `compare-peers [KEYS] [--rounds N] [--terms N] [--only NAME,NAME] [--without NAME,NAME] [--words PATH]`, where KEYS is
//! `ledger`, `words`, `urls` or `hex`, else all of them, and a NAME is that of a structure. Peers' files are built once, under
//! `target/bench-scratch`, and how long that took is kept beside them. Opening and building are timed by the clock, lookups by the
//! processor time of the thread.

mod peers;
mod queries;
mod questions;
mod terms;

use harness::worker::{Error, Result};
use peers::{BUILD_TIME, Dictionary, STRUCTURES, Structure, Workload};
use queries::queries;
use questions::Questions;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

struct Options {
    workloads: Vec<Workload>,
    rounds: usize,
    terms: u64,
    structures: Vec<&'static Structure>,
    words: Option<String>,
}

/// What was measured of a structure, in nanoseconds an operation; one number a round.
type Measured = BTreeMap<&'static str, Vec<f64>>;

const METRICS: [&str; 6] = ["open", "first", "bulk", "hit", "miss", "build"];

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    match options(std::env::args().skip(1)).and_then(|options| compare(&options, &mut out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(std::io::stderr(), "compare-peers: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options> {
    let mut options = Options {
        workloads: Vec::new(),
        rounds: 5,
        terms: 1_000_000,
        structures: STRUCTURES.to_vec(),
        words: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().ok_or_else(|| Error::new(format!("`{argument}` needs a value behind it")));
        match argument.as_str() {
            "--rounds" => options.rounds = number(&value()?)? as usize,
            "--terms" => options.terms = number(&value()?)?,
            "--only" => options.structures = named(&value()?)?,
            "--without" => {
                let without = named(&value()?)?;
                options.structures.retain(|it| without.iter().all(|other| other.name != it.name));
            }
            "--words" => options.words = Some(value()?),
            name => options.workloads.push(Workload::named(name)?),
        }
    }
    if options.workloads.is_empty() {
        options.workloads = Workload::ALL.to_vec();
    }
    Ok(options)
}

fn named(names: &str) -> Result<Vec<&'static Structure>> {
    names.split(',').map(Structure::named).collect()
}

/// Processor time of this thread, which other programs on the machine do not lengthen.
fn processor() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

fn number(text: &str) -> Result<u64> {
    let parsed = text.parse().ok().filter(|&number| number > 0);
    parsed.ok_or_else(|| Error::new(format!("`{text}` is no number above 0")))
}

fn compare(options: &Options, out: &mut impl Write) -> Result<()> {
    options.workloads.iter().try_for_each(|workload| workload.check(options.words.as_deref()))?;
    for &workload in &options.workloads {
        let keys = workload.keys(options.terms, options.words.as_deref())?;
        let folder = workload.folder(options.terms);
        let structures = &options.structures;
        let mut files = Vec::new();
        for structure in structures {
            let _ = writeln!(std::io::stderr(), "{}: {}", workload.name(), structure.name);
            files.push(structure.ready(&folder, &keys)?);
        }
        let questions = [
            queries(&keys, 10_000, 0.5).iter().map(String::as_str).collect(),
            Questions::hits(&keys, 300_000),
            Questions::near_misses(&keys, 300_000),
        ];
        let mut measured: Vec<Measured> = structures.iter().map(|_| Measured::new()).collect();
        for round in 0..options.rounds {
            for ((structure, file), measured) in structures.iter().zip(&files).zip(&mut measured) {
                measure(structure, file, &keys, &questions, round, &folder, measured)?;
            }
        }
        for ((structure, file), measured) in structures.iter().zip(&files).zip(&mut measured) {
            if let (None, Some(nanoseconds)) = (measured.get("build"), build_time(file)) {
                let _ = writeln!(std::io::stderr(), "{}: built when its file was", structure.name);
                measured.insert("build", vec![nanoseconds]);
            }
        }
        report(workload, &keys, structures, &files, &measured, out)
            .map_err(Error::context("failed to print the comparison"))?;
    }
    Ok(())
}

fn measure(
    structure: &Structure,
    file: &Path,
    keys: &[String],
    questions: &[Questions; 3],
    round: usize,
    folder: &Path,
    measured: &mut Measured,
) -> Result<()> {
    let mut note = |metric, time: Duration, operations: usize| {
        measured.entry(metric).or_default().push(time.as_nanos() as f64 / operations as f64);
    };
    // The best of a few: what is wanted is the cost of opening, not of what happens on the host meanwhile.
    let middle = &keys[keys.len() / 2];
    let (mut open, mut first) = (Duration::MAX, Duration::MAX);
    for _ in 0..9 {
        let start = Instant::now();
        let dictionary = structure.open(file)?;
        open = open.min(start.elapsed());
        drop(dictionary);
        let start = Instant::now();
        let dictionary = structure.open(file)?;
        let found = dictionary.get(middle);
        first = first.min(start.elapsed());
        black_box(found);
        if open > Duration::from_millis(100) {
            break;
        }
    }
    note("open", open, 1);
    note("first", first, 1);
    let dictionary = structure.open(file)?;
    structure.check(dictionary.as_ref(), keys)?;
    for (metric, questions) in ["bulk", "hit", "miss"].into_iter().zip(questions) {
        let dictionary: &dyn Dictionary = dictionary.as_ref();
        black_box(dictionary.pass(questions));
        let passes = 300_000 / questions.len();
        let start = processor();
        (0..passes).for_each(|_| {
            black_box(dictionary.pass(black_box(questions)));
        });
        note(metric, processor() - start, passes * questions.len());
    }
    if round < 3 && ["trie", "trie-ranks", "point", "fst"].contains(&structure.name) {
        let anew = folder.join(format!("{}.anew", structure.name));
        let start = Instant::now();
        structure.build(&anew, keys)?;
        note("build", start.elapsed(), 1);
        std::fs::remove_file(&anew).map_err(Error::context("failed to remove a file that was built"))?;
    }
    Ok(())
}

/// How long a file that was kept took to build, if that was noted.
fn build_time(file: &Path) -> Option<f64> {
    std::fs::read_to_string(file.with_extension(BUILD_TIME)).ok()?.parse().ok()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

fn report(
    workload: Workload,
    keys: &[String],
    structures: &[&Structure],
    files: &[PathBuf],
    measured: &[Measured],
    out: &mut impl Write,
) -> std::io::Result<()> {
    let bytes: usize = keys.iter().map(String::len).sum();
    writeln!(
        out,
        "\n{}: {} keys, {bytes} bytes; ns, least / median of the rounds",
        workload.name(),
        keys.len()
    )?;
    write!(out, "{:14} {:>12}", "", "file bytes")?;
    METRICS.iter().try_for_each(|metric| write!(out, " {metric:>21}"))?;
    writeln!(out)?;
    let len = |path: &Path| path.metadata().map_or(0, |data| data.len());
    for ((structure, file), measured) in structures.iter().zip(files).zip(measured) {
        write!(out, "{:14} {:>12}", structure.name, len(file))?;
        for metric in METRICS {
            match measured.get(metric) {
                Some(values) => write!(out, " {:>10.1}/{:>10.1}", least(values), median(values))?,
                None => write!(out, " {:>21}", "")?,
            }
        }
        writeln!(out)?;
    }
    if let ("ledger", Some(at), 1_000_000) =
        (workload.name(), structures.iter().position(|it| it.name == "trie"), keys.len())
    {
        let megabytes = len(&files[at]) as f64 / 1e6;
        let mark = if megabytes <= LEDGER_MEGABYTES { "met" } else { "NOT MET" };
        writeln!(out, "ledger  file   trie {megabytes:30.2} MB  goal {LEDGER_MEGABYTES:6.2}  {mark}")?;
    }
    let index = |name: &str| structures.iter().position(|it| it.name == name);
    for goal in GOALS.iter().filter(|goal| goal.on.contains(&workload.name())) {
        let (Some(ours), Some(theirs)) = (index(goal.ours), index(goal.theirs)) else { continue };
        let ratios = if goal.metric == "file" {
            let ratio = len(&files[ours]) as f64 / len(&files[theirs]) as f64;
            Some((ratio, ratio))
        } else {
            measured[ours]
                .get(goal.metric)
                .zip(measured[theirs].get(goal.metric))
                .map(|(ours, theirs)| (least(ours) / least(theirs), median(ours) / median(theirs)))
        };
        let Some((best, middle)) = ratios else { continue };
        let mark = if best <= goal.limit && middle <= goal.limit { "met" } else { "NOT MET" };
        writeln!(
            out,
            "{:7} {:6} {:14} / {:10} {best:7.4} {middle:7.4}  goal {:6.3}  {mark}",
            workload.name(),
            goal.metric,
            goal.ours,
            goal.theirs,
            goal.limit
        )?;
    }
    Ok(())
}

/// A ratio that is not to be exceeded, by the least and by the median of the rounds.
struct Goal {
    metric: &'static str,
    ours: &'static str,
    theirs: &'static str,
    limit: f64,
    on: &'static [&'static str],
}

const fn goal(
    metric: &'static str,
    ours: &'static str,
    theirs: &'static str,
    limit: f64,
    on: &'static [&'static str],
) -> Goal {
    Goal { metric, ours, theirs, limit, on }
}

/// Goal for the file of the ledger's 1,000,000 terms with values of 8 bytes.
const LEDGER_MEGABYTES: f64 = 18.0;

const ALL: &[&str] = &["ledger", "words", "urls", "hex"];

const GOALS: [Goal; 23] = [
    goal("open", "trie", "fst", 1.5, ALL),
    goal("first", "trie", "fst", 2.0, ALL),
    goal("first", "trie", "trie-eager", 0.001, &["ledger"]),
    goal("bulk", "trie", "yada", 1.3, &["ledger"]),
    goal("bulk", "trie", "fst", 0.6, &["ledger"]),
    goal("hit", "trie", "yada", 0.6, &["ledger", "urls", "hex"]),
    goal("hit", "trie", "yada", 1.3, &["words"]),
    goal("hit", "trie", "fst", 0.5, ALL),
    goal("hit", "point", "yada", 0.5, ALL),
    goal("hit", "point", "rkyv-hash", 0.9, ALL),
    goal("hit", "trie-many", "trie", 0.7, ALL),
    goal("miss", "trie-many", "trie", 0.7, ALL),
    goal("hit", "point-many", "point", 0.7, ALL),
    goal("file", "trie-ranks", "yada", 0.7, ALL),
    goal("file", "trie-ranks", "fst", 1.2, &["urls", "hex"]),
    goal("file", "trie-ranks", "fst", 2.1, &["words"]),
    goal("file", "trie-compact", "yada", 0.7, ALL),
    goal("file", "trie-compact", "fst", 1.2, &["urls", "hex"]),
    goal("file", "trie-compact", "fst", 2.1, &["words"]),
    goal("build", "trie", "fst", 1.0, ALL),
    goal("build", "trie", "yada", 0.05, ALL),
    goal("hit", "trie-compact", "yada", 1.0, ALL),
    goal("miss", "trie", "yada", 1.0, ALL),
];
