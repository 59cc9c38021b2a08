//! How often the tool errs, by simulation: the tables of `METHODOLOGY.md`.
//!
//! `error_rates [--runs N] [--quick]` simulates N experiments for every number (4,000; 300 with `--quick`) and writes
//! markdown tables. Seeds are fixed, and every simulated experiment has its own: the output is the same whatever the
//! number of threads.

use std::error::Error;
use std::io::Write;

mod rates;

fn main() -> Result<(), Box<dyn Error>> {
    let mut runs = 4_000;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        runs = match word.as_str() {
            "--quick" => 300,
            "--runs" => words.next().ok_or("--runs needs a number")?.parse()?,
            other => return Err(format!("`{other}` is neither --runs N nor --quick").into()),
        };
    }
    if runs == 0 {
        return Err("at least one run is needed".into());
    }
    let mut out = std::io::stdout().lock();
    for table in rates::TABLES {
        writeln!(out, "{}", table(runs))?;
    }
    Ok(())
}
