//! A ledger at a glance: the gain and the verdict of each of its experiments.

use super::canvas::{self, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::{PlotError, share};
use crate::vocab::Verdict;

/// The experiments of one ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// The heading.
    pub title: String,
    /// The experiments, in ledger order; at least one.
    pub rows: Vec<VerdictRow>,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRow {
    /// Its id.
    pub experiment: String,
    /// Its title, or the hypothesis that the gain belongs to.
    pub subtitle: String,
    /// Its verdict; `None` if it has not run.
    pub verdict: Option<Verdict>,
    /// How the ledger spells the verdict, such as `STRONG GO`.
    pub label: String,
    /// Whether the others build on it and it claims nothing itself.
    pub baseline: bool,
    /// The relative gain of the first primary hypothesis, where there is one; finite, at most 1e300 in
    /// magnitude, positive is better.
    pub gain: Option<f64>,
}

impl VerdictRow {
    fn ink(&self) -> Ink {
        match self.verdict {
            Some(Verdict::Accept) => Ink::Green,
            Some(Verdict::Reject) => Ink::Red,
            Some(Verdict::Invalid) => Ink::Amber,
            Some(Verdict::Inconclusive | Verdict::Recorded) | None => Ink::Gray,
        }
    }

    /// Whether its bar is only an outline: the gain was measured, but nothing follows from it.
    fn hollow(&self) -> bool {
        !matches!(self.verdict, Some(Verdict::Accept | Verdict::Reject))
    }

    fn numbers(&self) -> String {
        match self.gain {
            Some(gain) => share::percent(gain),
            None if self.baseline => "baseline".to_owned(),
            None => "no gain".to_owned(),
        }
    }
}

/// Where labels end, the bars begin and end, and the verdicts begin.
const LABELS: i32 = 254;
const BARS: (i32, i32) = (274, 620);
const VERDICTS: i32 = 642;

const ROW: i32 = 42;
const AXIS: i32 = 52;

/// Draws the plot. Gains far beyond 100 % make the axis logarithmic beyond 100 %, on both sides.
pub fn draw(verdicts: &Verdicts) -> Result<String, PlotError> {
    if verdicts.rows.is_empty() {
        return Err(PlotError::Nothing { what: "experiments" });
    }
    let mut shares = Vec::new();
    for row in &verdicts.rows {
        if let Some(gain) = row.gain {
            shares.push(drawable(gain, &row.experiment)?);
        }
    }
    if shares.is_empty() {
        shares.push(1.0);
    }
    let axis = share::axis(&shares, BARS)?;
    let first = frame::HEAD + if verdicts.rows.len() > share::MANY { 24 } else { 8 };
    let last = first + ROW * verdicts.rows.len() as i32;
    canvas::draw(last + AXIS, &verdicts.title, &describe(verdicts), |canvas| {
        let note = "gain of the first primary hypothesis of each experiment: right of zero is better";
        frame::head(canvas, &verdicts.title, note)?;
        share::frame(
            canvas,
            &axis,
            "gain over the experiment's control",
            verdicts.rows.len(),
            (first, last),
        )?;
        for (i, row) in verdicts.rows.iter().enumerate() {
            let top = first + ROW * i as i32;
            draw_row(canvas, row, (share::at(&axis, 0.0), row.gain.map(|it| share::at(&axis, it))), top)?;
        }
        canvas.block((EDGE, last), (WIDTH - EDGE, last + 1), Ink::Grid)
    })
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    row: &VerdictRow,
    (zero, end): (i32, Option<i32>),
    top: i32,
) -> Result<(), PlotError> {
    canvas.block((EDGE, top), (WIDTH - EDGE, top + 1), Ink::Grid)?;
    let room = LABELS - EDGE;
    canvas.text((EDGE, top + 14), &row.experiment, Type::LABEL.bold(), room)?;
    canvas.text((EDGE, top + 31), &row.subtitle, Type::NOTE, room)?;
    let room = WIDTH - EDGE - VERDICTS;

    canvas.text((VERDICTS, top + 14), &row.label, Type::LABEL.bold().ink(row.ink()), room)?;
    canvas.text((VERDICTS, top + 31), &row.numbers(), Type::NOTE.ink(Ink::Text), room)?;

    let (from, to) = (top + 10, top + ROW - 9);
    let middle = (from + to) / 2;
    if row.baseline {
        let d = 7;
        let points = vec![(zero, middle - d), (zero + d, middle), (zero, middle + d), (zero - d, middle)];
        canvas.polygon(points, Ink::Text, 1.0)?;
    }
    if let Some(end) = end {
        let (low, high) = (zero.min(end), zero.max(end).max(zero.min(end) + 2));
        canvas.block((low, from), (high, to), row.ink())?;
        if row.hollow() && high - low > 4 {
            canvas.block((low + 2, from + 2), (high - 2, to - 2), Ink::Background)?;
        }
    }
    Ok(())
}

fn describe(verdicts: &Verdicts) -> String {
    let row = |it: &VerdictRow| format!("{}: {}, {}.", it.experiment, it.label, it.numbers());
    verdicts.rows.iter().map(row).collect::<Vec<_>>().join(" ")
}
