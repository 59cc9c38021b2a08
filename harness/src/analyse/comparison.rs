use super::{Pair, Samples};
use crate::prereg::{Arm, Contrast, Metric, Prereg};
use crate::stats::{
    Additivity, CliffsDelta, EffectSize, Interval, MannWhitney, Moments, RankMethod, Ratio, Sample,
    StatsError, Welch, cliffs_delta, effect_size_of_moments, mann_whitney, ratio_of_moments,
    welch_of_moments,
};
use crate::vocab::{Cell, Direction, Margin, Order, Unit};
use std::fmt;
use std::sync::Arc;

/// A treatment against a control in one metric and cell. Differences are treatment minus control.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Direction,
    /// The cell; may be empty.
    pub cell: String,
    /// The arm in question.
    pub treatment: String,
    /// What it is compared with.
    pub control: String,
    /// The samples, for methods that need more than the numbers; `None` if an arm has none.
    pub samples: Option<Arc<Pair>>,
    /// The numbers; undefined with fewer than two samples in an arm.
    pub statistics: Result<Statistics, Undefined>,
    /// Of all factors together against the sum of each: then a share is one of the gain that the sum promises.
    pub additivity: Option<Additivity>,
}

/// The numbers of a comparison. What depends on a level is computed when asked for.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// n, mean and deviation of the treatment.
    pub treatment: Moments,
    /// n, mean and deviation of the control.
    pub control: Moments,
    /// Welch's t.
    pub welch: Welch,
    /// Ratio of the means; an error for a control of mean zero.
    pub ratio: Result<Ratio, StatsError>,
    /// Cohen's d and its kin.
    pub effect: EffectSize,
    /// Dominance.
    pub delta: CliffsDelta,
    /// Mann and Whitney's U.
    pub mann_whitney: MannWhitney,
}

/// A number that does not exist, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined(pub String);

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "undefined: {}", self.0)
    }
}

impl From<StatsError> for Undefined {
    fn from(error: StatsError) -> Self {
        Self(error.to_string())
    }
}

/// How much better the treatment is: positive is an improvement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The estimate: a share of the control's mean, or an amount in the metric's unit.
    pub value: f64,
    /// Its interval. A single point when neither arm varies.
    pub interval: Interval,
}

impl Comparison {
    /// Whether it is the one of `contrast` in a metric and cell.
    pub fn is_of(&self, metric: &str, cell: &str, contrast: &Contrast) -> bool {
        self.metric == metric
            && self.cell == cell
            && self.treatment == contrast.treatment
            && self.control == contrast.control
    }

    /// The gain as the kind of `margin` counts it, with its interval at `level`.
    pub fn gain(&self, margin: Margin, level: f64) -> Result<Gain, Undefined> {
        match margin {
            Margin::Relative(_) => self.relative_gain(level),
            Margin::Absolute(_) => self.absolute_gain(level),
        }
    }

    /// The gain as a share of the control's mean, with its interval by Fieller's method; where it is about
    /// [additivity](Self::additivity), as a share of the gain that was to be expected.
    pub fn relative_gain(&self, level: f64) -> Result<Gain, Undefined> {
        match &self.additivity {
            Some(additivity) => self.share_of_gain(additivity, level),
            None => self.share_of_control(level),
        }
    }

    /// What is gained beyond the sum of each, as a share of the gain that the sum promises.
    fn share_of_gain(&self, additivity: &Additivity, level: f64) -> Result<Gain, Undefined> {
        let no_gain = |why: &str| Undefined(format!("{why}, so there is no gain to take a share of"));
        let shortfall =
            additivity.gain_shortfall.ok_or_else(|| no_gain("the factors one by one add up to nothing"))?;
        if self.better.gain(additivity.expected_gain()) < 0.0 {
            return Err(no_gain("the factors one by one add up to a loss"));
        }
        let interval = match additivity.gain_shortfall_set(level)? {
            None => Interval { lower: -shortfall, upper: -shortfall, level },
            Some(set) => match set.bounds.interval(level) {
                Some(it) => Interval { lower: -it.upper, upper: -it.lower, level },
                None => {
                    return Err(no_gain("what the factors one by one add up to cannot be told from zero"));
                }
            },
        };
        Ok(Gain { value: -shortfall, interval })
    }

    /// The amount of which a relative gain is a share; `None` if there is none.
    pub fn base(&self) -> Option<f64> {
        match &self.additivity {
            Some(it) => Some(it.expected_gain().abs()),
            None => Some(self.statistics.as_ref().ok()?.control.mean().abs()),
        }
    }

    /// The gain as a share of the control's mean, whatever it is about.
    pub fn share_of_control(&self, level: f64) -> Result<Gain, Undefined> {
        let statistics = self.statistics.as_ref().map_err(Clone::clone)?;
        let ratio = statistics.ratio.as_ref().map_err(|it| Undefined::from(*it))?;
        // A share of the magnitude: below zero, a ratio turns the sign.
        let sign = statistics.control.mean().signum();
        let value = self.better.gain(ratio.relative_difference);
        let interval = match ratio.fieller(level)? {
            None => Interval { lower: value, upper: value, level },
            Some(fieller) => match fieller.change.interval(level) {
                Some(it) => self.oriented(it.lower * sign, it.upper * sign, level),
                None => return Err(Undefined("the control's mean cannot be told from zero".to_owned())),
            },
        };
        Ok(Gain { value, interval })
    }

    /// The gain in the metric's unit, with its interval by Welch's method.
    pub fn absolute_gain(&self, level: f64) -> Result<Gain, Undefined> {
        let statistics = self.statistics.as_ref().map_err(Clone::clone)?;
        let value = self.better.gain(statistics.welch.difference);
        let interval = match statistics.welch.interval(level)? {
            None => Interval { lower: value, upper: value, level },
            Some(it) => self.oriented(it.lower, it.upper, level),
        };
        Ok(Gain { value, interval })
    }

    /// How many times the treatment's mean is contained in the control's: "49 times as fast" for a time.
    pub fn times(&self) -> Option<f64> {
        self.statistics.as_ref().ok()?.ratio.as_ref().ok()?.inverse()
    }

    /// A gain from an estimated difference or relative difference, treatment minus control, and its interval; without one it is a
    /// point.
    pub(crate) fn oriented_gain(&self, difference: f64, interval: Option<Interval>, level: f64) -> Gain {
        let value = self.better.gain(difference);
        let interval = interval.map(|it| self.oriented(it.lower, it.upper, level));
        Gain { value, interval: interval.unwrap_or(Interval { lower: value, upper: value, level }) }
    }

    /// The sign of the control's mean: a share is one of its magnitude.
    pub(crate) fn control_sign(&self) -> Result<f64, Undefined> {
        Ok(self.statistics.as_ref().map_err(Clone::clone)?.control.mean().signum())
    }

    fn oriented(&self, a: f64, b: f64, level: f64) -> Interval {
        let (a, b) = (self.better.gain(a), self.better.gain(b));
        Interval { lower: a.min(b), upper: a.max(b), level }
    }
}

impl Statistics {
    /// The numbers of two samples.
    ///
    /// # Errors
    ///
    /// [`StatsError::TooFew`] below two observations in an arm.
    pub fn of(treatment: &Sample, control: &Sample) -> Result<Self, StatsError> {
        let (t, c) = (Moments::of(treatment)?, Moments::of(control)?);
        Ok(Self {
            treatment: t,
            control: c,
            welch: welch_of_moments(&t, &c)?,
            ratio: ratio_of_moments(&t, &c),
            effect: effect_size_of_moments(&t, &c),
            delta: cliffs_delta(treatment, control),
            mann_whitney: mann_whitney(treatment, control, RankMethod::AutoConditional)?,
        })
    }

    /// Cohen's d; undefined when neither arm varies.
    pub fn cohens_d(&self) -> Result<f64, Undefined> {
        let standardized = self.effect.standardized.as_ref();
        standardized.map(|it| it.cohens_d).ok_or_else(|| StatsError::ZeroVarianceBoth.into())
    }
}

pub(super) fn compare(
    prereg: &Prereg,
    samples: &Samples,
    metric: &Metric,
    cell: &Cell,
    [treatment, control]: [&Arm; 2],
) -> Comparison {
    let cell = cell.to_string();
    let both = [treatment, control].map(|arm| Sample::new(samples.values(&metric.name, &cell, &arm.name)));
    let blocks = |arm: &Arm| -> Vec<u32> {
        samples.blocks(&metric.name, &cell, &arm.name).map(|(block, _)| block).collect()
    };
    // Arms that are measured one after the other have block numbers in common, and nothing else.
    let by_block = prereg.design.order != Order::Sequential && blocks(treatment) == blocks(control);
    let names = [treatment, control].map(|it| it.name.clone());
    compare_samples(metric, cell, names, both, by_block)
}

/// Compares two samples of `metric` in `cell`: the treatment's and the control's.
pub(super) fn compare_samples(
    metric: &Metric,
    cell: String,
    [treatment, control]: [String; 2],
    [of_treatment, of_control]: [Result<Sample, StatsError>; 2],
    by_block: bool,
) -> Comparison {
    let pair = of_treatment
        .and_then(|treatment| Ok(Pair { treatment, control: of_control?, by_block }))
        .map(Arc::new);
    let statistics = pair.clone().and_then(|it| Statistics::of(&it.treatment, &it.control));
    Comparison {
        metric: metric.name.clone(),
        unit: metric.unit,
        better: metric.better,
        cell,
        treatment,
        control,
        samples: pair.ok(),
        statistics: statistics.map_err(Undefined::from),
        additivity: None,
    }
}
