//! Prints how the suffix index stands against the structures of others, in rounds that take turns, so that what else the
//! machine does meets all of them. Times are the least of all rounds, of the thread's
//! processor time where there is one thread.
//!
//! `compare-suffix [PART]...`, where PART is `ledger`, `sources`, `words`, `urls`, `growth`, `open` or `writer`, else all
//! of them. Each line has its goal beside it.

#[path = "../../engine/tests/support/counting.rs"]
mod counting;
mod suffix_peers;
mod suffix_workload;
mod terms;

use engine::suffix::{Layout, Position, SuffixIndex, suffix_array};
use engine::{Scdawg, Verify};
use harness::worker::{Error, Result};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use suffix_peers::{STRUCTURES, build, libsais_array, questions, sources};
use suffix_workload::{Span, mix64};

/// A line for the reader; one who has left hears no more.
macro_rules! say {
    ($($line:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($line)*);
    }};
}

/// What is timed, and its name.
type Job<'j> = (&'j str, Box<dyn FnMut() + 'j>);

const PARTS: [&str; 7] = ["ledger", "sources", "words", "urls", "growth", "open", "writer"];

fn main() -> Result<()> {
    let folder = Path::new("target/bench-scratch/compare-suffix");
    std::fs::create_dir_all(folder).map_err(Error::context("failed to make a scratch folder"))?;
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted = PARTS.map(str::to_owned).to_vec();
    }
    for part in &wanted {
        match part.as_str() {
            "ledger" => ledger()?,
            "sources" => searches("sources", &sources(usize::MAX)?, folder)?,
            "words" => searches("words", &words(16 << 20)?, folder)?,
            "urls" => searches("urls", &urls(1_000_000), folder)?,
            "growth" => growth()?,
            "open" => open(folder)?,
            "writer" => writer()?,
            other => {
                return Err(Error::new(format!("`{other}` is unknown, known are {}", PARTS.join(", "))));
            }
        }
    }
    Ok(())
}

/// Time that this thread had a processor: what else the machine does counts less.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn failed() -> impl FnOnce(engine::Error) -> Error {
    Error::context("failed to build or open an index")
}

/// The least time of each of some jobs that take turns, in ns.
fn turns(rounds: usize, jobs: &mut [Job<'_>]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; jobs.len()];
    for _ in 0..rounds {
        for ((_, job), least) in jobs.iter_mut().zip(&mut least) {
            let started = now();
            job();
            *least = least.min((now() - started).as_nanos() as f64);
        }
    }
    least
}

/// The texts of the ledger: positions of the index against those of the `suffix` crate on all texts.
fn ledger() -> Result<()> {
    let symbols = suffix_workload::texts::<u8>(0x5F00_0000, 256, 48);
    let queries = suffix_workload::queries(&symbols, 2048);
    let index = SuffixIndex::<u8>::from_texts(symbols.iter().map(Vec::as_slice)).map_err(failed())?;
    let snapshot = index.snapshot();
    let joined: Vec<String> = symbols.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    let table = suffix::SuffixTable::new(joined.join("\n"));
    let strings: Vec<String> = queries.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    let chars = suffix_workload::texts::<char>(0x5F00_0000, 256, 48);
    let char_queries = suffix_workload::queries(&chars, 2048);
    let texts: Vec<String> = chars.iter().map(|text| text.iter().collect()).collect();
    let char_index = SuffixIndex::<char>::from_texts(texts.iter().map(String::as_str)).map_err(failed())?;
    let char_snapshot = char_index.snapshot();
    let char_table = suffix::SuffixTable::new(texts.join("\n"));
    let (mut out, mut char_out) = (Vec::new(), Vec::new());
    let mut jobs: [Job<'_>; 6] = [
        (
            "bytes, reused buffer",
            Box::new(|| {
                for query in &queries {
                    snapshot.positions_into(query, &mut out);
                    black_box(&out);
                }
            }),
        ),
        (
            "bytes, allocating",
            Box::new(|| queries.iter().for_each(|query| drop(black_box(snapshot.positions(query))))),
        ),
        (
            "bytes, `suffix`",
            Box::new(|| {
                strings.iter().for_each(|query| drop(black_box(table.positions(query).to_vec())));
            }),
        ),
        (
            "chars, reused buffer",
            Box::new(|| {
                for query in &char_queries {
                    char_snapshot.positions_into(query, &mut char_out);
                    black_box(&char_out);
                }
            }),
        ),
        (
            "chars, allocating",
            Box::new(|| {
                char_queries.iter().for_each(|query| drop(black_box(char_snapshot.positions(query))));
            }),
        ),
        (
            "chars, `suffix`",
            Box::new(|| {
                char_queries.iter().for_each(|query| drop(black_box(char_table.positions(query).to_vec())));
            }),
        ),
    ];
    let times = turns(200, &mut jobs);
    say!("ledger set, all positions of a query (goal: 0.4 x `suffix`; 40 ns reused, 55 ns allocating)");
    for (at, ((name, _), time)) in jobs.iter().zip(&times).enumerate() {
        say!("  {name:28} {:8.1} ns   {:.2} x `suffix`", time / 2048.0, time / times[at / 3 * 3 + 2]);
    }
    Ok(())
}

/// Words of the sources, as often as they are there, in random order.
fn words(len: usize) -> Result<String> {
    let text = sources(usize::MAX)?;
    let all: Vec<&str> = text.split(|it: char| !it.is_alphabetic()).filter(|it| !it.is_empty()).collect();
    let mut out = String::new();
    for i in 0.. {
        out += all[mix64(i) as usize % all.len()];
        out.push(if i % 11 == 10 { '\n' } else { ' ' });
        if out.len() > len {
            break;
        }
    }
    Ok(out)
}

/// Addresses of made-up pages, one segment in eight with other letters.
fn urls(count: u64) -> String {
    const SEGMENTS: [&str; 8] = ["news", "archive", "products", "東京", "img", "static", "user", "search"];
    let mut out = String::new();
    for i in 0..count {
        let pick = |salt: u64, most: u64| mix64(i << 8 | salt) % most;
        let segment = |salt: u64| SEGMENTS[pick(salt, 8) as usize];
        out += &format!(
            "https://www.host{}.example/{}/{}/{:x}?id={i}\n",
            pick(0, 5_000),
            segment(1),
            segment(2),
            pick(3, 1 << 40)
        );
    }
    out
}

/// Searches in a text of some megabytes.
fn searches(name: &str, text: &str, folder: &Path) -> Result<()> {
    let questions = questions(text, 300_000);
    // An automaton takes 264 bytes a byte.
    let large = text.len() > 24 << 20;
    say!("{name}, {} bytes: contains (goal: 0.4 x `suffix`, 0.2 x general-sam)", text.len());
    let mut finders = Vec::new();
    for structure in STRUCTURES {
        if structure != "memmem" && !(large && structure == "general-sam") {
            finders.push((structure, build(structure, text, folder)?));
        }
    }
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (structure, finder) in &finders {
        let questions = &questions;
        let ask = move || {
            black_box(questions.iter().filter(|it| finder.contains(it)).count());
        };
        jobs.push((structure, Box::new(ask)));
    }
    let times = turns(5, &mut jobs);
    let of = |name: &str| jobs.iter().position(|(it, _)| *it == name).map(|at| times[at]);
    for ((structure, _), time) in jobs.iter().zip(&times) {
        let per = time / questions.len() as f64;
        let ratio = |peer| of(peer).map_or("-".to_owned(), |theirs: f64| format!("{:.2}", time / theirs));
        say!(
            "  {structure:16} {per:8.1} ns   {} x `suffix`, {} x general-sam",
            ratio("suffix"),
            ratio("general-sam")
        );
    }
    drop(jobs);
    let parts = &questions[..30_000];
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (structure, finder) in finders.iter().filter(|(structure, _)| !structure.contains("sam")) {
        let mut out = Vec::new();
        let ask = move || {
            black_box(parts.iter().filter(|it| finder.positions(it, &mut out)).count());
        };
        jobs.push((structure, Box::new(ask)));
    }
    let times = turns(3, &mut jobs);
    let peer = jobs.iter().position(|(it, _)| *it == "suffix").map_or(f64::NAN, |at| times[at]);
    for ((structure, _), time) in jobs.iter().zip(&times) {
        say!(
            "  {structure:16} {:8.1} ns all positions, {:.2} x `suffix`",
            time / parts.len() as f64,
            time / peer
        );
    }
    drop(jobs);
    drop(finders);
    for layout in [Layout::Fast, Layout::Compact] {
        let path = folder.join(format!("{layout:?}.suffix"));
        let index = SuffixIndex::<u8>::open(&path, Verify::Header).map_err(failed())?;
        let snapshot = index.snapshot();
        // What occurs more often measures memory, not the index.
        let few: Vec<&[u8]> = questions
            .iter()
            .map(String::as_bytes)
            .filter(|it| (1..=100).contains(&snapshot.count(it)))
            .collect();
        let (mut out, mut all) = (Vec::<Position>::new(), 0);
        let mut jobs: [Job<'_>; 2] = [
            (
                "contains",
                Box::new(|| {
                    black_box(few.iter().filter(|it| snapshot.contains(it)).count());
                }),
            ),
            (
                "locate",
                Box::new(|| {
                    all = 0;
                    for question in &few {
                        snapshot.positions_into(question, &mut out);
                        all += black_box(&out).len();
                    }
                }),
            ),
        ];
        let times = turns(5, &mut jobs);
        drop(jobs);
        let each = (times[1] - times[0]) / all as f64;
        let size = snapshot.index_len() as f64 / text.len() as f64;
        let goal = if layout == Layout::Fast { 10.0 } else { 5.5 };
        say!("  {layout:?}: {each:.1} ns an occurrence beyond contains, {all} of them (goal: 40)");
        say!("  {layout:?}: {size:.2} bytes a byte of text (goal: {goal})");
    }
    Ok(())
}

/// Building, from 1 to 64 MiB of text.
fn growth() -> Result<()> {
    say!("construction, ns and bytes a byte of text (goal: array 1.5 x libsais, whole index 3 x, flat)");
    let random: String = (0..64_u64 << 20).map(|i| (b'a' + (mix64(i) % 26) as u8) as char).collect();
    let texts = [
        ("random letters", random),
        ("words", words(64 << 20)?),
        ("periodic", "abracadabra".repeat(6_200_000)),
    ];
    for (name, text) in &texts {
        for mib in [1, 4, 16, 64] {
            let part = &text.as_bytes()[..mib << 20];
            let (mut least, mut size, mut peak) = ([f64::INFINITY; 3], 0, 0);
            for _ in 0..if mib == 64 { 2 } else { 3 } {
                let mut time = |slot: usize, started: Duration| {
                    least[slot] = least[slot].min((now() - started).as_nanos() as f64 / part.len() as f64);
                };
                let started = now();
                drop(black_box(libsais_array(part)?));
                time(0, started);
                let started = now();
                drop(black_box(suffix_array(part).map_err(failed())?));
                time(1, started);
                let started = now();
                let (index, held) = counting::peak_of(|| SuffixIndex::<u8>::from_texts([part]));
                let index = index.map_err(failed())?;
                time(2, started);
                peak = held;
                size = index.snapshot().index_len();
            }
            let [libsais, array, index] = least;
            say!(
                "  {name:14} {mib:3} MiB: libsais {libsais:6.1} ns, array {array:6.1} ns {:.2} x, index {index:6.1} ns {:.2} x, \
                 peak {:.1} B, index {:.2} B",
                array / libsais,
                index / libsais,
                peak as f64 / part.len() as f64,
                size as f64 / part.len() as f64
            );
        }
    }
    Ok(())
}

/// Opening the index of a million texts, beside opening an automaton of them.
fn open(folder: &Path) -> Result<()> {
    let terms = terms::terms(1_000_000);
    let (ours, theirs) = (folder.join("million.suffix"), folder.join("million.fst"));
    SuffixIndex::<char>::from_texts(terms.iter().map(String::as_str))
        .and_then(|index| index.checkpoint(&ours, Layout::Fast))
        .map_err(failed())?;
    let set = fst::Set::from_iter(&terms).map_err(Error::context("failed to build an automaton"))?;
    std::fs::write(&theirs, set.as_fst().as_bytes())
        .map_err(Error::context("failed to write an automaton"))?;
    let mut jobs: [Job<'_>; 2] = [
        (
            "index",
            Box::new(|| {
                black_box(SuffixIndex::<char>::open(&ours, Verify::Header).is_ok());
            }),
        ),
        (
            "fst",
            Box::new(|| {
                let file = std::fs::File::open(&theirs);
                // SAFETY: the file was just written here, and nothing changes it.
                let map = file.and_then(|file| unsafe { memmap2::Mmap::map(&file) });
                drop(black_box(map.map(|map| fst::Set::new(map).map(|set| set.len()))));
            }),
        ),
    ];
    let times = turns(2_000, &mut jobs);
    say!("open of 1,000,000 texts (goal: 1.5 x fst, 20 us)");
    for ((name, _), time) in jobs.iter().zip(&times) {
        say!("  {name:28} {:8.1} us   {:.2} x fst", time / 1e3, time / times[1]);
    }
    Ok(())
}

/// What the fifth thread does while four read.
#[derive(Clone, Copy)]
enum Fifth {
    Nothing,
    /// Adds 128 texts.
    Inserts,
    /// Uses a processor for that long and touches nothing: what it costs that five threads share the processors.
    Spins(Duration),
}

/// What a round of four readers took.
struct Round {
    elapsed: Duration,
    /// Of the fifth thread: by the clock, and its processor time.
    fifth: [Duration; 2],
    /// Each read, if it was timed.
    reads: Vec<u32>,
}

/// Four readers beside a writer whose inserts are all complete within the time, beside one that only takes as much
/// processor time, and without one.
fn writer() -> Result<()> {
    const READERS: usize = 4;
    const READS: usize = 2_000;
    const INSERTS: usize = 128;
    let symbols = suffix_workload::texts::<u8>(0x5F00_0000, 256, 48);
    let queries = suffix_workload::queries(&symbols, 2048);
    let contend = |fifth: Fifth, timed: bool| -> Result<Round> {
        let index = Scdawg::<u8>::from_texts(symbols[..128].iter().map(Vec::as_slice)).map_err(failed())?;
        let barrier = Barrier::new(READERS + 1);
        let round = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..READERS)
                .map(|number| {
                    let (barrier, queries, index) = (&barrier, &queries, &index);
                    scope.spawn(move || {
                        let (mut reader, mut out) = (index.reader(), Vec::new());
                        let mut times = Vec::with_capacity(READS);
                        barrier.wait();
                        let start = Instant::now();
                        for read in 0..READS {
                            let query = read.wrapping_mul(2_654_435_761).wrapping_add(17 * number) % 2048;
                            let started = timed.then(Instant::now);
                            reader.snapshot().positions_into(&queries[query], &mut out);
                            black_box(&out);
                            times.extend(started.map(|started| started.elapsed().as_nanos() as u32));
                        }
                        (Span::since(start), times)
                    })
                })
                .collect();
            let it = scope.spawn(|| {
                barrier.wait();
                let (start, used) = (Instant::now(), now());
                match fifth {
                    Fifth::Nothing => {}
                    Fifth::Inserts => {
                        symbols[128..128 + INSERTS].iter().try_for_each(|text| index.push(text).map(drop))?;
                    }
                    Fifth::Spins(time) => while now() - used < time {},
                }
                Ok((Span::since(start), now() - used))
            });
            let (spans, reads): (Vec<Span>, Vec<Vec<u32>>) = readers
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .unzip();
            let done = it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            // From the first read until the last of them and the last insert are complete.
            let of_fifth = |(span, _): &(Span, Duration)| (!matches!(fifth, Fifth::Nothing)).then_some(*span);
            done.map(|done| Round {
                elapsed: spans
                    .into_iter()
                    .chain(of_fifth(&done))
                    .reduce(Span::with)
                    .map_or(Duration::ZERO, Span::length),
                fifth: [done.0.length(), done.1],
                reads: reads.concat(),
            })
        })
        .map_err(failed())?;
        let expected = 128 + if matches!(fifth, Fifth::Inserts) { INSERTS as u32 } else { 0 };
        if index.texts() != expected {
            return Err(Error::new(format!("{} texts are there, expected {expected}", index.texts())));
        }
        Ok(round)
    };
    let a_read = |round: &Round| round.elapsed.as_nanos() as f64 / (READERS * READS) as f64;
    let (mut times, mut percentiles) = ([const { Vec::new() }; 3], [const { Vec::new() }; 2]);
    let (mut inserting, mut used) = (Vec::new(), Vec::new());
    for _ in 0..51 {
        let beside = contend(Fifth::Inserts, false)?;
        let [writing, busy] = beside.fifth;
        inserting.push(INSERTS as f64 / writing.as_secs_f64());
        used.push(busy.as_nanos() as f64 / INSERTS as f64);
        for (fifth, all) in [Fifth::Nothing, Fifth::Spins(busy)].into_iter().zip(&mut times) {
            all.push(a_read(&contend(fifth, false)?));
        }
        times[2].push(a_read(&beside));
        for (fifth, all) in [Fifth::Nothing, Fifth::Inserts].into_iter().zip(&mut percentiles) {
            let Round { mut reads, .. } = contend(fifth, true)?;
            reads.sort_unstable();
            all.push(f64::from(reads[reads.len() * 99 / 100]));
        }
    }
    let ([alone, spinning, beside], [still, busy]) = (times.map(middle), percentiles.map(middle));
    let (inserting, used) = (middle(inserting), middle(used));
    say!("four readers, 2,000 reads each, and 128 inserts complete within the time; medians of 51");
    say!("  without a writer {alone:8.1} ns a read, p99 {still:.0} ns");
    say!("  beside a thread that takes as much processor time and touches nothing {spinning:8.1} ns a read");
    say!("  beside a writer  {beside:8.1} ns a read, p99 {busy:.0} ns (with the clock's own time)");
    say!(
        "  {:.2} x without a writer (goal: 3), {:.2} x beside the other thread; {inserting:.0} inserts a second (goal: 10000), \
         {used:.0} ns of processor time each",
        beside / alone,
        beside / spinning
    );
    Ok(())
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
