//! The ledger of made-up experiments, to the byte.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod data;

use harness::render::{Experiment, RecordedRun, ledger, of_experiment, of_ledger};
use harness::stats::Interval;
use std::path::Path;

fn page(experiments: &[Experiment]) -> String {
    let figures: Vec<_> = experiments.iter().map(|it| of_experiment(it).0).collect();
    let (of_all, problems) = of_ledger("loading", experiments);
    assert!(problems.is_empty(), "{problems:?}");
    ledger("loading", experiments, &figures, &of_all)
}

/// `HARNESS_BLESS=1 cargo test -p harness --test render` writes the file anew.
#[test]
fn the_ledger_is_what_it_was() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render/ledger.md");
    let page = page(&data::experiments());
    if std::env::var_os("HARNESS_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differ = page.lines().zip(golden.lines()).find(|(new, old)| new != old);
    assert!(page == golden, "it differs: {differ:#?}; look at it, then set HARNESS_BLESS=1");
}

#[test]
fn the_same_rows_give_the_same_bytes_in_any_order() {
    let experiments = data::experiments();
    let mut turned = data::experiments();
    for experiment in &mut turned {
        let versions = experiment.versions.clone();
        for run in &mut experiment.runs {
            let mut data = run.data.clone();
            data.sets.reverse();
            data.cells.reverse();
            data.arms.reverse();
            let (_, prereg) = versions.iter().find(|(it, _)| it.version == data.run.version).unwrap();
            *run = RecordedRun::new(prereg, data);
        }
        experiment.runs.reverse();
    }
    assert!(page(&experiments) == page(&turned));
}

#[test]
fn no_number_is_missing_or_beyond_all() {
    let page = page(&data::experiments());
    for word in ["NaN", "inf ", "inf]", "infinity", "-0.0", "None", "Some("] {
        assert!(!page.contains(word), "{word}");
    }
    // A hyphen before a digit is no sign of a number; dates, ids and names have them within.
    for (i, line) in page.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        let cells = line.split(" | ").map(str::trim);
        for cell in cells {
            let bad = cell.starts_with('-') && cell[1..].starts_with(|it: char| it.is_ascii_digit());
            assert!(!bad, "line {}: {cell}", i + 1);
        }
    }
}

#[test]
fn the_parts_of_a_run_are_one_picture_of_the_host() {
    let experiments = data::experiments();
    let it = experiments.iter().find(|it| it.prereg().id == "exp-3-depth").unwrap();
    let figure = of_experiment(it).0.into_iter().find(|it| it.path == "exp-3-depth/telemetry.svg").unwrap();
    // Of the first part no steal is known; the highest load is that of the block that was measured again.
    assert!(figure.svg.contains("15 readings; load: highest 2.50; steal: highest 1.00 %."), "{}", figure.svg);
    assert!(figure.svg.contains("struck: measured again, 1 block"), "{}", figure.svg);
    // A run of which nothing is known has none.
    let others = experiments.iter().filter(|it| it.prereg().id != "exp-3-depth");
    assert!(others.flat_map(|it| of_experiment(it).0).all(|it| !it.path.ends_with("telemetry.svg")));
}

#[test]
fn the_interval_that_is_drawn_is_the_one_that_decides() {
    let experiment = data::by_block();
    let judged = &experiment.runs[0].decision.hypotheses[0];
    let decides = judged.gain.as_ref().unwrap().interval;
    let ends = |it: Interval| [it.lower, it.upper].map(|it| format!("{:.1}", 100.0 * it));
    let [low, high] = ends(decides);
    let of_means = judged.comparison.relative_gain(decides.level).unwrap().interval;
    assert_ne!([&low, &high], ends(of_means).each_ref(), "nothing is tested");
    let (figures, _) = of_experiment(&experiment);
    let gain = figures.iter().find(|it| it.path == "exp-9-pairs/gain.svg").unwrap();
    assert!(gain.svg.contains(&format!("[+{low}, +{high} %]")), "{low} to {high}: {}", gain.svg);
}

#[test]
fn names_break_neither_tables_nor_the_page() {
    let page = page(&data::experiments());
    assert!(!page.contains("<script>") && !page.contains("<i>") && !page.contains('\u{202e}'));
    let mut columns = 0;
    for (i, line) in page.lines().enumerate() {
        let pipes = line.replace("\\|", "").matches('|').count();
        let row = line.starts_with("| ") && !line.contains("not a table");
        if row && columns > 0 {
            assert_eq!(pipes, columns, "line {}: {line}", i + 1);
        }
        columns = if row { pipes } else { 0 };
    }
}

#[test]
fn everything_a_reviewer_asks_for_is_there() {
    let page = page(&data::experiments());
    for text in [
        "**Claim.** Opening a trie lazily",
        "- nodes are made on first access",
        "### Verdict: ACCEPT",
        "### Verdict: REJECT",
        "### Verdict: INCONCLUSIVE",
        "### Verdict: INVALID",
        "### Verdict: RECORDED",
        "**Not run yet.**",
        "### Design",
        "### Measurements",
        "### Statistical analysis",
        "### Caveats",
        "### Registrations",
        "### Runs",
        "before the amendment",
        "replication",
        "harness run exp-1-lazy",
        "8 samples are too few \\| see the notes",
        "Replicated: 1 of 2",
        "**Claim undecided: rechecked 1 of 2.**",
        "✓&nbsp;pass",
        "✗&nbsp;fail",
        "?&nbsp;open",
        "no, exploratory",
        "**10 of 10 methods agree** with",
        "- `open_time`: arm `lazy` at terms=1000: less noisy than arm `eager`",
        "Taken by itself, p &lt; 0.05 holds for 2 of 2 hypotheses; if nothing differed anywhere, it would for up to 0.10 by chance",
        "| `open_time` | lazy against eager |     2 |",
        "../plots/ledger-loading/arms.svg",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
