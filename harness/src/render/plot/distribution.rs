//! Every sample of every arm, with its median and interval: one panel a cell, one row an arm.

use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::samples::{self, Arm, Panel, Samples};
use super::series::{self, Series};
use super::value_axis::ValueAxis;
use super::{PlotError, swarm};

/// Where names end, the values begin and end, and the medians begin.
const NAMES: i32 = 234;
const VALUES: (i32, i32) = (250, 676);
const MEDIANS: i32 = 692;

/// Heights of the parts of a panel.
const HEAD: i32 = 34;
const ROW: i32 = 50;
const AXIS: i32 = 48;

/// How many points there may be in all, give or take.
const POINTS: usize = 6000;

/// Draws the plot.
///
/// A panel's axis is logarithmic, and says so, when its arms differ by more than a factor of 20.
pub fn draw(samples: &Samples) -> Result<String, PlotError> {
    samples.check()?;
    let heights: i32 = samples.panels.iter().map(height).sum();
    let arms: usize = samples.panels.iter().map(|it| it.arms.len()).sum();
    let top = frame::HEAD + 24;
    canvas::draw(top + heights + 8, &samples.title, &samples::describe(samples), |canvas| {
        let note = format!("{}, {} is better", samples.metric, samples.better);
        frame::head(canvas, &samples.title, &note)?;
        key(canvas, samples)?;
        let mut y = top;
        for panel in &samples.panels {
            draw_panel(canvas, samples, panel, y, (POINTS / arms).max(100))?;
            y += height(panel);
        }
        Ok(())
    })
}

fn height(panel: &Panel) -> i32 {
    HEAD + ROW * panel.arms.len() as i32 + AXIS
}

/// What point, line and bar are.
fn key(canvas: &mut Canvas<'_>, samples: &Samples) -> Result<(), PlotError> {
    let y = frame::HEAD + 8;
    let mut x = EDGE + 5;
    canvas.circle((x, y), swarm::RADIUS, Ink::Muted, 0.8, true)?;
    x += 10;
    x += canvas.text((x, y), "a sample", Type::NOTE, 100)? + 18;
    canvas.block((x, y - 8), (x + 2, y + 8), Ink::Text)?;
    x += 9;
    x += canvas.text((x, y), "median", Type::NOTE, 100)? + 18;
    if samples.panels.iter().flat_map(|it| &it.arms).any(|it| it.interval.is_some()) {
        canvas.block((x, y - 2), (x + 22, y + 3), Ink::Text)?;
        x += 29;
        canvas.text((x, y), &samples.interval, Type::NOTE, WIDTH - EDGE - x)?;
    }
    Ok(())
}

fn draw_panel(
    canvas: &mut Canvas<'_>,
    samples: &Samples,
    panel: &Panel,
    top: i32,
    points: usize,
) -> Result<(), PlotError> {
    let bounds = panel.arms.iter().filter_map(|it| it.interval).flat_map(|it| [it.low, it.high]);
    let measured = panel.arms.iter().flat_map(|it| &it.samples).copied();
    let values: Vec<f64> = measured.chain(bounds).collect();
    let axis = ValueAxis::new(&samples.metric, samples.unit, &panel.medians(), &values, VALUES)?;
    let (first, last) = (top + HEAD, top + HEAD + ROW * panel.arms.len() as i32);

    canvas.text((EDGE, top + 18), &panel.cell, Type::LABEL.bold(), MEDIANS - EDGE - 16)?;
    canvas.text((MEDIANS, top + 18), "median", Type::NOTE, WIDTH - EDGE - MEDIANS)?;
    frame::columns(canvas, &axis.ticks(6), (first, last))?;
    let middle = (VALUES.0 + VALUES.1) / 2;
    let face = Type::NOTE.anchored(Anchor::Center);
    canvas.text((middle, last + 32), &axis.title, face, 2 * (WIDTH - EDGE - middle))?;
    for (i, (arm, look)) in panel.arms.iter().zip(panel.looks()).enumerate() {
        let y = first + ROW * i as i32;
        canvas.block((EDGE, y), (WIDTH - EDGE, y + 1), Ink::Grid)?;
        draw_arm(canvas, samples, arm, look, &axis, y, points)?;
    }
    canvas.block((EDGE, last), (WIDTH - EDGE, last + 1), Ink::Grid)
}

fn draw_arm(
    canvas: &mut Canvas<'_>,
    samples: &Samples,
    arm: &Arm,
    look: Series,
    axis: &ValueAxis,
    top: i32,
    points: usize,
) -> Result<(), PlotError> {
    series::mark(canvas, (EDGE + 6, top + 17), 4, look, 1.0)?;
    let room = NAMES - EDGE - 20;
    canvas.text((EDGE + 20, top + 17), &arm.name, Type::LABEL.bold(), room)?;
    let note = format!("{}, n = {}", arm.role, samples::count(arm.samples.len()));
    canvas.text((EDGE + 20, top + 35), &note, Type::NOTE, room)?;

    let middle = top + 3 + swarm::REACH;
    let xs = arm.samples.iter().map(|it| axis.at(*it)).collect();
    for place in swarm::place(xs, middle, points) {
        series::mark(canvas, place, swarm::RADIUS, look, 0.55)?;
    }
    let median = arm.median();
    let x = axis.at(median);
    if arm.samples.len() > 1 {
        canvas.block((x - 1, top + 3), (x + 1, top + 47), Ink::Text)?;
    }
    if let Some(interval) = arm.interval {
        let (low, high) = (axis.at(interval.low), axis.at(interval.high));
        canvas.block((low - 1, top + 38), (high.max(low + 1) + 1, top + 44), Ink::Text)?;
    }
    let face = Type::LABEL.bold();
    canvas.text((MEDIANS, top + 17), &samples::show(samples.unit, median), face, WIDTH - EDGE - MEDIANS)?;
    Ok(())
}
