//! What the bars of a ledger's arms are drawn from.

use super::experiment::{Experiment, RecordedRun};
use super::plot::{ArmBar, ArmGroup, Arms, Interval};
use crate::decide::{Judged, label};
use crate::prereg::{Arm, Prereg};
use crate::vocab::{Finding, Role, Verdict};

/// The arms of every experiment of a ledger in the metric and cell that most of them claim something of. `None` if that is
/// claimed by one of them only, or if there is no saying which.
pub(super) fn arms(name: &str, experiments: &[Experiment]) -> Option<Arms> {
    let decided: Vec<(&Prereg, &RecordedRun)> =
        experiments.iter().filter_map(|it| Some((it.prereg(), it.deciding()?))).collect();
    let (metric, cell) = most_claimed(&decided)?;
    let mut groups = Vec::new();
    let mut registered = None;
    for (prereg, run) in decided {
        let Some(own) = prereg.metric(&metric) else { continue };
        // Numbers in another unit have no place on the axis.
        let first = *registered.get_or_insert((own.unit, own.better));
        if (own.unit, own.better) != first {
            continue;
        }
        let bars: Vec<ArmBar> = prereg.arms.iter().filter_map(|arm| bar(run, arm, &metric, &cell)).collect();
        if !bars.is_empty() {
            let label = label(prereg, &run.decision).to_owned();
            groups.push(ArmGroup { experiment: prereg.id.clone(), label, bars });
        }
    }
    let (unit, better) = registered?;
    let at = if cell.is_empty() { String::new() } else { format!(" at {cell}") };
    Some(Arms {
        title: format!("Ledger {name}: {metric}{at}, arm by arm"),
        metric,
        unit,
        better,
        interval: "95 % interval of the mean".to_owned(),
        groups,
    })
}

/// The metric and cell that the hypotheses of most experiments are about: of several, and of more than any other.
fn most_claimed(decided: &[(&Prereg, &RecordedRun)]) -> Option<(String, String)> {
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for (_, run) in decided {
        let mut own: Vec<(&str, &str)> = Vec::new();
        for Judged { comparison, .. } in &run.decision.hypotheses {
            let place = (comparison.metric.as_str(), comparison.cell.as_str());
            if !own.contains(&place) {
                own.push(place);
            }
        }
        for place in own {
            match counts.iter_mut().find(|(it, _)| *it == place) {
                Some((_, count)) => *count += 1,
                None => counts.push((place, 1)),
            }
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max().filter(|it| *it > 1)?;
    let mut best = counts.iter().filter(|(_, count)| *count == most);
    match (best.next(), best.next()) {
        (Some(((metric, cell), _)), None) => Some(((*metric).to_owned(), (*cell).to_owned())),
        _ => None,
    }
}

fn bar(run: &RecordedRun, arm: &Arm, metric: &str, cell: &str) -> Option<ArmBar> {
    if !matches!(arm.role, Role::Control | Role::Treatment) {
        return None;
    }
    let found =
        run.analysis.arms.iter().find(|it| it.metric == metric && it.cell == cell && it.arm == arm.name)?;
    Some(ArmBar {
        name: arm.name.clone(),
        verdict: verdict(run, arm),
        mean: found.summary.mean,
        interval: found.mean_interval.map(|it| Interval { low: it.lower, high: it.upper }),
    })
}

/// The rule of the verdict, over the hypotheses and guards about one arm.
fn verdict(run: &RecordedRun, arm: &Arm) -> Option<Verdict> {
    let about = |it: &&Judged| it.comparison.treatment == arm.name;
    let findings: Vec<Finding> = run
        .decision
        .hypotheses
        .iter()
        .chain(&run.decision.guards)
        .filter(about)
        .map(|it| it.finding)
        .collect();
    if arm.role == Role::Control && findings.is_empty() {
        return None;
    }
    Some(if run.decision.verdict == Verdict::Invalid {
        Verdict::Invalid
    } else if findings.is_empty() {
        Verdict::Recorded
    } else if findings.contains(&Finding::Refuted) {
        Verdict::Reject
    } else if findings.contains(&Finding::Undecided) {
        Verdict::Inconclusive
    } else {
        Verdict::Accept
    })
}
