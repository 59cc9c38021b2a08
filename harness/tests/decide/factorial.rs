//! Effects of a factorial, and labels with several thresholds.

use super::{Set, prereg, run, set};
use harness::analyse::analyse;
use harness::decide::{Decision, decide, document, label};
use harness::vocab::{Finding, Verdict};

/// Two switches of a rate, `a` neither, `b` c5, `c` c6, `d` both, and what is claimed.
fn registration(claims: &str) -> String {
    let arm = |name: &str, c5: &str, c6: &str| {
        format!("[arms.{name}]\nlevels = {{ c5 = \"{c5}\", c6 = \"{c6}\" }}\nparams.n = \"{name}\"\n")
    };
    let arms = [arm("a", "off", "off"), arm("b", "on", "off"), arm("c", "off", "on"), arm("d", "on", "on")];
    format!(
        "id = \"demo\"\ntitle = \"Demo\"\nledger = \"demo\"\n[worker]\ncommand = [\"w\"]\nsystem = \"demo\"\n\
         [factors]\nc5 = [\"off\", \"on\"]\nc6 = [\"off\", \"on\"]\n{}[design]\nsamples = 10\n\
         [metrics.rate]\nunit = \"Mop/s\"\nbetter = \"higher\"\n{claims}",
        arms.concat()
    )
}

/// Ten samples around each mean; the noise of the arms has nothing to do with one another.
fn sets(means: [f64; 4], spread: f64) -> Vec<Set> {
    let noise = |arm: usize, i: usize| ((i * [3, 7, 1, 9][arm] + [0, 2, 5, 1][arm]) % 10) as f64 / 9.0 - 0.5;
    let values = |arm: usize| (0..10).map(|i| means[arm] + 2.0 * spread * noise(arm, i)).collect::<Vec<_>>();
    ["a", "b", "c", "d"].into_iter().enumerate().map(|(i, arm)| set("rate", arm, &values(i))).collect()
}

fn decided(claims: &str, sets: &[Set]) -> (Decision, &'static str, serde_json::Value) {
    let prereg = prereg(&registration(claims));
    let run = run(&prereg, sets);
    let analysis = analyse(&prereg, &run);
    let decision = decide(&prereg, &run, &analysis);
    let document = document(&prereg, &decision, &analysis);
    (decision.clone(), label(&prereg, &decision), document)
}

fn claim(contrast: &str, rest: &str) -> String {
    format!(
        "[[hypotheses]]\nid = \"{}\"\nmetric = \"rate\"\ncontrast = \"{contrast}\"\n{rest}\n",
        contrast.replace([':', ','], "-")
    )
}

/// The published means: 42.36, 43.54, 44.25 and 44.65.
const PUBLISHED: [f64; 4] = [42.36, 43.54, 44.25, 44.65];

#[test]
fn the_published_factorial_loses_a_quarter_of_its_gain() {
    let additive = claim("additivity", "claim = \"non-inferior\"\nmargin = 0.20");
    let claims = format!("{}{}{}", claim("total", "margin = 0.03"), claim("main:c6", ""), additive);
    let (decision, _, document) = decided(&claims, &sets(PUBLISHED, 0.3));
    let findings: Vec<_> = decision.hypotheses.iter().map(|it| it.finding).collect();
    assert_eq!(findings, [Finding::Supported, Finding::Supported, Finding::Undecided]);
    assert_eq!(decision.verdict, Verdict::Inconclusive);
    let effects = &document["effects"][0];
    let close = |value: &serde_json::Value, expected: f64| {
        let value = value["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-4, "{value} is not {expected}");
    };
    // The shortfall is 0.78 Mop/s: 1.72 % of the total, 25.4 % of the gain.
    close(&effects["additivity"]["absolute_gain"], -0.78);
    close(&effects["additivity"]["of_total"], -0.017_169);
    close(&effects["additivity"]["of_gain"], -0.254_072);
    close(&effects["total"]["gain"], 0.054_060);
    // c6 is worth (1.89 + 1.11) / 2, c5 (1.18 + 0.40) / 2.
    close(&effects["family"][0]["absolute_gain"], 0.79);
    close(&effects["family"][1]["absolute_gain"], 1.5);
    assert_eq!(effects["family"][1]["registered"], true);
    assert_eq!(effects["family"][2]["effect"], "interaction:c5,c6");
    let shown = decision.hypotheses[2].threshold();
    assert_eq!(shown, "> −20 % of the expected gain");
    // With little noise the same loss is plain, and more than the margin.
    let (decision, ..) = decided(&claims, &sets(PUBLISHED, 0.02));
    assert_eq!((decision.verdict, decision.hypotheses[2].finding), (Verdict::Reject, Finding::Refuted));
    // Effects that add up.
    let (decision, ..) = decided(&claims, &sets([40.0, 42.0, 44.0, 46.0], 0.1));
    assert_eq!(decision.verdict, Verdict::Accept, "{:?}", decision.reasons);
}

#[test]
fn interactions_are_what_both_give_beyond_their_sum() {
    let equal = claim("interaction:c5,c6", "claim = \"equivalent\"\nmargin = { absolute = 0.5 }");
    let (decision, ..) = decided(&equal, &sets([40.0, 42.0, 44.0, 46.0], 0.1));
    assert_eq!(decision.verdict, Verdict::Accept);
    let (decision, ..) = decided(&equal, &sets([40.0, 42.0, 44.0, 44.0], 0.1));
    assert_eq!(decision.verdict, Verdict::Reject);
    let (decision, ..) = decided(&claim("interaction:c5,c6", ""), &sets([40.0, 41.0, 41.0, 46.0], 0.1));
    assert_eq!(decision.verdict, Verdict::Accept);
    assert_eq!(decision.hypotheses[0].comparison.treatment, "c5 and c6 together");
}

#[test]
fn a_share_of_no_gain_is_undefined_and_says_why() {
    let additive = claim("additivity", "claim = \"non-inferior\"\nmargin = 0.20");
    for (means, why) in [
        ([42.0, 42.05, 41.98, 42.0], "cannot be told from zero"),
        ([42.0, 41.0, 41.0, 40.0], "add up to a loss"),
    ] {
        let (decision, _, document) = decided(&additive, &sets(means, 0.3));
        assert_eq!(decision.hypotheses[0].finding, Finding::Undecided);
        assert!(decision.reasons[0].contains(why), "{:?}", decision.reasons);
        let undefined = document["effects"][0]["additivity"]["of_gain"]["undefined"].as_str().unwrap();
        assert!(undefined.contains(why), "{undefined}");
    }
    let constant: Vec<Set> = ["a", "b", "c", "d"].iter().map(|arm| set("rate", arm, &[7.0; 10])).collect();
    let (decision, _, document) = decided(&additive, &constant);
    assert_eq!(decision.hypotheses[0].finding, Finding::Undecided);
    assert!(document["effects"][0]["additivity"]["of_gain"]["undefined"].is_string());
}

#[test]
fn every_effect_is_corrected_in_one_family() {
    let all = ["main:c5", "main:c6", "interaction:c5,c6"].map(|it| claim(it, "")).concat();
    let (decision, ..) = decided(&all, &sets(PUBLISHED, 0.3));
    for it in &decision.hypotheses {
        let level = it.gain.as_ref().unwrap().interval.level;
        assert!((level - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
        assert!(it.p_adjusted.as_ref().unwrap().value() >= it.tested.as_ref().unwrap().p.value());
    }
    // The table of all effects is the same family here, and shows the same.
    for (row, judged) in decision.effects[0].family.iter().zip(&decision.hypotheses) {
        assert_eq!(row.p_adjusted, judged.p_adjusted);
        assert_eq!(row.comparison.relative_gain(decision.effects[0].level), judged.gain);
    }
}

#[test]
fn rescaling_changes_no_verdict_and_no_share() {
    let claims = format!(
        "{}{}{}",
        claim("total", "margin = 0.03"),
        claim("main:c5", ""),
        claim("additivity", "claim = \"non-inferior\"\nmargin = 0.30")
    );
    let scaled = |factor: f64| {
        let mut sets = sets(PUBLISHED, 0.3);
        sets.iter_mut().flat_map(|it| &mut it.values).for_each(|it| *it *= factor);
        let (decision, ..) = decided(&claims, &sets);
        let gains: Vec<_> = decision.hypotheses.iter().map(|it| it.gain.clone()).collect();
        let p: Vec<_> = decision.hypotheses.iter().map(|it| it.p_adjusted.clone()).collect();
        let of_all: Vec<_> = decision.effects[0].family.iter().map(|it| it.p_adjusted.clone()).collect();
        (decision.verdict, gains, p, of_all)
    };
    let plain = scaled(1.0);
    for exponent in [-40, -3, 1, 60] {
        assert_eq!(scaled(libm::ldexp(1.0, exponent)), plain, "2^{exponent}");
    }
}

const GO: &str = "[decision]\nlabels = \"go-nogo\"\n[decision.thresholds]\ngo = 0.01\nstrong_go = 0.03\n";

#[test]
fn labels_follow_their_thresholds() {
    let total = |d: f64, spread: f64| {
        let (decision, label, document) =
            decided(&format!("{}{GO}", claim("total", "")), &sets([100.0, 100.5, 100.6, d], spread));
        assert_eq!(document["label"], label);
        (label, decision.verdict)
    };
    assert_eq!(total(105.0, 0.3), ("STRONG GO", Verdict::Accept));
    assert_eq!(total(102.0, 0.3), ("GO", Verdict::Accept));
    assert_eq!(total(103.0, 0.3), ("GO", Verdict::Accept));
    // Too little to matter, and shown to be.
    assert_eq!(total(100.2, 0.3), ("NEUTRAL", Verdict::Reject));
    assert_eq!(total(98.0, 0.3), ("NO-GO", Verdict::Reject));
    // Nothing is shown: neither that it matters nor that it does not.
    assert_eq!(total(101.0, 5.0), ("INCONCLUSIVE", Verdict::Inconclusive));
    let guard = "[[guards]]\nmetric = \"rate\"\ntreatment = \"b\"\nmargin = 0.001\n";
    let violated = format!("{}{guard}{GO}", claim("total", ""));
    let (_, label, _) = decided(&violated, &sets([100.0, 98.0, 100.6, 100.2], 0.3));
    assert_eq!(label, "NO-GO", "a guard that is violated is not neutral");
}

#[test]
fn criteria_show_every_threshold() {
    let (decision, ..) =
        decided(&format!("{}{GO}", claim("total", "")), &sets([100.0, 100.5, 100.6, 102.0], 0.3));
    let row = |name: &str| decision.criteria.iter().find(|it| it.name() == name).cloned();
    let strong = row("total: gain, for STRONG GO").unwrap();
    assert_eq!((strong.threshold.as_str(), strong.finding), ("> 3 %", Finding::Refuted));
    assert_eq!(row("total: gain").unwrap().threshold, "> 1 %");
    assert!(row("total: gain, for NEUTRAL").is_none(), "what is supported is not neutral");
}

#[test]
fn the_reference_is_what_others_are_a_share_of() {
    let (_, _, document) = decided("[report]\nreference = \"d\"\n", &sets([50.0, 75.0, 100.0, 100.0], 0.3));
    let scores = document["scorecard"]["scores"].as_array().unwrap();
    assert_eq!(scores.len(), 4);
    assert!((scores[0]["share"].as_f64().unwrap() - 0.5).abs() < 1e-9);
    assert!(scores[0]["interval"]["low"].as_f64().unwrap() < 0.5);
    assert_eq!(scores[3]["share"], 1.0);
    assert_eq!(document["verdict"], "recorded");
}
