//! The decision as it is stored: all that a later check compares, and no number that JSON does not have.

use super::{around, decided, prereg, registration, time};
use harness::decide::{document, findings};
use serde_json::Value;

const CLAIMS: &str =
    "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmargin = 0.05\n[decision]\ntest = \"welch\"\n";

fn stored(claims: &str, a: &[f64], b: &[f64]) -> (Value, Vec<harness::store::StoredFinding>) {
    let text = registration(a.len(), claims);
    let (decision, analysis) = decided(&text, &time(a, b));
    let prereg = prereg(&text);
    (document(&prereg, &decision, &analysis), findings(&prereg, &decision))
}

#[test]
fn every_number_of_the_decision_is_there() {
    let (doc, rows) = stored(CLAIMS, &around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
    assert_eq!(doc["verdict"], "accept");
    let it = &doc["hypotheses"][0];
    for path in [
        "/gain",
        "/gain_interval/low",
        "/gain_interval/high",
        "/gain_interval/level",
        "/statistic",
        "/df",
        "/p/p",
        "/p/ln_p",
        "/p_adjusted/p",
        "/p_adjusted/ln_p",
        "/mean/0",
        "/mean/1",
        "/margin/relative",
        "/counted/relative",
        "/statistics/sd/0",
        "/statistics/difference",
        "/statistics/difference_interval/low",
        "/statistics/standard_error",
        "/statistics/relative_gain_interval/high",
        "/statistics/welch/t",
        "/statistics/welch/df",
        "/statistics/welch/two_sided/ln_p",
        "/statistics/mann_whitney/u",
        "/statistics/mann_whitney/two_sided/p",
        "/statistics/cohens_d",
        "/statistics/cohens_d_interval/level",
        "/statistics/cliffs_delta",
        "/statistics/cliffs_delta_interval/low",
    ] {
        assert!(it.pointer(path).is_some_and(Value::is_number), "{path}: {it:#}");
    }
    assert_eq!(it["method"], "welch");
    assert_eq!(it["statistic"], it["statistics"]["welch"]["t"]);
    assert_eq!(rows[0].p_value, it["p"]["p"].as_f64());
    assert_eq!(rows[0].ln_p, it["p"]["ln_p"].as_f64());
    assert_eq!(rows[0].statistic, it["statistic"].as_f64());
}

#[test]
fn it_reads_back_to_the_same() {
    let (doc, _) = stored(CLAIMS, &around(1e-300, 1e-302, 9), &around(1e-301, 1e-302, 9));
    assert_eq!(serde_json::from_str::<Value>(&doc.to_string()).unwrap(), doc);
}

#[test]
fn margins_have_their_test_and_what_is_undefined_has_its_reason() {
    let guard = "[[guards]]\nmetric = \"time\"\nmargin = { absolute = 2.0 }\n";
    let (doc, rows) = stored(guard, &around(100.0, 2.0, 20), &around(100.5, 2.0, 20));
    assert_eq!(doc["guards"][0]["method"], "welch-margin");
    assert_eq!(doc["guards"][0]["margin"]["absolute"], 2.0);
    assert!(rows[0].statistic.is_some_and(|it| it < 0.0) && rows[0].df.is_some());
    let (doc, rows) = stored(CLAIMS, &[5.0; 9], &[4.0; 9]);
    let it = &doc["hypotheses"][0];
    assert_eq!(it["method"], "constant");
    assert_eq!(it["p"], Value::Null);
    assert!(it["p_undefined"].as_str().unwrap().contains("clock is too coarse"));
    assert_eq!(it["statistics"]["welch"], Value::Null);
    assert_eq!(it["statistics"]["status"], "zero_variance_both");
    assert_eq!((rows[0].p_value, rows[0].effect_size), (None, None));
    let (doc, _) = stored(CLAIMS, &[0.0; 9], &around(1.0, 0.1, 9));
    assert!(doc["hypotheses"][0]["gain_undefined"].as_str().is_some_and(|it| !it.is_empty()));
    // Far beyond what a double holds as p.
    let (doc, _) = stored(CLAIMS, &around(1e9, 1e-6, 60), &around(1.0, 1e-6, 60));
    assert!(doc["hypotheses"][0]["p"]["ln_p"].as_f64().unwrap() < -1000.0);
}
