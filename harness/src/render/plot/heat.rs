//! A heat map of gains: what varies by row and by column, and the gain of the hypothesis at each crossing.

use super::canvas::{self, Anchor, Canvas, Type, WIDTH};
use super::error::drawable;
use super::frame::{self, EDGE};
use super::palette::{Ink, TINT_STEPS};
use super::{PlotError, share};
use crate::vocab::Finding;

/// The gains of an experiment that varies two things or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The heading.
    pub title: String,
    /// What varies from column to column.
    pub across: String,
    /// What varies from row to row; may be empty.
    pub down: String,
    /// One for each metric; at least one.
    pub panels: Vec<HeatPanel>,
}

/// The gains in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatPanel {
    /// What it is of.
    pub name: String,
    /// The names of the columns; at least one, at most [`MOST_COLUMNS`].
    pub columns: Vec<String>,
    /// Name and tiles of each row, a tile for each column; `None` where nothing is claimed. At least one.
    pub rows: Vec<(String, Vec<Option<Tile>>)>,
}

/// One hypothesis in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The relative gain: a share of the control, positive is better; `None` if there is none.
    pub gain: Option<f64>,
    /// What was found.
    pub finding: Finding,
}

/// More columns have no room for their numbers.
pub const MOST_COLUMNS: usize = 8;

/// Where the names of rows end, and the tiles begin and end.
const NAMES: i32 = 208;
const TILES: (i32, i32) = (220, WIDTH - EDGE);

/// Heights of a tile, of the head and the foot of a panel, and of the key.
const TILE: i32 = 46;
const HEAD: i32 = 52;
const FOOT: i32 = 14;
const KEY: i32 = 40;

/// The half-width of a swatch of the key.
const SWATCH: i32 = 15;

/// Draws the plot, a panel below the other, all on one scale of tints.
pub fn draw(heat: &Heat) -> Result<String, PlotError> {
    let tiles = || heat.panels.iter().flat_map(|it| &it.rows).flat_map(|(_, tiles)| tiles).flatten();
    if tiles().next().is_none() {
        return Err(PlotError::Nothing { what: "hypotheses in cells" });
    }
    let mut largest = 0.0_f64;
    for panel in &heat.panels {
        if panel.columns.len() > MOST_COLUMNS || panel.columns.is_empty() {
            return Err(PlotError::Nothing { what: "columns that have room" });
        }
        for tile in panel.rows.iter().flat_map(|(_, tiles)| tiles).flatten() {
            largest = largest.max(drawable(tile.gain.unwrap_or(0.0), &panel.name)?.abs());
        }
    }
    let end = end(largest);
    let height = |panel: &HeatPanel| HEAD + TILE * panel.rows.len() as i32 + FOOT;
    let total = frame::HEAD + KEY + heat.panels.iter().map(height).sum::<i32>();
    canvas::draw(total, &heat.title, &describe(heat), |canvas| {
        frame::head(canvas, &heat.title, "gain in each cell: positive is better; hatched: undecided")?;
        key(canvas, end, frame::HEAD + 10)?;
        let mut top = frame::HEAD + KEY;
        for panel in &heat.panels {
            draw_panel(canvas, heat, panel, end, top)?;
            top += height(panel);
        }
        Ok(())
    })
}

/// The gain that has the strongest tint: a round one, and not beyond 100 %.
fn end(largest: f64) -> f64 {
    let decades = [0.001, 0.01, 0.1].into_iter();
    let round = decades.flat_map(|decade| [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0].map(|it| it * decade));
    round.chain([1.0]).find(|it| *it >= largest).unwrap_or(1.0)
}

/// The tint of a gain, by steps.
fn tint(gain: f64, end: f64) -> Ink {
    let steps = f64::from(TINT_STEPS);
    Ink::Tint((gain / end * steps).clamp(-steps, steps).round() as i8)
}

/// The scale of tints, and what is hatched.
fn key(canvas: &mut Canvas<'_>, end: f64, y: i32) -> Result<(), PlotError> {
    let worst = format!("{} or worse", share::percent(-end));
    let mut x = EDGE + canvas.text((EDGE, y), &worst, Type::NOTE, 150)? + 8;
    for step in -TINT_STEPS..=TINT_STEPS {
        canvas.block((x, y - 8), (x + 2 * SWATCH, y + 9), Ink::Tint(step))?;
        if step == 0 {
            canvas.text((x + SWATCH, y), "0", Type::NOTE.ink(Ink::Text).anchored(Anchor::Center), 20)?;
        }
        x += 2 * SWATCH;
    }
    x += 8;
    x += canvas.text((x, y), &format!("{} or better", share::percent(end)), Type::NOTE, 150)? + 24;
    canvas.block((x, y - 8), (x + 34, y + 9), Ink::Tint(0))?;
    canvas.hatch((x, y - 8), (x + 34, y + 9), 8, Ink::Muted)?;
    canvas.text((x + 42, y), "undecided", Type::NOTE, WIDTH - EDGE - x - 42)?;
    Ok(())
}

fn draw_panel(
    canvas: &mut Canvas<'_>,
    heat: &Heat,
    panel: &HeatPanel,
    end: f64,
    top: i32,
) -> Result<(), PlotError> {
    canvas.text((EDGE, top + 12), &panel.name, Type::LABEL.bold(), NAMES - EDGE)?;
    let center = Anchor::Center;
    canvas.text(
        ((TILES.0 + TILES.1) / 2, top + 12),
        &heat.across,
        Type::NOTE.anchored(center),
        TILES.1 - TILES.0,
    )?;
    let rows = Type::NOTE.anchored(Anchor::Right);
    canvas.text((NAMES, top + 36), &heat.down, rows, NAMES - EDGE)?;
    let width = (TILES.1 - TILES.0) / panel.columns.len() as i32;
    for (i, column) in panel.columns.iter().enumerate() {
        let x = TILES.0 + width * i as i32 + width / 2;
        canvas.text((x, top + 36), column, Type::NOTE.ink(Ink::Text).anchored(center), width - 8)?;
    }
    for (i, (name, tiles)) in panel.rows.iter().enumerate() {
        let y = top + HEAD + TILE * i as i32;
        canvas.text((NAMES, y + TILE / 2), name, Type::LABEL.anchored(Anchor::Right), NAMES - EDGE)?;
        for (j, tile) in tiles.iter().enumerate().take(panel.columns.len()) {
            let x = TILES.0 + width * j as i32;
            draw_tile(canvas, tile.as_ref(), end, (x, y), width)?;
        }
    }
    Ok(())
}

fn draw_tile(
    canvas: &mut Canvas<'_>,
    tile: Option<&Tile>,
    end: f64,
    (x, y): (i32, i32),
    width: i32,
) -> Result<(), PlotError> {
    // A gap between tiles keeps equal ones apart.
    let (from, to) = ((x, y), (x + width - 2, y + TILE - 2));
    let middle = (from.0 + to.0) / 2;
    let face = |ink| Type::NOTE.ink(ink).anchored(Anchor::Center);
    let Some(tile) = tile else {
        canvas.text((middle, y + TILE / 2 - 1), "not claimed", face(Ink::Muted), width - 10)?;
        return Ok(());
    };
    let ink = tint(tile.gain.unwrap_or(0.0), end);
    canvas.block(from, to, ink)?;
    if tile.finding == Finding::Undecided {
        canvas.hatch(from, to, 8, Ink::Muted)?;
        // The words stand on the bare tint.
        let half = (width / 2 - 8).clamp(10, 38);
        canvas.block((middle - half, y + 6), (middle + half, y + TILE - 8), ink)?;
    }
    let gain = tile.gain.map_or_else(|| "undefined".to_owned(), share::percent);
    let bold = Type::LABEL.bold().anchored(Anchor::Center);
    canvas.text((middle, y + 15), &gain, bold, width - 8)?;
    canvas.text((middle, y + 31), tile.finding.as_str(), face(Ink::Text), width - 8)?;
    Ok(())
}

fn describe(heat: &Heat) -> String {
    let mut words = Vec::new();
    for panel in &heat.panels {
        for (name, tiles) in &panel.rows {
            let tiles = tiles.iter().zip(&panel.columns).filter_map(|(tile, column)| {
                let tile = tile.as_ref()?;
                let gain = tile.gain.map_or_else(|| "undefined".to_owned(), share::percent);
                Some(format!("{column} {gain} {}", tile.finding))
            });
            words.push(format!("{}, {name}: {}.", panel.name, tiles.collect::<Vec<_>>().join(", ")));
        }
    }
    words.join(" ")
}
