//! Every path to a verdict.

use super::{around, check, set, time};
use harness::vocab::Verdict::{Accept, Inconclusive, Recorded, Reject};
use harness::vocab::{Finding, Margin, Verdict};

const H: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\n";
const HIGHER: &str = "[metrics.time]\nunit = \"op/s\"\nbetter = \"higher\"\n";
const BYTES: &str = "[metrics.time]\nunit = \"B\"\nbetter = \"lower\"\n";
const GUARD: &str = "[[guards]]\nmetric = \"time\"\nmargin = 0.05\n";

fn arms(a: f64, b: f64) -> Vec<super::Set> {
    time(&around(a, 2.0, 20), &around(b, 2.0, 20))
}

#[test]
fn superiority_looks_at_the_whole_interval() {
    check(H, &arms(100.0, 90.0), Accept, "s", "");
    check(H, &arms(100.0, 110.0), Reject, "r", "h is refuted: it is significantly worse");
    check(H, &arms(100.0, 99.9), Inconclusive, "u", "is not below α = 0.05");
    let margin = |it: f64| format!("{H}margin = {it}\n");
    check(&margin(0.05), &arms(100.0, 90.0), Accept, "s", "");
    check(&margin(0.2), &arms(100.0, 90.0), Reject, "r", "lies below the margin; its gain is +10.0 % [");
    check(&margin(0.1), &arms(100.0, 90.1), Inconclusive, "u", "the interval of the gain reaches the margin");
    check(&margin(0.5), &arms(100.0, 110.0), Reject, "r", "below the margin");
}

#[test]
fn absolute_margins_are_in_the_unit_of_the_metric() {
    let margin = |it: f64| format!("{H}margin = {{ absolute = {it:?} }}\n");
    check(&margin(5.0), &arms(100.0, 90.0), Accept, "s", "");
    check(&margin(12.0), &arms(100.0, 90.0), Reject, "r", "asked for is > 12 ms.");
    check(
        &margin(10.0),
        &arms(100.0, 90.1),
        Inconclusive,
        "u",
        " ms from the margin is decided with 80 % power",
    );
}

#[test]
fn higher_is_better_turns_the_sign_once() {
    check(&format!("{HIGHER}{H}"), &arms(90.0, 100.0), Accept, "s", "");
    check(&format!("{HIGHER}{H}"), &arms(100.0, 90.0), Reject, "r", "significantly worse");
    check(&format!("{HIGHER}{H}margin = 0.2\n"), &arms(90.0, 100.0), Reject, "r", "below the margin");
    check(&format!("{HIGHER}{GUARD}"), &arms(100.0, 90.0), Reject, "r", "guard time is violated");
    check(&format!("{HIGHER}{GUARD}"), &arms(100.0, 99.0), Accept, "s", "");
}

#[test]
fn a_control_below_zero_has_shares_of_its_magnitude() {
    check(&format!("{H}margin = 0.1\n"), &arms(-100.0, -120.0), Accept, "s", "");
    check(H, &arms(-100.0, -80.0), Reject, "r", "gain is −20.0 % [");
    check(GUARD, &arms(-100.0, -97.0), Accept, "s", "");
    check(GUARD, &arms(-100.0, -90.0), Reject, "r", "worse by more than the margin");
    check(&format!("{HIGHER}{H}margin = 0.1\n"), &arms(-100.0, -80.0), Accept, "s", "");
}

#[test]
fn a_control_that_may_be_zero_has_no_shares() {
    let near = arms(0.05, -10.0);
    let d = check(H, &near, Accept, "s", "");
    assert_eq!(d.hypotheses[0].counted, Margin::Absolute(0.0));
    assert!(d.hypotheses[0].gain_text().ends_with(']') && d.hypotheses[0].gain_text().contains(" ms ["));
    let undefined = "its gain is undefined: the control's mean cannot be told from zero";
    check(&format!("{H}margin = 0.1\n"), &near, Inconclusive, "u", undefined);
    check(&format!("{H}margin = 0.1\n"), &arms(0.05, 10.0), Reject, "r", "significantly worse");
    check(GUARD, &arms(0.05, 10.0), Inconclusive, "u", undefined);
}

#[test]
fn guards_need_evidence_that_nothing_got_worse() {
    check(GUARD, &arms(100.0, 101.0), Accept, "s", "");
    check(GUARD, &arms(100.0, 50.0), Accept, "s", "");
    check(
        GUARD,
        &arms(100.0, 110.0),
        Reject,
        "r",
        "guard time is violated: it is worse by more than the margin",
    );
    let open = "a loss beyond the margin cannot be excluded";
    check(GUARD, &arms(100.0, 104.9), Inconclusive, "u", open);
    check(GUARD, &time(&[90.0, 110.0], &[95.0, 105.0]), Inconclusive, "u", open);
    let absolute = "[[guards]]\nmetric = \"time\"\nmargin = { absolute = 5.0 }\n";
    check(absolute, &arms(100.0, 102.0), Accept, "s", "");
    check(absolute, &arms(100.0, 110.0), Reject, "r", "asked for is > −5 ms");
}

#[test]
fn equivalence_has_two_sides() {
    let claim = format!("{H}claim = \"equivalent\"\nmargin = 0.05\n");
    check(&claim, &arms(100.0, 101.0), Accept, "s", "");
    check(&claim, &arms(100.0, 110.0), Reject, "r", "the difference is larger than the margin");
    check(&claim, &arms(100.0, 90.0), Reject, "r", "the difference is larger than the margin");
    let above = check(&claim, &arms(100.0, 95.2), Inconclusive, "u", "cannot be excluded");
    let below = check(&claim, &arms(100.0, 104.8), Inconclusive, "u", "asked for is within ±5 %");
    // A gain close to the upper limit is no further from it than a loss as close to the lower one.
    for decision in [above, below] {
        assert!(decision.hypotheses[0].outlook.unwrap().needed_n.unwrap() > 300);
    }
    check(&format!("{H}claim = \"non-inferior\"\nmargin = 0.05\n"), &arms(100.0, 101.0), Accept, "s", "");
}

#[test]
fn a_small_effect_is_not_supported_and_more_samples_are_not_advised() {
    let (a, b) = (around(100.0, 20.0, 400), around(97.0, 20.0, 400));
    let d = check(
        H,
        &time(&a, &b),
        Inconclusive,
        "u",
        "|d| = 0.26 is below the registered minimum effect of 0.5",
    );
    assert!(d.hypotheses[0].outlook.is_none());
    check(&format!("{H}min_effect = 0.2\n"), &time(&a, &b), Accept, "s", "");
}

#[test]
fn constants_are_decided_as_facts_where_they_can_be() {
    let equal = |a: f64, b: f64, n: usize| time(&vec![a; n], &vec![b; n]);
    let bytes = |claims: &str| format!("{BYTES}{claims}");
    check(&bytes(GUARD), &equal(4096.0, 4096.0, 6), Accept, "s", "");
    check(&bytes(GUARD), &equal(4096.0, 4097.0, 6), Accept, "s", "");
    check(&bytes(GUARD), &equal(4096.0, 8192.0, 6), Reject, "r", "its gain is −100.0 % [");
    check(&bytes(GUARD), &equal(0.0, 0.0, 6), Accept, "s", "");
    check(
        &bytes(GUARD),
        &equal(0.0, 12.0, 6),
        Reject,
        "r",
        "the control is always zero and the treatment is worse",
    );
    check(
        &bytes(GUARD),
        &equal(4096.0, 4096.0, 2),
        Inconclusive,
        "u",
        "2 and 2 samples are too few to rely on that",
    );
    let d = check(&bytes(H), &equal(8192.0, 4096.0, 6), Accept, "s", "");
    assert!((d.hypotheses[0].p_adjusted.as_ref().unwrap().value() - 2.0 / 924.0).abs() < 1e-15);
    assert!(d.criteria.iter().all(|it| it.finding == Finding::Supported));
    check(&bytes(H), &equal(8192.0, 4096.0, 3), Inconclusive, "u", "3 and 3 samples are too few");
    check(&bytes(H), &equal(4096.0, 4096.0, 6), Reject, "r", "neither arm varies, and the gain is not above");
    let claim = format!("{H}claim = \"equivalent\"\nmargin = 0.05\n");
    check(&bytes(&claim), &equal(4096.0, 4096.0, 6), Accept, "s", "");
    check(&bytes(&claim), &equal(4096.0, 2048.0, 6), Reject, "r", "larger than the margin");
    // A clock that does not move shows nothing.
    for claims in [H, GUARD, &claim] {
        check(claims, &equal(5.0, 5.0, 30), Inconclusive, "u", "the clock is too coarse");
        check(claims, &equal(5.0, 4.0, 30), Inconclusive, "u", "the clock is too coarse");
    }
    check(&bytes(GUARD), &time(&[5.0; 6], &around(5.0, 0.01, 6)), Accept, "s", "");
}

#[test]
fn one_refuted_part_rejects_and_one_open_part_leaves_open() {
    let both = "[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n[metrics.memory]\nunit = \"MiB\"\nbetter = \"lower\"\n\
                [[hypotheses]]\nid = \"h\"\nmetric = \"time\"\n[[guards]]\nmetric = \"memory\"\nmargin = 0.05\n";
    let sets = |time: f64, memory: f64| {
        let mut sets = arms(100.0, time);
        sets.push(set("memory", "a", &around(50.0, 1.0, 20)));
        sets.push(set("memory", "b", &around(memory, 1.0, 20)));
        sets
    };
    check(both, &sets(90.0, 50.0), Accept, "ss", "");
    check(both, &sets(90.0, 60.0), Reject, "sr", "guard memory is violated");
    check(both, &sets(90.0, 52.4), Inconclusive, "su", "guard memory is undecided");
    check(both, &sets(110.0, 60.0), Reject, "rr", "h is refuted");
    check(both, &sets(110.0, 52.4), Reject, "ru", "h is refuted");
    check(both, &sets(99.9, 50.0), Inconclusive, "us", "h is undecided");
}

#[test]
fn without_a_claim_samples_are_on_record() {
    check("", &arms(100.0, 90.0), Recorded, "", "");
}

#[test]
fn a_test_of_ranks_that_contradicts_the_means_supports_nothing() {
    // Most treatment samples are a little worse, a few are very much better: the means say gain, the ranks loss.
    let a = around(100.0, 1.0, 40);
    let b: Vec<f64> = around(103.0, 0.5, 40)
        .iter()
        .enumerate()
        .map(|(i, it)| if i % 5 == 0 { 10.0 } else { *it })
        .collect();
    let claims = format!("{H}min_effect = 0\n[decision]\ntest = \"mann-whitney\"\n");
    check(&claims, &time(&a, &b), Inconclusive, "u", "point in opposite directions");
}

#[test]
fn a_family_pays_for_its_size() {
    let family = |count: usize, correction: &str| {
        let metrics: String =
            (0..count).map(|i| format!("[metrics.m{i}]\nunit = \"ms\"\nbetter = \"lower\"\n")).collect();
        let claims: String = (0..count)
            .map(|i| format!("[[hypotheses]]\nid = \"h{i}\"\nmetric = \"m{i}\"\nmin_effect = 0\n"))
            .collect();
        format!("{metrics}{claims}[decision]\ncorrection = \"{correction}\"\n")
    };
    // p is 0.03 for each: enough alone and for Benjamini-Hochberg, not for Holm.
    let (a, b) = (around(100.0, 5.0, 20), around(97.9, 5.0, 20));
    let sets: Vec<_> = (0..5)
        .flat_map(|i| {
            let m = format!("m{i}");
            [set(&m, "a", &a), set(&m, "b", &b)]
        })
        .collect();
    check(&family(5, "none"), &sets, Accept, "sssss", "");
    check(&family(5, "bh"), &sets, Accept, "sssss", "");
    check(&family(5, "holm"), &sets, Inconclusive, "uuuuu", "a difference is not shown");
    let level = |correction: &str| {
        let d = check(
            &family(5, correction),
            &sets,
            if correction == "holm" { Inconclusive } else { Accept },
            if correction == "holm" { "uuuuu" } else { "sssss" },
            "",
        );
        d.hypotheses[0].gain.as_ref().unwrap().interval.level
    };
    assert!((level("holm") - 0.99).abs() < 1e-12 && (level("none") - 0.95).abs() < 1e-12);
    assert!((level("bh") - 0.95).abs() < 1e-12);
    // By Holm's steps the second p would do; the simultaneous interval does not.
    let mut sets: Vec<_> = sets.into_iter().take(2).collect();
    sets.extend([set("m1", "a", &around(100.0, 5.0, 20)), set("m1", "b", &around(50.0, 5.0, 20))]);
    let d = check(
        &family(2, "holm"),
        &sets,
        Inconclusive,
        "us",
        "p is below α, but the interval of the gain reaches zero",
    );
    assert!(d.hypotheses[0].p_adjusted.as_ref().unwrap().value() < 0.05);
}

#[test]
fn a_hypothesis_without_a_condition_is_a_family_over_its_cells() {
    let text = format!("{H}[params]\nterms = [1, 2]\n");
    let cell = |cell: &str, arm: &str, values: Vec<f64>| super::Set {
        metric: "time".into(),
        cell: cell.into(),
        arm: arm.into(),
        values,
    };
    let sets = |second: f64| {
        vec![
            cell("terms=1", "a", around(100.0, 2.0, 20)),
            cell("terms=1", "b", around(90.0, 2.0, 20)),
            cell("terms=2", "a", around(100.0, 2.0, 20)),
            cell("terms=2", "b", around(second, 2.0, 20)),
        ]
    };
    check(&text, &sets(90.0), Accept, "ss", "");
    check(&text, &sets(110.0), Reject, "sr", "h at terms=2 is refuted");
    let (_, analysis) = super::decided(
        &super::registration(20, &format!("{text}[decision]\ncorrection = \"none\"\n")),
        &sets(90.0),
    );
    assert!(
        analysis
            .caveats
            .iter()
            .any(|it| it.to_string() == "2 tests of hypotheses are made without correction")
    );
}

#[test]
fn every_verdict_has_a_way_to_it() {
    // INVALID is tested by itself; this fails when a verdict is added.
    for verdict in Verdict::ALL {
        match verdict {
            Accept | Reject | Inconclusive | Recorded | Verdict::Invalid => {}
        }
    }
}
