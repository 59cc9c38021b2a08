//! A picture in the making: plotters' SVG backend, the fixed palette, texts that fit, and the document round it.

use super::PlotError;
use super::palette::{self, Ink};
use super::text::{self, Size};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontFamily, FontStyle, IntoFont, ShapeStyle, TextStyle};

/// The width of every plot, in pixels.
pub const WIDTH: i32 = 800;

/// What the reader's system is likely to have.
const FONTS: &str = "-apple-system, BlinkMacSystemFont, Segoe UI, Roboto, Helvetica, Arial, sans-serif";

/// Which end of a text stands at its place.
pub(super) use plotters::style::text_anchor::HPos as Anchor;

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) size: Size,
    pub(super) bold: bool,
    pub(super) ink: Ink,
    pub(super) anchor: Anchor,
}

impl Type {
    /// A label that starts at its place.
    pub(super) const LABEL: Self =
        Self { size: Size::Label, bold: false, ink: Ink::Text, anchor: HPos::Left };
    /// A small text that may be skipped.
    pub(super) const NOTE: Self =
        Self { size: Size::Small, bold: false, ink: Ink::Muted, anchor: HPos::Left };
    /// A heading.
    pub(super) const TITLE: Self = Self { size: Size::Title, bold: true, ink: Ink::Text, anchor: HPos::Left };

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    pub(super) fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}

/// A picture in the making.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// For each text drawn so far, what it was before it was shortened.
    full: Vec<Option<String>>,
}

/// Draws a picture of `height` pixels; `title` and `description` are for those who do not see it.
pub(super) fn draw(
    height: i32,
    title: &str,
    description: &str,
    paint: impl FnOnce(&mut Canvas<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let full = {
        let backend = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32));
        let mut canvas = Canvas { area: backend.into_drawing_area(), full: Vec::new() };
        canvas.block((0, 0), (WIDTH, height), Ink::Background)?;
        paint(&mut canvas)?;
        canvas.area.present().map_err(failed)?;
        canvas.full
    };
    Ok(document(&svg, title, description, &full))
}

impl Canvas<'_> {
    /// A filled rectangle. Straight lines are thin ones: they stay crisp.
    pub(super) fn block(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) -> Result<(), PlotError> {
        self.area.draw(&Rectangle::new([from, to], ink.light().filled())).map_err(failed)
    }

    /// Diagonal lines over a rectangle, `step` pixels from each other.
    pub(super) fn hatch(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        step: usize,
        ink: Ink,
    ) -> Result<(), PlotError> {
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        for start in (4 - height..width).step_by(step) {
            // Up to the right, from the lower or left side to the upper or right one.
            let at = |x: i32| (from.0 + x, to.1 - (x - start));
            self.path(vec![at(start.max(0)), at((start + height).min(width))], ink, 1, 1.0)?;
        }
        Ok(())
    }

    /// A line through `points`.
    pub(super) fn path(
        &mut self,
        points: Vec<(i32, i32)>,
        ink: Ink,
        width: u32,
        opacity: f64,
    ) -> Result<(), PlotError> {
        let style = ShapeStyle { color: ink.light().mix(opacity), filled: false, stroke_width: width };
        self.area.draw(&PathElement::new(points, style)).map_err(failed)
    }

    /// A filled polygon.
    pub(super) fn polygon(
        &mut self,
        points: Vec<(i32, i32)>,
        ink: Ink,
        opacity: f64,
    ) -> Result<(), PlotError> {
        self.area.draw(&Polygon::new(points, ink.light().mix(opacity).filled())).map_err(failed)
    }

    /// A disc, or its rim.
    pub(super) fn circle(
        &mut self,
        center: (i32, i32),
        radius: i32,
        ink: Ink,
        opacity: f64,
        filled: bool,
    ) -> Result<(), PlotError> {
        let width = if filled { 0 } else { 2 };
        let style = ShapeStyle { color: ink.light().mix(opacity), filled, stroke_width: width };
        self.area.draw(&Circle::new(center, radius, style)).map_err(failed)
    }

    /// A text, cleaned, and shortened to at most `room` pixels; its middle is at the height of `place`.
    /// Returns how wide it became.
    pub(super) fn text(
        &mut self,
        place: (i32, i32),
        text: &str,
        face: Type,
        room: i32,
    ) -> Result<i32, PlotError> {
        let full = text::clean(text);
        if full.is_empty() {
            return Ok(0);
        }
        let shown = text::shorten(&full, face.size, face.bold, room);
        let width = text::width(&shown, face.size, face.bold);
        let style = if face.bold { FontStyle::Bold } else { FontStyle::Normal };
        // The backend divides by 1.24, which it takes for the ratio of line and letter heights.
        let size = f64::from(face.size.pixels()) * 1.24;
        let font = (FontFamily::Name(FONTS), size, style).into_font();
        let color = face.ink.light();
        let style = TextStyle::from(font).color(&color).pos(Pos::new(face.anchor, VPos::Center));
        self.full.push((shown != full).then_some(full));
        self.area.draw(&Text::new(shown, place, style)).map_err(failed)?;
        Ok(width)
    }
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Backend { message: error.to_string() }
}

/// What plotters wrote, with a role, a title, a description, the style sheet, and the full form of each
/// shortened text.
fn document(svg: &str, title: &str, description: &str, full: &[Option<String>]) -> String {
    let (head, body) = svg.split_once(">\n").unwrap_or((svg, ""));
    let head = head.replacen("<svg ", "<svg role=\"img\" ", 1);
    let (title, description) = (escape(&text::clean(title)), escape(&text::clean(description)));
    let mut out =
        format!("{head}>\n<title>{title}</title>\n<desc>{description}</desc>\n{}", palette::style(body));
    let mut pieces = body.split("<text ");
    out.push_str(pieces.next().unwrap_or(""));
    for (piece, full) in pieces.zip(full) {
        out.push_str("<text ");
        match (full, piece.split_once('>')) {
            (Some(full), Some((attributes, rest))) => {
                out.push_str(&format!("{attributes}><title>{}</title>{rest}", escape(full)));
            }
            _ => out.push_str(piece),
        }
    }
    // 13 * 1.24 / 1.24 is not 13.
    out.replace("font-size=\"13.000000000000002\"", "font-size=\"13\"")
}

/// `text` between two tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
