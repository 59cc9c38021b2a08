//! What a reader must know, and what follows from it: nothing, but for a coarse clock.

use super::{around, check, decided, registration, time};
use harness::analyse::Caveat;
use harness::stats::rng::Rng;
use harness::vocab::Verdict::{Accept, Inconclusive, Reject};

const H: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\n";

/// The same values in an order without pattern.
fn mixed(mean: f64, spread: f64, n: usize, seed: u64) -> Vec<f64> {
    let mut values = around(mean, spread, n);
    let mut rng = Rng::new(seed);
    for i in (1..n).rev() {
        values.swap(i, rng.below(i + 1));
    }
    values
}

fn caveats(a: &[f64], b: &[f64]) -> Vec<Caveat> {
    let (_, analysis) = decided(&registration(a.len(), H), &time(a, b));
    analysis.caveats
}

fn text(caveats: &[Caveat], code: &str) -> String {
    caveats.iter().filter(|it| it.code() == code).map(|it| format!("{it}\n")).collect()
}

#[test]
fn regular_samples_have_none() {
    let found = caveats(&mixed(100.0, 2.0, 30, 1), &mixed(90.0, 2.0, 30, 2));
    assert!(text(&found, "modes").is_empty() && text(&found, "unequal-spread").is_empty());
    assert!(text(&found, "not-steady").is_empty() && text(&found, "coarse-clock").is_empty());
}

#[test]
fn two_modes_are_seen() {
    let b: Vec<f64> =
        around(90.0, 0.5, 40).iter().enumerate().map(|(i, it)| it + 10.0 * f64::from(i as u32 % 2)).collect();
    let found = text(&caveats(&around(100.0, 2.0, 40), &b), "modes");
    assert!(found.starts_with("`time` of arm `b`: more than one mode (dip test, p = "), "{found}");
    check(H, &time(&around(120.0, 2.0, 40), &b), Accept, "s", "");
}

#[test]
fn unequal_spread_is_said_in_both_directions() {
    let (narrow, wide) = (around(100.0, 1.0, 40), around(90.0, 6.0, 40));
    let found = text(&caveats(&narrow, &wide), "unequal-spread");
    assert!(
        found.starts_with("`time` of arm `b`: noisier than arm `a`: ratio of the deviations 6.00 ["),
        "{found}"
    );
    assert!(text(&caveats(&wide, &narrow), "unequal-spread").contains("less noisy than arm `a`"));
    check(H, &time(&narrow, &wide), Accept, "s", "");
}

#[test]
fn dependent_samples_are_counted_as_what_they_are_worth() {
    let wave = |mean: f64| -> Vec<f64> { (0..60).map(|i| mean + 2.0 * (f64::from(i) / 6.0).sin()).collect() };
    let found = caveats(&wave(100.0), &wave(99.0));
    assert!(text(&found, "autocorrelated").contains("independent samples, Ljung-Box p = "));
    let line = found.iter().find_map(|it| match it {
        Caveat::Worth { n, p, p_worth, .. } => Some((n[0], p.value(), p_worth.value())),
        _ => None,
    });
    let (n, p, p_worth) = line.unwrap();
    assert!(n < 30.0 && p < p_worth, "{n} {p} {p_worth}");
}

#[test]
fn samples_that_change_their_level_are_not_steady() {
    let warming: Vec<f64> = mixed(100.0, 1.0, 40, 1)
        .iter()
        .enumerate()
        .map(|(i, it)| it + if i < 12 { 20.0 } else { 0.0 })
        .collect();
    let found = text(&caveats(&warming, &mixed(90.0, 1.0, 40, 2)), "not-steady");
    assert_eq!(found, "`time` of arm `a`: still warming up after the warm-ups\n");
}

#[test]
fn a_single_value_among_equal_ones_is_far_from_the_median() {
    let mut b = vec![90.0; 20];
    b[3] = 130.0;
    let found = caveats(&around(100.0, 2.0, 20), &b);
    assert!(text(&found, "far-from-median").contains("1 of 20 samples lies far from the median"));
    assert!(text(&found, "outliers").is_empty());
}

/// Whole ticks around a mean.
fn ticks(mean: f64, spread: f64) -> Vec<f64> {
    around(mean, spread, 30).iter().map(|it| it.round()).collect()
}

#[test]
fn a_coarse_clock_supports_only_what_it_could_not_make_up() {
    let found = text(&caveats(&ticks(20.0, 3.0), &ticks(10.0, 3.0)), "coarse-clock");
    assert!(found.contains("`time` of arm `b`: a coarse clock: 10.0 steps in a sample, "), "{found}");
    // Half of 20 ms is many steps away from nothing.
    check(H, &time(&ticks(20.0, 3.0), &ticks(10.0, 3.0)), Accept, "s", "");
    // One step is not.
    let near = time(&ticks(20.0, 1.4), &ticks(18.7, 1.4));
    check(H, &near, Inconclusive, "u", "the clock is too coarse: a single step of 1.00 ms");
    check(H, &time(&ticks(18.7, 1.4), &ticks(20.0, 1.4)), Reject, "r", "significantly worse");
    let bytes = format!("[metrics.time]\nunit = \"B\"\nbetter = \"lower\"\n{H}");
    check(&bytes, &near, Accept, "s", "");
    let guard = |margin: f64| format!("[[guards]]\nmetric = \"time\"\nmargin = {margin}\n");
    let same = time(&ticks(20.0, 1.4), &ticks(20.0, 1.4));
    check(&guard(0.06), &same, Inconclusive, "u", "the clock is too coarse");
    check(&guard(0.2), &same, Accept, "s", "");
}
