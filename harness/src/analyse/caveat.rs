use crate::stats::{PValue, Steadiness};
use crate::vocab::{minus, significant};
use std::fmt;

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
    /// Samples far from the median (Iglewicz and Hoaglin), where half of them are equal so that Tukey's fences have no
    /// width.
    FarFromMedian {
        /// Where.
        place: Place,
        /// How many.
        far: usize,
        /// Out of how many.
        n: usize,
    },
    /// Samples have more than one mode, so that their mean may be nowhere near any of them.
    Modes {
        /// Where.
        place: Place,
        /// Hartigan's p-value.
        p: PValue,
    },
    /// One arm spreads more than twice as much as the other: Welch's t allows for it, ranks and d do not.
    UnequalSpread {
        /// Where; the arm is the treatment.
        place: Place,
        /// What it is compared with.
        control: String,
        /// The treatment's deviation by the control's.
        ratio: f64,
        /// The limits of its 95 % interval.
        limits: [f64; 2],
    },
    /// The builds of an arm differ by more than the arms do: the order of linking alone may be the difference.
    BuildsDiffer {
        /// Where; the arm is the one whose builds differ most.
        place: Place,
        /// What it is compared with.
        other: String,
        /// From the least to the greatest mean of a build, as a share of the control's mean.
        apart: f64,
        /// Between the means of the arms, as a share of the control's.
        between: f64,
    },
    /// Samples do not keep one level after the warm-ups.
    NotSteady {
        /// Where.
        place: Place,
        /// What they do.
        class: Steadiness,
    },
    /// The clock is coarse for what it measures: fewer than 100 steps in a sample, or more than half of them tied.
    CoarseClock {
        /// Where.
        place: Place,
        /// How many steps of the clock a typical sample has, if the step can be told.
        quanta: Option<f64>,
        /// The share of samples that equal another one.
        tied: f64,
    },
    /// Samples depend on those before them, so that intervals are too narrow.
    Autocorrelated {
        /// Where.
        place: Place,
        /// Correlation of neighbors.
        lag1: f64,
        /// How many independent samples they are worth.
        worth: f64,
        /// Ljung and Box's p-value.
        p: PValue,
    },
    /// Welch's p-value, if samples that depend on each other are counted as what they are worth.
    Worth {
        /// Where; the arm is the treatment.
        place: Place,
        /// What it is compared with.
        control: String,
        /// Independent samples of treatment and control.
        n: [f64; 2],
        /// The p-value of all samples.
        p: PValue,
        /// The p-value of as many independent ones.
        p_worth: PValue,
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
    /// A cell stopped at a look before its last one.
    StoppedEarly {
        /// The cell; may be empty.
        cell: String,
        /// After how many blocks.
        blocks: u32,
        /// How many there could have been.
        planned: u32,
    },
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
            Self::FarFromMedian { .. } => "far-from-median",
            Self::Modes { .. } => "modes",
            Self::UnequalSpread { .. } => "unequal-spread",
            Self::BuildsDiffer { .. } => "builds-differ",
            Self::NotSteady { .. } => "not-steady",
            Self::CoarseClock { .. } => "coarse-clock",
            Self::Worth { .. } => "worth",
            Self::Autocorrelated { .. } => "autocorrelated",
            Self::Drift { .. } => "drift",
            Self::Sequential => "sequential",
            Self::StoppedEarly { .. } => "stopped-early",
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
            | Self::FarFromMedian { place, .. }
            | Self::Modes { place, .. }
            | Self::UnequalSpread { place, .. }
            | Self::BuildsDiffer { place, .. }
            | Self::NotSteady { place, .. }
            | Self::CoarseClock { place, .. }
            | Self::Worth { place, .. }
            | Self::Autocorrelated { place, .. }
            | Self::Drift { place, .. } => Some(place),
            Self::Sequential
            | Self::StoppedEarly { .. }
            | Self::Uncorrected { .. }
            | Self::BusyHost { .. }
            | Self::Dirty
            | Self::Resumed => None,
        }
    }
}

impl Caveat {
    /// What was found, without its place.
    pub fn detail(&self) -> String {
        match self {
            Self::NotNormal { p, .. } => format!("not normal (Shapiro-Wilk p = {})", minus(p.to_string())),
            Self::Outliers { severe, n, .. } => format!(
                "{severe} of {n} samples {} far out (Tukey, 3 IQR); none is dropped",
                if *severe == 1 { "lies" } else { "lie" }
            ),
            Self::FarFromMedian { far, n, .. } => format!(
                "{far} of {n} samples {} far from the median, which half of them equal; none is dropped",
                if *far == 1 { "lies" } else { "lie" }
            ),
            Self::Modes { p, .. } => format!("more than one mode (dip test, p = {})", minus(p.to_string())),
            Self::UnequalSpread { control, ratio, limits: [low, high], .. } => format!(
                "{} than arm `{control}`: ratio of the deviations {} [{}, {}]",
                if *ratio > 1.0 { "noisier" } else { "less noisy" },
                significant(*ratio, 3),
                significant(*low, 3),
                significant(*high, 3)
            ),
            Self::BuildsDiffer { other, apart, between, .. } => format!(
                "its builds lie {} % apart, more than the {} % to arm `{other}`: the order of linking alone makes such a \
                 difference",
                significant(apart * 100.0, 3),
                significant(between * 100.0, 3)
            ),
            Self::NotSteady { class, .. } => match class {
                Steadiness::WarmingUp => "still warming up after the warm-ups".to_owned(),
                Steadiness::SlowingDown => "slows down to a worse level".to_owned(),
                Steadiness::NoSteadyState => "does not settle".to_owned(),
                Steadiness::Flat => "steady".to_owned(),
            },
            Self::CoarseClock { quanta, tied, .. } => format!(
                "a coarse clock: {}{:.0} % of the samples are tied",
                quanta.map_or_else(String::new, |it| format!("{} steps in a sample, ", significant(it, 3))),
                tied * 100.0
            ),
            Self::Autocorrelated { lag1, worth, p, .. } => format!(
                "not independent from block to block (lag 1: {}, worth {worth:.0} independent samples, Ljung-Box p = {})",
                minus(format!("{lag1:.2}")),
                minus(p.to_string())
            ),
            Self::Worth { control, n: [treatment, other], p, p_worth, .. } => format!(
                "counted as the {treatment:.0} and {other:.0} independent samples that they are worth, Welch's p against \
                 arm `{control}` is {} instead of {}",
                minus(p_worth.to_string()),
                minus(p.to_string())
            ),
            Self::Drift { change, p, .. } => format!(
                "drifts by {} % over the blocks (Mann-Kendall p = {})",
                minus(format!("{:+.1}", change * 100.0)),
                minus(p.to_string())
            ),
            Self::Sequential => {
                "the arms were measured one after the other: drift looks like an effect".to_owned()
            }
            Self::StoppedEarly { cell, blocks, planned } => {
                let place = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
                format!(
                    "stopped at a look after {blocks} of {planned} blocks{place}: means, gains and d are larger on \
                     average than the truth for having stopped there; the intervals that decide allow for it"
                )
            }
            Self::Uncorrected { family } => {
                format!("{family} tests of hypotheses are made without correction")
            }
            Self::BusyHost { load, cores } => {
                format!("the host was busy when the run began: load {load:.1} on {cores} cores")
            }
            Self::Dirty => "the work tree differed from its commit".to_owned(),
            Self::Resumed => "the run was interrupted and resumed".to_owned(),
        }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.detail())
    }
}
