//! How often a decision is false, for every claim.

use super::door::{decided, registration};
use super::parallel;
use super::shape::Shape;
use super::table::{Entry, Table, error};
use harness::decide::Decision;
use harness::stats::rng::Rng;
use harness::vocab::{Finding, Verdict};

/// Of the control.
const MEAN: f64 = 100.0;
const SD: f64 = 5.0;

pub(super) const SUPERIOR: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nmin_effect = 0\n";
const RANKS: &str =
    "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nmin_effect = 0\n[decision]\ntest = \"mann-whitney\"\n";
pub(super) const MARGIN: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nmin_effect = 0\nmargin = 0.2\n";
pub(super) const GUARD: &str = "[[guards]]\nmetric = \"m0\"\nmargin = 0.05\n";
pub(super) const EQUIVALENT: &str =
    "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nclaim = \"equivalent\"\nmargin = 0.05\n";
const SHAM: &str =
    "[[hypotheses]]\nid = \"h\"\nmetric = \"m0\"\nmin_effect = 0\n[decision]\nnoise_margin = 0\n";

pub(super) fn found(decision: &Decision) -> Option<Finding> {
    decision.hypotheses.iter().chain(&decision.guards).map(|it| it.finding).next()
}

fn supported(decision: &Decision) -> bool {
    found(decision) == Some(Finding::Supported)
}

fn refuted(decision: &Decision) -> bool {
    found(decision) == Some(Finding::Refuted)
}

fn invalid(decision: &Decision) -> bool {
    decision.verdict == Verdict::Invalid
}

/// A claim, the truth, and what would be an error.
struct Path {
    name: &'static str,
    n: usize,
    claims: &'static str,
    sham: bool,
    /// The treatment's true mean.
    mean: f64,
    errs: fn(&Decision) -> bool,
}

const fn path(
    name: &'static str,
    n: usize,
    claims: &'static str,
    mean: f64,
    errs: fn(&Decision) -> bool,
) -> Path {
    Path { name, n, claims, sham: false, mean, errs }
}

const PATHS: &[Path] = &[
    path("superior, Welch, n = 10: supported without a gain (2.5)", 10, SUPERIOR, 100.0, supported),
    path("superior, Welch, n = 30: supported without a gain (2.5)", 30, SUPERIOR, 100.0, supported),
    path("superior, Welch, n = 30: refuted without a loss (2.5)", 30, SUPERIOR, 100.0, refuted),
    path("superior, Mann-Whitney, n = 10: supported without a gain (2.5)", 10, RANKS, 100.0, supported),
    path("superior, Mann-Whitney, n = 30: supported without a gain (2.5)", 30, RANKS, 100.0, supported),
    path("superior by 20 %, n = 30: supported with a gain of 20 % (2.5)", 30, MARGIN, 80.0, supported),
    path("superior by 20 %, n = 30: refuted with a gain of 20 % (2.5)", 30, MARGIN, 80.0, refuted),
    path("guard of 5 %, n = 10: held with a loss of 5 % (5)", 10, GUARD, 105.0, supported),
    path("guard of 5 %, n = 30: held with a loss of 5 % (5)", 30, GUARD, 105.0, supported),
    path("guard of 5 %, n = 30: violated with a loss of 5 % (5)", 30, GUARD, 105.0, refuted),
    path("equivalent within 5 %, n = 30: supported with a loss of 5 % (5)", 30, EQUIVALENT, 105.0, supported),
    path("equivalent within 5 %, n = 30: supported with a gain of 5 % (5)", 30, EQUIVALENT, 95.0, supported),
    Path {
        name: "sham, no noise margin, n = 30: INVALID with equal arms (0.1)",
        n: 30,
        claims: SHAM,
        sham: true,
        mean: 100.0,
        errs: invalid,
    },
    Path {
        name: "sham, noise margin of 5 %, n = 30: INVALID with equal arms (0.1)",
        n: 30,
        claims: SUPERIOR,
        sham: true,
        mean: 100.0,
        errs: invalid,
    },
];

/// Simulated arms of the metric `m0`, the sham arm last.
pub(super) fn arms(
    shape: Shape,
    rng: &mut Rng,
    n: usize,
    mean: f64,
    sham: bool,
) -> Vec<(&'static str, Vec<f64>)> {
    let [own, other] = shape.deviations(SD);
    let drawn = shape.draw(rng, if sham { 3 } else { 2 }, n);
    let places = [("a", MEAN, own), ("b", mean, other), ("s", MEAN, own)];
    let scaled = |(values, (arm, mean, sd)): (Vec<f64>, (&'static str, f64, f64))| {
        (arm, values.into_iter().map(|it| mean + sd * it).collect())
    };
    drawn.into_iter().zip(places).map(scaled).collect()
}

/// The share of false decisions.
pub(super) fn table(runs: usize) -> Table {
    let column = |shape: Shape| {
        let entry = |(index, path): (usize, &Path)| {
            let prereg = registration(path.n, 1, path.sham, path.claims);
            let errors = parallel::map(runs, |run| {
                let mut rng = Rng::stream(100 + index as u64, run as u64);
                let arms = arms(shape, &mut rng, path.n, path.mean, path.sham);
                Some((path.errs)(&decided(&prereg, arms)))
            });
            Entry::of(errors.into_iter())
        };
        (shape.name(), PATHS.iter().enumerate().map(entry).collect())
    };
    let title = format!(
        "False decisions, in % (in brackets what the rule allows; standard error ± {} points at 2.5, {} at 5)",
        error(0.025, runs),
        error(0.05, runs)
    );
    let rows: Vec<&str> = PATHS.iter().map(|it| it.name).collect();
    Table::by_columns(title, "claim: error", &rows, &Shape::ALL.map(column))
}
