//! How often the rule errs: simulated, with fixed seeds.

use super::{Set, prereg, registration, run, set};
use harness::analyse::analyse;
use harness::decide::{Decision, decide};
use harness::prereg::Prereg;
use harness::stats::rng::Rng;
use harness::vocab::{Finding, Verdict};

/// A normal sample.
fn normal(rng: &mut Rng, mean: f64, sd: f64, n: usize) -> Vec<f64> {
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut one = || (-2.0 * (1.0 - unit()).ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
    (0..n).map(|_| mean + sd * one()).collect()
}

fn decided(prereg: &Prereg, sets: &[Set]) -> Decision {
    let run = run(prereg, sets);
    let analysis = analyse(prereg, &run);
    decide(prereg, &run, &analysis)
}

/// How many of `runs` simulated experiments do as `counts` says.
fn count(
    claims: &str,
    n: usize,
    runs: u64,
    sets: impl Fn(&mut Rng) -> Vec<Set>,
    counts: impl Fn(&Decision) -> bool,
) -> f64 {
    let prereg = prereg(&registration(n, claims));
    let hits = (0..runs).filter(|seed| counts(&decided(&prereg, &sets(&mut Rng::new(*seed)))));
    hits.count() as f64
}

/// The share of `runs` is at most `rate`, up to three standard errors.
#[track_caller]
fn at_most(hits: f64, runs: u64, rate: f64) {
    let runs = runs as f64;
    let most = runs * rate + 3.0 * (runs * rate * (1.0 - rate)).sqrt();
    assert!(hits <= most, "{hits} of {runs}, at most {most:.0}");
}

const RUNS: u64 = 2000;
const H: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\n";

fn pair(rng: &mut Rng, control: f64, treatment: f64, n: usize) -> Vec<Set> {
    vec![set("time", "a", &normal(rng, control, 5.0, n)), set("time", "b", &normal(rng, treatment, 5.0, n))]
}

#[test]
fn no_effect_is_rarely_supported() {
    let supported = |it: &Decision| it.verdict == Verdict::Accept;
    // One of both directions: half of alpha, and no less than a quarter, or the rule has no power.
    let hits = count(H, 30, RUNS, |rng| pair(rng, 100.0, 100.0, 30), supported);
    at_most(hits, RUNS, 0.025);
    assert!(hits > 0.0125 * RUNS as f64, "{hits}");
    let claims = format!("{H}[decision]\ntest = \"mann-whitney\"\n");
    at_most(count(&claims, 10, RUNS / 4, |rng| pair(rng, 100.0, 100.0, 10), supported), RUNS / 4, 0.025);
    // A true gain at the margin is not above it.
    let claims = format!("{H}margin = 0.2\n");
    at_most(count(&claims, 15, RUNS / 4, |rng| pair(rng, 100.0, 80.0, 15), supported), RUNS / 4, 0.025);
}

#[test]
fn a_loss_at_the_margin_is_rarely_let_pass() {
    let guard = "[[guards]]\nmetric = \"time\"\nmargin = 0.05\n";
    let held = |it: &Decision| it.guards[0].finding == Finding::Supported;
    let violated = |it: &Decision| it.guards[0].finding == Finding::Refuted;
    let sets = |rng: &mut Rng| pair(rng, 100.0, 105.0, 30);
    let wrongly_violated = std::cell::Cell::new(0.0);
    let both = |it: &Decision| {
        wrongly_violated.set(wrongly_violated.get() + if violated(it) { 1.0 } else { 0.0 });
        held(it)
    };
    at_most(count(guard, 30, RUNS, sets, both), RUNS, 0.05);
    at_most(wrongly_violated.get(), RUNS, 0.05);
    let claims = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nclaim = \"equivalent\"\nmargin = 0.05\n";
    let supported = |it: &Decision| it.verdict == Verdict::Accept;
    at_most(count(claims, 15, RUNS / 2, |rng| pair(rng, 100.0, 95.0, 15), supported), RUNS / 2, 0.05);
}

#[test]
fn a_family_rarely_has_a_single_false_support() {
    let metric = |i: usize| format!("[metrics.m{i}]\nunit = \"ms\"\nbetter = \"lower\"\n");
    let claim = |i: usize| format!("[[hypotheses]]\nid = \"h{i}\"\nmetric = \"m{i}\"\nmin_effect = 0\n");
    let claims: String = (0..5).map(metric).chain((0..5).map(claim)).collect();
    let sets = |rng: &mut Rng| {
        let of = |i: usize, rng: &mut Rng| {
            ["a", "b"].map(|arm| set(&format!("m{i}"), arm, &normal(rng, 100.0, 5.0, 12)))
        };
        (0..5).flat_map(|i| of(i, rng)).collect()
    };
    let any = |it: &Decision| it.hypotheses.iter().any(|it| it.finding != Finding::Undecided);
    at_most(count(&claims, 12, RUNS / 4, sets, any), RUNS / 4, 0.05);
}

#[test]
fn every_registered_test_keeps_its_rate() {
    let supported = |it: &Decision| it.verdict == Verdict::Accept;
    for test in ["paired-t", "wilcoxon", "bootstrap"] {
        let claims = format!("{H}[decision]\ntest = \"{test}\"\n");
        let runs = if test == "bootstrap" { RUNS / 8 } else { RUNS / 2 };
        // The bootstrap of 20 samples errs a little more often than it says.
        let rate = if test == "bootstrap" { 0.035 } else { 0.025 };
        at_most(count(&claims, 20, runs, |rng| pair(rng, 100.0, 100.0, 20), supported), runs, rate);
    }
}

#[test]
fn a_panel_that_must_agree_errs_no_more() {
    let claims = format!("{H}[decision]\nagreement = \"require\"\n");
    let (free, bound) = (prereg(&registration(12, H)), prereg(&registration(12, &claims)));
    let (mut without, mut with) = (0.0, 0.0);
    for seed in 0..RUNS / 4 {
        let sets = pair(&mut Rng::new(seed), 100.0, 100.0, 12);
        let [of, than] = [&bound, &free].map(|it| decided(it, &sets).hypotheses[0].finding);
        // Whatever the panel changes, it changes to undecided.
        assert!(of == than || (than, of) == (Finding::Supported, Finding::Undecided), "{than:?} {of:?}");
        with += f64::from(u8::from(of == Finding::Supported));
        without += f64::from(u8::from(than == Finding::Supported));
    }
    assert!(0.0 < with && with <= without, "{with} {without}");
    at_most(with, RUNS / 4, 0.025);
}

#[test]
fn the_n_advised_decides() {
    // A gain of 4 with a deviation of 5, and an n that cannot show it.
    let prereg = prereg(&registration(8, H));
    let shape = |mean: f64, n: usize| {
        let raw = normal(&mut Rng::new(1), 0.0, 1.0, n);
        let mid = raw.iter().sum::<f64>() / n as f64;
        let sd = (raw.iter().map(|it| (it - mid) * (it - mid)).sum::<f64>() / (n - 1) as f64).sqrt();
        raw.iter().map(|it| mean + 5.0 * (it - mid) / sd).collect::<Vec<_>>()
    };
    let d = decided(&prereg, &[set("time", "a", &shape(100.0, 8)), set("time", "b", &shape(96.0, 8))]);
    let outlook = d.hypotheses[0].outlook.unwrap();
    let n = outlook.needed_n.unwrap();
    assert!((24..=28).contains(&n), "{n}");
    assert!((0.07..0.085).contains(&outlook.detectable), "{}", outlook.detectable);
    let decides = |it: &Decision| it.verdict != Verdict::Inconclusive;
    let hits = count(H, n, 500, |rng| pair(rng, 100.0, 96.0, n), decides);
    assert!((0.74..0.88).contains(&(hits / 500.0)), "{hits} of 500 with n = {n}");
    // Also relative to a margin, where the control's error counts less.
    let claims = format!("{H}margin = 0.5\n");
    let d = decided(
        &super::prereg(&registration(8, &claims)),
        &[set("time", "a", &shape(100.0, 8)), set("time", "b", &shape(46.0, 8))],
    );
    let n = d.hypotheses[0].outlook.unwrap().needed_n.unwrap();
    let hits = count(&claims, n, 500, |rng| pair(rng, 100.0, 46.0, n), decides);
    assert!((0.74..0.88).contains(&(hits / 500.0)), "{hits} of 500 with n = {n}");
}
