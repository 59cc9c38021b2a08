//! What a reader must know, and what follows from it: nothing, but for dependence and a coarse clock.

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

/// A series whose neighbors have a correlation of `phi`, with deviation 1.
fn series(rng: &mut Rng, n: usize, phi: f64) -> Vec<f64> {
    let mut noise = || (0..12).map(|_| rng.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0;
    let mut last = noise();
    let next = |_| {
        last = phi * last + (1.0 - phi * phi).sqrt() * noise();
        last
    };
    (0..n).map(next).collect()
}

fn around_series(mean: f64, of: &[f64]) -> Vec<f64> {
    of.iter().map(|it| mean + it).collect()
}

#[test]
fn dependent_blocks_decide_only_what_they_still_show_as_independent_ones() {
    let mut rng = Rng::new(7);
    let [one, other] = [0.6, 0.6].map(|phi| series(&mut rng, 40, phi));
    let at = |mean: f64| time(&around_series(100.0, &one), &around_series(mean, &other));
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    // As far below as a deviation of 1 and 40 samples show, were they independent.
    let near = 100.0 + mean(&one) - mean(&other) - 0.6;
    let why = "blocks depend on those before them (lag 1: 0.";
    let d = check(H, &at(near), Inconclusive, "u", why);
    assert!(d.hypotheses[0].p_adjusted.as_ref().unwrap().value() < 0.05 && d.hypotheses[0].outlook.is_none());
    assert!(d.hypotheses[0].reason.contains("independent ones that 40 are worth do not support it"));
    check(H, &at(near + 1.2), Inconclusive, "u", "are worth do not refute it");
    check(H, &at(90.0), Accept, "s", "");
    check(H, &at(110.0), Reject, "r", "significantly worse");
    let guard = "[[guards]]\nmetric = \"time\"\nmargin = 0.01\n";
    check(guard, &at(near + 0.9), Inconclusive, "u", why);
    check(guard, &at(90.0), Accept, "s", "");
    // One arm after the other: each by itself.
    let sequential = format!("{H}[design]\nsamples = 40\norder = \"sequential\"\n");
    check(&sequential, &at(near), Inconclusive, "u", why);
    check(&sequential, &at(90.0), Accept, "s", "");
}

#[test]
fn what_the_arms_of_a_block_share_is_no_harm() {
    let mut rng = Rng::new(8);
    let shared = series(&mut rng, 40, 0.9);
    let [one, other] = [0.0, 0.0].map(|phi| series(&mut rng, 40, phi));
    let arm = |mean: f64, own: &[f64]| -> Vec<f64> {
        shared.iter().zip(own).map(|(it, own)| mean + it + 0.2 * own).collect()
    };
    for test in ["welch", "mann-whitney", "paired-t", "wilcoxon", "bootstrap"] {
        let claims = format!("{H}[decision]\ntest = \"{test}\"\n");
        let d = check(&claims, &time(&arm(100.0, &one), &arm(98.8, &other)), Accept, "s", "");
        assert!(!d.hypotheses[0].reason.contains("depend"));
    }
}
