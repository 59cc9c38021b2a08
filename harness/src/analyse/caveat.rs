use super::Samples;
use crate::prereg::{Hypothesis, Prereg};
use crate::stats::{Autocorrelation, PValue, Sample, shapiro_wilk, trend, tukey_outliers};
use crate::store::RunData;
use crate::vocab::{Correction, Order, Role, RunState, minus};
use std::collections::BTreeSet;
use std::fmt;

/// Below this, a check of an assumption raises its caveat. Stricter than a usual alpha, since many are made.
const LEVEL: f64 = 0.01;

/// Something that a reader must know before trusting a number. Nothing is dropped because of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Caveat {
    /// The samples are not plausibly normal. The means of 30 are nearly so, hence no more than a caveat.
    NotNormal {
        /// Where.
        place: Place,
        /// Shapiro and Wilk's p-value.
        p: PValue,
    },
    /// Samples far out by Tukey's fences (3 interquartile ranges).
    Outliers {
        /// Where.
        place: Place,
        /// How many.
        severe: usize,
        /// Out of how many.
        n: usize,
    },
    /// Samples depend on those before them, so that intervals are too narrow.
    Autocorrelated {
        /// Where.
        place: Place,
        /// Correlation of neighbors.
        lag1: f64,
        /// Ljung and Box's p-value.
        p: PValue,
    },
    /// Samples drift over the blocks.
    Drift {
        /// Where.
        place: Place,
        /// From the first to the last block, as a share of the median.
        change: f64,
        /// Mann and Kendall's p-value.
        p: PValue,
    },
    /// The arms were measured one after the other: a drift of the host looks like an effect.
    Sequential,
    /// Several hypotheses, or one in several cells, are tested without correction.
    Uncorrected {
        /// How many.
        family: usize,
    },
    /// The host had more to do than it has cores when the run began.
    BusyHost {
        /// Load average of the last minute.
        load: f64,
        /// Processors.
        cores: u64,
    },
    /// The work tree differed from its commit.
    Dirty,
    /// The run was interrupted and resumed.
    Resumed,
}

/// Which samples a caveat is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The metric.
    pub metric: String,
    /// The cell; may be empty.
    pub cell: String,
    /// The arm.
    pub arm: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of arm `{}`", self.metric, self.arm)?;
        if self.cell.is_empty() { Ok(()) } else { write!(f, " at {}", self.cell) }
    }
}

impl Caveat {
    /// A word for the kind, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotNormal { .. } => "not-normal",
            Self::Outliers { .. } => "outliers",
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::Drift { .. } => "drift",
            Self::Sequential => "sequential",
            Self::Uncorrected { .. } => "uncorrected",
            Self::BusyHost { .. } => "busy-host",
            Self::Dirty => "dirty",
            Self::Resumed => "resumed",
        }
    }

    /// What the caveat is about, if it is about samples.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::NotNormal { place, .. }
            | Self::Outliers { place, .. }
            | Self::Autocorrelated { place, .. }
            | Self::Drift { place, .. } => Some(place),
            Self::Sequential
            | Self::Uncorrected { .. }
            | Self::BusyHost { .. }
            | Self::Dirty
            | Self::Resumed => None,
        }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNormal { place, p } => {
                write!(f, "{place}: not normal (Shapiro-Wilk p = {})", minus(p.to_string()))
            }
            Self::Outliers { place, severe, n } => {
                write!(
                    f,
                    "{place}: {severe} of {n} samples {} far out (Tukey, 3 IQR); none is dropped",
                    if *severe == 1 { "lies" } else { "lie" }
                )
            }
            Self::Autocorrelated { place, lag1, p } => {
                write!(
                    f,
                    "{place}: not independent from block to block (lag 1: {}, Ljung-Box p = {})",
                    minus(format!("{lag1:.2}")),
                    minus(p.to_string())
                )
            }
            Self::Drift { place, change, p } => {
                write!(
                    f,
                    "{place}: drifts by {} % over the blocks (Mann-Kendall p = {})",
                    minus(format!("{:+.1}", change * 100.0)),
                    minus(p.to_string())
                )
            }
            Self::Sequential => {
                f.write_str("the arms were measured one after the other: drift looks like an effect")
            }
            Self::Uncorrected { family } => {
                write!(f, "{family} tests of hypotheses are made without correction")
            }
            Self::BusyHost { load, cores } => {
                write!(f, "the host was busy when the run began: load {load:.1} on {cores} cores")
            }
            Self::Dirty => f.write_str("the work tree differed from its commit"),
            Self::Resumed => f.write_str("the run was interrupted and resumed"),
        }
    }
}

/// Caveats of the run as a whole, then of the samples that hypotheses and guards rest on.
pub(super) fn caveats(prereg: &Prereg, run: &RunData, samples: &Samples) -> Vec<Caveat> {
    let mut caveats = of_run(prereg, run);
    for place in places(prereg) {
        let Ok(sample) = Sample::new(samples.values(&place.metric, &place.cell, &place.arm)) else {
            continue;
        };
        caveats.extend(of_sample(&place, &sample));
    }
    caveats
}

fn of_run(prereg: &Prereg, run: &RunData) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if prereg.design.order == Order::Sequential {
        caveats.push(Caveat::Sequential);
    }
    let cells = prereg.cells();
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

fn of_sample(place: &Place, sample: &Sample) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let place = || place.clone();
    if let Ok(test) = shapiro_wilk(sample)
        && test.p.value() < LEVEL
    {
        caveats.push(Caveat::NotNormal { place: place(), p: test.p });
    }
    let outliers = tukey_outliers(sample);
    let severe = outliers.low_severe.len() + outliers.high_severe.len();
    if severe > 0 {
        caveats.push(Caveat::Outliers { place: place(), severe, n: sample.len() });
    }
    if let Ok(correlation) = Autocorrelation::of(sample)
        && let Ok(test) = correlation.ljung_box(correlation.usual_lags())
        && test.p.value() < LEVEL
    {
        caveats.push(Caveat::Autocorrelated { place: place(), lag1: correlation.at(1), p: test.p });
    }
    // Below 8 samples, the test has no power.
    if sample.len() >= 8
        && let Ok(trend) = trend(sample, 0.95)
        && trend.p.value() < LEVEL
    {
        let span = trend.slope * (sample.len() - 1) as f64;
        let median = crate::stats::median(sample);
        let change = if median == 0.0 { 0.0 } else { span / median.abs() };
        caveats.push(Caveat::Drift { place: place(), change, p: trend.p });
    }
    caveats
}

/// The samples that hypotheses and guards rest on, in the order of the registration.
fn places(prereg: &Prereg) -> Vec<Place> {
    let rules = prereg.hypotheses.iter().map(|it| (&it.metric, &it.condition, &it.contrast));
    let rules = rules.chain(prereg.guards.iter().map(|it| (&it.metric, &it.condition, &it.contrast)));
    let mut wanted = BTreeSet::new();
    for (metric, condition, contrast) in rules {
        for cell in prereg.cells().iter().filter(|it| it.matches(condition)) {
            for arm in [&contrast.treatment, &contrast.control] {
                wanted.insert((metric.clone(), cell.to_string(), arm.clone()));
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
