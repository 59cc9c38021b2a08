//! The checks that raise caveats.

use super::{Caveat, Comparison, Pair, Place, Samples};
use crate::prereg::{Hypothesis, Prereg};
use crate::stats::{
    Autocorrelation, ENOUGH_QUANTA, MANY_TIES, Resolution, Sample, Steadiness, SteadyState, mad_outliers,
    modality, shapiro_wilk, spread_ratio, steady_state, trend, trend_p, tukey_outliers, welch_of_moments,
};
use crate::store::RunData;
use crate::vocab::{Cell, Correction, Direction, Order, Replicate, Role, RunState, UnitKind};
use std::collections::{BTreeMap, BTreeSet};

/// Below this, a check of an assumption raises its caveat. Stricter than a usual alpha, since many are made.
const LEVEL: f64 = 0.01;

/// Levels that differ by less than this share are one.
const SAME_LEVEL: f64 = 0.01;

/// Longer series are not searched for levels, which takes the square of their length at worst.
const LONGEST_SERIES: usize = 20_000;

/// Caveats of the run as a whole, then of the samples that hypotheses and guards rest on.
pub(super) fn caveats(
    prereg: &Prereg,
    run: &RunData,
    samples: &Samples,
    comparisons: &[Comparison],
) -> Vec<Caveat> {
    let mut caveats = of_run(prereg, run, samples);
    for place in places(prereg) {
        let Ok(sample) = Sample::new(samples.values(&place.metric, &place.cell, &place.arm)) else {
            continue;
        };
        caveats.extend(of_sample(prereg, &place, &sample));
    }
    let cells: BTreeMap<String, Cell> = prereg.cells().into_iter().map(|it| (it.to_string(), it)).collect();
    for comparison in comparisons.iter().filter(|it| is_registered(prereg, &cells, it)) {
        caveats.extend(of_pair(comparison));
        caveats.extend(builds_differ(prereg, comparison));
    }
    caveats
}

fn of_run(prereg: &Prereg, run: &RunData, samples: &Samples) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if prereg.design.order == Order::Sequential {
        caveats.push(Caveat::Sequential);
    }
    let cells = prereg.cells();
    if prereg.design.looks.is_some() {
        let planned = prereg.design.samples;
        let used = |cell: String| (samples.blocks_of(prereg, &cell), cell);
        let early = cells.iter().map(|it| used(it.to_string())).filter(|(blocks, _)| *blocks < planned);
        caveats.extend(early.map(|(blocks, cell)| Caveat::StoppedEarly { cell, blocks, planned }));
    }
    let tested = |it: &Hypothesis| cells.iter().filter(|cell| cell.matches(&it.condition)).count();
    let family = prereg.hypotheses.iter().map(tested).sum();
    if prereg.decision.correction == Correction::None && family > 1 {
        caveats.push(Caveat::Uncorrected { family });
    }
    let number = |key: &str| run.run.environment.get(key).and_then(serde_json::Value::as_f64);
    if let (Some(load), Some(cores)) = (number("load"), number("cores"))
        && load > cores
    {
        // A number of processors.
        caveats.push(Caveat::BusyHost { load, cores: cores as u64 });
    }
    if run.run.git.dirty {
        caveats.push(Caveat::Dirty);
    }
    if run.events.iter().any(|it| it.state == RunState::Resumed) {
        caveats.push(Caveat::Resumed);
    }
    caveats
}

fn of_sample(prereg: &Prereg, place: &Place, sample: &Sample) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let place = || place.clone();
    let normality = shapiro_wilk(sample).ok();
    if let Some(test) = normality
        && test.p.value() < LEVEL
    {
        caveats.push(Caveat::NotNormal { place: place(), p: test.p });
    }
    // Samples that may be normal may have one mode; only the others are worth a simulation.
    if normality.is_none_or(|it| it.p.value() < 0.05)
        && let Ok(test) = modality(sample, prereg.design.seed)
        && test.p.value() < LEVEL
    {
        caveats.push(Caveat::Modes { place: place(), p: test.p });
    }
    let outliers = tukey_outliers(sample);
    let severe = outliers.low_severe.len() + outliers.high_severe.len();
    if outliers.q1 == outliers.q3 {
        let far = mad_outliers(sample).outliers.len();
        if far > 0 {
            caveats.push(Caveat::FarFromMedian { place: place(), far, n: sample.len() });
        }
    } else if severe > 0 {
        caveats.push(Caveat::Outliers { place: place(), severe, n: sample.len() });
    }
    if let Ok(correlation) = Autocorrelation::of(sample)
        && let Ok(test) = correlation.ljung_box(correlation.usual_lags())
        && test.p.value() < LEVEL
    {
        let worth = correlation.effective_size().size;
        caveats.push(Caveat::Autocorrelated { place: place(), lag1: correlation.at(1), worth, p: test.p });
    }
    // Below 8 samples, the test has no power. How much it drifts takes the square of their number to say.
    if sample.len() >= 8
        && trend_p(sample).is_ok_and(|p| p.value() < LEVEL)
        && let Ok(trend) = trend(sample, 0.95)
    {
        let span = trend.slope * (sample.len() - 1) as f64;
        let median = crate::stats::median(sample);
        let change = if median == 0.0 { 0.0 } else { span / median.abs() };
        caveats.push(Caveat::Drift { place: place(), change, p: trend.p });
    }
    if let Some(metric) = prereg.metric(&place().metric) {
        let lower = metric.better == Direction::Lower;
        if sample.len() <= LONGEST_SERIES
            && let Ok(SteadyState { class, .. }) = steady_state(sample, lower, SAME_LEVEL)
            && class != Steadiness::Flat
        {
            caveats.push(Caveat::NotSteady { place: place(), class });
        }
        let clock = Resolution::of(sample);
        if metric.unit.kind() == UnitKind::Time && is_coarse(&clock) {
            let (quanta, tied) = (clock.quanta, clock.tied_share);
            caveats.push(Caveat::CoarseClock { place: place(), quanta, tied });
        }
    }
    caveats
}

/// Whether a typical sample has too few steps of the clock, or too many samples are equal.
pub(crate) fn is_coarse(clock: &Resolution) -> bool {
    clock.is_below(ENOUGH_QUANTA) || clock.is_tied(MANY_TIES)
}

/// What only two arms together show.
fn of_pair(comparison: &Comparison) -> Vec<Caveat> {
    let (Some(pair), Ok(statistics)) = (&comparison.samples, &comparison.statistics) else {
        return Vec::new();
    };
    let Comparison { metric, cell, treatment, control, .. } = comparison;
    let place = || Place { metric: metric.clone(), cell: cell.clone(), arm: treatment.clone() };
    let mut caveats = Vec::new();
    if let Ok(spread) = spread_ratio(&pair.treatment, &pair.control)
        && let (Some(ratio), Ok(Some(interval))) = (spread.ratio, spread.interval(0.95))
        && (interval.lower > 2.0 || interval.upper < 0.5)
    {
        let limits = [interval.lower, interval.upper];
        caveats.push(Caveat::UnequalSpread { place: place(), control: control.clone(), ratio, limits });
    }
    if let Some(n) = worth(pair)
        && let (Ok(t), Ok(c)) = (statistics.treatment.worth(n[0]), statistics.control.worth(n[1]))
        && let Ok(Some(test)) = welch_of_moments(&t, &c).map(|it| it.test)
        && let Some(all) = statistics.welch.test
    {
        let (p, p_worth) = (all.p.two_sided, test.p.two_sided);
        caveats.push(Caveat::Worth { place: place(), control: control.clone(), n, p, p_worth });
    }
    caveats
}

/// Whether the builds of an arm lie farther apart than the arms.
fn builds_differ(prereg: &Prereg, comparison: &Comparison) -> Option<Caveat> {
    let pair = comparison.samples.as_ref().filter(|_| prereg.design.unit() == Replicate::Build)?;
    let Comparison { metric, cell, treatment, control, .. } = comparison;
    let spread = |it: &Sample| it.max() - it.min();
    let mean = |it: &Sample| it.values().iter().map(|value| value / it.len() as f64).sum::<f64>();
    let whole = mean(&pair.control).abs();
    let between = (mean(&pair.treatment) - mean(&pair.control)).abs();
    let sides = [(treatment, control, spread(&pair.treatment)), (control, treatment, spread(&pair.control))];
    let (arm, other, apart) = sides.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    (apart > between && whole > 0.0).then(|| Caveat::BuildsDiffer {
        place: Place { metric: metric.clone(), cell: cell.clone(), arm: arm.clone() },
        other: other.clone(),
        apart: apart / whole,
        between: between / whole,
    })
}

/// How many independent samples each arm is worth; `None` if both seem to be independent.
fn worth(pair: &Pair) -> Option<[f64; 2]> {
    let of = |sample: &Sample| {
        let all = (sample.len() as f64, false);
        let Ok(correlation) = Autocorrelation::of(sample) else { return all };
        match correlation.ljung_box(correlation.usual_lags()) {
            Ok(test) if test.p.value() < LEVEL => (correlation.effective_size().size, true),
            _ => all,
        }
    };
    let ((treatment, a), (control, b)) = (of(&pair.treatment), of(&pair.control));
    (a || b).then_some([treatment, control])
}

/// Whether a hypothesis or a guard is about the comparison.
fn is_registered(prereg: &Prereg, cells: &BTreeMap<String, Cell>, comparison: &Comparison) -> bool {
    let rules = prereg.hypotheses.iter().map(|it| (&it.metric, &it.condition, &it.contrast));
    let mut rules = rules.chain(prereg.guards.iter().map(|it| (&it.metric, &it.condition, &it.contrast)));
    let Some(cell) = cells.get(&comparison.cell) else { return false };
    rules.any(|(metric, condition, contrast)| {
        *metric == comparison.metric
            && cell.matches(condition)
            && (&contrast.treatment, &contrast.control) == (&comparison.treatment, &comparison.control)
    })
}

/// The samples that hypotheses and guards rest on, in the order of the registration.
fn places(prereg: &Prereg) -> Vec<Place> {
    let rules = prereg.hypotheses.iter().map(|it| (&it.metric, &it.condition, prereg.arms_of(it)));
    let guards = prereg.guards.iter().map(|it| {
        (&it.metric, &it.condition, vec![it.contrast.treatment.as_str(), it.contrast.control.as_str()])
    });
    let rules = rules.chain(guards);
    let mut wanted = BTreeSet::new();
    for (metric, condition, arms) in rules {
        for cell in prereg.cells().iter().filter(|it| it.matches(condition)) {
            for arm in &arms {
                wanted.insert((metric.clone(), cell.to_string(), (*arm).to_owned()));
            }
        }
    }
    let mut places = Vec::new();
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            for arm in prereg.arms.iter().filter(|it| it.role != Role::Null) {
                let place =
                    Place { metric: metric.name.clone(), cell: cell.to_string(), arm: arm.name.clone() };
                if wanted.contains(&(place.metric.clone(), place.cell.clone(), place.arm.clone())) {
                    places.push(place);
                }
            }
        }
    }
    places
}
