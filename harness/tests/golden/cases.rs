//! Inputs on which other tools gave a wrong answer; see `../cases/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use harness::stats::{
    RankMethod, Sample, Status, cliffs_delta, effect_size, equivalence_relative, mad_outliers, mann_whitney,
    mann_whitney_smallest_p, median, quantile, ratio, trend, tukey_outliers, welch,
};
use serde_json::Value;

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file)
}

fn text(file: &str) -> String {
    fs::read_to_string(path(file)).expect("the file of the case is readable")
}

fn json(file: &str) -> Value {
    serde_json::from_str(&text(file)).expect("the file of the case is JSON")
}

fn sample(values: impl IntoIterator<Item = f64>) -> Sample {
    Sample::new(values.into_iter().collect()).expect("a sample")
}

fn array(value: &Value) -> Sample {
    sample(value.as_array().expect("an array").iter().map(|value| value.as_f64().expect("a number")))
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    let distance = (found - expected).abs();
    assert!(
        distance <= tolerance * expected.abs() || distance <= 1e-12,
        "expected {expected}, found {found}"
    );
}

/// Compares every number that an expectation names and that two samples can answer.
#[track_caller]
fn check(expected: &Value, treatment: &Sample, control: &Sample) {
    let found_welch = welch(treatment, control).expect("two observations in each arm");
    let effect = effect_size(treatment, control).expect("two observations in each arm");
    let change = ratio(treatment, control).ok().map(|ratio| 100.0 * ratio.change);
    let asymptotic =
        mann_whitney(treatment, control, RankMethod::Asymptotic { continuity: true }).expect("a method");
    let exact = mann_whitney(treatment, control, RankMethod::ExactConditional).expect("few pairs");
    let test = found_welch.test;
    let mut compared = 0;
    for (key, value) in expected.as_object().expect("fields") {
        let (found, tolerance) = match key.as_str() {
            "n_control" => (Some(control.len() as f64), 0.0),
            "n_treatment" => (Some(treatment.len() as f64), 0.0),
            "median_control" => (Some(median(control)), 1e-9),
            "median_treatment" => (Some(median(treatment)), 1e-9),
            "change_percent" => (change, 1e-9),
            "welch_t" => (test.map(|test| test.t), 1e-6),
            "welch_df" => (test.map(|test| test.df), 1e-6),
            "welch_p" => (test.map(|test| test.p.two_sided.value()), 1e-6),
            "cohen_d" => (effect.standardized.map(|effect| effect.cohens_d), 1e-6),
            "mwu_U_treatment" => (Some(asymptotic.u_treatment), 1e-9),
            "cliffs_delta" => (Some(cliffs_delta(treatment, control).delta), 1e-9),
            "mwu_p_exact" | "mwu_p_exact_permutation" => (Some(exact.p.two_sided.value()), 1e-9),
            // Undefined in the file where all observations are equal; p is 1 here and z undefined.
            "mwu_p_asymptotic_tie_and_continuity_corrected" if value.is_null() => {
                assert_eq!((asymptotic.z, asymptotic.p.two_sided.value()), (None, 1.0));
                (None, 0.0)
            }
            "mwu_p_asymptotic_tie_and_continuity_corrected" => (Some(asymptotic.p.two_sided.value()), 1e-6),
            _ => continue,
        };
        compared += 1;
        match (found, value.as_f64()) {
            (Some(found), Some(expected)) => close(found, expected, tolerance),
            (found, expected) => assert_eq!(found, expected, "{key}"),
        }
    }
    assert!(compared >= 12, "only {compared} fields compared");
}

fn go_values(file: &str, name: &str) -> Sample {
    let text = text(file);
    let lines = text.lines().filter(|line| line.starts_with(name));
    sample(
        lines.map(|line| {
            line.split_whitespace().nth(2).and_then(|field| field.parse().ok()).expect("a number")
        }),
    )
}

fn csv(file: &str, arm: &str, column: usize, value: usize) -> Sample {
    let text = text(file);
    let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    sample(rows.filter(|row| row[column] == arm).map(|row| row[value].parse().expect("a number")))
}

#[test]
fn case_01_few_samples_and_one_constant_arm() {
    let expected = json("01_small_n/expected.json");
    for name in ["Lookup-4", "Load-4"] {
        let arm = |file| go_values(file, &format!("Benchmark{name}"));
        check(&expected[name], &arm("01_small_n/new.txt"), &arm("01_small_n/old.txt"));
    }
    for (name, n) in [("Lookup-4", 5), ("Load-4", 3)] {
        let smallest = mann_whitney_smallest_p(n, n).unwrap().value();
        close(smallest, expected[name]["min_attainable_exact_p"].as_f64().unwrap(), 1e-9);
    }
    let arm = |file| go_values(file, "BenchmarkOnce-4");
    let (treatment, control) = (arm("01_small_n/new.txt"), arm("01_small_n/old.txt"));
    assert_eq!(welch(&treatment, &control).unwrap_err().code(), "too_few");
    assert_eq!(mann_whitney(&treatment, &control, RankMethod::Auto).unwrap().p.two_sided.value(), 1.0);
    assert_eq!(cliffs_delta(&treatment, &control).delta, -1.0);
}

#[test]
fn case_02_zero_variance() {
    let expected = json("02_zero_variance/expected.json");
    let sets = json("02_zero_variance/samples.json");
    for (name, set) in sets["sets"].as_object().expect("sets") {
        let (treatment, control) = (array(&set["treatment"]), array(&set["control"]));
        check(&expected[name], &treatment, &control);
        let found = welch(&treatment, &control).unwrap();
        let deterministic = match name.as_str() {
            "a_equal_constants" | "d_all_zero" => Some(false),
            "b_different_constants" => Some(true),
            _ => None,
        };
        assert_eq!(found.deterministic_difference(), deterministic, "{name}");
        assert_eq!(found.status == Status::ZeroVarianceBoth, deterministic.is_some(), "{name}");
    }
}

#[test]
fn case_03_p_far_below_the_rounding_of_1() {
    let arm = |name| csv("03_tail_p/samples.csv", name, 0, 2);
    let (treatment, control) = (arm("native"), arm("control"));
    let expected = json("03_tail_p/expected.json");
    check(&expected, &treatment, &control);
    let p = welch(&treatment, &control).unwrap().test.unwrap().p.two_sided;
    assert_eq!(p.to_string(), "2.0e-43");
    for (key, value) in expected.as_object().unwrap() {
        let Some(arguments) = key.strip_prefix("two_sided_t_p(df=") else { continue };
        let (df, t) = arguments.trim_end_matches(')').split_once(",t=").unwrap();
        let tail = harness::stats::dist::student_t_sf(t.parse().unwrap(), df.parse().unwrap()).unwrap();
        close(2.0 * tail.value, value.as_f64().unwrap(), 1e-9);
    }
}

#[test]
fn case_04_the_same_program_in_two_batches() {
    let batch = |number| csv("04_null_ab/batches.csv", number, 0, 3);
    let expected = json("04_null_ab/expected.json");
    check(&expected["batch1_vs_batch2"], &batch("2"), &batch("1"));
    let mean = |number| harness::stats::Summary::of(&batch(number)).mean;
    for number in ["1", "2", "3", "4"] {
        close(mean(number), expected["batch_means"][number].as_f64().unwrap(), 1e-9);
    }
    // With batches as the unit of replication there is no difference left.
    let (treatment, control) = (sample([mean("2"), mean("4")]), sample([mean("1"), mean("3")]));
    check(&expected["batch_as_unit_base_vs_head"], &treatment, &control);
    // A margin of 2 % protects where Cohen's d of 1.9 does not.
    let guard = equivalence_relative(&batch("2"), &batch("1"), 0.02).unwrap().tests.unwrap();
    assert!(guard.equivalent().value() < 1e-9);
}

#[test]
fn case_05_drift_in_one_order_and_in_the_other() {
    let expected = json("05_order/expected.json");
    for name in ["blocked", "abba"] {
        let arm = |arm| csv(&format!("05_order/{name}.csv"), arm, 1, 2);
        check(&expected[name], &arm("head"), &arm("base"));
    }
    let rows = text("05_order/blocked.csv");
    let all = sample(rows.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()));
    let drift = trend(&all, 0.95).unwrap();
    close(drift.slope, expected["slope_ms_per_run_all"].as_f64().unwrap(), 0.01);
    assert!(drift.p.value() < 1e-15);
}

#[test]
fn case_06_a_change_from_zero() {
    let expected = json("06_zero_baseline/expected.json");
    for set in json("06_zero_baseline/samples.json").as_array().unwrap() {
        let name = set["metric"].as_str().unwrap();
        let (treatment, control) = (array(&set["treatment"]), array(&set["control"]));
        let found = ratio(&treatment, &control);
        let fields = &expected[name];
        if name == "negative_base" {
            close(100.0 * found.unwrap().relative_difference, -20.0, 1e-9);
        } else if let Some(change) = fields["change_percent"].as_f64() {
            close(100.0 * found.unwrap().change, change, 1e-9);
        } else {
            assert_eq!(found.unwrap_err().code(), "zero_baseline", "{name}");
        }
        let ranks = mann_whitney(&treatment, &control, RankMethod::AutoConditional).unwrap();
        for key in ["mwu_p", "mwu_p_exact_permutation"] {
            if let Some(p) = fields[key].as_f64() {
                close(ranks.p.two_sided.value(), p, 1e-9);
            }
        }
        if let Some(delta) = fields["cliffs_delta"].as_f64() {
            close(cliffs_delta(&treatment, &control).delta, delta, 1e-9);
        }
    }
}

#[test]
fn case_07_outliers_among_equal_values() {
    let expected = json("07_mad_zero/expected.json");
    let all = array(&json("07_mad_zero/samples.json")["samples"]);
    let found = mad_outliers(&all);
    assert_eq!((found.median, found.mad, found.scores.len()), (5.0, 0.0, 20));
    close(found.mean_deviation, 0.4, 1e-9);
    let indices = serde_json::to_value(&found.outliers).unwrap();
    assert_eq!(indices, expected["outlier_indices_if_|score|>3.5"]);
    for (value, score) in expected["fallback_score_(x-median)/(1.253314*meanAD)"].as_object().unwrap() {
        let index = all.values().iter().position(|other| *other == value.parse::<f64>().unwrap()).unwrap();
        close(found.scores[index], score.as_f64().unwrap(), 1e-6);
    }
    let tukey = tukey_outliers(&all);
    assert_eq!((quantile(&all, 0.25), tukey.q3), (Ok(5.0), 5.0));
    assert_eq!((tukey.low_severe, tukey.high_severe.contains(&10)), (vec![5], true));
}
