//! Looks before the end: what was observed at each of them, between the boundaries at which all is decided.

use super::axis::{Axis, Kind};
use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::{PlotError, samples, thin};
use crate::vocab::Finding;

/// The looks of one experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    /// The heading.
    pub title: String,
    /// What is observed, such as `z`.
    pub statistic: String,
    /// Each hypothesis and guard in each cell, in the order in which they are shown; at least one.
    pub panels: Vec<LookPanel>,
}

/// One hypothesis or guard in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LookPanel {
    /// What it is called.
    pub label: String,
    /// After how many blocks a look was planned, ascending; at least one.
    pub planned: Vec<u32>,
    /// After how many of them the cell stopped; `None` if it did not.
    pub stopped: Option<u32>,
    /// What was found at the last look.
    pub finding: Finding,
    /// The finding in the word that fits it.
    pub word: String,
    /// What was seen, in order.
    pub looks: Vec<LookPoint>,
}

/// What was seen at one look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookPoint {
    /// After how many blocks.
    pub blocks: u32,
    /// The statistic; finite and at most 1e300 in magnitude.
    pub observed: Option<f64>,
    /// Where it supports; its negative is where it refutes.
    pub boundary: Option<f64>,
}

/// Where the blocks begin and end.
const BLOCKS: (i32, i32) = (96, WIDTH - EDGE);

/// Heights of the parts of a panel.
const PANEL_HEAD: i32 = 34;
const BODY: i32 = 180;
const AXIS: i32 = 56;

/// More looks than this have no marks of their own.
const MARKED: usize = 60;

/// Draws the plot. A statistic that goes far beyond its boundary is cut at six times it, and its mark says so.
pub fn draw(looks: &Looks) -> Result<String, PlotError> {
    if looks.panels.is_empty() {
        return Err(PlotError::Nothing { what: "looks" });
    }
    for panel in &looks.panels {
        for look in &panel.looks {
            for value in look.observed.into_iter().chain(look.boundary) {
                drawable(value, &panel.label)?;
            }
        }
        if panel.planned.is_empty() || panel.looks.is_empty() {
            return Err(PlotError::Nothing { what: "looks" });
        }
    }
    let size = PANEL_HEAD + BODY + AXIS;
    let panels = i32::try_from(looks.panels.len()).unwrap_or(i32::MAX / size);
    canvas::draw(frame::HEAD + panels * size + 4, &looks.title, &describe(looks), |canvas| {
        let note = format!("{} at each look, between the boundaries that decide", looks.statistic);
        frame::head(canvas, &looks.title, &note)?;
        let mut top = frame::HEAD;
        for panel in &looks.panels {
            draw_panel(canvas, looks, panel, top)?;
            top += size;
        }
        Ok(())
    })
}

fn draw_panel(canvas: &mut Canvas<'_>, looks: &Looks, panel: &LookPanel, top: i32) -> Result<(), PlotError> {
    let (first, last) = (top + PANEL_HEAD, top + PANEL_HEAD + BODY);
    let boundaries = || panel.looks.iter().filter_map(|it| it.boundary);
    // Early boundaries may be far beyond all that matters, and so may a large effect.
    let typical = boundaries().fold(f64::INFINITY, f64::min);
    let most = if typical.is_finite() && typical > 0.0 { 6.0 * typical } else { f64::INFINITY };
    let shown = |value: f64| value.clamp(-most, most);
    let values = panel.looks.iter().flat_map(|it| it.observed.into_iter().chain(it.boundary));
    let values = values.map(shown).chain(boundaries().map(|it| -shown(it))).chain([0.0]);
    let axis = Axis::over(Kind::Linear, values, (last, first))?;
    let planned = panel.planned.last().copied().unwrap_or(1);
    let blocks = Axis::over(Kind::Linear, [0.0, f64::from(planned)], BLOCKS)?;
    let at = |count: u32| blocks.at(f64::from(count));

    let label = canvas.text((EDGE, top + 12), &panel.label, Type::LABEL.bold(), WIDTH / 2)?;
    let end = panel.stopped.filter(|it| *it < planned).map_or_else(
        || panel.word.clone(),
        |it| format!("{}, stopped after {it} of {planned} blocks", panel.word),
    );
    let ink = ink(panel.finding);
    let place = (EDGE + label + 14, top + 12);
    canvas.text(place, &end, Type::LABEL.ink(ink), WIDTH - EDGE - place.0)?;

    let labels = axis.labels(5).into_iter().map(|(tick, text)| (axis.at(tick), crate::vocab::minus(text)));
    frame::rows(canvas, &labels.collect::<Vec<_>>(), BLOCKS)?;
    canvas.block((BLOCKS.0, axis.at(0.0)), (BLOCKS.1, axis.at(0.0) + 1), Ink::Muted)?;
    canvas.block((BLOCKS.0, last), (BLOCKS.1, last + 1), Ink::Muted)?;
    let ticks: Vec<(i32, String)> = if panel.planned.len() <= 20 {
        panel.planned.iter().map(|it| (at(*it), samples::count(*it as usize))).collect()
    } else {
        let whole = blocks.ticks(8).into_iter().filter(|it| *it >= 0.0 && it.fract() == 0.0);
        whole.map(|it| (blocks.at(it), samples::count(it as usize))).collect()
    };
    for (x, _) in &ticks {
        canvas.block((*x, last), (x + 1, last + 5), Ink::Muted)?;
    }
    frame::column_texts(canvas, &ticks, last + 14)?;
    let face = Type::NOTE.anchored(Anchor::Center);
    let note = format!("blocks; {} by look, dashed: boundary", looks.statistic);
    canvas.text(((BLOCKS.0 + BLOCKS.1) / 2, last + 34), &note, face, BLOCKS.1 - BLOCKS.0)?;

    for sign in [1.0, -1.0] {
        let line =
            panel.looks.iter().filter_map(|it| Some((at(it.blocks), axis.at(shown(sign * it.boundary?)))));
        let line: Vec<(i32, i32)> = line.collect();
        if line.len() <= MARKED {
            for (x, y) in &line {
                canvas.block((x - 9, y - 1), (x + 10, y + 1), Ink::Text)?;
            }
        }
        for pair in line.windows(2) {
            dashed(canvas, pair[0], pair[1])?;
        }
    }
    let seen = panel.looks.iter().filter_map(|it| Some((at(it.blocks), it.observed?)));
    let seen: Vec<(i32, f64)> = seen.collect();
    let points: Vec<(i32, i32)> = seen.iter().map(|(x, value)| (*x, axis.at(shown(*value)))).collect();
    if points.len() > 1 {
        canvas.path(thin::line(points.clone()), ink, 2, 0.8)?;
    }
    for (index, (place, (_, value))) in points.iter().zip(&seen).enumerate() {
        let ends = index + 1 == points.len();
        if value.abs() > most {
            arrow(canvas, *place, value.signum() as i32, ink)?;
        } else if ends || points.len() <= MARKED {
            canvas.circle(*place, if ends { 6 } else { 4 }, ink, 1.0, true)?;
        }
    }
    Ok(())
}

fn ink(finding: Finding) -> Ink {
    match finding {
        Finding::Supported => Ink::Green,
        Finding::Refuted => Ink::Red,
        Finding::Undecided => Ink::Gray,
    }
}

/// A line of short pieces.
fn dashed(canvas: &mut Canvas<'_>, from: (i32, i32), to: (i32, i32)) -> Result<(), PlotError> {
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = (dx * dx + dy * dy).sqrt();
    // At most as many as a plot has pixels.
    let pieces = (length / 8.0).round().max(1.0) as i32;
    let place = |step: f64| {
        let share = step / f64::from(pieces);
        (from.0 + (dx * share).round() as i32, from.1 + (dy * share).round() as i32)
    };
    for piece in 0..pieces {
        let piece = f64::from(piece);
        canvas.path(vec![place(piece), place(piece + 0.55)], Ink::Text, 1, 1.0)?;
    }
    Ok(())
}

/// A mark for what lies beyond the picture.
fn arrow(canvas: &mut Canvas<'_>, (x, y): (i32, i32), up: i32, ink: Ink) -> Result<(), PlotError> {
    canvas.polygon(vec![(x - 7, y + 5 * up), (x + 7, y + 5 * up), (x, y - 6 * up)], ink, 1.0)
}

fn describe(looks: &Looks) -> String {
    let number = |it: Option<f64>| it.map_or_else(|| "undefined".to_owned(), |it| format!("{it:.2}"));
    let panel = |panel: &LookPanel| {
        // Of very many looks the last ones.
        let from = panel.looks.len().saturating_sub(20);
        let seen: Vec<_> = panel.looks[from..]
            .iter()
            .map(|it| {
                format!("{} after {} (boundary {})", number(it.observed), it.blocks, number(it.boundary))
            })
            .collect();
        format!("{}: {}; {}.", panel.label, seen.join(", "), panel.word)
    };
    looks.panels.iter().map(panel).collect::<Vec<_>>().join(" ")
}
