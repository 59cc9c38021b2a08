//! The heap beside other allocators: a table of ratios from slices that take turns, exact counts by Callgrind, and peaks of
//! resident memory.
//!
//! ```text
//! cargo run --release -p experiments --features peer-allocators --example heap_table -- time [workload] [slots] [rounds] [allocators]
//! cargo run --release -p experiments --features peer-allocators --example heap_table -- count [workload] [slots] [allocators]
//! cargo run --release -p experiments --features peer-allocators --example heap_table -- memory [workload] [slots] [operations]
//! ```
//!
//! `time` runs a slice of every allocator in each round, in an order drawn anew, by the clock of the thread where there is
//! one thread, and prints the median over the rounds of the ratio to mimalloc (without peers, to glibc) of the same round. `count` runs each
//! allocator under Valgrind with two numbers of operations, and prints the difference for one operation, also above that of the
//! loop alone. `memory` runs each
//! allocator in a process of its own, and prints how far its resident memory rose above what it was before the workload,
//! beside the same of mimalloc and of the leanest.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "../src/heap_allocators.rs"]
mod heap_allocators;
#[path = "../src/heap_crew.rs"]
mod heap_crew;
#[path = "../src/heap_floor.rs"]
mod heap_floor;
#[path = "../src/heap_growth.rs"]
mod heap_growth;
#[cfg(feature = "peer-allocators")]
#[path = "../src/heap_peers.rs"]
mod heap_peers;
#[path = "../src/heap_trace.rs"]
mod heap_trace;
#[path = "../src/heap_workloads.rs"]
#[expect(dead_code, reason = "the worker checks the blocks")]
mod heap_workloads;
#[path = "../src/memory.rs"]
#[expect(dead_code, reason = "other systems ask for all resident memory")]
mod memory;

use std::alloc::GlobalAlloc;
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::worker::Error as Fault;
use heap_allocators::{BOUNDS, NAMES, Visitor, visit};
use heap_crew::Crew;
use heap_trace::Trace;
use heap_workloads::{Shape, Slots, Xorshift};
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn Error>;
type Work = Box<dyn FnMut(u64) -> Result<u64, String>>;

/// Makes the workload of a name on an allocator.
struct Making<'a> {
    workload: &'a str,
    slots: usize,
}

impl Visitor for Making<'_> {
    type Output = Result<Work, String>;

    fn visit<A: GlobalAlloc + Copy + Send + Sync + 'static>(self, a: A) -> Self::Output {
        let shaped = |shape| -> Work {
            let mut slots = Slots::new(a, self.slots, 1, shape);
            Box::new(move |ops| Ok(slots.run(shape, ops)))
        };
        let crew = |crew: Crew| -> Work { Box::new(move |ops| Ok(crew.run(ops)?.iter().sum())) };
        Ok(match self.workload {
            "mixed" => shaped(Shape::Mixed),
            "replace" => shaped(Shape::Replace),
            "phased" => shaped(Shape::Phased),
            "threads" => crew(Crew::independent(a, self.slots, 1)),
            "ring" => crew(Crew::ring(a, 1)),
            "batch-256" => crew(Crew::batches(a, 256, 1)),
            "batch-4096" => crew(Crew::batches(a, 4096, 1)),
            "growth" => Box::new(move |ops| Ok(heap_growth::grow(a, ops / 10_000))),
            "trace" => {
                let trace = Trace::parse(include_bytes!("../traces/trie-build.trace"))?;
                let (mut blocks, length) = (trace.room(), trace.requests.len() as u64);
                Box::new(move |ops| Ok((0..ops / length).map(|_| trace.replay(&a, &mut blocks)).sum()))
            }
            other => return Err(format!("workload `{other}` is unknown")),
        })
    }
}

/// A workload of one thread is timed by that thread's clock, those of two by that of the process.
fn clock(workload: &str) -> ClockId {
    match workload {
        "threads" | "ring" | "batch-256" | "batch-4096" => ClockId::ProcessCPUTime,
        _ => ClockId::ThreadCPUTime,
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    if numbers.len().is_multiple_of(2) {
        f64::midpoint(numbers[middle - 1], numbers[middle])
    } else {
        numbers[middle]
    }
}

/// Allocators that can run a workload: all, except that there are loops which need one and no bound.
fn suited(workload: &str) -> Vec<&'static str> {
    let alone = matches!(workload, "mixed" | "replace" | "phased");
    NAMES.iter().copied().filter(|it| *it != "engine-observed" && (alone || !BOUNDS.contains(it))).collect()
}

/// Those of them whose names are in `chosen`, as in `engine,mimalloc`; every one with `all`.
fn chosen_of(workload: &str, chosen: &str) -> Vec<&'static str> {
    let mut names = suited(workload);
    names.retain(|it| chosen == "all" || chosen.split(',').any(|name| name == *it));
    names
}

fn time(workload: &str, slots: usize, rounds: usize, chosen: &str) -> Result<(), Failure> {
    const OPS: u64 = 500_000;
    let names = chosen_of(workload, chosen);
    let clock = clock(workload);
    let mut arms = Vec::new();
    for name in &names {
        arms.push((*name, work(workload, slots, name)?, Vec::new()));
    }
    let mut random = Xorshift::new(20_260_110);
    let mut order: Vec<usize> = (0..arms.len()).collect();
    for round in 0..rounds + 3 {
        for last in (1..order.len()).rev() {
            order.swap(last, random.next() as usize % (last + 1));
        }
        for &arm in &order {
            let (_, work, times) = &mut arms[arm];
            let start = read(clock);
            std::hint::black_box(work(OPS)?);
            let elapsed = read(clock) - start;
            if round >= 3 {
                times.push(elapsed.as_secs_f64());
            }
        }
    }
    let place = |name: &str| names.iter().position(|it| *it == name);
    let base = place("mimalloc").or(place("glibc")).ok_or("there is nothing to compare with")?;
    let base_times = arms[base].2.clone();
    println!("{workload}, {slots} slots, {rounds} rounds of {OPS} operations; ratios to {}", names[base]);
    for (name, _, times) in &arms {
        let mut ratios: Vec<f64> = times.iter().zip(&base_times).map(|(it, base)| base / it).collect();
        let middle = median(ratios.clone());
        ratios.sort_unstable_by(f64::total_cmp);
        let quarter = ratios.len() / 4;
        let speed = OPS as f64 / median(times.clone()) / 1e6;
        println!(
            "  {name:16} {middle:6.3}  quartiles {:6.3} to {:6.3}  {speed:7.1} Mop/s",
            ratios[quarter],
            ratios[ratios.len() - 1 - quarter]
        );
    }
    Ok(())
}

/// Instructions, mispredicted branches and misses of the first data cache of a run under Callgrind.
fn callgrind(name: &str, workload: &str, slots: usize, ops: u64) -> Result<[f64; 3], Failure> {
    let folder = std::env::temp_dir().join(format!("heap-table-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["-q", "--tool=callgrind", "--branch-sim=yes", "--cache-sim=yes"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args(["run", workload, &slots.to_string(), name, &ops.to_string()])
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("failed to run `{name}` under valgrind: {status}").into());
    }
    let text = std::fs::read_to_string(&file)?;
    std::fs::remove_dir_all(&folder)?;
    let line = |start: &str| text.lines().find_map(|it| it.strip_prefix(start)).unwrap_or_default();
    let totals: Vec<f64> = line("totals: ").split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let of = |event: &str| {
        line("events: ").split_whitespace().position(|it| it == event).map_or(0.0, |it| totals[it])
    };
    Ok([of("Ir"), of("Bcm") + of("Bim"), of("D1mr") + of("D1mw")])
}

fn count(workload: &str, slots: usize, chosen: &str) -> Result<(), Failure> {
    let (few, many) = (200_000, 1_200_000);
    let mut rows = Vec::new();
    for name in chosen_of(workload, chosen) {
        let run = |ops| callgrind(name, workload, slots, ops);
        let (less, more) = match (run(few), run(many)) {
            (Ok(less), Ok(more)) => (less, more),
            (Err(error), _) | (_, Err(error)) => {
                println!("  {name:16} not counted: {error}");
                continue;
            }
        };
        rows.push((name, [0, 1, 2].map(|it: usize| (more[it] - less[it]) / (many - few) as f64)));
    }
    let loop_alone = rows.iter().find(|it| it.0 == "null").map(|it| it.1[0]);
    println!("{workload}, {slots} slots; for one operation, by Callgrind");
    println!(
        "  {:16} {:>12} {:>12} {:>12} {:>12}",
        "allocator", "instructions", "above null", "mispredicted", "D1 misses"
    );
    for (name, [instructions, mispredicted, misses]) in rows {
        let above = loop_alone.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", instructions - it));
        println!("  {name:16} {instructions:12.2} {above:>12} {mispredicted:12.3} {misses:12.3}");
    }
    Ok(())
}

/// The peak of resident memory of a process that runs the workload on this allocator, above what it was before, in bytes.
fn peak_of(name: &str, workload: &str, slots: usize, ops: u64) -> Result<f64, Failure> {
    let output = Command::new(std::env::current_exe()?)
        .args(["peak", workload, &slots.to_string(), name, &ops.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("failed to run `{name}` on its own: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn memory(workload: &str, slots: usize, ops: u64) -> Result<(), Failure> {
    let names: Vec<_> = suited(workload).into_iter().filter(|it| !BOUNDS.contains(it)).collect();
    let peaks = names.iter().map(|it| peak_of(it, workload, slots, ops)).collect::<Result<Vec<_>, _>>()?;
    let mimalloc = names.iter().zip(&peaks).find(|it| *it.0 == "mimalloc").map(|it| *it.1);
    let leanest = peaks.iter().copied().fold(f64::INFINITY, f64::min);
    println!("{workload}, {slots} slots, {ops} operations; peak of resident memory above the base");
    println!("  {:16} {:>10} {:>12} {:>12}", "allocator", "MiB", "of mimalloc", "of leanest");
    for (name, peak) in names.iter().zip(&peaks) {
        let of_mimalloc = mimalloc.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", peak / it));
        println!("  {name:16} {:10.2} {of_mimalloc:>12} {:12.2}", peak / f64::from(1 << 20), peak / leanest);
    }
    Ok(())
}

/// A workload in this process.
fn work(workload: &str, slots: usize, name: &str) -> Result<Work, Failure> {
    Ok(visit(name, Making { workload, slots }).ok_or("no such allocator in this build")??)
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |at: usize, default: &str| args.get(at).cloned().unwrap_or_else(|| default.to_owned());
    let (workload, slots) = (arg(1, "mixed"), arg(2, "400").parse()?);
    match arg(0, "time").as_str() {
        "time" => time(&workload, slots, arg(3, "60").parse()?, &arg(4, "all")),
        "count" => count(&workload, slots, &arg(3, "all")),
        "memory" => memory(&workload, slots, arg(3, "2000000").parse()?),
        "run" => {
            std::hint::black_box(work(&workload, slots, &arg(3, "engine"))?(arg(4, "1000").parse()?)?);
            Ok(())
        }
        "peak" => {
            let before = memory::anonymous()?;
            let mut work = work(&workload, slots, &arg(3, "engine"))?;
            let (most, _) =
                memory::most_anonymous(arg(4, "1000").parse()?, |ops| work(ops).map_err(Fault::new))?;
            println!("{}", most.saturating_sub(before));
            Ok(())
        }
        other => Err(format!("`{other}` is none of `time`, `count` and `memory`").into()),
    }
}
