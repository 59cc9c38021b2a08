//! Effects of a factorial and arms beside a reference, in words and rows that ledger and terminal share.

use super::markdown::{Align, Table};
use super::tables::{between, gain_95, p, percent};
use crate::analyse::{Analysis, Comparison, Gain, Undefined};
use crate::decide::{Decision, Effects, gain_text};
use crate::prereg::{Contrast, Effect, Factorial, Prereg};
use crate::vocab::{Margin, Unit, minus, significant};

/// A table before it is laid out: texts only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// What it is of.
    pub name: String,
    /// The columns; the first are names, the others numbers.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// The grid as it stands in a ledger.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(self.columns.iter().map(|it| (it.as_str(), Align::Left)));
        for row in &self.rows {
            table.row(row.iter().map(|it| it.as_str().into()));
        }
        table
    }
}

/// `rate`, `rate at terms=1000`.
fn place(metric: &str, cell: &str) -> String {
    if cell.is_empty() { metric.to_owned() } else { format!("{metric} at {cell}") }
}

fn shown(gain: Result<Gain, Undefined>, counted: Margin, unit: Unit) -> String {
    match gain {
        Ok(gain) => gain_text(&gain, counted, unit),
        Err(undefined) => undefined.to_string(),
    }
}

/// Every effect in one metric and cell.
pub fn effects(it: &Effects) -> Grid {
    let interval = percent(it.level);
    let columns = [
        "effect".to_owned(),
        "compared".to_owned(),
        format!("gain in the unit, {interval} %"),
        format!("gain as a share, {interval} %"),
        "p, adjusted".to_owned(),
        "registered".to_owned(),
    ];
    let row =
        |name: String, side: &Comparison, share: Result<Gain, Undefined>, p: String, registered: &str| {
            vec![
                name,
                format!("{} against {}", side.treatment, side.control),
                shown(side.absolute_gain(it.level), Margin::Absolute(0.0), side.unit),
                shown(share, Margin::Relative(0.0), side.unit),
                p,
                registered.to_owned(),
            ]
        };
    let mut rows: Vec<Vec<String>> = it
        .family
        .iter()
        .map(|effect| {
            let adjusted = effect.p_adjusted.as_ref().map_or_else(ToString::to_string, |it| p(*it));
            let share = effect.comparison.relative_gain(it.level);
            let registered = if effect.registered { "hypothesis" } else { "no, exploratory" };
            row(effect.effect.to_string(), &effect.comparison, share, adjusted, registered)
        })
        .collect();
    if let Some(total) = &it.total {
        rows.push(row("total".to_owned(), total, total.relative_gain(it.level), String::new(), ""));
    }
    if let Some(additivity) = &it.additivity {
        let of_total = additivity.share_of_control(it.level);
        rows.push(row(
            format!("{}, of the total", Effect::Additivity),
            additivity,
            of_total,
            String::new(),
            "",
        ));
        let of_gain = additivity.relative_gain(it.level);
        rows.push(row(
            format!("{}, of the gain", Effect::Additivity),
            additivity,
            of_gain,
            String::new(),
            "",
        ));
    }
    Grid { name: place(&it.metric, &it.cell), columns: columns.into(), rows }
}

/// Whether the gains add up, in a sentence; `None` of a single factor and without samples.
pub fn adds_up(it: &Effects) -> Option<String> {
    let side = it.additivity.as_ref()?;
    let statistics = side.statistics.as_ref().ok()?;
    let (expected, actual) = (statistics.control.mean(), statistics.treatment.mean());
    let of_gain = match side.relative_gain(it.level) {
        Ok(gain) => {
            let word = if gain.interval.upper < 0.0 {
                "less than the sum: sub-additive"
            } else if gain.interval.lower > 0.0 {
                "more than the sum: super-additive"
            } else {
                "no shown difference from the sum"
            };
            format!(
                "{} of the gain that was to be expected ({word})",
                gain_text(&gain, Margin::Relative(0.0), side.unit)
            )
        }
        Err(undefined) => format!("as a share of the gain {undefined}"),
    };
    Some(format!(
        "One by one, the factors add up to {}; all together they give {}. The difference is {}, which is {} of that sum, and {of_gain}.",
        minus(side.unit.show(expected)),
        minus(side.unit.show(actual)),
        shown(side.absolute_gain(it.level), Margin::Absolute(0.0), side.unit),
        shown(side.share_of_control(it.level), Margin::Relative(0.0), side.unit),
    ))
}

/// Hypotheses about two arms as a matrix, treatments by controls; one for each metric and cell in which several contrasts
/// are claimed.
pub fn contrasts(prereg: &Prereg, decision: &Decision) -> Vec<Grid> {
    let pairwise = |id: &str| prereg.hypotheses.iter().any(|it| it.id == id && it.effect.is_none());
    let claimed: Vec<_> = decision.hypotheses.iter().filter(|it| pairwise(&it.id)).collect();
    let mut places: Vec<(&str, &str)> = Vec::new();
    for it in &claimed {
        let place = (it.comparison.metric.as_str(), it.comparison.cell.as_str());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let grid = |(metric, cell): (&str, &str)| {
        let here: Vec<_> = claimed
            .iter()
            .filter(|it| it.comparison.metric == metric && it.comparison.cell == cell)
            .collect();
        let names = |of: fn(&Comparison) -> &String| {
            let used = |name: &&String| here.iter().any(|it| of(&it.comparison) == *name);
            prereg.arms.iter().map(|it| &it.name).filter(used).cloned().collect::<Vec<String>>()
        };
        let (treatments, controls) = (names(|it| &it.treatment), names(|it| &it.control));
        if treatments.len() * controls.len() < 2 {
            return None;
        }
        let found = |treatment: &String, control: &String| {
            let of = here
                .iter()
                .filter(|it| (&it.comparison.treatment, &it.comparison.control) == (treatment, control));
            of.map(|it| format!("{}, {}", it.gain_text(), it.finding_word())).collect::<Vec<_>>().join("; ")
        };
        let columns = controls.iter().map(|it| format!("against {it}"));
        let rows = treatments.iter().map(|treatment| {
            [treatment.clone()].into_iter().chain(controls.iter().map(|it| found(treatment, it))).collect()
        });
        Some(Grid {
            name: place(metric, cell),
            columns: ["treatment".to_owned()].into_iter().chain(columns).collect(),
            rows: rows.collect(),
        })
    };
    places.into_iter().filter_map(grid).collect()
}

/// Arms as percentages of the reference arm; `None` without one.
pub fn scorecard(prereg: &Prereg, analysis: &Analysis) -> Option<Grid> {
    let reference = prereg.reference.as_ref()?;
    let several = prereg.cells().len() > 1;
    let mut columns = vec!["metric".to_owned()];
    columns.extend(several.then(|| "cell".to_owned()));
    columns.extend([
        "arm".to_owned(),
        "mean".to_owned(),
        format!("% of {reference}, 95 %"),
        "is better".to_owned(),
    ]);
    let rows = analysis.scores.iter().map(|it| {
        let mut row = vec![it.metric.clone()];
        row.extend(several.then(|| it.cell.clone()));
        row.extend([it.arm.clone(), it.mean.map(|mean| minus(it.unit.show(mean))).unwrap_or_default()]);
        row.push(match &it.share {
            Ok((share, interval)) if interval.lower == interval.upper => {
                format!("{} %", significant(share * 100.0, 4))
            }
            Ok((share, interval)) => {
                let [share, low, high] =
                    [*share, interval.lower, interval.upper].map(|it| significant(it * 100.0, 4));
                minus(format!("{share} % [{low}, {high}]"))
            }
            Err(undefined) => undefined.to_string(),
        });
        row.push(it.better.to_string());
        row
    });
    Some(Grid { name: reference.clone(), columns, rows: rows.collect() })
}

/// The combinations of a factorial with their means in the metric and cell of `it`.
pub(super) fn cell_means(factorial: &Factorial, analysis: &Analysis, it: &Effects) -> Grid {
    let factors = factorial.factors.iter().map(|it| it.name.clone());
    let columns = factors.chain(
        ["arm", "mean", "95 % interval of the mean", "gain against the baseline, 95 %"].map(str::to_owned),
    );
    let rows = factorial.arms.iter().enumerate().map(|(cell, arm)| {
        let mut row: Vec<String> =
            factorial.levels(cell).into_iter().map(|(_, level)| level.to_owned()).collect();
        row.push(arm.clone());
        let found =
            analysis.arms.iter().find(|of| of.metric == it.metric && of.cell == it.cell && of.arm == *arm);
        row.push(found.map(|of| minus(of.unit.show(of.summary.mean))).unwrap_or_default());
        let interval = found.and_then(|of| Some((of.unit, of.mean_interval?)));
        row.push(interval.map(|(unit, of)| minus(between(unit, of.lower, of.upper))).unwrap_or_default());
        let contrast = Contrast { treatment: arm.clone(), control: factorial.arms[0].clone() };
        row.push(analysis.find(&it.metric, &it.cell, &contrast).map(gain_95).unwrap_or_default());
        row
    });
    Grid { name: place(&it.metric, &it.cell), columns: columns.collect(), rows: rows.collect() }
}
