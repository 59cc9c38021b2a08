//! The arms of a ledger as bars: what each comes to in one metric, and what was found of it.

use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::value_axis::ValueAxis;
use super::{Interval, PlotError};
use crate::vocab::{Direction, Unit, Verdict};

/// One metric of the arms of several experiments, all at one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Arms {
    /// The heading.
    pub title: String,
    /// The name of the metric.
    pub metric: String,
    /// The unit of every number.
    pub unit: Unit,
    /// Which way the metric improves.
    pub better: Direction,
    /// What the intervals are.
    pub interval: String,
    /// The experiments, in ledger order; at least one.
    pub groups: Vec<ArmGroup>,
}

/// The arms of one experiment: they were measured together.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmGroup {
    /// Its id.
    pub experiment: String,
    /// Its verdict as the ledger spells it.
    pub label: String,
    /// Its arms in the order of the registration; at least one.
    pub bars: Vec<ArmBar>,
}

/// One arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmBar {
    /// Its name.
    pub name: String,
    /// What follows for it from every hypothesis and guard about it; `None` if there are none: a control.
    pub verdict: Option<Verdict>,
    /// Its mean; finite and at most 1e300 in magnitude.
    pub mean: f64,
    /// The interval of the mean, where there is one.
    pub interval: Option<Interval>,
}

impl ArmBar {
    fn ink(&self) -> Ink {
        match self.verdict {
            None => Ink::Blue,
            Some(Verdict::Accept) => Ink::Green,
            Some(Verdict::Reject) => Ink::Red,
            Some(Verdict::Invalid) => Ink::Amber,
            Some(Verdict::Inconclusive | Verdict::Recorded) => Ink::Gray,
        }
    }

    /// Its verdict in a word, with a mark.
    fn word(&self) -> &'static str {
        match self.verdict {
            None => "control",
            Some(Verdict::Accept) => "✓ accepted",
            Some(Verdict::Reject) => "✗ rejected",
            Some(Verdict::Inconclusive) => "? inconclusive",
            Some(Verdict::Invalid) => "! invalid",
            Some(Verdict::Recorded) => "recorded",
        }
    }
}

/// Where names end, the bars begin and end, and the numbers and verdicts begin.
const NAMES: i32 = 188;
const BARS: (i32, i32) = (200, 556);
const NUMBERS: i32 = 572;
const VERDICTS: i32 = 656;

/// Heights of a bar's row, of a group's head, and of the axis.
const ROW: i32 = 26;
const GROUP: i32 = 34;
const AXIS: i32 = 48;

/// Draws the plot. Far apart, bars stand on a logarithmic axis, which says so; they begin at its low end then, else at zero.
pub fn draw(arms: &Arms) -> Result<String, PlotError> {
    let bars = || arms.groups.iter().flat_map(|it| &it.bars);
    if bars().next().is_none() {
        return Err(PlotError::Nothing { what: "arms" });
    }
    let mut values = Vec::new();
    for bar in bars() {
        values.push(drawable(bar.mean, &bar.name)?);
        if let Some(interval) = bar.interval {
            interval.check(&bar.name)?;
            values.extend([interval.low, interval.high]);
        }
    }
    let means: Vec<f64> = bars().map(|it| it.mean).collect();
    let axis = ValueAxis::of_bars(&arms.metric, arms.unit, &means, values, BARS)?;
    let first = frame::HEAD + 8;
    let height = |it: &ArmGroup| GROUP + ROW * it.bars.len() as i32;
    let last = first + arms.groups.iter().map(height).sum::<i32>();
    canvas::draw(last + AXIS, &arms.title, &describe(arms), |canvas| {
        let note = format!("mean of each arm, {} is better; line: {}", arms.better, arms.interval);
        frame::head(canvas, &arms.title, &note)?;
        frame::columns(canvas, &axis.ticks(5), (first, last))?;
        let mut top = first;
        for group in &arms.groups {
            draw_group(canvas, arms, group, &axis, top)?;
            top += height(group);
        }
        canvas.block((EDGE, last), (WIDTH - EDGE, last + 1), Ink::Grid)?;
        let middle = (BARS.0 + BARS.1) / 2;
        let face = Type::NOTE.anchored(Anchor::Center);
        canvas.text((middle, last + 32), &axis.title, face, 2 * (middle - EDGE))?;
        Ok(())
    })
}

fn draw_group(
    canvas: &mut Canvas<'_>,
    arms: &Arms,
    group: &ArmGroup,
    axis: &ValueAxis,
    top: i32,
) -> Result<(), PlotError> {
    canvas.block((EDGE, top), (WIDTH - EDGE, top + 1), Ink::Grid)?;
    // The columns' lines pass behind the words.
    canvas.block((EDGE, top + 1), (WIDTH - EDGE, top + GROUP - 6), Ink::Background)?;
    canvas.text((EDGE, top + 16), &group.experiment, Type::LABEL.bold(), NUMBERS - EDGE - 16)?;
    canvas.text((VERDICTS, top + 16), &group.label, Type::LABEL.bold(), WIDTH - EDGE - VERDICTS)?;
    let start = axis.start();
    for (i, bar) in group.bars.iter().enumerate() {
        let y = top + GROUP + ROW * i as i32;
        let (from, to) = (y - 2, y + ROW - 10);
        let middle = (from + to) / 2;
        let name = Type::LABEL.anchored(Anchor::Right);
        canvas.text((NAMES, middle), &bar.name, name, NAMES - EDGE)?;
        let end = axis.at(bar.mean);
        let (low, high) = (start.min(end), start.max(end).max(start.min(end) + 2));
        canvas.block((low, from), (high, to), bar.ink())?;
        let inside = high - low > 4;
        match bar.verdict {
            Some(Verdict::Reject) if inside => {
                canvas.hatch((low + 2, from + 2), (high - 2, to - 2), 6, Ink::Background)?;
            }
            Some(Verdict::Inconclusive | Verdict::Invalid | Verdict::Recorded) if inside => {
                canvas.block((low + 2, from + 2), (high - 2, to - 2), Ink::Background)?;
            }
            _ => {}
        }
        if let Some(interval) = bar.interval {
            let (low, high) = (axis.at(interval.low), axis.at(interval.high));
            canvas.block((low, middle), (high.max(low + 1), middle + 1), Ink::Text)?;
            canvas.block((low, middle - 4), (low + 1, middle + 5), Ink::Text)?;
            canvas.block((high, middle - 4), (high + 1, middle + 5), Ink::Text)?;
        }
        let face = Type::NOTE.ink(Ink::Text);
        canvas.text((NUMBERS, middle), &arms.unit.show(bar.mean), face, VERDICTS - NUMBERS - 8)?;
        let word = Type::LABEL.bold().ink(bar.ink());
        canvas.text((VERDICTS, middle), bar.word(), word, WIDTH - EDGE - VERDICTS)?;
    }
    Ok(())
}

fn describe(arms: &Arms) -> String {
    let mut words = format!("{}, {} is better.", arms.metric, arms.better);
    for group in &arms.groups {
        let bars = group.bars.iter().map(|it| {
            let word = it.word().trim_start_matches(['✓', '✗', '?', '!', ' ']);
            format!("{} {} ({word})", it.name, arms.unit.show(it.mean))
        });
        let bars = bars.collect::<Vec<_>>().join("; ");
        words.push_str(&format!(" {}, {}: {bars}.", group.experiment, group.label));
    }
    words
}
