//! How an arm looks: a shape and a color that are the same in every plot of an experiment.

use super::PlotError;
use super::canvas::Canvas;
use super::palette::Ink;
use crate::vocab::Role;

/// The outline of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Ring,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Cross,
}

/// The look of one arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Series {
    pub(super) shape: Shape,
    pub(super) ink: Ink,
}

/// Shapes of treatments in turn; coprime in number with their colors, so that the first twenty all differ.
const SHAPES: [Shape; 5] = [Shape::Triangle, Shape::Square, Shape::Diamond, Shape::Wedge, Shape::Disc];
const INKS: [Ink; 4] = [Ink::Vermilion, Ink::Green, Ink::Purple, Ink::Amber];

/// The looks of the arms of a panel, in their order.
pub(super) fn looks(roles: impl IntoIterator<Item = Role>) -> Vec<Series> {
    let (mut controls, mut treatments) = (0, 0);
    let look = |role| match role {
        Role::Control => {
            controls += 1;
            Series { shape: SHAPES[(controls + 3) % SHAPES.len()], ink: Ink::Blue }
        }
        Role::Treatment => {
            treatments += 1;
            Series {
                shape: SHAPES[(treatments - 1) % SHAPES.len()],
                ink: INKS[(treatments - 1) % INKS.len()],
            }
        }
        Role::Sham => Series { shape: Shape::Ring, ink: Ink::Gray },
        Role::Null => Series { shape: Shape::Cross, ink: Ink::Gray },
    };
    roles.into_iter().map(look).collect()
}

/// Draws one mark of about `2 * r` pixels.
pub(super) fn mark(
    canvas: &mut Canvas<'_>,
    (x, y): (i32, i32),
    r: i32,
    look: Series,
    opacity: f64,
) -> Result<(), PlotError> {
    let ink = look.ink;
    match look.shape {
        Shape::Disc => canvas.circle((x, y), r, ink, opacity, true),
        Shape::Ring => canvas.circle((x, y), r, ink, opacity, false),
        Shape::Square => {
            canvas.polygon(vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], ink, opacity)
        }
        Shape::Triangle => {
            canvas.polygon(vec![(x - r - 1, y + r), (x + r + 1, y + r), (x, y - r - 1)], ink, opacity)
        }
        Shape::Wedge => {
            canvas.polygon(vec![(x - r - 1, y - r), (x + r + 1, y - r), (x, y + r + 1)], ink, opacity)
        }
        Shape::Diamond => {
            let d = r + 1;
            canvas.polygon(vec![(x - d, y), (x, y - d), (x + d, y), (x, y + d)], ink, opacity)
        }
        Shape::Cross => {
            canvas.path(vec![(x - r, y - r), (x + r, y + r)], ink, 2, opacity)?;
            canvas.path(vec![(x - r, y + r), (x + r, y - r)], ink, 2, opacity)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_arms_look_different() {
        let mut roles = vec![Role::Treatment; 12];
        roles.extend([Role::Control, Role::Sham, Role::Null]);
        let looks = looks(roles);
        for (i, look) in looks.iter().enumerate() {
            assert!(!looks[i + 1..].contains(look), "{look:?}");
        }
        assert_eq!(looks[12], Series { shape: Shape::Disc, ink: Ink::Blue });
    }
}
