//! What the plots of an experiment and of a ledger are drawn from.

use super::arm_bars::arms;
use super::experiment::{Experiment, RecordedRun};
use super::heat_map::heat;
use super::host;
use super::markdown::safe_file_name;
use super::plot::{
    self, Arm, GainMean, GainRow, Gains, Interaction, Interval, LookPanel, LookPoint, Looks, Mean, Panel,
    Quantity, Row, Samples, Square, Telemetry, VerdictRow, Verdicts,
};
use crate::analyse::{Gain, SetAside, Undefined, set_aside};
use crate::decide::{Judged, Kind, Overall};
use crate::prereg::{Factor, Metric, Prereg, Stopping};
use crate::stats;
use crate::store::SampleSet;
use crate::vocab::{Claim, Margin, Verdict};

/// The quantities of the host that are plotted.
const SHOWN: [&str; 3] = ["load", "steal", "pressure"];

/// A plot, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its path below `plots/`, with `/` between the folders.
    pub path: String,
    /// What a ledger calls it.
    pub title: String,
    /// The picture in words, for those who do not see it.
    pub alternative: String,
    /// The SVG.
    pub svg: String,
}

/// Plots of one folder, and what cannot be drawn.
struct Drawn {
    folder: String,
    figures: Vec<Figure>,
    problems: Vec<String>,
}

impl Drawn {
    fn below(folder: String) -> Self {
        Self { folder, figures: Vec::new(), problems: Vec::new() }
    }

    fn add(
        &mut self,
        stem: &str,
        title: String,
        alternative: String,
        drawn: Result<String, plot::PlotError>,
    ) {
        let path = format!("{}/{stem}.svg", self.folder);
        match drawn {
            Ok(svg) => self.figures.push(Figure { path, title, alternative, svg }),
            Err(error) => self.problems.push(format!("no plot `{stem}`: {error}")),
        }
    }
}

/// The plots of an experiment's deciding run, in ledger order. What cannot be drawn is left out with its reason.
pub fn of_experiment(experiment: &Experiment) -> (Vec<Figure>, Vec<String>) {
    let prereg = experiment.prereg();
    let mut all = Drawn::below(safe_file_name(&prereg.id));
    let Some(run) = experiment.deciding() else { return (all.figures, all.problems) };
    if let Some(gains) = gains(prereg, run) {
        let alternative = format!("Gains of {} against zero and their margins, with intervals", prereg.id);
        all.add(
            "gain",
            "Gain of each hypothesis and guard".to_owned(),
            alternative,
            plot::gain::draw(&gains),
        );
    }
    if let Some(heat) = heat(prereg, run) {
        let alternative = format!("Heat map of the gains of {} by cell, with what was found", prereg.id);
        all.add("heat-map", "Gain by cell".to_owned(), alternative, plot::heat::draw(&heat));
    }
    if let Some(looks) = looks(prereg, run) {
        let alternative = format!("Each look of {} against its boundary", prereg.id);
        all.add("looks", "Looks".to_owned(), alternative, plot::looks::draw(&looks));
    }
    for metric in claimed_first(prereg) {
        if let Some(plot) = interaction(prereg, run, metric) {
            let title = format!("Interaction in {}", metric.name);
            let alternative = format!(
                "Means of {} in {} by factor, and where they would be if effects added up",
                metric.name, prereg.id
            );
            let stem = format!("interaction-{}", safe_file_name(&metric.name));
            all.add(&stem, title, alternative, plot::interaction::draw(&plot));
        }
        let samples = samples(prereg, run, metric);
        for it in plot::OF_SAMPLES {
            let title = format!("{} of {}", it.title, metric.name);
            let alternative = format!("{title} in {}, each arm in each cell", prereg.id);
            all.add(
                &format!("{}-{}", it.id, safe_file_name(&metric.name)),
                title,
                alternative,
                (it.draw)(&samples),
            );
        }
    }
    if let Some(it) = telemetry(prereg, run) {
        all.add(
            "telemetry",
            "The host by block".to_owned(),
            format!("Load, steal and pressure of the host in each block of {}", prereg.id),
            plot::telemetry::draw(&it),
        );
    }
    (all.figures, all.problems)
}

/// The plots of a whole ledger, in its order, and what cannot be drawn, with its reason.
pub fn of_ledger(name: &str, experiments: &[Experiment]) -> (Vec<Figure>, Vec<String>) {
    let mut all = Drawn::below(format!("ledger-{}", safe_file_name(name)));
    if !experiments.is_empty() {
        let verdicts = verdicts(name, experiments);
        let title = verdicts.title.clone();
        all.add(
            "verdicts",
            title.clone(),
            format!("{title}, by experiment"),
            plot::verdicts::draw(&verdicts),
        );
    }
    if let Some(arms) = arms(name, experiments) {
        let alternative = format!("{}, with what was found of each", arms.title);
        all.add("arms", arms.title.clone(), alternative, plot::arms::draw(&arms));
    }
    (all.figures, all.problems)
}

fn verdicts(name: &str, experiments: &[Experiment]) -> Verdicts {
    let rows: Vec<VerdictRow> = experiments
        .iter()
        .map(|it| {
            let prereg = it.prereg();
            let verdict = it.verdict();
            let first = it.deciding().and_then(|run| run.decision.hypotheses.first());
            VerdictRow {
                experiment: prereg.id.clone(),
                subtitle: first.map_or_else(|| prereg.title.clone(), Judged::name),
                verdict,
                label: it.label().to_owned(),
                baseline: prereg.hypotheses.is_empty() && verdict.is_none_or(|it| it == Verdict::Recorded),
                gain: first.and_then(|it| it.comparison.relative_gain(0.95).ok()).map(|it| it.value),
            }
        })
        .collect();
    Verdicts { title: format!("Ledger {name}: gain of the first hypothesis"), rows }
}

/// Metrics that something is claimed of first: they are what a reader came for.
pub fn claimed_first(prereg: &Prereg) -> Vec<&Metric> {
    let claimed = |it: &Metric| prereg.hypotheses.iter().any(|that| that.metric == it.name);
    let (mut first, rest): (Vec<_>, Vec<_>) = prereg.metrics.iter().partition(|it| claimed(it));
    first.extend(rest);
    first
}

fn gains(prereg: &Prereg, run: &RecordedRun) -> Option<Gains> {
    let row = |it: &Judged| {
        // The axis is relative; a margin in the metric's unit has no place on it.
        let level = match (&it.gain, it.margin) {
            (Ok(gain), Margin::Relative(_)) => gain.interval.level,
            _ if it.claim == Claim::Superior => 1.0 - prereg.decision.alpha,
            _ => 1.0 - 2.0 * prereg.decision.alpha,
        };
        GainRow {
            label: it.id.clone(),
            cell: it.comparison.cell.clone(),
            guard: it.kind == Kind::Guard,
            claim: it.claim,
            margin: match it.margin {
                Margin::Relative(margin) => Some(margin),
                Margin::Absolute(_) => None,
            },
            finding: it.finding,
            // The interval that decides, which with pairs, ranks or looks is not that of the means of a single look.
            gain: drawn(match (&it.gain, it.counted) {
                (Ok(gain), Margin::Relative(_)) => Ok(*gain),
                _ => it.comparison.relative_gain(level),
            }),
        }
    };
    let rows: Vec<_> = run.decision.hypotheses.iter().chain(&run.decision.guards).map(row).collect();
    let mean = |it: &Overall| GainMean {
        label: format!("{} on the whole", it.metric),
        note: format!("{} cells, {} against {}", it.cells, it.treatment, it.control),
        gain: drawn(it.gain.clone()),
    };
    let means = run.decision.overall.iter().map(mean).collect();
    let title = format!("{}: gain, positive is better", prereg.title);
    (!rows.is_empty()).then(|| Gains { title, interval: super::tables::levels(&run.decision), rows, means })
}

fn drawn(gain: Result<Gain, Undefined>) -> Result<plot::Gain, String> {
    let interval = |it: stats::Interval| Some(Interval { low: it.lower, high: it.upper });
    gain.map(|it| plot::Gain { value: it.value, interval: interval(it.interval) }).map_err(|it| it.0)
}

fn looks(prereg: &Prereg, run: &RecordedRun) -> Option<Looks> {
    let registered = prereg.design.looks.as_ref()?;
    let statistic = match registered.stopping {
        Stopping::GroupSequential(_) => "z",
        Stopping::SignEProcess => "log10 of the evidence",
    };
    let mut panels = Vec::new();
    for cell in &run.decision.looks {
        let claims = cell.looks.first().map_or(0, |it| it.judged.len());
        for index in 0..claims {
            let seen: Vec<(u32, &Judged)> =
                cell.looks.iter().filter_map(|look| Some((look.blocks, look.judged.get(index)?))).collect();
            let last = seen.last()?.1;
            panels.push(LookPanel {
                label: last.name(),
                planned: cell.planned.clone(),
                stopped: cell.stopped().map(|(_, blocks)| blocks),
                finding: last.finding,
                word: last.finding_word().to_owned(),
                looks: seen
                    .iter()
                    .filter_map(|(blocks, it)| {
                        let position = it.position?;
                        Some(LookPoint {
                            blocks: *blocks,
                            observed: position.observed,
                            boundary: position.boundary,
                        })
                    })
                    .collect(),
            });
        }
    }
    let title = format!("{}: looks", prereg.title);
    (!panels.is_empty()).then(|| Looks { title, statistic: statistic.to_owned(), panels })
}

/// The first two factors of a factorial in each cell and at each level of the others; `None` with fewer factors, or
/// while an arm has no samples.
fn interaction(prereg: &Prereg, run: &RecordedRun, metric: &Metric) -> Option<Interaction> {
    let factorial = prereg.factors.as_ref()?;
    let [first, second, ..] = factorial.factors.as_slice() else { return None };
    let named = |it: &Factor| [0, 1].map(|i| format!("{}={}", it.name, it.levels[i]));
    let mut squares = Vec::new();
    for cell in prereg.cells() {
        let cell = cell.to_string();
        let mean = |combination: usize| {
            let arm = &factorial.arms[combination];
            let found = run
                .analysis
                .arms
                .iter()
                .find(|it| it.metric == metric.name && it.cell == cell && it.arm == *arm)?;
            let interval = found.mean_interval.map(|it| Interval { low: it.lower, high: it.upper });
            Some(Mean { value: found.summary.mean, interval })
        };
        for others in 0..factorial.arms.len() / 4 {
            let base = others << 2;
            let means = [[mean(base)?, mean(base | 1)?], [mean(base | 2)?, mean(base | 3)?]];
            let fixed =
                factorial.levels(base).into_iter().skip(2).map(|(name, level)| format!("{name}={level}"));
            let name =
                [cell.clone()].into_iter().filter(|it| !it.is_empty()).chain(fixed).collect::<Vec<_>>();
            squares.push(Square { name: name.join(", "), means });
        }
    }
    Some(Interaction {
        title: format!("{}: {}", prereg.title, metric.name),
        metric: metric.name.clone(),
        unit: metric.unit,
        better: metric.better,
        interval: "95 % interval of the mean".to_owned(),
        across: named(first),
        lines: named(second),
        squares,
    })
}

/// What the host did, as far as it was recorded.
fn telemetry(prereg: &Prereg, run: &RecordedRun) -> Option<Telemetry> {
    let host::Recorded { steps, quantities } = host::recorded(run);
    let shown = SHOWN.iter().filter_map(|name| quantities.iter().find(|(it, ..)| it == name));
    let quantities: Vec<Quantity> = shown
        .filter(|(.., values)| values.iter().any(Option::is_some))
        .map(|(name, unit, values)| {
            let (unit, scale) = if unit == "share" { ("%", 100.0) } else { (unit.as_str(), 1.0) };
            Quantity {
                name: name.clone(),
                unit: unit.to_owned(),
                values: values.iter().map(|it| it.map(|it| it * scale)).collect(),
                limit: host::limit(prereg, name).map(|it| it * scale),
            }
        })
        .collect();
    let row = |it: &SetAside| {
        // Attempts at a block are rows of the same step, in their order; neighbors that were joined are one row.
        let step = it.step?;
        let first = steps.iter().rposition(|row| *row <= step)?;
        let same = steps.iter().position(|row| row == &steps[first])?;
        let at = (same + it.attempt.saturating_sub(1) as usize).min(first);
        Some(Row { at, excluded: it.excluded })
    };
    let aside = set_aside(&run.data).iter().filter_map(row).collect();
    let title = format!("{}: the host", prereg.title);
    (!quantities.is_empty()).then_some(Telemetry { title, quantities, aside })
}

fn samples(prereg: &Prereg, run: &RecordedRun, metric: &Metric) -> Samples {
    let values = |cell: &str, arm: &str, warmup: bool| -> Vec<f64> {
        let wanted = |it: &&SampleSet| {
            it.metric == metric.name && it.cell == cell && it.arm == arm && it.warmup == warmup
        };
        let mut sets: Vec<&SampleSet> = run.data.sets.iter().filter(wanted).collect();
        sets.sort_by_key(|it| it.first_block);
        sets.into_iter().flat_map(|it| it.values.iter().copied()).collect()
    };
    let arm = |cell: &str, it: &crate::prereg::Arm| {
        let samples = values(cell, &it.name, false);
        let interval =
            stats::Sample::new(samples.clone()).and_then(|it| stats::mean_interval(&it, 0.95)).ok();
        Arm {
            name: it.name.clone(),
            role: it.role,
            warmups: values(cell, &it.name, true),
            interval: interval.map(|it| Interval { low: it.lower, high: it.upper }),
            samples,
        }
    };
    let panels = prereg.cells().into_iter().map(|cell| {
        let cell = cell.to_string();
        Panel { arms: prereg.arms.iter().map(|it| arm(&cell, it)).collect(), cell }
    });
    Samples {
        title: format!("{}: {}", prereg.title, metric.name),
        metric: metric.name.clone(),
        unit: metric.unit,
        better: metric.better,
        interval: "95 % interval of the mean".to_owned(),
        panels: panels.collect(),
    }
}
