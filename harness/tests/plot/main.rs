//! What plots promise: the same bytes, well-formed documents, texts that can be read, and an end.

#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod data;
mod degenerate;
mod grids;
mod xml;

use harness::render::plot::{
    OF_SAMPLES, PlotError, Samples, arms, gain, heat, interaction, looks, telemetry, verdicts,
};
use std::path::Path;

/// Every example with its document.
fn examples() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, samples) in [("lazy", data::lazy()), ("twelve", data::twelve())] {
        all.extend(both(name, &samples).map(|(name, svg)| (name, svg.unwrap())));
    }
    let gains = [
        ("loading", data::loading()),
        ("wide", data::wide()),
        ("sixty", data::sixty()),
        ("cells", grids::forest()),
    ];
    for (name, gains) in gains {
        all.push((format!("gain-{name}"), gain::draw(&gains).unwrap()));
    }
    all.push(("looks-loading".to_owned(), looks::draw(&data::looks()).unwrap()));
    all.push(("telemetry-host".to_owned(), telemetry::draw(&data::host()).unwrap()));
    for (name, plot) in [("slots", data::slots()), ("eight", data::eight())] {
        all.push((format!("interaction-{name}"), interaction::draw(&plot).unwrap()));
    }
    for (name, plot) in [("codec", grids::codec()), ("odd", grids::odd())] {
        all.push((format!("heat-{name}"), heat::draw(&plot).unwrap()));
    }
    for (name, plot) in [("loading", grids::loading()), ("slots", grids::slots())] {
        all.push((format!("arms-{name}"), arms::draw(&plot).unwrap()));
    }
    all.push(("verdicts-ledger".to_owned(), verdicts::draw(&data::ledger()).unwrap()));
    all
}

/// Every plot of `samples`, or why there is none.
fn both(name: &str, samples: &Samples) -> impl Iterator<Item = (String, Result<String, PlotError>)> {
    OF_SAMPLES.iter().map(move |plot| (format!("{}-{name}", plot.id), (plot.draw)(samples)))
}

/// Well-formed, of finite places, and no text cut off or on another.
#[track_caller]
fn check(name: &str, svg: &str) {
    let (width, height, texts) = xml::texts(svg);
    assert!(width == 800.0 && !texts.is_empty(), "{name}");
    assert!(svg.len() < 1_000_000, "{name} has {} bytes", svg.len());
    for (i, text) in texts.iter().enumerate() {
        let inside = text.left >= 0.0 && text.right <= width && text.top >= 0.0 && text.bottom <= height;
        assert!(inside, "{name}: {text:?} is cut off");
        for other in &texts[i + 1..] {
            assert!(!text.overlaps(other), "{name}: {text:?} lies on {other:?}");
        }
    }
    let numbers = svg.split('"').skip(1).step_by(2).flat_map(|it| it.split([' ', ',']));
    for number in numbers.filter_map(|it| it.parse::<f64>().ok()) {
        assert!(number.abs() < 1e6, "{name}: {number}");
    }
}

/// `BLESS=1 cargo test -p harness --test plot` writes the files anew.
#[test]
fn plots_are_what_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plots");
    for (name, svg) in examples() {
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &svg).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(golden == svg, "{name}.svg differs from {}; look at it, then set BLESS=1", path.display());
    }
}

#[test]
fn every_golden_file_belongs_to_an_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plots");
    let names: Vec<String> = examples().into_iter().map(|(name, _)| format!("{name}.svg")).collect();
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&file), "{file}");
    }
}

#[test]
fn texts_neither_overlap_nor_are_cut_off() {
    for (name, svg) in examples() {
        check(&name, &svg);
    }
}

#[test]
fn a_shortened_text_keeps_its_full_form() {
    let svg = both("twelve", &data::twelve()).next().unwrap().1.unwrap();
    assert!(svg.contains("<title>depth-limited-with-a-name-of-sixty-letters-that-has-no-blank</title>"));
    assert!(svg.contains("&lt;b&gt;&amp;amp; | pipes&lt;/b&gt;"));
}

#[test]
fn colors_follow_the_reader_and_are_complete_without() {
    for (name, svg) in examples() {
        assert!(svg.starts_with("<svg role=\"img\" width=\"800\""), "{name}");
        let (head, body) = svg.split_once("</style>").unwrap();
        assert!(head.contains("<title>") && head.contains("<desc>"), "{name}");
        let used = ["fill=\"#", "stroke=\"#"].into_iter().flat_map(|it| body.split(it).skip(1));
        for color in used.map(|it| &it[..6]) {
            assert!(head.contains(&format!("[fill=\"#{color}\"]")), "{name}: {color} has no dark form");
        }
    }
}

#[test]
fn an_interaction_plot_ends_whatever_the_numbers_are() {
    let with = |value: f64, half: f64| {
        let mut plot = data::slots();
        for mean in plot.squares.iter_mut().flat_map(|it| it.means.iter_mut().flatten()) {
            *mean = data::mean(value, half);
        }
        interaction::draw(&plot)
    };
    for value in [0.0, -3.0, 5e-324, 4e299, 42.0] {
        check(&format!("{value:e}"), &with(value, 0.0).unwrap());
    }
    assert!(matches!(with(f64::NAN, 0.0), Err(PlotError::OutOfRange { .. })));
    assert!(matches!(with(1e308, 0.0), Err(PlotError::OutOfRange { .. })));
    assert!(matches!(with(1.0, -1.0), Err(PlotError::Reversed { .. })));
    let none = interaction::Interaction { squares: Vec::new(), ..data::slots() };
    assert!(matches!(interaction::draw(&none), Err(PlotError::Nothing { .. })));
}

#[test]
fn a_plot_of_the_host_tells_what_did_not_count_and_ends_whatever_the_numbers_are() {
    let told = telemetry::draw(&data::host()).unwrap();
    assert!(
        told.contains("60 readings; load: highest 1.96; steal: highest 6.50 %; pressure: highest 5.00 %."),
        "{told}"
    );
    assert!(told.contains("struck: measured again, 1 block; crossed out: excluded, 1 block"));
    let with = |values: Vec<Option<f64>>| {
        let mut plot = data::host();
        plot.aside.clear();
        for it in &mut plot.quantities {
            it.values.clone_from(&values);
        }
        telemetry::draw(&plot)
    };
    for values in [
        vec![None; 3],
        vec![Some(0.0)],
        vec![Some(4e299), Some(-1.0), None, Some(5e-324)],
        vec![Some(0.5); 5_000],
    ] {
        check(&format!("{:?}", values.first()), &with(values).unwrap());
    }
    assert!(matches!(with(vec![Some(f64::NAN)]), Err(PlotError::OutOfRange { .. })));
    assert!(matches!(with(Vec::new()), Err(PlotError::Nothing { .. })));
}

#[test]
fn far_arms_stand_on_a_logarithmic_axis_that_says_so() {
    for (name, svg) in both("lazy", &data::lazy()) {
        let (_, _, texts) = xml::texts(&svg.unwrap());
        let said =
            texts.iter().filter(|it| it.text.contains("logarithmic scale: arms differ by a factor of"));
        assert_eq!(said.count(), 3, "{name}");
    }
    for (name, svg) in both("twelve", &data::twelve()) {
        assert!(!svg.unwrap().contains("logarithmic"), "{name}");
    }
}
