use super::error::drawable;
use super::series::{self, Series};
use super::{Interval, PlotError};
use crate::vocab::{Direction, Role, Unit};

/// The samples of one metric: what plots of samples are made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The heading, such as `Lazy loading: open_time`.
    pub title: String,
    /// The name of the metric, for the axis.
    pub metric: String,
    /// The unit of every number in the panels.
    pub unit: Unit,
    /// Which way the metric improves.
    pub better: Direction,
    /// What the intervals of the arms are, such as `95 % interval of the mean`.
    pub interval: String,
    /// One panel a cell, in the order in which they are shown; at least one.
    pub panels: Vec<Panel>,
}

/// The samples of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The cell as a reader knows it, such as `terms=1000`; empty for the empty cell.
    pub cell: String,
    /// The arms, in the order in which they are shown; at least one.
    pub arms: Vec<Arm>,
}

/// The samples of one arm in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its registered name.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// One number a block, in order of the blocks; at least one, each finite and at most 1e300 in magnitude.
    pub samples: Vec<f64>,
    /// What was made before the first block, in order; may be empty.
    pub warmups: Vec<f64>,
    /// The interval of the arm's center; [`Samples::interval`] says which.
    pub interval: Option<Interval>,
}

impl Samples {
    /// Checks everything that can keep a plot from being drawn.
    pub(super) fn check(&self) -> Result<(), PlotError> {
        if self.panels.is_empty() {
            return Err(PlotError::Nothing { what: "cells" });
        }
        self.panels.iter().try_for_each(Panel::check)
    }
}

impl Panel {
    fn check(&self) -> Result<(), PlotError> {
        if self.arms.is_empty() {
            return Err(PlotError::Nothing { what: "arms" });
        }
        for arm in &self.arms {
            if arm.samples.is_empty() {
                return Err(PlotError::EmptyArm { arm: arm.name.clone(), cell: self.cell.clone() });
            }
            let owner = format!("arm {}", arm.name);
            for value in arm.samples.iter().chain(&arm.warmups) {
                drawable(*value, &owner)?;
            }
            arm.interval.map_or(Ok(()), |it| it.check(&owner))?;
        }
        Ok(())
    }

    /// The middle of each of its arms.
    pub(super) fn medians(&self) -> Vec<f64> {
        self.arms.iter().map(Arm::median).collect()
    }

    /// The looks of its arms.
    pub(super) fn looks(&self) -> Vec<Series> {
        series::looks(self.arms.iter().map(|it| it.role))
    }
}

impl Arm {
    /// The middle of the samples.
    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let half = sorted.len() / 2;
        match sorted.len() % 2 {
            // Halved first: the sum of two large numbers may be too large.
            0 => sorted[half - 1] / 2.0 + sorted[half] / 2.0,
            _ => sorted[half],
        }
    }
}

/// `value` as a reader likes it.
pub(super) fn show(unit: Unit, value: f64) -> String {
    unit.show(value)
}

/// What each arm came to, for those who do not see the plot.
pub(super) fn describe(samples: &Samples) -> String {
    let mut words = format!("{}, {} is better.", samples.metric, samples.better);
    for panel in &samples.panels {
        let cell = if panel.cell.is_empty() { String::new() } else { format!("{}: ", panel.cell) };
        let arms: Vec<String> = panel
            .arms
            .iter()
            .map(|it| {
                let (median, n) = (show(samples.unit, it.median()), it.samples.len());
                format!("{} ({}) median {median}, n = {n}", it.name, it.role)
            })
            .collect();
        words.push_str(&format!(" {cell}{}.", arms.join("; ")));
    }
    words
}

/// A count as a reader likes it: `70,000`.
pub(super) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
