//! Data that break axes: constant, single, empty, nearly equal, huge, tiny, many.
//!
//! `tests/cases/22_plots` comes from a collection of open cases: sets.json holds the samples and expected.json
//! what a plot of them must be, with the failures of plotters' own axes that it was made after.

use crate::{both, check, data};
use harness::render::plot::{Gain, Interval, Panel, PlotError, Samples, gain, verdicts};
use harness::vocab::{Finding, Role, Unit};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn two(control: Vec<f64>, treatment: Vec<f64>) -> Samples {
    let warmups = control.first().copied().into_iter().collect();
    let arms = vec![
        data::arm("control", Role::Control, control, warmups),
        data::arm("treatment", Role::Treatment, treatment, vec![]),
    ];
    data::samples("Degenerate", "ms", vec![Panel { cell: String::new(), arms }])
}

#[test]
fn sets_that_break_axes_end_at_once() {
    let sets: BTreeMap<String, BTreeMap<String, Vec<f64>>> =
        serde_json::from_str(include_str!("../cases/22_plots/sets.json")).unwrap();
    assert_eq!(sets.len(), 7);
    for (name, set) in sets {
        let start = Instant::now();
        for (plot, svg) in both(&name, &two(set["control"].clone(), set["treatment"].clone())) {
            match svg {
                Ok(svg) => check(&plot, &svg),
                Err(error) => {
                    assert_eq!(name, "empty_arm");
                    assert_eq!(error.to_string(), "arm treatment has no samples");
                }
            }
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{name}");
    }
}

#[test]
fn extremes_have_a_place() {
    let odd: [(&str, Vec<f64>, Vec<f64>); 10] = [
        ("zero", vec![0.0, -0.0], vec![0.0]),
        ("zero-and-more", vec![0.0, 1.0], vec![1e9]),
        ("both-signs", vec![-5.0, 5.0], vec![-500.0]),
        ("huge", vec![1e300, -1e300], vec![1e300]),
        ("tiny", vec![1e-300, 2e-300], vec![1.5e-300]),
        ("subnormal", vec![5e-324], vec![1e-310]),
        ("all-there-is", vec![1e-300], vec![1e300]),
        ("one-part-in-1e12", vec![1.0, 1.0 + 1e-12], vec![1.0]),
        ("one-part-in-1e8", vec![1.0, 1.0 + 1e-8], vec![1.0]),
        ("large-and-close", vec![123_456_789.0, 123_456_790.0], vec![123_456_789.5]),
    ];
    for (name, control, treatment) in odd {
        for unit in ["ps", "ms", "s", "GiB", "B", "Gop/s", "1", "%"] {
            let samples = two(control.clone(), treatment.clone());
            let samples = Samples { unit: Unit::parse(unit).unwrap(), ..samples };
            for (plot, svg) in both(name, &samples) {
                check(&format!("{plot} in {unit}"), &svg.unwrap());
            }
        }
    }
}

#[test]
fn many_samples_and_many_arms_stay_small() {
    let mut noise = data::Noise(1);
    let arm = |i: usize, values| data::arm(&format!("arm-{i}"), Role::Treatment, values, vec![]);
    let many = (0..2).map(|i| arm(i, noise.lognormal(5.0, 0.2, 70_000))).collect();
    let arms = (0..40).map(|i| arm(i, vec![i as f64, 40.0])).collect();
    for arms in [many, arms] {
        let samples = data::samples("Many", "ms", vec![Panel { cell: "terms=1".to_owned(), arms }]);
        for (plot, svg) in both("many", &samples) {
            check(&plot, &svg.unwrap());
        }
    }
}

#[test]
fn names_of_every_kind_have_a_place() {
    let names: Vec<String> = serde_json::from_str(include_str!("../cases/23_names_cli/names.json")).unwrap();
    let arms = names.iter().map(|it| data::arm(it, Role::Treatment, vec![1.0, 2.0], vec![1.0]));
    let cell = names.join(",");
    let mut samples = data::samples(&cell, "ms", vec![Panel { cell: cell.clone(), arms: arms.collect() }]);
    samples.metric.clone_from(&cell);
    samples.interval.clone_from(&cell);
    for (plot, svg) in both("names", &samples) {
        check(&plot, &svg.unwrap());
    }
    let row = data::row("", &cell, 0.1, Finding::Undecided, (0.0, 0.1, 0.2));
    let mut gains = data::gains(&cell, vec![row; names.len()]);
    gains.interval.clone_from(&cell);
    let mut ledger = data::ledger();
    ledger.rows = vec![ledger.rows[1].clone(); names.len()];
    for (i, name) in names.iter().enumerate() {
        gains.rows[i].label.clone_from(name);
        if i % 2 == 0 {
            gains.rows[i].gain = Err(name.repeat(9));
        }
        ledger.rows[i].experiment.clone_from(name);
        ledger.rows[i].label.clone_from(name);
        ledger.rows[i].subtitle = name.repeat(9);
    }
    check("gain of names", &gain::draw(&gains).unwrap());
    check("verdicts of names", &verdicts::draw(&ledger).unwrap());
}

#[test]
fn gains_of_every_size_have_a_place() {
    for size in [0.0, 5e-324, 1e-12, 0.01, 1.5, 1.6, 30.0, 1e6, 1e300] {
        let rows = vec![
            data::row("one", "", 0.05, Finding::Supported, (-size, 0.0, size)),
            data::row("two", "", 0.05, Finding::Refuted, (-size, -size, -size)),
        ];
        check(&format!("gain {size:e}"), &gain::draw(&data::gains("Gains", rows)).unwrap());
        let mut ledger = data::ledger();
        ledger.rows[1].gain = Some(size);
        ledger.rows[2].gain = Some(-size);
        check(&format!("verdicts {size:e}"), &verdicts::draw(&ledger).unwrap());
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_reason() {
    let message =
        |samples: &Samples| both("", samples).map(|it| it.1.unwrap_err().to_string()).next().unwrap();
    assert_eq!(
        message(&two(vec![1.0, f64::NAN], vec![1.0])),
        "cannot plot NaN of arm control: only finite numbers up to 1e300 have a place"
    );
    assert_eq!(
        message(&two(vec![1.0], vec![f64::INFINITY])),
        "cannot plot inf of arm treatment: only finite numbers up to 1e300 have a place"
    );
    assert_eq!(message(&data::samples("", "ms", vec![])), "nothing to plot: there are no cells");
    let empty = Panel { cell: String::new(), arms: vec![] };
    assert_eq!(message(&data::samples("", "ms", vec![empty])), "nothing to plot: there are no arms");
    let mut reversed = two(vec![1.0], vec![1.0]);
    reversed.panels[0].arms[0].interval = Some(Interval { low: 2.0, high: 1.0 });
    assert_eq!(message(&reversed), "the interval of arm control ends before it begins");

    assert_eq!(
        gain::draw(&data::gains("", vec![])),
        Err(PlotError::Nothing { what: "hypotheses or guards" })
    );
    let mut row = data::row("open", "", 0.1, Finding::Supported, (0.0, 0.1, 0.2));
    row.gain = Ok(Gain { value: f64::NAN, interval: None });
    assert!(gain::draw(&data::gains("", vec![row])).is_err());
    let mut ledger = data::ledger();
    ledger.rows[1].gain = Some(f64::NEG_INFINITY);
    assert!(verdicts::draw(&ledger).is_err());
    ledger.rows.clear();
    assert_eq!(verdicts::draw(&ledger), Err(PlotError::Nothing { what: "experiments" }));
}

fn finite() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![
        -1e300..1e300,
        -10.0..10.0,
        0.99..1.01,
        (-300..300).prop_map(|it| 10_f64.powi(it)),
        proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
    ];
    prop::collection::vec(number, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn finite_data_end_in_a_plot_or_a_message(a in finite(), b in finite(), name in ".{0,80}") {
        let start = Instant::now();
        let mut samples = two(a, b);
        samples.panels[0].arms[0].name.clone_from(&name);
        samples.panels[0].cell = name;
        for (plot, svg) in both("any", &samples) {
            match svg {
                Ok(svg) => check(&plot, &svg),
                Err(PlotError::EmptyArm { .. } | PlotError::OutOfRange { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        prop_assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn finite_gains_end_in_a_plot_or_a_message(values in finite()) {
        let mut ledger = data::ledger();
        let row = |it: &f64| data::row("row", "", it.abs(), Finding::Undecided, (*it, *it, *it));
        let rows: Vec<_> = values.iter().map(row).collect();
        match gain::draw(&data::gains("Gains", rows)) {
            Ok(svg) => check("gain", &svg),
            Err(PlotError::Nothing { .. } | PlotError::OutOfRange { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        ledger.rows[1].gain = values.first().copied();
        match verdicts::draw(&ledger) {
            Ok(svg) => check("verdicts", &svg),
            Err(PlotError::OutOfRange { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
