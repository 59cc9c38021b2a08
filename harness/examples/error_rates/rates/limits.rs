//! Where the tests of a difference err most: unequal n, and series that depend on themselves.

use super::parallel;
use super::shape::{Shape, ar1};
use super::table::{Entry, Table, error};
use harness::stats::rng::Rng;
use harness::stats::{RankMethod, Sample, StatsError, brunner_munzel, mann_whitney, welch};

const ALPHA: f64 = 0.05;

/// Draws treatment and control.
type Arms = fn(&mut Rng) -> [Vec<f64>; 2];

fn sized(shape: Shape, rng: &mut Rng, n: [usize; 2]) -> [Vec<f64>; 2] {
    n.map(|n| shape.draw(rng, 1, n).swap_remove(0))
}

fn series(rng: &mut Rng, phi: f64) -> [Vec<f64>; 2] {
    [ar1(rng, 30, phi), ar1(rng, 30, phi)]
}

fn spread(rng: &mut Rng, n: [usize; 2]) -> [Vec<f64>; 2] {
    let [own, other] = sized(Shape::Normal, rng, n);
    [own.into_iter().map(|it| 5.0 * it).collect(), other]
}

const CASES: &[(&str, Arms)] = &[
    ("normal, n = 30 and 30", |rng| sized(Shape::Normal, rng, [30, 30])),
    ("normal, n = 10 and 50", |rng| sized(Shape::Normal, rng, [10, 50])),
    ("log-normal, n = 30 and 30", |rng| sized(Shape::LogNormal, rng, [30, 30])),
    ("log-normal, n = 10 and 50", |rng| sized(Shape::LogNormal, rng, [10, 50])),
    ("Pareto 1.5, n = 30 and 30", |rng| sized(Shape::Pareto, rng, [30, 30])),
    ("Pareto 1.5, n = 10 and 50", |rng| sized(Shape::Pareto, rng, [10, 50])),
    ("deviations 5 and 1, n = 30 and 30", |rng| spread(rng, [30, 30])),
    ("deviations 5 and 1, n = 10 and 50", |rng| spread(rng, [10, 50])),
    ("deviations 5 and 1, n = 50 and 10", |rng| spread(rng, [50, 10])),
    ("AR(1) 0.2 in each arm, n = 30 and 30", |rng| series(rng, 0.2)),
    ("AR(1) 0.5 in each arm, n = 30 and 30", |rng| series(rng, 0.5)),
    ("AR(1) 0.8 in each arm, n = 30 and 30", |rng| series(rng, 0.8)),
];

fn rejections([treatment, control]: [Vec<f64>; 2]) -> Result<Vec<Option<bool>>, StatsError> {
    let (treatment, control) = (Sample::new(treatment)?, Sample::new(control)?);
    let welch = welch(&treatment, &control)?.test.map(|it| it.p.two_sided);
    let ranks = mann_whitney(&treatment, &control, RankMethod::AutoConditional)?.p.two_sided;
    let brunner_munzel = brunner_munzel(&treatment, &control)?.test.map(|it| it.p.two_sided);
    Ok([welch, Some(ranks), brunner_munzel].map(|p| p.map(|it| it.value() < ALPHA)).to_vec())
}

/// The share of experiments with arms of one center in which a test finds a difference.
pub(super) fn table(runs: usize) -> Table {
    let row = |(index, (name, arms)): (usize, &(&str, Arms))| {
        let answers = parallel::map(runs, |run| {
            rejections(arms(&mut Rng::stream(300 + index as u64, run as u64))).expect("finite samples")
        });
        ((*name).to_owned(), Entry::columns(&answers))
    };
    let columns = ["samples of treatment and control", "Welch", "Mann-Whitney", "Brunner-Munzel"];
    Table {
        title: format!(
            "Limits of the tests: a difference is found where there is none, in %, at 5 % (standard error ± {} points)",
            error(ALPHA, runs)
        ),
        columns: columns.map(str::to_owned).to_vec(),
        rows: CASES.iter().enumerate().map(row).collect(),
    }
}
