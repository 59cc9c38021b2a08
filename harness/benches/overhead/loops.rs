//! What the measuring loop itself costs, without store and ledger.
//!
//! `cargo run --release -p harness --example loops` prints the cost of a sample of a worker that does nothing: the loop,
//! the protocol and two changes of context. `... -- PROGRAM [ARG..]` with `RUNS` in the environment (500) runs that command
//! as often and prints the wall time of the whole in seconds and the mean of its samples in milliseconds, which
//! `compare.sh` sets beside hyperfine's.

#![expect(clippy::print_stdout, reason = "the result")]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use harness::measure::{self, Interrupt};
use harness::plan::Plan;
use harness::prereg::parse;
use harness::worker::{self, Prepared, Sample, Setup, System};
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Instant;

struct Nothing;

impl System for Nothing {
    fn name(&self) -> &'static str {
        "nothing"
    }

    fn prepare(&self, _: &Setup) -> worker::Result<Box<dyn Prepared>> {
        Ok(Box::new(Self))
    }
}

impl Prepared for Nothing {
    fn sample(&mut self, sample: &mut Sample) -> worker::Result<()> {
        sample.time("time", || ());
        Ok(())
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [first] if first == "worker" => return worker::main(&[&Nothing]),
        [] => {
            let this = std::env::current_exe().unwrap();
            let command = format!("[{:?}, \"worker\"]", this.to_str().unwrap());
            let (runs, total, _) =
                run(&format!("[worker]\nsystem = \"nothing\"\ncommand = {command}"), "", "", 20_000);
            println!(
                "{:.2} µs a sample of a worker that does nothing ({runs} samples)",
                total * 1e6 / f64::from(runs)
            );
        }
        command => {
            let runs = std::env::var("RUNS").map_or(500, |it| it.parse().unwrap());
            let command = format!("[commands]\ncommand = {command:?}");
            let (_, total, mean) = run(&command, "probe = \"wall\"", "env = { B = \"\" }", runs);
            println!("{total:.6} {mean:.6}");
        }
    }
    ExitCode::SUCCESS
}

/// Measures two arms, `runs` samples together: how many there are, the seconds of all, and the mean of the values.
fn run(by: &str, probe: &str, b: &str, runs: u32) -> (u32, f64, f64) {
    let text = format!(
        "id = \"x\"\ntitle = \"x\"\nledger = \"x\"\n{by}\n[arms.a]\nrole = \"control\"\nenv = {{ A = \"\" }}\n\
         [arms.b]\nrole = \"treatment\"\n{b}\n[design]\nwarmups = 0\nsamples = {}\n\
         [metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n{probe}\n",
        runs / 2
    );
    let prereg = parse(&text, "x").unwrap_or_else(|it| panic!("{it}"));
    let root = std::env::current_dir().unwrap();
    let program = measure::resolve(&prereg.worker.launch, &root).unwrap();
    let never = Interrupt::new().unwrap();
    let plan = Plan::new(&prereg, 1);
    let scratch = std::env::temp_dir().join(format!("harness-loops-{}", std::process::id()));
    let mut values = Vec::new();
    let start = Instant::now();
    let programs = vec![program.clone(), program];
    let mut source = measure::source(&prereg, &plan, programs, &root, &scratch, &never).unwrap();
    let nothing = HashSet::new();
    let measured = measure::run(
        &prereg,
        &plan,
        &nothing,
        &[],
        &mut *source,
        |_, _| false,
        |_, it| {
            values.extend(it.sets.into_iter().flat_map(|it| it.values));
            Ok::<_, std::convert::Infallible>(())
        },
    );
    measured.unwrap();
    source.end().unwrap();
    let total = start.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(scratch);
    let runs = u32::try_from(values.len()).unwrap();
    (runs, total, values.iter().sum::<f64>() / f64::from(runs))
}
