//! What the heat map of an experiment is drawn from.

use super::experiment::RecordedRun;
use super::plot::heat::MOST_COLUMNS;
use super::plot::{Heat, HeatPanel, Tile};
use crate::decide::Judged;
use crate::prereg::{Contrast, Hypothesis, Prereg};
use crate::vocab::Cell;

/// The hypotheses in two directions: a swept parameter by column; whatever else varies, and the arms if several are
/// claimed of, by row; a panel for each metric. `None` unless some metric has several rows and several columns.
pub(super) fn heat(prereg: &Prereg, run: &RecordedRun) -> Option<Heat> {
    let (across, values) =
        prereg.params.iter().rev().find(|(_, values)| (2..=MOST_COLUMNS).contains(&values.len()))?;
    let columns: Vec<String> = values.iter().map(ToString::to_string).collect();
    let cells = prereg.cells();
    let mut panels: Vec<HeatPanel> = Vec::new();
    for judged in &run.decision.hypotheses {
        let Some(cell) = cells.iter().find(|it| it.to_string() == judged.comparison.cell) else { continue };
        let value = cell.get(across).map(ToString::to_string)?;
        let column = columns.iter().position(|it| *it == value)?;
        let metric = &judged.comparison.metric;
        let panel = match panels.iter_mut().position(|it| it.name == *metric) {
            Some(found) => &mut panels[found],
            None => {
                panels.push(HeatPanel { name: metric.clone(), columns: columns.clone(), rows: Vec::new() });
                panels.last_mut()?
            }
        };
        let name = row(prereg, cell, across, judged);
        let tile = Tile {
            gain: judged.comparison.relative_gain(0.95).ok().map(|it| it.value),
            finding: judged.finding,
        };
        // A second claim of the same arms and cell has a row of its own.
        let free = |(of, tiles): &&mut (String, Vec<Option<Tile>>)| *of == name && tiles[column].is_none();
        match panel.rows.iter_mut().find(free) {
            Some((_, tiles)) => tiles[column] = Some(tile),
            None => {
                let mut tiles = vec![None; columns.len()];
                tiles[column] = Some(tile);
                panel.rows.push((name, tiles));
            }
        }
    }
    panels.iter_mut().for_each(drop_empty_columns);
    panels.retain(|it| it.rows.len() > 1 && it.columns.len() > 1);
    let title = format!("{}: gain by cell", prereg.title);
    let down = prereg.params.iter().filter(|(name, values)| values.len() > 1 && name != across);
    let down = down.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    (!panels.is_empty()).then(|| Heat { title, across: across.clone(), down, panels })
}

/// What varies beside the columns.
fn row(prereg: &Prereg, cell: &Cell, across: &str, judged: &Judged) -> String {
    let rest = cell.0.iter().filter(|(name, _)| name != across);
    let mut parts: Vec<String> = rest.map(|(_, value)| value.to_string()).collect();
    let comparison = &judged.comparison;
    let of_others = |it: &Hypothesis| {
        let Contrast { treatment, control } = &it.contrast;
        (treatment, control) != (&comparison.treatment, &comparison.control)
    };
    if prereg.hypotheses.iter().any(of_others) {
        parts.push(format!("{} against {}", comparison.treatment, comparison.control));
    }
    if parts.is_empty() { judged.id.clone() } else { parts.join(", ") }
}

fn drop_empty_columns(panel: &mut HeatPanel) {
    for column in (0..panel.columns.len()).rev() {
        if panel.rows.iter().all(|(_, tiles)| tiles[column].is_none()) {
            panel.columns.remove(column);
            panel.rows.iter_mut().for_each(|(_, tiles)| {
                tiles.remove(column);
            });
        }
    }
}
