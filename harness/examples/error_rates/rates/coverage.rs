//! How often intervals contain what they are intervals of.

use super::parallel;
use super::shape::Shape;
use super::table::{Entry, Table, error};
use harness::stats::rng::Rng;
use harness::stats::{
    Bootstrap, Interval, Sample, StatsError, bootstrap_relative_change, cliffs_delta, effect_size,
    geometric_ratio, hodges_lehmann, mean_interval, quantile_interval, ratio, spread_ratio, welch,
};

const LEVEL: f64 = 0.95;

/// Of the control; the treatment's is the control's less one deviation.
const MEAN: f64 = 100.0;
const SD: f64 = 20.0;

/// Of the bootstrap: fewer than anybody should use for a verdict, since every interval has its own.
const RESAMPLES: usize = 499;

/// Values of a distribution that stand for it where the truth has no formula.
const GRID: usize = 2_000;

/// The arms of an experiment, and what is true of them.
struct Pair<'a> {
    treatment: Sample,
    control: Sample,
    bootstrap: Option<Bootstrap>,
    truth: &'a Truth,
}

/// What the intervals are of.
struct Truth {
    shape: Shape,
    geometric: Option<f64>,
    d: Option<f64>,
    delta: f64,
    shift: f64,
    spreads: Option<f64>,
}

impl Truth {
    fn of(shape: Shape) -> Self {
        let [own, other] = shape.deviations(SD);
        let grid: Vec<f64> = (0..GRID).map(|it| shape.quantile((it as f64 + 0.5) / GRID as f64)).collect();
        let scaled = |mean: f64, sd: f64| {
            Sample::new(grid.iter().map(|it| mean + sd * it).collect()).expect("finite values")
        };
        let (control, treatment) = (scaled(MEAN, own), scaled(MEAN - SD, other));
        let geometric = geometric_ratio(&treatment, &control).ok().map(|it| it.ratio);
        let average = (0.5 * (own * own + other * other)).sqrt();
        Self {
            shape,
            geometric: geometric.filter(|_| shape != Shape::T3),
            d: shape.has_deviation().then_some(-SD / average),
            delta: cliffs_delta(&treatment, &control).delta,
            shift: hodges_lehmann(&treatment, &control).shift,
            spreads: shape.has_deviation().then_some(other / own),
        }
    }
}

/// Whether an interval contains the truth; undefined if either is.
type Covers = fn(&Pair<'_>) -> Option<bool>;

fn contains(interval: Result<Option<Interval>, StatsError>, truth: f64) -> Option<bool> {
    interval.ok().flatten().map(|it| it.contains(truth))
}

fn contains_quantile(pair: &Pair<'_>, p: f64) -> Option<bool> {
    let truth = MEAN + SD * pair.truth.shape.quantile(p);
    let found = quantile_interval(&pair.control, p, LEVEL).ok()?;
    Some(found.lower.is_none_or(|it| it <= truth) && found.upper.is_none_or(|it| truth <= it))
}

const TRUE_CHANGE: f64 = -SD / MEAN;

const INTERVALS: &[(&str, Covers)] = &[
    ("mean", |it| contains(mean_interval(&it.control, LEVEL).map(Some), MEAN)),
    ("difference of means, Welch", |it| {
        contains(welch(&it.treatment, &it.control).ok()?.interval(LEVEL), -SD)
    }),
    ("ratio of means, Fieller", |it| {
        let fieller = ratio(&it.treatment, &it.control).ok()?.fieller(LEVEL).ok()??;
        Some(fieller.change.contains(TRUE_CHANGE))
    }),
    ("ratio of means, log-delta", |it| {
        let found = ratio(&it.treatment, &it.control).ok()?.log_delta(LEVEL).ok()??;
        Some(found.change.contains(TRUE_CHANGE))
    }),
    ("ratio of means, BCa bootstrap", |it| {
        let found = it.bootstrap.as_ref()?.bca_interval(LEVEL).ok()?;
        Some(found.interval.contains(TRUE_CHANGE))
    }),
    ("ratio of means, percentile bootstrap", |it| {
        Some(it.bootstrap.as_ref()?.percentile_interval(LEVEL).ok()?.contains(TRUE_CHANGE))
    }),
    ("ratio of geometric means", |it| {
        contains(geometric_ratio(&it.treatment, &it.control).ok()?.interval(LEVEL), it.truth.geometric?)
    }),
    ("d, Bonett", |it| {
        let found = effect_size(&it.treatment, &it.control).ok()?.standardized?;
        contains(found.bonett_interval(LEVEL).map(Some), it.truth.d?)
    }),
    ("d, noncentral t", |it| {
        let truth = it.truth.d?;
        let found = effect_size(&it.treatment, &it.control).ok()?.standardized?;
        contains(found.noncentral_interval(LEVEL).map(Some), truth)
    }),
    ("Cliff's delta, Newcombe", |it| {
        contains(cliffs_delta(&it.treatment, &it.control).newcombe_interval(LEVEL).map(Some), it.truth.delta)
    }),
    ("shift, Hodges-Lehmann", |it| {
        let found = hodges_lehmann(&it.treatment, &it.control).interval(LEVEL).ok()?;
        Some(found.interval.contains(it.truth.shift))
    }),
    ("median, order statistics", |it| contains_quantile(it, 0.5)),
    ("95th percentile, order statistics", |it| contains_quantile(it, 0.95)),
    ("ratio of deviations, Bonett", |it| {
        contains(spread_ratio(&it.treatment, &it.control).ok()?.interval(LEVEL), it.truth.spreads?)
    }),
];

/// The share of intervals that contain the truth, with `n` samples an arm.
pub(super) fn table(n: usize, runs: usize) -> Table {
    let column = |shape: Shape| {
        let truth = Truth::of(shape);
        let [own, other] = shape.deviations(SD);
        let covered = parallel::map(runs, |run| {
            let mut rng = Rng::stream(1_000 + n as u64, run as u64);
            let arms = shape.draw(&mut rng, 2, n);
            let scaled = |index: usize, mean: f64, sd: f64| {
                Sample::new(arms[index].iter().map(|it| mean + sd * it).collect()).expect("finite values")
            };
            let (control, treatment) = (scaled(0, MEAN, own), scaled(1, MEAN - SD, other));
            let bootstrap = bootstrap_relative_change(&treatment, &control, RESAMPLES, rng.next_u64()).ok();
            let pair = Pair { treatment, control, bootstrap, truth: &truth };
            INTERVALS.iter().map(|(_, covers)| covers(&pair)).collect::<Vec<_>>()
        });
        (shape.name(), Entry::columns(&covered))
    };
    let title = format!(
        "Coverage of intervals at 95 %, in %, with n = {n} an arm (standard error ± {} points)",
        error(LEVEL, runs)
    );
    let rows: Vec<&str> = INTERVALS.iter().map(|(name, _)| *name).collect();
    Table::by_columns(title, "interval", &rows, &Shape::ALL.map(column))
}
