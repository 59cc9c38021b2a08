use super::{Samples, Undefined};
use crate::prereg::Prereg;
use crate::stats::{Interval, Sample, StatsError, ratio};
use crate::vocab::{Direction, Unit};

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// An arm beside the reference arm, in one metric and cell. Nothing is decided by it.
#[derive(Clone, Debug)]
pub struct Score {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Direction,
    /// The cell; may be empty.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// Its mean; `None` without samples.
    pub mean: Option<f64>,
    /// The ratio of its mean to the reference's, with its 95 % interval by Fieller's method: a point when neither varies.
    pub share: Result<(f64, Interval), Undefined>,
}

/// Every arm in every metric and cell; none without a reference.
pub(super) fn scores(prereg: &Prereg, samples: &Samples) -> Vec<Score> {
    let mut scores = Vec::new();
    let Some(reference) = &prereg.reference else { return scores };
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            let cell = cell.to_string();
            let sample = |arm: &str| Sample::new(samples.values(&metric.name, &cell, arm));
            let of = sample(reference);
            for arm in &prereg.arms {
                let own = sample(&arm.name);
                scores.push(Score {
                    metric: metric.name.clone(),
                    unit: metric.unit,
                    better: metric.better,
                    cell: cell.clone(),
                    arm: arm.name.clone(),
                    mean: own.as_ref().ok().map(|it| crate::stats::Summary::of(it).mean),
                    share: share(own, of.clone(), arm.name == *reference),
                });
            }
        }
    }
    scores
}

fn share(
    arm: Result<Sample, StatsError>,
    reference: Result<Sample, StatsError>,
    same: bool,
) -> Result<(f64, Interval), Undefined> {
    let found = ratio(&arm?, &reference?)?;
    let point = Interval { lower: found.ratio, upper: found.ratio, level: LEVEL };
    if same {
        // It is not independent of itself.
        return Ok((found.ratio, point));
    }
    match found.fieller(LEVEL)? {
        None => Ok((found.ratio, point)),
        Some(it) => match it.ratio.interval(LEVEL) {
            Some(interval) => Ok((found.ratio, interval)),
            None => Err(Undefined("the reference's mean cannot be told from zero".to_owned())),
        },
    }
}
