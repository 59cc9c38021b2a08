//! What looking before the end costs, and what looks that were planned cost.

use super::parallel;
use super::shape::Shape;
use super::table::{Entry, Table, error};
use harness::stats::Decision;
use harness::stats::dist::normal_isf;
use harness::stats::rng::Rng;
use harness::stats::{
    GroupSequential, Moments, Sides, SignProcess, Spending, TTest, group_sequential, welch_of_moments,
};

const ALPHA: f64 = 0.05;
const FIRST: usize = 10;
const PAIRS: usize = 400;
const SHAPES: [Shape; 6] =
    [Shape::Normal, Shape::LogNormal, Shape::T3, Shape::Pareto, Shape::Ar1, Shape::SharedAr1];
const ROWS: [&str; 5] = [
    "Welch once, after 400 pairs",
    "Welch after every pair from 10 to 400, uncorrected",
    "group-sequential, 5 looks, O'Brien-Fleming",
    "group-sequential, 5 looks, Pocock",
    "sign e-process, after every pair",
];

/// Mean and sum of squares of a growing arm (Welford 1962).
#[derive(Clone, Copy, Default)]
struct Growing {
    n: usize,
    mean: f64,
    squares: f64,
}

impl Growing {
    fn push(&mut self, value: f64) {
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    fn moments(&self) -> Option<Moments> {
        let sd = (self.squares / (self.n as f64 - 1.0)).sqrt();
        Moments::from_summary(self.mean, sd, self.n).ok()
    }
}

fn t_test(treatment: &Growing, control: &Growing) -> Option<TTest> {
    welch_of_moments(&treatment.moments()?, &control.moments()?).ok()?.test
}

/// Whether each procedure ever says that equal arms differ.
fn rejections(shape: Shape, run: usize, plans: &[GroupSequential; 2]) -> Vec<Option<bool>> {
    let mut rng = Rng::stream(6, run as u64);
    let arms = shape.draw(&mut rng, 2, PAIRS);
    let [mut control, mut treatment] = [Growing::default(); 2];
    let mut signs = SignProcess::default();
    let (mut once, mut ever, mut planned) = (false, false, [false; 2]);
    for (pair, (a, b)) in arms[0].iter().zip(&arms[1]).enumerate() {
        control.push(*a);
        treatment.push(*b);
        signs.push(b < a);
        let n = pair + 1;
        let Some(test) = (n >= FIRST).then(|| t_test(&treatment, &control)).flatten() else { continue };
        let p = test.p.two_sided.value();
        once = p < ALPHA;
        ever |= once;
        if n % (PAIRS / 5) == 0 {
            let z = normal_isf(0.5 * p).unwrap_or(0.0);
            for (stopped, plan) in planned.iter_mut().zip(plans) {
                *stopped |= plan.look(n as f64 / PAIRS as f64, z) == Ok(Decision::Stop);
            }
        }
    }
    let evidence = signs.max_ln_two_sided() >= -ALPHA.ln();
    [once, ever, planned[0], planned[1], evidence].map(Some).to_vec()
}

/// The share of experiments with equal arms in which a difference is found.
pub(super) fn table(runs: usize) -> Table {
    let fractions = [0.2, 0.4, 0.6, 0.8, 1.0];
    let plans = [Spending::OBrienFleming, Spending::Pocock]
        .map(|it| group_sequential(&fractions, ALPHA, Sides::Two, it).expect("a plan"));
    let column = |shape: Shape| {
        (shape.name(), Entry::columns(&parallel::map(runs, |run| rejections(shape, run, &plans))))
    };
    let title = format!(
        "Looking at equal arms: a difference is found, in %, at 5 % (standard error ± {} points)",
        error(ALPHA, runs)
    );
    Table::by_columns(title, "procedure", &ROWS, &SHAPES.map(column))
}
