use super::*;
use crate::stats::rng::Rng;

fn sample(values: &[f64]) -> Sample {
    Sample::new(values.to_vec()).unwrap()
}

/// Skewed observations around a level.
fn arm(n: usize, level: f64, seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    Sample::new((0..n).map(|_| level * (1.0 + 0.02 * -(1.0 - uniform()).ln())).collect()).unwrap()
}

fn ask(treatment: &Sample, control: &Sample, paired: bool) -> Panel {
    panel(treatment, control, PanelOptions { resamples: 1_000, paired, ..PanelOptions::default() }).unwrap()
}

#[test]
fn a_clear_difference_is_seen_by_all() {
    let (treatment, control) = (arm(51, 97.0, 1), arm(51, 100.0, 2));
    let found = ask(&treatment, &control, true);
    assert_eq!(found.agree(Says::Less), (ALL.len(), ALL.len()), "{found:#?}");
    assert_eq!(ask(&control, &treatment, true).agree(Says::Greater), (ALL.len(), ALL.len()));
    assert!(found.answers.iter().all(|answer| answer.estimate.unwrap() < answer.meaning.neutral()));
}

#[test]
fn a_true_null_is_rejected_about_as_often_as_alpha_says() {
    let mut rejected = vec![0; ALL.len()];
    for seed in 0..400 {
        let (treatment, control) = (arm(30, 100.0, 2 * seed), arm(30, 100.0, 2 * seed + 1));
        let options = PanelOptions { resamples: 200, seed, paired: true, ..PanelOptions::default() };
        let found = panel(&treatment, &control, options).unwrap();
        for (count, answer) in rejected.iter_mut().zip(&found.answers) {
            *count += i32::from(answer.says != Says::NoDifference);
        }
    }
    // 20 are expected, and a bootstrap of 30 skewed observations errs a little more often.
    for (count, method) in rejected.iter().zip(ALL) {
        assert!((8..=37).contains(count), "{}: {count} of 400", method.id);
    }
}

#[test]
fn what_is_undefined_has_a_reason_and_is_not_counted() {
    let reason = |found: &Panel, id: &str| match found.get(id).unwrap().says {
        Says::Undefined(reason) => reason.code(),
        says => says.code(),
    };
    // A value at zero, and arms that do not overlap.
    let found = ask(&sample(&[0.0, 1.0, 2.0, 1.5]), &sample(&[5.0, 6.0, 7.0, 6.5]), false);
    assert_eq!(reason(&found, "welch-log"), "non_positive");
    assert_eq!(reason(&found, "paired"), "not_paired");
    assert_eq!(reason(&found, "brunner-munzel"), "degenerate_separation");
    assert_eq!(found.agree(Says::Less).1, ALL.len() - 4);
    // Constants.
    let found = ask(&sample(&[2.0; 5]), &sample(&[3.0; 5]), true);
    for id in ["welch", "welch-log", "welch-fenced", "yuen"] {
        assert_eq!(reason(&found, id), "zero_variance_both");
    }
    assert_eq!(reason(&found, "bootstrap"), "degenerate");
    assert_eq!(reason(&found, "paired"), "zero_variance_diff");
    // One observation an arm, and a control whose mean is zero.
    let found = ask(&sample(&[2.0]), &sample(&[3.0]), true);
    for id in ["welch", "yuen", "permutation", "bootstrap", "paired-raw"] {
        assert_eq!(reason(&found, id), "too_few", "{id}");
    }
    assert_eq!(reason(&found, "hodges-lehmann"), "level_out_of_reach");
    let found = ask(&sample(&[2.0, 3.0, 2.5]), &sample(&[-1.0, 1.0]), true);
    assert_eq!(reason(&found, "bootstrap"), "zero_baseline");
    assert_eq!(reason(&found, "paired-raw"), "unequal_length");
}

#[test]
fn outliers_are_set_aside_for_one_method_only() {
    let control = arm(30, 100.0, 3);
    let mut values = arm(30, 97.0, 4).values().to_vec();
    values[7] = 400.0;
    let found = ask(&sample(&values), &control, false);
    assert_eq!(found.get("welch").unwrap().says, Says::NoDifference);
    for id in ["welch-fenced", "yuen", "mann-whitney", "brunner-munzel", "hodges-lehmann"] {
        assert_eq!(found.get(id).unwrap().says, Says::Less, "{id}");
    }
}

#[test]
fn a_negative_control_keeps_the_direction() {
    let negative = |level: f64, seed| {
        Sample::new(arm(20, level, seed).values().iter().map(|value| -value).collect()).unwrap()
    };
    let found = ask(&negative(103.0, 5), &negative(100.0, 6), false);
    assert_eq!(found.get("bootstrap").unwrap().says, Says::Less);
    assert_eq!(found.get("welch").unwrap().says, Says::Less);
}

#[test]
fn a_seed_gives_the_same_panel_and_names_are_unique() {
    let (treatment, control) = (arm(21, 99.5, 7), arm(24, 100.0, 8));
    let found = ask(&treatment, &control, false);
    assert_eq!(found, ask(&treatment, &control, false));
    let mut ids: Vec<_> = ALL.iter().map(|method| method.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), ALL.len());
}

#[test]
fn refuses_options_that_make_no_sense() {
    let x = sample(&[1.0, 2.0, 3.0]);
    let code = |options| panel(&x, &x, options).map_err(StatsError::code).err();
    assert_eq!(code(PanelOptions { alpha: 0.0, ..PanelOptions::default() }), Some("invalid_level"));
    assert_eq!(code(PanelOptions { trim: 0.5, ..PanelOptions::default() }), Some("invalid_level"));
    assert_eq!(code(PanelOptions { resamples: 0, ..PanelOptions::default() }), Some("invalid_input"));
}

/// Around a mean, without pattern.
fn scattered(mean: f64, seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    Sample::new((0..40).map(|_| mean + rng.below(1000) as f64 / 500.0 - 1.0).collect()).unwrap()
}

#[test]
fn every_method_answers_for_a_margin() {
    let (treatment, control) = (scattered(90.0, 1), scattered(100.0, 2));
    let says = |null| {
        let options = PanelOptions { null, paired: true, ..PanelOptions::default() };
        let panel = panel(&treatment, &control, options).unwrap();
        let plain =
            super::panel(&treatment, &control, PanelOptions { null: Null::Change(0.0), ..options }).unwrap();
        for (answer, plain) in panel.answers.iter().zip(&plain.answers) {
            assert_eq!((answer.estimate, answer.interval), (plain.estimate, plain.interval));
        }
        panel
            .answers
            .into_iter()
            .map(|it| it.says)
            .filter(|it| !matches!(it, Says::Undefined(_)))
            .collect::<Vec<_>>()
    };
    for (null, expected) in [
        (Null::Change(0.0), Says::Less),
        (Null::Change(-0.05), Says::Less),
        (Null::Change(-0.15), Says::Greater),
        (Null::Difference(-8.0), Says::Less),
        (Null::Difference(-12.0), Says::Greater),
    ] {
        let found = says(null);
        assert!(found.len() >= 9 && found.iter().all(|it| *it == expected), "{null:?}: {found:?}");
    }
    // At the limit itself, chance decides, and hardly any method finds something.
    let found = says(Null::Change(-0.1));
    assert!(found.iter().filter(|it| **it == Says::NoDifference).count() >= 9, "{found:?}");
}
