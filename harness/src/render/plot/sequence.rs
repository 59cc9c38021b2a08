//! The samples in the order of the blocks, warm-ups before them: what drift, steps and cycles look like.

use super::axis::{Axis, Kind};
use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::samples::{self, Arm, Panel, Samples};
use super::series::{self, Series};
use super::text::{self, Size};
use super::value_axis::ValueAxis;
use super::{PlotError, thin};

/// Where the blocks begin and end.
const BLOCKS: (i32, i32) = (96, WIDTH - EDGE);

/// Heights of the parts of a panel.
const HEAD: i32 = 40;
const LEGEND: i32 = 22;
const BODY: i32 = 240;
const AXIS: i32 = 52;

/// The longest name in a legend, in pixels.
const NAME: i32 = 230;

/// More samples than this in an arm have no marks of their own.
const MARKED: usize = 150;

/// Draws the plot.
///
/// A panel's axis is logarithmic, and says so, when its arms differ by more than a factor of 20.
pub fn draw(samples: &Samples) -> Result<String, PlotError> {
    samples.check()?;
    let heights: i32 = samples.panels.iter().map(height).sum();
    canvas::draw(frame::HEAD + heights + 4, &samples.title, &samples::describe(samples), |canvas| {
        let note = format!("{} by block, {} is better", samples.metric, samples.better);
        frame::head(canvas, &samples.title, &note)?;
        let mut y = frame::HEAD;
        for panel in &samples.panels {
            draw_panel(canvas, samples, panel, y)?;
            y += height(panel);
        }
        Ok(())
    })
}

fn height(panel: &Panel) -> i32 {
    HEAD + LEGEND * legend(panel).last().map_or(1, |(_, row)| row + 1) + BODY + AXIS
}

/// Where each arm's entry begins, and in which row of the legend: above the panel, so never over data.
fn legend(panel: &Panel) -> Vec<(i32, i32)> {
    let (mut x, mut row) = (EDGE, 0);
    let mut places = Vec::new();
    for arm in &panel.arms {
        let width = 40 + text::width(&text::clean(&entry(arm)), Size::Small, false).min(NAME) + 16;
        if x + width > WIDTH - EDGE + 16 && x > EDGE {
            (x, row) = (EDGE, row + 1);
        }
        places.push((x, row));
        x += width;
    }
    places
}

fn entry(arm: &Arm) -> String {
    format!("{} ({})", arm.name, arm.role)
}

fn draw_panel(canvas: &mut Canvas<'_>, samples: &Samples, panel: &Panel, top: i32) -> Result<(), PlotError> {
    let all = panel.arms.iter().flat_map(|it| it.warmups.iter().chain(&it.samples)).copied();
    let values: Vec<f64> = all.collect();
    let rows = legend(panel);
    let first = top + HEAD + LEGEND * rows.last().map_or(1, |(_, row)| row + 1);
    let last = first + BODY;
    let axis = ValueAxis::new(&samples.metric, samples.unit, &panel.medians(), &values, (last, first))?;
    let warm = longest(panel, |it| it.warmups.len());
    let n = longest(panel, |it| it.samples.len());
    let blocks = Axis::over(Kind::Linear, [-f64::from(warm), f64::from(n - 1)], BLOCKS)?;
    let at = |block: i32| blocks.at(f64::from(block));

    let width = WIDTH - 2 * EDGE;
    let cell = canvas.text((EDGE, top + 12), &panel.cell, Type::LABEL.bold(), width / 2)?;
    let gap = if cell > 0 { cell + 14 } else { 0 };
    canvas.text((EDGE + gap, top + 12), &axis.title, Type::NOTE, width - gap)?;
    if warm > 0 {
        let border = (at(-1) + at(0)) / 2;
        canvas.block((BLOCKS.0, first), (border, last), Ink::Shade)?;
        let face = Type::NOTE.anchored(Anchor::Center);
        let middle = ((BLOCKS.0 + border) / 2).max(EDGE + 40);
        canvas.text((middle, last + 32), "warm-ups", face, 80)?;
    }
    frame::rows(canvas, &axis.ticks(6), BLOCKS)?;
    canvas.block((BLOCKS.0, last), (BLOCKS.1, last + 1), Ink::Muted)?;
    let whole = |it: &f64| *it >= 0.0 && it.fract() == 0.0 && *it < f64::from(n);
    let ticks = blocks.ticks(8).into_iter().filter(whole);
    let ticks: Vec<(i32, String)> = ticks.map(|it| (blocks.at(it), samples::count(it as usize))).collect();
    for (x, _) in &ticks {
        canvas.block((*x, last), (x + 1, last + 5), Ink::Muted)?;
    }
    frame::column_texts(canvas, &ticks, last + 14)?;
    let face = Type::NOTE.anchored(Anchor::Center);
    let middle = ((at(0) + BLOCKS.1) / 2).min(BLOCKS.1 - 20);
    canvas.text((middle, last + 32), "block", face, 80)?;

    for ((arm, look), (x, row)) in panel.arms.iter().zip(panel.looks()).zip(rows) {
        let y = top + HEAD + LEGEND * row - 2;
        canvas.block((x, y), (x + 28, y + 2), look.ink)?;
        series::mark(canvas, (x + 14, y + 1), 4, look, 1.0)?;
        canvas.text((x + 36, y), &entry(arm), Type::NOTE.ink(Ink::Text), NAME)?;
        draw_arm(canvas, arm, look, &axis, &at)?;
    }
    Ok(())
}

/// The largest of the arms' `lengths`.
fn longest(panel: &Panel, length: impl Fn(&Arm) -> usize) -> i32 {
    panel.arms.iter().map(length).max().map_or(0, |it| i32::try_from(it).unwrap_or(i32::MAX))
}

fn draw_arm(
    canvas: &mut Canvas<'_>,
    arm: &Arm,
    look: Series,
    axis: &ValueAxis,
    at: &impl Fn(i32) -> i32,
) -> Result<(), PlotError> {
    let points = |values: &[f64], first: i32| -> Vec<(i32, i32)> {
        (first..).zip(values).map(|(block, value)| (at(block), axis.at(*value))).collect()
    };
    let warm = i32::try_from(arm.warmups.len()).unwrap_or(i32::MAX);
    let warmups = points(&arm.warmups, -warm);
    if warmups.len() <= MARKED {
        // Crossed out: made, kept, and never analysed.
        for (x, y) in warmups {
            canvas.path(vec![(x - 3, y - 3), (x + 3, y + 3)], look.ink, 1, 0.9)?;
            canvas.path(vec![(x - 3, y + 3), (x + 3, y - 3)], look.ink, 1, 0.9)?;
        }
    } else {
        canvas.path(thin::line(warmups), look.ink, 1, 0.5)?;
    }
    let measured = points(&arm.samples, 0);
    let marked = measured.len() <= MARKED;
    if marked {
        for place in &measured {
            series::mark(canvas, *place, 3, look, 0.85)?;
        }
    }
    if measured.len() > 1 {
        canvas.path(thin::line(measured), look.ink, 1, if marked { 0.5 } else { 0.8 })?;
    }
    Ok(())
}
