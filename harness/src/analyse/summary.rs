use super::Samples;
use crate::prereg::Prereg;
use crate::stats::{Interval, Sample, Summary, mean_interval};
use crate::vocab::{Role, Unit};

/// The samples of one metric, cell and arm in numbers.
#[derive(Clone, Debug)]
pub struct ArmSummary {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// The cell; may be empty.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// What the arm is for.
    pub role: Role,
    /// Mean, spread, quantiles.
    pub summary: Summary,
    /// 95 % interval of the mean; `None` for a single sample.
    pub mean_interval: Option<Interval>,
}

pub(super) fn arms(prereg: &Prereg, samples: &Samples) -> Vec<ArmSummary> {
    let mut arms = Vec::new();
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            let cell = cell.to_string();
            for arm in &prereg.arms {
                // The store holds finite numbers only, so the one thing that can fail is an empty set: a gap.
                let Ok(sample) = Sample::new(samples.values(&metric.name, &cell, &arm.name)) else {
                    continue;
                };
                arms.push(ArmSummary {
                    metric: metric.name.clone(),
                    unit: metric.unit,
                    cell: cell.clone(),
                    arm: arm.name.clone(),
                    role: arm.role,
                    summary: Summary::of(&sample),
                    mean_interval: mean_interval(&sample, 0.95).ok(),
                });
            }
        }
    }
    arms
}
