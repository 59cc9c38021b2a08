//! What every plot has round its data.

use super::PlotError;
use super::canvas::{Anchor, Canvas, Type, WIDTH};
use super::palette::Ink;
use super::text;

/// The margin on either side.
pub(super) const EDGE: i32 = 20;

/// The height of title and note.
pub(super) const HEAD: i32 = 60;

/// The title, and a note below it.
pub(super) fn head(canvas: &mut Canvas<'_>, title: &str, note: &str) -> Result<(), PlotError> {
    canvas.text((EDGE, 24), title, Type::TITLE, WIDTH - 2 * EDGE)?;
    canvas.text((EDGE, 46), note, Type::NOTE, WIDTH - 2 * EDGE)?;
    Ok(())
}

/// Grid lines at `ticks` from the first to the last height, with their texts below; those that have no room
/// beside an earlier one go without a text.
pub(super) fn columns(
    canvas: &mut Canvas<'_>,
    ticks: &[(i32, String)],
    (first, last): (i32, i32),
) -> Result<(), PlotError> {
    for (x, _) in ticks {
        canvas.block((*x, first), (x + 1, last + 5), Ink::Grid)?;
    }
    column_texts(canvas, ticks, last + 14)
}

/// Grid lines at the heights of `ticks` from the first to the last pixel, with their texts to the left; those
/// that have no room below an earlier one go without a text.
pub(super) fn rows(
    canvas: &mut Canvas<'_>,
    ticks: &[(i32, String)],
    (first, last): (i32, i32),
) -> Result<(), PlotError> {
    let face = Type::NOTE.anchored(Anchor::Right);
    let mut taken: Option<i32> = None;
    for (y, label) in ticks {
        canvas.block((first, *y), (last, y + 1), Ink::Grid)?;
        if taken.is_none_or(|it| (it - y).abs() >= face.size.pixels() + 4) {
            taken = Some(*y);
            canvas.text((first - 8, *y), label, face, first - 12)?;
        }
    }
    Ok(())
}

/// The texts of `ticks` at the height `y`, as far as there is room.
pub(super) fn column_texts(
    canvas: &mut Canvas<'_>,
    ticks: &[(i32, String)],
    y: i32,
) -> Result<(), PlotError> {
    let face = Type::NOTE.anchored(Anchor::Center);
    let mut taken: Vec<(i32, i32)> = Vec::new();
    for (x, label) in ticks {
        let half = text::width(label, face.size, face.bold) / 2 + 3;
        let (from, to) = (x - half, x + half);
        if from >= 0 && to <= WIDTH && taken.iter().all(|(start, end)| to < *start || *end < from) {
            taken.push((from, to));
            canvas.text((*x, y), label, face, 2 * half)?;
        }
    }
    Ok(())
}
