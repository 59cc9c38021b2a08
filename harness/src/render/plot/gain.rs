//! A forest of gains: where the interval of each hypothesis and guard lies against zero and its margin, and what cells come
//! to on the whole.

use super::axis::Axis;
use super::canvas::{self, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::{Interval, PlotError, share};
use crate::vocab::{Claim, Finding};

/// Gains of the hypotheses and guards of one experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Gains {
    /// The heading.
    pub title: String,
    /// What the intervals are, such as `95 % interval, Holm-corrected`.
    pub interval: String,
    /// The rows, in the order in which they are shown; at least one.
    pub rows: Vec<GainRow>,
    /// What several of the rows come to on the whole, shown below them.
    pub means: Vec<GainMean>,
}

/// The geometric mean of the ratios of several cells.
#[derive(Clone, Debug, PartialEq)]
pub struct GainMean {
    /// What it is of.
    pub label: String,
    /// Over what.
    pub note: String,
    /// The gain, or why there is none.
    pub gain: Result<Gain, String>,
}

/// One hypothesis or guard in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GainRow {
    /// What it is called.
    pub label: String,
    /// Its cell; empty for the empty cell.
    pub cell: String,
    /// Whether it is a guard.
    pub guard: bool,
    /// What is claimed of the gain: which side of the margin is the right one.
    pub claim: Claim,
    /// The size of the margin as a share of the control; `None` if it is in the metric's unit.
    pub margin: Option<f64>,
    /// What was found.
    pub finding: Finding,
    /// The gain, or why there is none.
    pub gain: Result<Gain, String>,
}

/// A relative gain: a share of the control, positive is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The estimate; finite and at most 1e300 in magnitude.
    pub value: f64,
    /// Its interval, where there is one.
    pub interval: Option<Interval>,
}

impl GainRow {
    /// Where its margins lie on the axis of gains.
    fn margins(&self) -> Vec<f64> {
        let margin = self.margin.map(f64::abs);
        match self.claim {
            Claim::Superior => margin.into_iter().collect(),
            Claim::NonInferior => margin.map(|it| -it).into_iter().collect(),
            Claim::Equivalent => margin.into_iter().flat_map(|it| [-it, it]).collect(),
        }
    }

    /// Its finding in the word that fits it.
    fn word(&self) -> &'static str {
        match (self.finding, self.guard) {
            (Finding::Supported, true) => "held",
            (Finding::Refuted, true) => "violated",
            (finding, _) => finding.as_str(),
        }
    }

    fn ink(&self) -> Ink {
        match self.finding {
            Finding::Supported => Ink::Green,
            Finding::Refuted => Ink::Red,
            Finding::Undecided => Ink::Gray,
        }
    }

    fn check(&self) -> Result<(), PlotError> {
        for margin in self.margins() {
            drawable(margin, &self.label)?;
        }
        check(&self.gain, &self.label)
    }
}

fn check(gain: &Result<Gain, String>, of: &str) -> Result<(), PlotError> {
    match gain {
        Ok(gain) => {
            drawable(gain.value, of)?;
            gain.interval.map_or(Ok(()), |it| it.check(of))
        }
        Err(_) => Ok(()),
    }
}

/// A gain in numbers.
fn numbers(gain: &Result<Gain, String>) -> String {
    match gain {
        Ok(Gain { value, interval: None }) => share::percent(*value),
        Ok(Gain { value, interval: Some(it) }) => {
            let (low, high) = (share::percent(it.low), share::percent(it.high));
            format!("{} [{}, {}]", share::percent(*value), low.trim_end_matches(" %"), high)
        }
        Err(reason) => format!("undefined: {reason}"),
    }
}

/// Where labels end, the gains begin and end, and the numbers begin.
const LABELS: i32 = 244;
const GAINS: (i32, i32) = (264, 562);
const NUMBERS: i32 = 578;

const ROW: i32 = 42;
const AXIS: i32 = 52;

/// Draws the plot. Gains far beyond 100 % make the axis logarithmic beyond 100 %, on both sides.
pub fn draw(gains: &Gains) -> Result<String, PlotError> {
    if gains.rows.is_empty() {
        return Err(PlotError::Nothing { what: "hypotheses or guards" });
    }
    gains.rows.iter().try_for_each(GainRow::check)?;
    gains.means.iter().try_for_each(|it| check(&it.gain, &it.label))?;
    let all = gains.rows.iter().map(|it| &it.gain).chain(gains.means.iter().map(|it| &it.gain));
    let defined = all.filter_map(|it| it.as_ref().ok());
    let mut shares: Vec<f64> = gains.rows.iter().flat_map(GainRow::margins).collect();
    for gain in defined {
        shares.push(gain.value);
        shares.extend(gain.interval.into_iter().flat_map(|it| [it.low, it.high]));
    }
    if shares.is_empty() {
        shares.extend([-1.0, 1.0]);
    }
    let axis = share::axis(&shares, GAINS)?;
    let rows = gains.rows.len() + gains.means.len();
    let first = frame::HEAD + if rows > share::MANY { 46 } else { 26 };
    let means = first + ROW * gains.rows.len() as i32;
    let last = first + ROW * rows as i32;
    canvas::draw(last + AXIS, &gains.title, &describe(gains), |canvas| {
        frame::head(canvas, &gains.title, "relative gain over the control: right of zero is better")?;
        key(canvas, gains)?;
        share::frame(canvas, &axis, "gain", rows, (first, last))?;
        for (i, row) in gains.rows.iter().enumerate() {
            draw_row(canvas, row, &axis, first + ROW * i as i32)?;
        }
        for (i, mean) in gains.means.iter().enumerate() {
            draw_mean(canvas, mean, &axis, means + ROW * i as i32)?;
        }
        if !gains.means.is_empty() {
            canvas.block((EDGE, means), (WIDTH - EDGE, means + 2), Ink::Muted)?;
        }
        canvas.block((EDGE, last), (WIDTH - EDGE, last + 1), Ink::Grid)
    })
}

/// What mark, line and tick are.
fn key(canvas: &mut Canvas<'_>, gains: &Gains) -> Result<(), PlotError> {
    let y = frame::HEAD + 8;
    let mut x = EDGE + 5;
    canvas.circle((x, y), 5, Ink::Muted, 1.0, true)?;
    x += 12;
    x += canvas.text((x, y), "gain", Type::NOTE, 100)? + 18;
    if gains.rows.iter().any(|it| matches!(it.gain, Ok(Gain { interval: Some(_), .. }))) {
        canvas.block((x, y - 1), (x + 22, y + 2), Ink::Muted)?;
        x += 29;
        x += canvas.text((x, y), &gains.interval, Type::NOTE, 360)? + 18;
    }
    if gains.rows.iter().any(|it| it.margin.is_some()) {
        margin(canvas, x, y - 9, y + 9)?;
        x += 9;
        x += canvas.text((x, y), "margin of the row", Type::NOTE, WIDTH - EDGE - x)? + 18;
    }
    if !gains.means.is_empty() {
        diamond(canvas, (x, x + 8, x + 16), y)?;
        x += 22;
        canvas.text((x, y), "geometric mean", Type::NOTE, WIDTH - EDGE - x)?;
    }
    Ok(())
}

/// A dashed tick.
fn margin(canvas: &mut Canvas<'_>, x: i32, from: i32, to: i32) -> Result<(), PlotError> {
    for y in (from..to).step_by(5) {
        canvas.block((x - 1, y), (x + 1, (y + 3).min(to)), Ink::Text)?;
    }
    Ok(())
}

fn draw_row(canvas: &mut Canvas<'_>, row: &GainRow, axis: &Axis, top: i32) -> Result<(), PlotError> {
    canvas.block((EDGE, top), (WIDTH - EDGE, top + 1), Ink::Grid)?;
    // The cell tells one row from the next, so it has all the room there is.
    let note = match (row.guard, row.cell.as_str()) {
        (true, "") => "guard".to_owned(),
        (true, cell) => format!("guard, {cell}"),
        (false, "") => "hypothesis".to_owned(),
        (false, cell) => cell.to_owned(),
    };
    canvas.text((EDGE, top + 14), &row.label, Type::LABEL.bold(), LABELS - EDGE)?;
    canvas.text((EDGE, top + 31), &note, Type::NOTE, LABELS - EDGE)?;
    let word = Type::LABEL.bold().ink(row.ink());
    canvas.text((NUMBERS, top + 14), row.word(), word, WIDTH - EDGE - NUMBERS)?;
    let Some(gain) = draw_numbers(canvas, &row.gain, top)? else { return Ok(()) };
    let middle = top + ROW / 2;
    for place in row.margins() {
        margin(canvas, share::at(axis, place), top + 5, top + ROW - 3)?;
    }
    if let Some(interval) = gain.interval {
        let (low, high) = (share::at(axis, interval.low), share::at(axis, interval.high));
        canvas.block((low, middle - 1), (high.max(low + 1), middle + 2), row.ink())?;
        canvas.block((low, middle - 6), (low + 2, middle + 7), row.ink())?;
        canvas.block((high - 1, middle - 6), (high + 1, middle + 7), row.ink())?;
    }
    point(canvas, row, (share::at(axis, gain.value), middle))
}

/// Writes a gain in numbers, and gives it where there is one.
fn draw_numbers(
    canvas: &mut Canvas<'_>,
    gain: &Result<Gain, String>,
    top: i32,
) -> Result<Option<Gain>, PlotError> {
    let face = Type::NOTE.ink(Ink::Text);
    if gain.is_err() {
        // The reason takes the place of the mark.
        canvas.block((GAINS.0, top + 1), (GAINS.1, top + ROW), Ink::Background)?;
        canvas.text((GAINS.0, top + 31), &numbers(gain), face, WIDTH - EDGE - GAINS.0)?;
    } else {
        canvas.text((NUMBERS, top + 31), &numbers(gain), face, WIDTH - EDGE - NUMBERS)?;
    }
    Ok(gain.as_ref().ok().copied())
}

/// A diamond as wide as the interval.
fn draw_mean(canvas: &mut Canvas<'_>, mean: &GainMean, axis: &Axis, top: i32) -> Result<(), PlotError> {
    canvas.block((EDGE, top), (WIDTH - EDGE, top + 1), Ink::Grid)?;
    canvas.text((EDGE, top + 14), &mean.label, Type::LABEL.bold(), LABELS - EDGE)?;
    canvas.text((EDGE, top + 31), &mean.note, Type::NOTE, LABELS - EDGE)?;
    canvas.text((NUMBERS, top + 14), "exploratory", Type::NOTE, WIDTH - EDGE - NUMBERS)?;
    let Some(gain) = draw_numbers(canvas, &mean.gain, top)? else { return Ok(()) };
    let at = |it: f64| share::at(axis, it);
    let (low, high) = gain.interval.map_or((gain.value, gain.value), |it| (it.low, it.high));
    diamond(canvas, (at(low), at(gain.value), at(high)), top + ROW / 2)
}

fn diamond(canvas: &mut Canvas<'_>, (low, middle, high): (i32, i32, i32), y: i32) -> Result<(), PlotError> {
    // A narrow one is still seen.
    let (low, high) = (low.min(middle - 4), high.max(middle + 4));
    canvas.polygon(vec![(low, y), (middle, y - 8), (high, y), (middle, y + 8)], Ink::Text, 1.0)
}

/// The estimate: a disc if supported, a cross if refuted, a ring if undecided.
fn point(canvas: &mut Canvas<'_>, row: &GainRow, (x, y): (i32, i32)) -> Result<(), PlotError> {
    match row.finding {
        Finding::Supported => canvas.circle((x, y), 5, row.ink(), 1.0, true),
        Finding::Refuted => {
            canvas.path(vec![(x - 5, y - 5), (x + 5, y + 5)], row.ink(), 4, 1.0)?;
            canvas.path(vec![(x - 5, y + 5), (x + 5, y - 5)], row.ink(), 4, 1.0)
        }
        Finding::Undecided => {
            canvas.circle((x, y), 5, Ink::Background, 1.0, true)?;
            canvas.circle((x, y), 5, row.ink(), 1.0, false)
        }
    }
}

fn describe(gains: &Gains) -> String {
    let row = |it: &GainRow| {
        let cell = if it.cell.is_empty() { String::new() } else { format!(" ({})", it.cell) };
        format!("{}{cell}: {}, {}.", it.label, numbers(&it.gain), it.word())
    };
    let mean = |it: &GainMean| format!("{}, {}: {}.", it.label, it.note, numbers(&it.gain));
    gains.rows.iter().map(row).chain(gains.means.iter().map(mean)).collect::<Vec<_>>().join(" ")
}
