use super::PlotError;
use super::axis::{Axis, Kind};
use crate::vocab::{Unit, UnitKind, significant};

/// The axis of the values of some arms, in the unit in which they read best.
pub(super) struct ValueAxis {
    axis: Axis,
    from: Unit,
    shown: Unit,
    /// Each tick carries its own unit.
    units_on_ticks: bool,
    /// What stands along the axis.
    pub(super) title: String,
}

impl ValueAxis {
    /// The axis for `values` of some arms in `unit`, logarithmic if the `centers` of the arms are far apart.
    pub(super) fn new(
        metric: &str,
        unit: Unit,
        centers: &[f64],
        values: &[f64],
        pixels: (i32, i32),
    ) -> Result<Self, PlotError> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        let (kind, factor) = Kind::for_arms(centers, least);
        let shown = unit.readable(most);
        let ratio = unit.scale() / shown.scale();
        let axis = Axis::over(kind, values.iter().map(|it| it * ratio), pixels)?;
        let decimal = matches!(shown.kind(), UnitKind::Time | UnitKind::Rate);
        let units_on_ticks = kind == Kind::Log && decimal;
        let metric = if units_on_ticks || shown.name() == "1" {
            metric.to_owned()
        } else {
            format!("{metric} ({shown})")
        };
        let title = match kind {
            Kind::Log => format!(
                "{metric}, logarithmic scale: arms differ by a factor of {}",
                significant(factor, if factor < 1e6 { 2 } else { 1 })
            ),
            Kind::Linear | Kind::Symlog => metric,
        };
        Ok(Self { axis, from: unit, shown, units_on_ticks, title })
    }

    /// The same for bars, which begin at zero unless the axis is logarithmic.
    pub(super) fn of_bars(
        metric: &str,
        unit: Unit,
        centers: &[f64],
        mut values: Vec<f64>,
        pixels: (i32, i32),
    ) -> Result<Self, PlotError> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        if Kind::for_arms(centers, least).0 == Kind::Linear {
            values.push(0.0);
        }
        Self::new(metric, unit, centers, &values, pixels)
    }

    /// The pixel at which bars begin.
    pub(super) fn start(&self) -> i32 {
        match self.axis.kind() {
            Kind::Log => self.axis.ends().0,
            Kind::Linear | Kind::Symlog => self.axis.at(0.0),
        }
    }

    /// The pixel of a value in the registered unit.
    pub(super) fn at(&self, value: f64) -> i32 {
        self.axis.at(value * (self.from.scale() / self.shown.scale()))
    }

    /// Pixels and texts of about `wanted` ticks.
    pub(super) fn ticks(&self, wanted: i32) -> Vec<(i32, String)> {
        let text = |tick: f64, plain: String| {
            if self.units_on_ticks {
                let best = self.shown.readable(tick);
                format!("{} {best}", significant(tick * (self.shown.scale() / best.scale()), 1))
            } else {
                plain
            }
        };
        let labels = self.axis.labels(wanted).into_iter();
        labels.map(|(tick, plain)| (self.axis.at(tick), text(tick, plain))).collect()
    }
}
