//! The open cases of `tests/cases`, at the level of verdicts.

use super::{check, set, time};
use harness::vocab::Verdict::{Accept, Inconclusive, Reject};
use serde_json::Value;
use std::path::Path;

const H: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\n";
const GUARD: &str = "[[guards]]\nmetric = \"time\"\nmargin = 0.02\n";

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(path)).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
}

/// The last column of a CSV file, in the rows that have `value` in column `at`.
fn column(text: &str, at: usize, value: &str) -> Vec<f64> {
    let rows = text.lines().skip(1).filter(|row| row.split(',').nth(at) == Some(value));
    rows.map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn case_01_few_samples() {
    let bench = |file: &str, name: &str| -> Vec<f64> {
        let text = read(&format!("01_small_n/{file}.txt"));
        let lines = text.lines().filter(|it| it.starts_with(&format!("Benchmark{name}-")));
        lines.map(|it| it.split_whitespace().nth(2).unwrap().parse().unwrap()).collect()
    };
    let ns = "[metrics.time]\nunit = \"ns\"\nbetter = \"lower\"\n";
    let ranks = format!("{ns}{H}[decision]\ntest = \"mann-whitney\"\n");
    let welch = format!("{ns}{H}");
    let arms = |name: &str| time(&bench("old", name), &bench("new", name));
    check(&welch, &arms("Lookup"), Accept, "s", "");
    check(&ranks, &arms("Lookup"), Accept, "s", "");
    let d = check(&ranks, &arms("Load"), Inconclusive, "u", "n is too small: with 3 and 3 samples");
    assert!(d.reasons[0].contains("can give is 0.1000"), "{}", d.reasons[0]);
    // Of 4 and 4, the smallest is 2/70; the n advised is one that can decide.
    assert_eq!(d.hypotheses[0].outlook.unwrap().needed_n, Some(4));
    check(&welch, &arms("Load"), Accept, "s", "");
    // A registration of a single sample is refused; a run of one is incomplete.
    let d = check(&welch, &arms("Once"), harness::vocab::Verdict::Invalid, "u", "1 of 2 samples of `time`");
    assert!(d.hypotheses[0].reason.starts_with("nothing can be said: undefined"));
}

#[test]
fn case_02_zero_variance() {
    let json: Value = serde_json::from_str(&read("02_zero_variance/samples.json")).unwrap();
    let sets = |name: &str| {
        let it = &json["sets"][name];
        time(&numbers(&it["control"]), &numbers(&it["treatment"]))
    };
    let bytes = |claim: &str| format!("[metrics.time]\nunit = \"B\"\nbetter = \"lower\"\n{claim}");
    let mut sizes = sets("a_equal_constants");
    sizes[0].values.resize(30, 0.37);
    check(H, &sizes, Inconclusive, "u", "neither arm varies, so the clock is too coarse");
    check(&bytes(H), &sets("b_different_constants"), Reject, "r", "its gain is −100.0 %");
    check(&bytes(GUARD), &sets("b_different_constants"), Reject, "r", "worse by more than the margin");
    let d = check(H, &sets("c_one_constant"), Inconclusive, "u", "p = 0.5416 is not below");
    assert!(
        (d.hypotheses[0].tested.as_ref().unwrap().statistic.unwrap() + 0.654_653_670_707_977_1).abs() < 1e-9
    );
    check(&bytes(GUARD), &sets("d_all_zero"), Accept, "s", "");
    check(
        &bytes(H),
        &sets("d_all_zero"),
        Reject,
        "r",
        "the gain is not above the margin; its gain is 0 B [0, 0]",
    );
}

#[test]
fn case_04_the_same_code_in_batches() {
    let text = read("04_null_ab/batches.csv");
    let batch = |it: &str| column(&text, 0, it);
    let sets = time(&batch("1"), &batch("2"));
    // Significant and a large d; within the registered smallest gain, in either direction.
    check(GUARD, &sets, Accept, "s", "");
    check(&format!("{H}claim = \"equivalent\"\nmargin = 0.02\n"), &sets, Accept, "s", "");
    let swapped = time(&batch("2"), &batch("1"));
    check(&format!("{H}margin = 0.02\n"), &swapped, Reject, "r", "below the margin; its gain is +0.7");
    let means = |all: [&str; 2]| {
        all.map(|it| {
            let b = batch(it);
            b.iter().sum::<f64>() / b.len() as f64
        })
    };
    let d = check(H, &time(&means(["1", "3"]), &means(["2", "4"])), Inconclusive, "u", "not below α");
    assert!((d.hypotheses[0].p_adjusted.as_ref().unwrap().value() - 0.1444).abs() < 1e-4);
}

#[test]
fn case_05_order_and_drift() {
    let arms = |file: &str| {
        let text = read(file);
        time(&column(&text, 1, "base"), &column(&text, 1, "head"))
    };
    let order = |it: &str| format!("{H}[design]\nsamples = 20\norder = \"{it}\"\n");
    let abba =
        check(&order("abba"), &arms("05_order/abba.csv"), Inconclusive, "u", "p = 1.0000 is not below");
    assert_eq!(abba.hypotheses[0].outlook.unwrap().needed_n, None);
    let text = super::registration(20, &order("sequential"));
    let (blocked, analysis) = super::decided(&text, &arms("05_order/blocked.csv"));
    // A drift that looks like an effect is one of samples that depend on their neighbors.
    assert_eq!(blocked.verdict, Inconclusive);
    assert!(blocked.reasons[0].contains("blocks depend on those before them"), "{}", blocked.reasons[0]);
    let codes: Vec<_> = analysis.caveats.iter().map(harness::analyse::Caveat::code).collect();
    assert!(codes.contains(&"sequential") && codes.contains(&"drift"), "{codes:?}");
}

#[test]
fn case_06_zero_baseline() {
    let json: Value = serde_json::from_str(&read("06_zero_baseline/samples.json")).unwrap();
    let sets = |name: &str| {
        let it = json.as_array().unwrap().iter().find(|it| it["metric"] == name).unwrap();
        time(&numbers(&it["control"]), &numbers(&it["treatment"]))
    };
    let bytes = |claim: &str| format!("[metrics.time]\nunit = \"B\"\nbetter = \"lower\"\n{claim}");
    let d = check(&bytes(&format!("{H}margin = 0.5\n")), &sets("drops_to_zero"), Accept, "s", "");
    assert_eq!(d.hypotheses[0].gain_text(), "+100.0 % [+100.0, +100.0]");
    let ranks = format!("{H}[decision]\ntest = \"mann-whitney\"\n");
    check(&bytes(&ranks), &sets("rises_from_zero"), Reject, "r", "its gain is −12.0 B [");
    check(&bytes(GUARD), &sets("rises_from_zero"), Reject, "r", "the control is always zero");
    check(&bytes(GUARD), &sets("both_zero"), Accept, "s", "");
    let d = check(&bytes(&format!("{H}margin = 0.05\n")), &sets("negative_base"), Accept, "s", "");
    assert!((d.hypotheses[0].gain.as_ref().unwrap().value - 0.2).abs() < 1e-12);
    check(H, &sets("plain"), Accept, "s", "");
}

#[test]
fn case_07_outliers_stay_in_the_test() {
    let json: Value = serde_json::from_str(&read("07_mad_zero/samples.json")).unwrap();
    let samples = numbers(&json["samples"]);
    let text = super::registration(20, GUARD);
    let (decision, analysis) =
        super::decided(&text, &[set("time", "a", &samples), set("time", "b", &samples)]);
    assert_eq!(decision.guards[0].comparison.statistics.as_ref().unwrap().treatment.n(), 20);
    assert!(analysis.caveats.iter().any(|it| it.to_string().contains("none is dropped")));
}
