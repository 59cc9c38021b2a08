//! The means of a factorial: two factors in a panel, one along the axis, one as a line for each of its levels. Lines that
//! are parallel are effects that add up; the dashed one is where the upper level would lie if they did.

use super::axis::{Axis, Kind};
use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::Ink;
use super::series::{self, Series};
use super::{Interval, PlotError};
use crate::vocab::{Direction, Role, Unit};

/// The cell means of one metric of a factorial of two or more factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// The heading.
    pub title: String,
    /// The name of the metric.
    pub metric: String,
    /// The unit of every number.
    pub unit: Unit,
    /// Which way the metric improves.
    pub better: Direction,
    /// What the intervals of the means are.
    pub interval: String,
    /// The levels of the factor along the axis, such as `c5=off`, `c5=on`.
    pub across: [String; 2],
    /// The levels of the factor that has a line for each.
    pub lines: [String; 2],
    /// One for each combination of whatever else varies; at least one.
    pub squares: Vec<Square>,
}

/// Four means: what two factors do while all else stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// What else there is, such as `terms=1000`; empty if there is nothing else.
    pub name: String,
    /// By line, then along the axis.
    pub means: [[Mean; 2]; 2],
}

/// A mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The estimate; finite and at most 1e300 in magnitude.
    pub value: f64,
    /// Its interval, where there is one.
    pub interval: Option<Interval>,
}

impl Square {
    /// Where the last mean would be if the effects added up.
    fn expected(&self) -> f64 {
        let [[neither, first], [second, _]] = self.means.map(|line| line.map(|it| it.value));
        // Halved first: the sum of two large numbers may be too large.
        2.0 * (first / 2.0 - neither / 2.0 + second / 2.0)
    }

    fn numbers(&self) -> Vec<f64> {
        let means = self.means.iter().flatten();
        let ends = means
            .flat_map(|it| [Some(it.value), it.interval.map(|it| it.low), it.interval.map(|it| it.high)]);
        ends.flatten().chain([self.expected()]).collect()
    }

    fn check(&self) -> Result<(), PlotError> {
        let of = if self.name.is_empty() {
            "a cell mean".to_owned()
        } else {
            format!("a cell mean at {}", self.name)
        };
        for it in self.means.iter().flatten() {
            drawable(it.value, &of)?;
            it.interval.map_or(Ok(()), |it| it.check(&of))?;
        }
        drawable(self.expected(), &of).map(|_| ())
    }
}

/// Where the panel begins and ends, where the two levels stand, and where the texts of the lines begin.
const PANEL: (i32, i32) = (96, 560);
const LEVELS: [i32; 2] = [190, 450];
const TEXTS: i32 = 576;

/// Heights of the parts of a panel.
const HEAD: i32 = 34;
const BODY: i32 = 240;
const AXIS: i32 = 40;

/// Draws the plot, a panel for each square, all on one linear axis.
pub fn draw(plot: &Interaction) -> Result<String, PlotError> {
    if plot.squares.is_empty() {
        return Err(PlotError::Nothing { what: "cell means" });
    }
    plot.squares.iter().try_for_each(Square::check)?;
    let height = HEAD + BODY + AXIS;
    let total = frame::HEAD + height * plot.squares.len() as i32 + 8;
    canvas::draw(total, &plot.title, &describe(plot), |canvas| {
        let note = format!(
            "means, {} is better; {}; dashed: where effects that add up would lie",
            plot.better, plot.interval
        );
        frame::head(canvas, &plot.title, &note)?;
        for (i, square) in plot.squares.iter().enumerate() {
            panel(canvas, plot, square, frame::HEAD + height * i as i32)?;
        }
        Ok(())
    })
}

fn panel(canvas: &mut Canvas<'_>, plot: &Interaction, square: &Square, top: i32) -> Result<(), PlotError> {
    let (first, last) = (top + HEAD, top + HEAD + BODY);
    let all: Vec<f64> = plot.squares.iter().flat_map(Square::numbers).collect();
    let most = all.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
    let shown = plot.unit.readable(most);
    let ratio = plot.unit.scale() / shown.scale();
    let axis = Axis::over(Kind::Linear, all.iter().map(|it| it * ratio), (last, first))?;
    let at = |value: f64| axis.at(value * ratio);
    let metric = if shown.name() == "1" { plot.metric.clone() } else { format!("{} ({shown})", plot.metric) };
    let cell = canvas.text((EDGE, top + 12), &square.name, Type::LABEL.bold(), 360)?;
    let gap = if cell > 0 { cell + 14 } else { 0 };
    canvas.text((EDGE + gap, top + 12), &metric, Type::NOTE, WIDTH - 2 * EDGE - gap)?;
    let ticks: Vec<(i32, String)> =
        axis.labels(6).into_iter().map(|(tick, text)| (axis.at(tick), text)).collect();
    frame::rows(canvas, &ticks, PANEL)?;
    canvas.block((PANEL.0, last), (PANEL.1, last + 1), Ink::Muted)?;
    for (x, level) in LEVELS.into_iter().zip(&plot.across) {
        canvas.block((x, last), (x + 1, last + 5), Ink::Muted)?;
        canvas.text((x, last + 16), level, Type::NOTE.ink(Ink::Text).anchored(Anchor::Center), 240)?;
    }
    let expected = [at(square.means[1][0].value), at(square.expected())];
    dashed(canvas, expected)?;
    let looks = series::looks([Role::Control, Role::Treatment]);
    // The texts stand beside their line's end, apart from each other.
    let ends = square.means.map(|line| at(line[1].value));
    let heights = apart(ends, (first + 8, last - 8));
    for (i, (line, look)) in square.means.iter().zip(looks).enumerate() {
        // Side by side, so that intervals of equal means are both seen.
        let shift = if i == 0 { -3 } else { 3 };
        let places = [0, 1].map(|j| (LEVELS[j] + shift, at(line[j].value)));
        canvas.path(places.to_vec(), look.ink, 2, 0.9)?;
        for (mean, place) in line.iter().zip(places) {
            draw_mean(canvas, mean, place, look, &at)?;
        }
        series::mark(canvas, (TEXTS, heights[i]), 4, look, 1.0)?;
        canvas.text((TEXTS + 12, heights[i]), &plot.lines[i], Type::LABEL, WIDTH - EDGE - TEXTS - 12)?;
    }
    Ok(())
}

fn draw_mean(
    canvas: &mut Canvas<'_>,
    mean: &Mean,
    (x, y): (i32, i32),
    look: Series,
    at: &impl Fn(f64) -> i32,
) -> Result<(), PlotError> {
    if let Some(interval) = mean.interval {
        let (low, high) = (at(interval.low), at(interval.high));
        canvas.block((x, high), (x + 2, low.max(high + 1)), look.ink)?;
        for end in [low, high] {
            canvas.block((x - 4, end), (x + 6, end + 1), look.ink)?;
        }
    }
    series::mark(canvas, (x, y), 5, look, 1.0)
}

/// A dashed line between the two levels.
fn dashed(canvas: &mut Canvas<'_>, [from, to]: [i32; 2]) -> Result<(), PlotError> {
    let width = LEVELS[1] - LEVELS[0];
    let height = |x: i32| from + (to - from) * x / width;
    for x in (0..width).step_by(10) {
        let end = (x + 5).min(width);
        canvas.path(vec![(LEVELS[0] + x, height(x)), (LEVELS[0] + end, height(end))], Ink::Muted, 1, 1.0)?;
    }
    Ok(())
}

/// Two heights near `ends`, within bounds and far enough from each other for a line of text.
fn apart(ends: [i32; 2], (least, most): (i32, i32)) -> [i32; 2] {
    const LINE: i32 = 20;
    let [a, b] = ends.map(|it| it.clamp(least, most));
    if (a - b).abs() >= LINE {
        return [a, b];
    }
    let middle = ((a + b) / 2).clamp(least + LINE / 2, most - LINE / 2);
    if a <= b { [middle - LINE / 2, middle + LINE / 2] } else { [middle + LINE / 2, middle - LINE / 2] }
}

/// The means in words, for those who do not see the plot.
fn describe(plot: &Interaction) -> String {
    let mut words = format!("{}, {} is better.", plot.metric, plot.better);
    for square in &plot.squares {
        let place = if square.name.is_empty() { String::new() } else { format!("{}: ", square.name) };
        let mut means = Vec::new();
        for (line, name) in square.means.iter().zip(&plot.lines) {
            for (mean, level) in line.iter().zip(&plot.across) {
                means.push(format!("{level}, {name} {}", plot.unit.show(mean.value)));
            }
        }
        means.push(format!("both, if effects added up, {}", plot.unit.show(square.expected())));
        words.push_str(&format!(" {place}{}.", means.join("; ")));
    }
    words
}
