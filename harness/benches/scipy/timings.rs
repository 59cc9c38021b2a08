//! Times one method on data that are read from files, for `compare.py`.
//!
//! `timings TREATMENT CONTROL METHOD SECONDS` reads two files of little-endian doubles, repeats the method for about that
//! time and writes the median of a call in seconds and one number of its result.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use harness::stats::{
    PanelOptions, PermutationStatistic, RankMethod, Resolution, Sample, StatsError, anderson_darling,
    bootstrap_relative_change, brown_forsythe, brunner_munzel, cliffs_delta, hodges_lehmann, mann_whitney,
    panel, permutation, quantile, shapiro_wilk, signed_rank, trend, welch, yuen,
};

/// A method and one number of its result.
type Call = fn(&Sample, &Sample) -> Result<f64, StatsError>;

const METHODS: &[(&str, Call)] = &[
    ("welch", |x, y| Ok(welch(x, y)?.test.map_or(0.0, |test| test.t))),
    ("yuen", |x, y| Ok(yuen(x, y, 0.2)?.trimmed.test.map_or(0.0, |test| test.t))),
    ("mann-whitney", |x, y| {
        Ok(mann_whitney(x, y, RankMethod::Asymptotic { continuity: true })?.p.two_sided.ln())
    }),
    ("mann-whitney-exact", |x, y| Ok(mann_whitney(x, y, RankMethod::Exact)?.p.two_sided.ln())),
    ("brunner-munzel", |x, y| Ok(brunner_munzel(x, y)?.test.map_or(0.0, |test| test.t))),
    ("cliffs-delta", |x, y| Ok(cliffs_delta(x, y).delta)),
    ("hodges-lehmann", |x, y| Ok(hodges_lehmann(x, y).shift)),
    ("wilcoxon", |x, y| {
        let method = RankMethod::Asymptotic { continuity: false };
        Ok(signed_rank(x, y, method)?.test.map_or(0.0, |test| test.p.two_sided.ln()))
    }),
    ("brown-forsythe", |x, y| Ok(brown_forsythe(x, y)?.test.map_or(0.0, |test| test.f))),
    ("permutation", |x, y| {
        Ok(permutation(x, y, PermutationStatistic::WelchT, 10_000, 1)?.p.two_sided.value())
    }),
    ("bootstrap-bca", |x, y| {
        Ok(bootstrap_relative_change(x, y, 10_000, 1)?.bca_interval(0.95)?.interval.lower)
    }),
    ("shapiro", |x, _| Ok(shapiro_wilk(x)?.w)),
    ("anderson", |x, _| Ok(anderson_darling(x)?.a2)),
    ("kendall-trend", |x, _| Ok(trend(x, 0.95)?.tau)),
    ("quantiles", |x, _| Ok(quantile(x, 0.5)? + quantile(x, 0.9)? + quantile(x, 0.99)?)),
    ("resolution", |x, _| Ok(Resolution::of(x).tied_share)),
    ("panel", |x, y| {
        let options = PanelOptions { paired: true, ..PanelOptions::default() };
        Ok(panel(x, y, options)?.agree(harness::stats::Says::Less).0 as f64)
    }),
];

fn main() -> Result<(), Box<dyn Error>> {
    let [treatment, control, method, seconds] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "four arguments")?;
    let (treatment, control) = (read(&treatment)?, read(&control)?);
    let (_, call) = METHODS.iter().find(|(name, _)| *name == method).ok_or("no such method")?;
    let seconds: f64 = seconds.parse()?;
    let start = Instant::now();
    let mut times = Vec::new();
    let mut result = 0.0;
    while times.len() < 5 || start.elapsed().as_secs_f64() < seconds {
        // Validation and sorting are part of the work, as they are for a library that takes arrays.
        let (x, y) = (treatment.clone(), control.clone());
        let begin = Instant::now();
        let (x, y) = (Sample::new(x)?, Sample::new(y)?);
        result = black_box(call(&x, &y)?);
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_unstable_by(f64::total_cmp);
    writeln!(std::io::stdout(), "{:e} {result:e}", times[times.len() / 2])?;
    Ok(())
}

fn read(path: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes
        .chunks_exact(8)
        .map(|chunk| f64::from_le_bytes(std::array::from_fn(|index| chunk[index])))
        .collect())
}
