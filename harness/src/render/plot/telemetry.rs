//! What the host did while a run was measured: each quantity by block, and the blocks that did not count.

use super::axis::{Axis, Kind};
use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::{PlotError, samples, thin};
use crate::vocab::significant;

/// The host during one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Telemetry {
    /// The heading.
    pub title: String,
    /// What was watched, in the order in which it is shown; at least one.
    pub quantities: Vec<Quantity>,
    /// Rows whose samples did not count.
    pub aside: Vec<Row>,
}

/// One quantity over the blocks, in the order in which they were measured; several short ones are one.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// What it is, such as `load`.
    pub name: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// A value for each block; `None` where the kernel told none. Of all quantities as many.
    pub values: Vec<Option<f64>>,
    /// The highest that was registered for a block.
    pub limit: Option<f64>,
}

/// A block whose samples did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its place in the order of measuring, from 0.
    pub at: usize,
    /// Whether it was excluded for good; else it was measured again.
    pub excluded: bool,
}

/// Where the blocks begin and end.
const BLOCKS: (i32, i32) = (96, WIDTH - EDGE);

/// Heights of the parts of a panel, and of what is below the last one.
const PANEL_HEAD: i32 = 30;
const BODY: i32 = 96;
const AXIS: i32 = 50;

/// Draws the plot.
pub fn draw(telemetry: &Telemetry) -> Result<String, PlotError> {
    let rows = telemetry.quantities.iter().map(|it| it.values.len()).max().unwrap_or(0);
    if rows == 0 {
        return Err(PlotError::Nothing { what: "blocks" });
    }
    for it in &telemetry.quantities {
        for value in it.values.iter().flatten().copied().chain(it.limit) {
            drawable(value, &it.name)?;
        }
    }
    let size = PANEL_HEAD + BODY;
    let panels = i32::try_from(telemetry.quantities.len()).unwrap_or(i32::MAX / size);
    let height = frame::HEAD + panels * size + AXIS;
    canvas::draw(height, &telemetry.title, &describe(telemetry, rows), |canvas| {
        frame::head(canvas, &telemetry.title, &note(telemetry))?;
        let last = f64::from(i32::try_from(rows - 1).unwrap_or(i32::MAX));
        let blocks = Axis::over(Kind::Linear, [0.0, last], BLOCKS)?;
        let mut top = frame::HEAD;
        for quantity in &telemetry.quantities {
            panel(canvas, quantity, &telemetry.aside, &blocks, top)?;
            top += size;
        }
        let whole = |it: &f64| *it >= 0.0 && it.fract() == 0.0 && *it <= last;
        let ticks = blocks.ticks(8).into_iter().filter(whole);
        let ticks: Vec<_> = ticks.map(|it| (blocks.at(it), samples::count(it as usize))).collect();
        frame::column_texts(canvas, &ticks, top + 14)?;
        let face = Type::NOTE.anchored(Anchor::Center);
        canvas.text(
            ((BLOCKS.0 + BLOCKS.1) / 2, top + 34),
            "block, in the order of measuring, warm-ups included; several short ones are one",
            face,
            600,
        )?;
        Ok(())
    })
}

fn panel(
    canvas: &mut Canvas<'_>,
    it: &Quantity,
    aside: &[Row],
    blocks: &Axis,
    top: i32,
) -> Result<(), PlotError> {
    let (first, last) = (top + PANEL_HEAD, top + PANEL_HEAD + BODY);
    let name = canvas.text((EDGE, top + 14), &it.name, Type::LABEL.bold(), 200)?;
    let unit = if it.unit.is_empty() { String::new() } else { format!("in {}", it.unit) };
    let limit = it.limit.map(|limit| format!("at most {} registered for a block", significant(limit, 3)));
    let told: Vec<String> = [Some(unit).filter(|it| !it.is_empty()), limit].into_iter().flatten().collect();
    canvas.text((EDGE + name + 12, top + 14), &told.join("; "), Type::NOTE, 500)?;
    let at = |row: usize| blocks.at(f64::from(i32::try_from(row).unwrap_or(i32::MAX)));
    for row in aside {
        let x = at(row.at);
        canvas.block((x - 2, first), (x + 2, last), Ink::Shade)?;
    }
    // From zero: a quiet host should look quiet.
    let values = it.values.iter().flatten().copied().chain(it.limit).chain([0.0]);
    let axis = Axis::over(Kind::Linear, values, (last, first))?;
    let ticks: Vec<_> = axis.labels(3).into_iter().map(|(tick, text)| (axis.at(tick), text)).collect();
    frame::rows(canvas, &ticks, BLOCKS)?;
    canvas.block((BLOCKS.0, last), (BLOCKS.1, last + 1), Ink::Muted)?;
    if let Some(limit) = it.limit {
        let y = axis.at(limit);
        for x in (BLOCKS.0..BLOCKS.1).step_by(10) {
            canvas.block((x, y), ((x + 5).min(BLOCKS.1), y + 1), Ink::Red)?;
        }
    }
    let points: Vec<(usize, i32)> =
        it.values.iter().enumerate().filter_map(|(row, value)| Some((row, axis.at((*value)?)))).collect();
    // A block of which the kernel told nothing is a hole in the line.
    for run in points.chunk_by(|a, b| a.0 + 1 == b.0) {
        let line: Vec<_> = run.iter().map(|(row, y)| (at(*row), *y)).collect();
        match line.as_slice() {
            [(x, y)] => canvas.block((x - 1, y - 1), (x + 1, y + 1), Ink::Blue)?,
            _ => canvas.path(thin::line(line), Ink::Blue, 1, 0.9)?,
        }
    }
    for row in aside {
        let Some((_, y)) = points.iter().find(|(it, _)| *it == row.at) else { continue };
        let (x, y) = (at(row.at), *y);
        canvas.path(vec![(x - 4, y - 4), (x + 4, y + 4)], Ink::Red, 2, 1.0)?;
        if row.excluded {
            canvas.path(vec![(x - 4, y + 4), (x + 4, y - 4)], Ink::Red, 2, 1.0)?;
        }
    }
    Ok(())
}

fn note(telemetry: &Telemetry) -> String {
    let excluded = telemetry.aside.iter().filter(|it| it.excluded).count();
    let blocks = |n: usize| if n == 1 { "1 block".to_owned() } else { format!("{n} blocks") };
    let told =
        [("struck: measured again,", telemetry.aside.len() - excluded), ("crossed out: excluded,", excluded)];
    let told = told.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{what} {}", blocks(*n)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { "every block counted".to_owned() } else { told.join("; ") }
}

fn describe(telemetry: &Telemetry, rows: usize) -> String {
    let highest = |it: &Quantity| {
        let most = it.values.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let most = if most.is_finite() { significant(most, 3) } else { "unknown".to_owned() };
        format!("{}: highest {most} {}", it.name, it.unit).trim_end().to_owned()
    };
    let all: Vec<_> = telemetry.quantities.iter().map(highest).collect();
    format!("{rows} readings; {}. {}.", all.join("; "), note(telemetry))
}
