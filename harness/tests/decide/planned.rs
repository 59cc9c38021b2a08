//! What a registered n can show, by the spread of a pilot.

use super::{Set, prereg, registration, run, set, time};
use harness::decide::{Planned, plan_power};

const SUPERIOR: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmin_effect = 0\n";

fn plan(n: usize, claims: &str, sets: &[Set], gain: Option<f64>, blocked: bool) -> Vec<Planned> {
    let prereg = prereg(&registration(n, claims));
    plan_power(&prereg, &run(&prereg, sets), gain, blocked)
}

/// Ten samples with this mean and deviation.
fn ten(mean: f64, sd: f64) -> Vec<f64> {
    let half = sd * 0.9f64.sqrt();
    (0..10).map(|i| if i % 2 == 0 { mean - half } else { mean + half }).collect()
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn the_second_ledger_could_not_show_its_own_threshold() {
    // Throughput of 44.05 with deviations of 0.37 and 0.54: reference values of the statistics.
    let claims = "[metrics.time]\nunit = \"Mop/s\"\nbetter = \"higher\"\n\
                  [[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmargin = { absolute = 0.0 }\n";
    let sets = time(&ten(44.05, 0.54), &ten(44.53, 0.37));
    let planned = &plan(10, claims, &sets, Some(0.01), false)[0];
    close(*planned.detectable.as_ref().unwrap(), 0.618, 0.001);
    let given = planned.against[1].as_ref().unwrap();
    close(given.gain, 0.4405, 1e-12);
    close(given.power, 0.52, 0.01);
    assert!(given.holds && !given.observed && given.needed_paired.is_none());
    assert!(planned.against[0].as_ref().unwrap().observed);
}

#[test]
fn the_needed_n_is_the_smallest_with_that_power() {
    let sets = time(&ten(100.0, 10.0), &ten(92.0, 12.0));
    for claims in [
        SUPERIOR.to_owned(),
        format!("{SUPERIOR}margin = 0.02\n"),
        format!("{SUPERIOR}claim = \"non-inferior\"\nmargin = 0.05\n"),
        "[[guards]]\nmetric = \"time\"\nmargin = 0.1\n".to_owned(),
    ] {
        let needed = plan(10, &claims, &sets, None, false)[0].against[0].as_ref().unwrap().needed;
        for (power, n) in [0.8, 0.95].into_iter().zip(needed) {
            let at = |n| plan(n, &claims, &sets, None, false)[0].against[0].as_ref().unwrap().power;
            let n = n.unwrap();
            assert!(at(n) >= power && (n == 2 || at(n - 1) < power), "{claims}: {n}");
        }
    }
}

#[test]
fn a_family_shares_alpha_and_guards_do_not() {
    let sets = time(&ten(100.0, 10.0), &ten(92.0, 12.0));
    let two = "[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n[metrics.size]\nunit = \"B\"\nbetter = \"lower\"\n\
               [[hypotheses]]\nid = \"a\"\nmetric = \"time\"\n[[hypotheses]]\nid = \"b\"\nmetric = \"time\"\n\
               [[guards]]\nmetric = \"size\"\nmargin = 0.1\n";
    let alphas =
        |claims: &str| plan(10, claims, &sets, None, false).iter().map(|it| it.alpha).collect::<Vec<_>>();
    assert_eq!(alphas(two), [0.025, 0.025, 0.05]);
    assert_eq!(alphas(&format!("{two}[decision]\ncorrection = \"none\"\n")), [0.05, 0.05, 0.05]);
}

#[test]
fn looks_leave_less_of_alpha_to_the_last_one() {
    let sets = time(&ten(100.0, 10.0), &ten(92.0, 12.0));
    let power = |looks: &str| {
        let claims = format!("{SUPERIOR}[design]\nsamples = 30\n{looks}");
        let planned = &plan(30, &claims, &sets, None, false)[0];
        assert_eq!(planned.alpha, 0.05);
        (planned.against[0].as_ref().unwrap().power, *planned.detectable.as_ref().unwrap())
    };
    let [once, late, even] =
        ["", "looks = { at = [10, 20, 30] }\n", "looks = { at = [10, 20, 30], spending = \"pocock\" }\n"]
            .map(power);
    // What is spent early is missing at the end: a little with O'Brien and Fleming, more with Pocock.
    assert!(
        once.0 > late.0 && late.0 > even.0 && once.1 < late.1 && late.1 < even.1,
        "{once:?} {late:?} {even:?}"
    );
    close(late.0, once.0, 0.02);
}

#[test]
fn blocks_that_share_their_noise_need_fewer_samples() {
    let noise = [0.0, 8.0, -7.0, 3.0, -5.0, 9.0, -2.0, 4.0, -9.0, 1.0];
    let own = [0.3, -0.2, 0.1, -0.4, 0.2, 0.0, -0.1, 0.4, -0.3, 0.1];
    let a: Vec<f64> = noise.iter().map(|it| 100.0 + it).collect();
    let b: Vec<f64> = noise.iter().zip(own).map(|(it, own)| 97.0 + it + own).collect();
    let against = |blocked| plan(10, SUPERIOR, &time(&a, &b), None, blocked)[0].against[0].clone().unwrap();
    let (blocked, plain) = (against(true), against(false));
    assert_eq!((plain.needed_paired, plain.needed), (None, blocked.needed));
    let paired = blocked.needed_paired.unwrap();
    assert!(paired[0].unwrap() * 10 < blocked.needed[0].unwrap(), "{blocked:?}");
    // One arm after the other has blocks that are far apart.
    let sequential = format!("{SUPERIOR}[design]\nsamples = 10\norder = \"sequential\"\n");
    let planned = plan(10, &sequential, &time(&a, &b), None, true);
    assert_eq!(planned[0].against[0].as_ref().unwrap().needed_paired, None);
}

#[test]
fn what_a_true_gain_on_the_wrong_side_leads_to_is_said() {
    let sets = time(&ten(100.0, 1.0), &ten(95.0, 1.0));
    let planned = &plan(10, &format!("{SUPERIOR}margin = 0.5\n"), &sets, Some(0.6), false)[0];
    let [observed, given] = [&planned.against[0], &planned.against[1]].map(|it| it.as_ref().unwrap());
    assert!(!observed.holds && observed.power > 0.999, "{observed:?}");
    assert!(given.holds && given.power > 0.999, "{given:?}");
}

#[test]
fn no_difference_is_shown_within_its_margin_by_two_tests() {
    let claims = format!("{SUPERIOR}claim = \"equivalent\"\nmargin = 0.1\n");
    let sets = time(&ten(100.0, 10.0), &ten(100.0, 10.0));
    let planned = &plan(10, &claims, &sets, Some(0.05), false)[0];
    let [same, half] = [&planned.against[0], &planned.against[1]].map(|it| it.as_ref().unwrap());
    assert!(same.holds && half.holds && same.power > half.power && same.needed < half.needed);
    let n = same.needed[0].unwrap();
    let power = plan(n, &claims, &sets, None, false)[0].against[0].as_ref().unwrap().power;
    assert!(power >= 0.8, "{power}");
}

#[test]
fn what_cannot_be_planned_says_why() {
    let undefined = |sets: &[Set]| {
        let planned = plan(10, SUPERIOR, sets, None, true);
        (planned[0].against[0].clone().unwrap_err().0, planned[0].detectable.clone().unwrap_err().0)
    };
    let (gain, detectable) = undefined(&time(&[5.0; 10], &[4.0; 10]));
    assert!(gain.contains("equal in both arms") && detectable == gain, "{gain}, {detectable}");
    let (gain, _) = undefined(&time(&[0.0; 10], &ten(4.0, 1.0)));
    assert!(gain.contains("zero"), "{gain}");
    let (gain, _) = undefined(&[set("time", "a", &[5.0, 6.0])]);
    assert!(gain.contains("empty"), "{gain}");
}

/// What is planned of the pilot's own gain.
fn observed(claims: &str, sets: &[Set]) -> harness::decide::Against {
    plan(20, claims, sets, None, true)[0].against[0].clone().unwrap()
}

#[test]
fn a_minimum_effect_has_to_be_met_as_well() {
    let with = |least: f64| SUPERIOR.replace("min_effect = 0", &format!("min_effect = {least}"));
    // d is about 0.72.
    let sets = time(&ten(100.0, 10.0), &ten(92.0, 12.0));
    let [none, some, much, too_much] = [0.0, 0.3, 0.6, 0.75].map(|least| observed(&with(least), &sets));
    assert_eq!((none.needed, none.power), (some.needed, some.power));
    assert!(much.needed[0] > none.needed[0] && much.power <= none.power, "{much:?}");
    assert!(too_much.needed == [None, None] && too_much.power < 0.5, "{too_much:?}");
    let n = much.needed[0].unwrap();
    let at = |n| plan(n, &with(0.6), &sets, None, false)[0].against[0].as_ref().unwrap().power;
    assert!(at(n) >= 0.8 && at(n - 1) < 0.8);
    // The smallest gain that is shown moves along.
    let detectable = |least| plan(20, &with(least), &sets, None, false)[0].detectable.clone().unwrap();
    assert_eq!(detectable(0.0), detectable(0.3));
    let gain = detectable(0.8);
    assert!(gain > detectable(0.0));
    let there = plan(20, &with(0.8), &sets, Some(gain), false)[0].against[1].clone().unwrap();
    close(there.power, 0.8, 1e-6);
}

#[test]
fn the_registered_test_is_planned() {
    let noise = [0.0, 8.0, -7.0, 3.0, -5.0, 9.0, -2.0, 4.0, -9.0, 1.0];
    let own = [0.3, -2.2, 1.1, -1.4, 2.2, 0.0, -1.1, 1.4, -2.3, 1.1];
    let a: Vec<f64> = noise.iter().map(|it| 100.0 + it).collect();
    let b: Vec<f64> = noise.iter().zip(own).map(|(it, own)| 97.0 + it + own).collect();
    let sets = time(&a, &b);
    let of = |test: &str| observed(&format!("{SUPERIOR}[decision]\ntest = \"{test}\"\n"), &sets);
    let (welch, ranks) = (of("welch"), of("mann-whitney"));
    let (paired, signed) = (of("paired-t"), of("wilcoxon"));
    assert_eq!(of("bootstrap").needed[1], welch.needed[1]);
    let n = |it: &harness::decide::Against| it.needed[1].unwrap() as f64;
    // Ranks need 5 % more of normal samples, where nothing else asks for more.
    close(n(&ranks) / n(&welch), std::f64::consts::PI / 3.0, 0.02);
    assert!(
        n(&signed) > n(&paired) && n(&signed) <= (1.05 * n(&paired)).ceil() + 1.0,
        "{signed:?} {paired:?}"
    );
    assert!(n(&paired) * 5.0 < n(&welch));
    assert_eq!(Some(paired.needed), welch.needed_paired);
    // A pilot without pairs cannot plan them.
    let claims = format!("{SUPERIOR}[decision]\ntest = \"paired-t\"\n");
    let undefined = plan(20, &claims, &sets, None, false)[0].against[0].clone().unwrap_err();
    assert!(undefined.0.contains("one of pairs"), "{undefined}");
    // Six pairs are the fewest that Wilcoxon's test can decide by.
    let clear = time(&a, &a.iter().zip(own).map(|(it, own)| it - 60.0 + own).collect::<Vec<_>>());
    let claims = format!("{SUPERIOR}[decision]\ntest = \"wilcoxon\"\n");
    assert_eq!(observed(&claims, &clear).needed[0], Some(6));
}
