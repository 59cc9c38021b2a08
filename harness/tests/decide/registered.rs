//! Every test that can be registered decides by its own p-value.

use super::{around, check, decided, registration, set, time};
use harness::decide::Method;
use harness::vocab::Finding;
use harness::vocab::Verdict::{Accept, Inconclusive, Reject};

fn claims(test: &str, margin: &str) -> String {
    format!(
        "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\nmargin = {margin}\n[decision]\ntest = \"{test}\"\n"
    )
}

const ALL: [(&str, Method); 5] = [
    ("welch", Method::Welch),
    ("mann-whitney", Method::MannWhitney),
    ("paired-t", Method::PairedT),
    ("wilcoxon", Method::Wilcoxon),
    ("bootstrap", Method::Bootstrap),
];

#[test]
fn clear_cases_are_the_same_for_all() {
    let arms = |a: f64, b: f64| {
        let b: Vec<f64> = around(b, 2.0, 20).into_iter().rev().collect();
        time(&around(a, 2.0, 20), &b)
    };
    for (test, method) in ALL {
        let d = check(&claims(test, "0.05"), &arms(100.0, 90.0), Accept, "s", "");
        assert_eq!(d.hypotheses[0].method, method);
        assert_eq!(method.code(), test);
        check(&claims(test, "{ absolute = 5.0 }"), &arms(100.0, 90.0), Accept, "s", "");
        check(&claims(test, "0"), &arms(100.0, 110.0), Reject, "r", "significantly worse");
        check(&claims(test, "0.2"), &arms(100.0, 90.0), Reject, "r", "below the margin");
        check(&claims(test, "0"), &arms(100.0, 99.9), Inconclusive, "u", "is not below α = 0.05");
        check(&claims(test, "0.1"), &arms(100.0, 90.1), Inconclusive, "u", "reaches the margin");
        check(
            &claims(test, "0")
                .replace("[decision]", "[metrics.time]\nunit = \"B\"\nbetter = \"lower\"\n[decision]"),
            &time(&[8.0; 6], &[4.0; 6]),
            Accept,
            "s",
            "",
        );
        let guard = format!("[[guards]]\nmetric = \"time\"\nmargin = 0.05\n[decision]\ntest = \"{test}\"\n");
        let d = check(&guard, &arms(100.0, 101.0), Accept, "s", "");
        assert_eq!(d.guards[0].method, Method::WelchMargin);
    }
}

#[test]
fn pairs_see_what_blocks_hide() {
    let a: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * i * 37 % 41) + 0.1 * f64::from(i % 7)).collect();
    let b: Vec<f64> = a.iter().zip(around(1.0, 0.2, 20)).map(|(a, d)| a - d).collect();
    let sets = time(&a, &b);
    check(&claims("welch", "0"), &sets, Inconclusive, "u", "is not below α = 0.05");
    for (test, p) in [("paired-t", 1e-15), ("wilcoxon", 2e-6)] {
        for margin in ["0", "{ absolute = 0.0 }"] {
            let d = check(&claims(test, margin), &sets, Accept, "s", "");
            let it = &d.hypotheses[0];
            assert!(it.tested.as_ref().unwrap().p.value() < p);
            // As narrow as the differences are, and around their center.
            let gain = it.gain.as_ref().unwrap();
            let one = if margin == "0" { 100.0 } else { 1.0 };
            assert!((gain.value * one - 1.0).abs() < 0.2 && gain.interval.width() * one < 0.3, "{gain:?}");
        }
        // The interval decides against a margin, and so does what n would.
        check(&claims(test, "{ absolute = 1.5 }"), &sets, Reject, "r", "below the margin");
        let d = check(&claims(test, "{ absolute = 0.95 }"), &sets, Inconclusive, "u", "reaches the margin");
        let outlook = d.hypotheses[0].outlook.unwrap();
        assert!(outlook.detectable < 0.15 && outlook.needed_n.unwrap() < 100, "{outlook:?}");
    }
}

#[test]
fn without_pairs_there_is_no_paired_test() {
    for test in ["paired-t", "wilcoxon"] {
        let text = format!("{}[design]\nsamples = 20\norder = \"sequential\"\n", claims(test, "0"));
        let sets = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
        check(&text, &sets, Inconclusive, "u", "measured one after the other, so there are no pairs");
        // Fewer blocks in one arm: the run is invalid, and the hypothesis undecided.
        let fewer = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 19));
        let (decision, _) = decided(&registration(20, &claims(test, "0")), &fewer);
        assert_eq!(decision.hypotheses[0].finding, Finding::Undecided);
        assert!(decision.hypotheses[0].reason.contains("not the same blocks"));
    }
    let equal = [set("time", "a", &around(100.0, 2.0, 20)), set("time", "b", &around(90.0, 2.0, 20))];
    check(&claims("paired-t", "0"), &equal, Inconclusive, "u", "all differences within blocks are equal");
}

#[test]
fn too_few_samples_are_named() {
    let few = |n: usize| time(&around(100.0, 2.0, n), &around(90.0, 2.5, n));
    check(&claims("wilcoxon", "0"), &few(5), Inconclusive, "u", "with 5 blocks, the smallest p");
    check(&claims("wilcoxon", "0"), &few(6), Accept, "s", "");
    check(
        &claims("bootstrap", "0"),
        &few(9),
        Inconclusive,
        "u",
        "9 samples of an arm are too few for the bootstrap",
    );
    check(&claims("bootstrap", "0"), &few(10), Accept, "s", "");
}

#[test]
fn the_bootstrap_has_an_interval_of_its_own_and_the_same_one_every_time() {
    // Skewed, so that the interval is not symmetric.
    let a: Vec<f64> = around(0.5, 0.49, 30).iter().map(|it| 100.0 - 10.0 * it.ln()).collect();
    let sets = time(&a, &around(90.0, 2.0, 30));
    let of = |test: &str| {
        let (decision, _) = decided(&registration(30, &claims(test, "0.05")), &sets);
        decision.hypotheses[0].gain.clone().unwrap()
    };
    let (gain, fieller) = (of("bootstrap"), of("welch"));
    assert!((gain.value / fieller.value - 1.0).abs() < 1e-12);
    assert_eq!(gain, of("bootstrap"));
    assert!(gain.interval != fieller.interval && gain.interval.contains(gain.value));
    assert!((gain.interval.lower - fieller.interval.lower).abs() < 0.01, "{gain:?} {fieller:?}");
}

#[test]
fn signed_ranks_that_contradict_the_means_support_nothing() {
    let a = around(100.0, 1.0, 40);
    let b: Vec<f64> = a
        .iter()
        .enumerate()
        .map(|(i, it)| if i % 8 == 0 { 20.0 } else { it + 3.0 + 0.01 * i as f64 })
        .collect();
    for margin in ["0", "0.5"] {
        check(&claims("wilcoxon", margin), &time(&a, &b), Inconclusive, "u", "point in opposite directions");
    }
}
