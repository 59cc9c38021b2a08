//! Shares of the control, shown in percent, and the axis they lie on.

use super::axis::{Axis, Kind};
use super::canvas::{Anchor, Canvas, Type};
use super::palette::Ink;
use super::{PlotError, frame};
use crate::vocab::significant;

/// More rows than this have the texts of the axis above them too.
pub(super) const MANY: usize = 20;

/// `share` in percent with its sign: `+97.1 %`, `0 %`, `−3,000 %`.
pub(super) fn percent(share: f64) -> String {
    // Short of 100 %, a share is never shown as 100 %.
    let shown = (3..9).map(|digits| significant(share * 100.0, digits));
    let number = shown.rev().reduce(|longer, it| if whole(share, &it) { longer } else { it });
    match number.unwrap_or_default() {
        number if share == 0.0 => format!("{number} %"),
        number => match number.strip_prefix('-') {
            Some(size) => format!("−{size} %"),
            None => format!("+{number} %"),
        },
    }
}

/// Whether `number` is 100 although `share` is short of it.
fn whole(share: f64, number: &str) -> bool {
    let digits = number.trim_start_matches('-').trim_end_matches(['0', '.']);
    share.abs() < 1.0 && number.trim_start_matches('-').starts_with("100") && digits == "1"
}

/// The axis for `shares` and zero, logarithmic beyond 100 % if some are far beyond.
pub(super) fn axis(shares: &[f64], pixels: (i32, i32)) -> Result<Axis, PlotError> {
    let kind = Kind::for_shares(shares);
    let hundredths = if kind == Kind::Linear { 100.0 } else { 1.0 };
    Axis::over(kind, shares.iter().chain(&[0.0]).map(|it| it * hundredths), pixels)
}

/// The pixel of `share` on an axis from [`axis`].
pub(super) fn at(axis: &Axis, share: f64) -> i32 {
    axis.at(if axis.kind() == Kind::Linear { share * 100.0 } else { share })
}

/// Grid, texts and title of an axis from [`axis`]; with texts above the rows too if there are many.
pub(super) fn frame(
    canvas: &mut Canvas<'_>,
    axis: &Axis,
    what: &str,
    rows: usize,
    (first, last): (i32, i32),
) -> Result<(), PlotError> {
    let text = |(tick, label): (f64, String)| match axis.kind() {
        Kind::Linear => (axis.at(tick), sign(&label)),
        Kind::Log | Kind::Symlog => (axis.at(tick), whole_percent(tick)),
    };
    let ticks: Vec<(i32, String)> = axis.labels(5).into_iter().map(text).collect();
    frame::columns(canvas, &ticks, (first, last))?;
    if rows > MANY {
        frame::column_texts(canvas, &ticks, first - 12)?;
    }
    let zero = at(axis, 0.0);
    canvas.block((zero, first), (zero + 1, last + 5), Ink::Muted)?;
    let (from, to) = axis.ends();
    let scale = if axis.kind() == Kind::Linear { "" } else { ", logarithmic beyond ±100 %" };
    let face = Type::NOTE.anchored(Anchor::Center);
    canvas.text(((from + to) / 2, last + 32), &format!("{what}{scale}"), face, to - from + 160)?;
    Ok(())
}

/// A label of a linear axis with its sign and the percent mark.
fn sign(label: &str) -> String {
    match label.strip_prefix('-') {
        Some(size) => format!("−{size} %"),
        None if label == "0" => "0 %".to_owned(),
        None => format!("+{label} %"),
    }
}

/// A round share.
fn whole_percent(share: f64) -> String {
    sign(&significant(share * 100.0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_shows_its_sign() {
        assert_eq!(percent(0.9712), "+97.1 %");
        assert_eq!(percent(0.999_71), "+99.97 %");
        assert_eq!(percent(-0.999_999_9), "−99.99999 %");
        assert_eq!(percent(1.0), "+100 %");
        assert_eq!(percent(-30.0), "−3,000 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(-0.0), "0 %");
    }
}
