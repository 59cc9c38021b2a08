//! Plots of many cells and of many arms: heat maps, geometric means below a forest, bars.

use crate::{check, data};
use harness::render::plot::{
    ArmBar, ArmGroup, Arms, Gain, GainMean, Gains, Heat, HeatPanel, Interval, PlotError, Tile, arms, gain,
    heat,
};
use harness::vocab::{Direction, Finding, Unit, Verdict};

fn tile(gain: f64) -> Option<Tile> {
    let finding = match gain {
        it if it.abs() < 0.03 => Finding::Undecided,
        it if it > 0.0 => Finding::Supported,
        _ => Finding::Refuted,
    };
    Some(Tile { gain: Some(gain), finding })
}

fn panel(name: &str, columns: &[&str], rows: &[(&str, &[f64])]) -> HeatPanel {
    let row =
        |(name, gains): &(&str, &[f64])| ((*name).to_owned(), gains.iter().map(|it| tile(*it)).collect());
    HeatPanel {
        name: name.to_owned(),
        columns: columns.iter().map(|it| (*it).to_owned()).collect(),
        rows: rows.iter().map(row).collect(),
    }
}

/// Four formats at four sizes in both directions.
pub(crate) fn codec() -> Heat {
    let sizes = ["100", "500", "1000", "5000"];
    Heat {
        title: "Capacity hints: gain by cell".to_owned(),
        across: "terms".to_owned(),
        down: "format".to_owned(),
        panels: vec![
            panel(
                "encode",
                &sizes,
                &[
                    ("bincode", &[0.14, 0.08, 0.127, 0.034]),
                    ("json", &[0.10, 0.029, 0.027, -0.03]),
                    ("protobuf-v1", &[-0.13, -0.259, -0.258, -0.33]),
                    ("protobuf-v2", &[0.20, 0.07, 0.0, -0.009]),
                ],
            ),
            panel(
                "decode",
                &sizes,
                &[
                    ("bincode", &[0.138, 0.08, 0.04, 0.0275]),
                    ("json", &[0.129, 0.036, 0.021, -0.02]),
                    ("protobuf-v1", &[0.099, 0.043, -0.151, 0.0]),
                    ("protobuf-v2", &[0.195, 0.02, -0.02, 0.0783]),
                ],
            ),
        ],
    }
}

/// Eight columns, what is not claimed, what is undefined, what is far beyond 100 %, and names that are too long.
pub(crate) fn odd() -> Heat {
    let long = "a-row-with-a-name-that-is-rather-long-for-its-place against another";
    let columns = ["1", "2", "4", "8", "16", "32", "64", "a-column-with-a-long-name"];
    let mut only = panel(
        "a-metric-with-a-name-that-is-too-long",
        &columns,
        &[
            (long, &[0.999_71, 0.5, 0.25, 0.12, 0.06, 0.0, -0.06, -0.12]),
            ("eager", &[-0.25, -0.5, -1.0, -2.0, -30.0, -0.001, 0.3, 0.999_999]),
        ],
    );
    only.rows[0].1[2] = None;
    only.rows[1].1[7] = Some(Tile { gain: None, finding: Finding::Undecided });
    Heat { title: "Odd".to_owned(), across: "threads".to_owned(), down: String::new(), panels: vec![only] }
}

/// The same as rows of a forest, with what each direction comes to on the whole.
pub(crate) fn forest() -> Gains {
    let mut rows = Vec::new();
    for panel in codec().panels {
        for (format, tiles) in &panel.rows {
            for (tile, terms) in tiles.iter().zip(&panel.columns) {
                let Tile { gain, finding } = tile.clone().unwrap();
                let (cell, gain) = (format!("format={format},terms={terms}"), gain.unwrap());
                rows.push(data::row(&panel.name, &cell, 0.0, finding, (gain - 0.02, gain, gain + 0.02)));
            }
        }
    }
    let mean = |label: &str, gain| GainMean {
        label: format!("{label} on the whole"),
        note: "16 cells, exact against growing".to_owned(),
        gain,
    };
    let narrow = Gain { value: 0.0312, interval: Some(Interval { low: 0.0309, high: 0.0315 }) };
    let wide = Gain { value: -0.021, interval: Some(Interval { low: -0.06, high: 0.018 }) };
    let missing = Err("the cells do not have equally many blocks".to_owned());
    let means = vec![mean("encode", Ok(wide)), mean("decode", Ok(narrow)), mean("size", missing)];
    Gains { means, ..data::gains("Capacity hints: gain, positive is better", rows) }
}

fn bar(name: &str, verdict: Option<Verdict>, mean: f64, half: f64) -> ArmBar {
    let interval = Some(Interval { low: mean - half, high: mean + half });
    ArmBar { name: name.to_owned(), verdict, mean, interval }
}

fn group(experiment: &str, label: &str, bars: Vec<ArmBar>) -> ArmGroup {
    ArmGroup { experiment: experiment.to_owned(), label: label.to_owned(), bars }
}

/// Strategies far apart, with every verdict.
pub(crate) fn loading() -> Arms {
    use Verdict::{Accept, Inconclusive, Invalid, Recorded, Reject};
    Arms {
        title: "Ledger loading: open_time at terms=1000000, arm by arm".to_owned(),
        metric: "open_time".to_owned(),
        unit: Unit::parse("ms").unwrap(),
        better: Direction::Lower,
        interval: "95 % interval of the mean".to_owned(),
        groups: vec![
            group("exp-0-baseline", "RECORDED", vec![bar("eager", None, 96.1, 1.9)]),
            group(
                "exp-1-lazy",
                "ACCEPT",
                vec![bar("eager", None, 95.4, 0.4), bar("lazy", Some(Accept), 0.467, 0.01)],
            ),
            group(
                "exp-2-depth",
                "REJECT",
                vec![
                    bar("lazy", None, 0.47, 0.09),
                    bar("depth-3", Some(Inconclusive), 0.48, 0.01),
                    bar("depth-20-with-a-name-that-is-rather-long", Some(Reject), 99.0, 2.0),
                ],
            ),
            group("exp-3-parallel", "INVALID", vec![bar("parallel-8", Some(Invalid), 51.0, 2.0)]),
            group("exp-4-mapped", "ACCEPT", vec![bar("mapped", Some(Recorded), 0.0173, 0.0004)]),
        ],
    }
}

/// Arms close to each other, more of which is better.
pub(crate) fn slots() -> Arms {
    let groups = vec![
        group(
            "inline-2-c6",
            "GO",
            vec![bar("c6-off", None, 42.36, 0.3), bar("c6-on", Some(Verdict::Accept), 44.25, 0.28)],
        ),
        group(
            "inline-3-c5",
            "NO-GO",
            vec![
                bar("c5-off", None, 44.3, 0.3),
                ArmBar { interval: None, ..bar("c5-on", Some(Verdict::Reject), 43.6, 0.0) },
            ],
        ),
    ];
    Arms {
        title: "Ledger inline-slots: throughput, arm by arm".to_owned(),
        metric: "throughput".to_owned(),
        unit: Unit::parse("Mop/s").unwrap(),
        better: Direction::Higher,
        groups,
        ..loading()
    }
}

#[test]
fn a_heat_map_says_in_words_what_it_shows_by_color() {
    let svg = heat::draw(&codec()).unwrap();
    assert!(svg.contains("encode, protobuf-v1: 100 −13.0 % refuted, 500 −25.9 % refuted"));
    // The word in each of ten tiles and in the key.
    assert_eq!(svg.matches(">\nundecided\n<").count(), 1 + 10);
    let svg = heat::draw(&odd()).unwrap();
    assert_eq!(svg.matches(">\nnot claimed\n<").count() + svg.matches("<title>not claimed").count(), 1);
}

#[test]
fn a_heat_map_ends_whatever_the_numbers_are() {
    for size in [0.0, 5e-324, 1e-12, 0.01, 1.5, 30.0, 1e300] {
        let heat = Heat { panels: vec![panel("m", &["1", "2"], &[("a", &[-size, size])])], ..codec() };
        check(&format!("heat {size:e}"), &heat::draw(&heat).unwrap());
    }
    let mut bad = codec();
    bad.panels[0].rows[0].1[0] = Some(Tile { gain: Some(f64::NAN), finding: Finding::Undecided });
    assert!(matches!(heat::draw(&bad), Err(PlotError::OutOfRange { .. })));
    bad.panels.clear();
    assert_eq!(heat::draw(&bad), Err(PlotError::Nothing { what: "hypotheses in cells" }));
    let nine = Heat { panels: vec![panel("m", &["1"; 9], &[("a", &[0.1; 9])])], ..codec() };
    assert_eq!(heat::draw(&nine), Err(PlotError::Nothing { what: "columns that have room" }));
}

#[test]
fn bars_end_whatever_the_numbers_are() {
    let with = |mean: f64, half: f64| {
        let mut plot = loading();
        plot.groups[1].bars[1] = bar("odd", Some(Verdict::Reject), mean, half);
        arms::draw(&plot)
    };
    for mean in [0.0, -3.0, 5e-324, 1e-300, 1e299, 42.0] {
        check(&format!("bar {mean:e}"), &with(mean, 0.0).unwrap());
    }
    assert!(matches!(with(f64::NAN, 0.0), Err(PlotError::OutOfRange { .. })));
    assert!(matches!(with(1.0, -1.0), Err(PlotError::Reversed { .. })));
    let none = Arms { groups: Vec::new(), ..loading() };
    assert_eq!(arms::draw(&none), Err(PlotError::Nothing { what: "arms" }));
}

#[test]
fn a_geometric_mean_that_cannot_be_drawn_is_refused() {
    let mut plot = forest();
    plot.means[0].gain = Ok(Gain { value: f64::INFINITY, interval: None });
    assert!(matches!(gain::draw(&plot), Err(PlotError::OutOfRange { .. })));
}
