//! One program compared with itself, again and again, by several designs: how often each of them finds a difference that is not
//! there, alone and while another process keeps a processor busy.
//!
//! ```text
//! cargo run --release -p harness --features app --example same_code -- [COMPARISONS] [DESIGN...]
//! ```
//!
//! Every comparison is a run as `harness run` makes it, with 30 samples of each arm, two worker processes and the registered
//! rule, but nothing is stored. A level of 5 % should find a difference in about 5 % of all comparisons, which
//! the interval (Wilson) beside what was found then holds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints a table")]

use harness::analyse::analyse;
use harness::decide::decide;
use harness::measure::{Interrupt, Program, Workers, run};
use harness::plan::Plan;
use harness::prereg::{Prereg, parse};
use harness::stats::wilson;
use harness::store::{Event, Git, Run, RunArm, RunData, SampleSet};
use harness::vocab::{RunState, Verdict};
use harness::worker::{Prepared, Sample, Setup, System};
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::{Child, Command, ExitCode};

/// Name, keys of [design] and of [decision]; all do about the same work for a sample.
const DESIGNS: [(&str, &str, &str); 5] = [
    ("wall", "", "test = \"welch\""),
    ("thread-cpu", "clock = \"thread-cpu\"", "test = \"welch\""),
    ("slices", "clock = \"thread-cpu\"\nslices = 10", "test = \"welch\""),
    ("processes", "clock = \"thread-cpu\"\nslices = 10\nprocesses = 6", "test = \"welch\""),
    ("duet", "mode = \"duet\"", "test = \"wilcoxon\""),
];

/// Steps of the loop that are one sample.
const STEPS: i64 = 2_000_000;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("worker") => harness::worker::main(&[&Spin]),
        Some("load") => {
            let parent = std::os::unix::process::parent_id();
            while std::os::unix::process::parent_id() == parent {
                black_box(spin(1 << 20));
            }
            ExitCode::SUCCESS
        }
        _ => match compare(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
    }
}

/// A chain of multiplications, which no compiler and no processor shortens.
fn spin(steps: i64) -> u64 {
    (0..steps).fold(1, |x: u64, i| black_box(x ^ i.cast_unsigned()).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

struct Spin;

impl System for Spin {
    fn name(&self) -> &'static str {
        "spin"
    }

    fn prepare(&self, setup: &Setup) -> harness::worker::Result<Box<dyn Prepared>> {
        setup.params.get::<bool>("b")?;
        Ok(Box::new(Steps(setup.params.get("steps")?)))
    }
}

struct Steps(i64);

impl Prepared for Steps {
    fn sample(&mut self, sample: &mut Sample) -> harness::worker::Result<()> {
        let answer = sample.time("time", || spin(self.0));
        sample.answer(&answer);
        Ok(())
    }
}

fn compare(args: &[String]) -> Result<(), Box<dyn Error>> {
    let comparisons: usize = args.first().map_or(Ok(40), |it| it.parse())?;
    let wanted = |name: &str| args.len() < 2 || args[1..].iter().any(|it| it == name);
    println!(
        "{:11} {:5} {:>11} {:>22} {:>8} {:>14} {:>14}",
        "design", "load", "comparisons", "differences [95 %]", "accepts", "median |gain|", "median width"
    );
    for (name, design, rule) in DESIGNS.iter().filter(|it| wanted(it.0)) {
        let prereg = registration(design, rule)?;
        for loaded in [false, true] {
            let load = loaded.then(Load::start).transpose()?;
            let found =
                (0..comparisons).map(|seed| once(&prereg, seed as u64)).collect::<Result<Vec<Found>, _>>()?;
            drop(load);
            let count = |it: fn(&Found) -> bool| found.iter().filter(|found| it(found)).count();
            let median = |it: fn(&Found) -> f64| {
                let mut all: Vec<f64> = found.iter().map(it).collect();
                all.sort_by(f64::total_cmp);
                all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
            };
            let differ = u32::try_from(count(|it| it.differs))?;
            let all = u32::try_from(comparisons)?;
            let [low, high] = wilson(differ, all).map(|it| 100.0 * it);
            let share = 100.0 * f64::from(differ) / f64::from(all.max(1));
            println!(
                "{name:11} {:5} {comparisons:>11} {:>22} {:>8} {:>12.2} % {:>12.2} %",
                if loaded { "busy" } else { "alone" },
                format!("{share:.1} % [{low:.1}, {high:.1}]"),
                count(|it| it.accepted),
                100.0 * median(|it| it.gain.abs()),
                100.0 * median(|it| it.width),
            );
        }
    }
    Ok(())
}

/// Another process that never rests.
struct Load(Child);

impl Load {
    fn start() -> std::io::Result<Self> {
        Command::new(std::env::current_exe()?).arg("load").spawn().map(Self)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It is gone either way once this process is.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn registration(design: &str, rule: &str) -> Result<Prereg, Box<dyn Error>> {
    let slices = if design.contains("slices") { 10 } else { 1 };
    let steps = STEPS / slices;
    let text = format!(
        r#"
id = "same"
title = "The same code"
ledger = "same"
[worker]
command = ["worker"]
system = "spin"
[params]
steps = {steps}
[arms.a]
role = "control"
params.b = false
[arms.b]
role = "treatment"
params.b = true
[design]
samples = 30
{design}
[metrics.time]
unit = "ms"
better = "lower"
[[hypotheses]]
id = "faster"
metric = "time"
min_effect = 0
[decision]
{rule}
"#
    );
    Ok(parse(&text, "same.toml")?)
}

/// What one comparison found.
struct Found {
    differs: bool,
    accepted: bool,
    gain: f64,
    width: f64,
}

fn once(prereg: &Prereg, seed: u64) -> Result<Found, Box<dyn Error>> {
    let program = Program {
        path: std::env::current_exe()?,
        args: vec!["worker".to_owned()],
        shown: vec!["worker".to_owned()],
        binary: None,
        folder: None,
        built: None,
        others: Vec::new(),
    };
    let scratch = std::env::temp_dir().join(format!("same-code-{}", std::process::id()));
    let interrupt = Interrupt::new()?;
    let mut sets = Vec::new();
    {
        let mut workers =
            Workers::new(prereg, vec![program.clone(), program], Path::new("."), &scratch, &interrupt);
        let sink = |_, measured: harness::measure::Measured| {
            sets.extend(measured.sets);
            Ok::<_, std::convert::Infallible>(())
        };
        let plan = Plan::new(prereg, seed);
        run(prereg, &plan, &HashSet::new(), &[], &mut workers, |_, _| false, sink)
            .map_err(|stop| format!("{stop:?}"))?;
    }
    let data = data(prereg, sets);
    let decision = decide(prereg, &data, &analyse(prereg, &data));
    let judged = decision.hypotheses.first().ok_or("no hypothesis")?;
    let gain = judged.gain.as_ref().map_err(ToString::to_string)?;
    Ok(Found {
        differs: judged.p_adjusted.as_ref().is_ok_and(|p| p.value() < prereg.decision.alpha),
        accepted: decision.verdict == Verdict::Accept,
        gain: gain.value,
        width: gain.interval.upper - gain.interval.lower,
    })
}

fn data(prereg: &Prereg, sets: Vec<SampleSet>) -> RunData {
    let at = jiff::Timestamp::UNIX_EPOCH;
    let arm = |name: &str| RunArm {
        arm: name.to_owned(),
        command: vec!["worker".to_owned()],
        env: BTreeMap::new(),
        binary: None,
        build: None,
    };
    let event = |seq, state| Event { seq, at, state, detail: None };
    RunData {
        run: Run {
            id: uuid::Uuid::nil(),
            experiment: prereg.id.clone(),
            version: 1,
            registration: prereg.digest(),
            host: "here".to_owned(),
            environment: serde_json::json!({}),
            harness: env!("CARGO_PKG_VERSION").to_owned(),
            seed: 1,
            git: Git { commit: "0".repeat(40), dirty: false },
            started_at: at,
        },
        arms: vec![arm("a"), arm("b")],
        cells: Vec::new(),
        events: vec![event(1, RunState::Running), event(2, RunState::Done)],
        invalidations: Vec::new(),
        sets,
    }
}
