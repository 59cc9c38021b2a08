//! Which samples of one side are compared with which of the other, and with what result.

use super::side::Side;
use crate::analyse::{Comparison, Statistics, Undefined};
use crate::cli::args::{Better, Compare as Args};
use crate::cli::failure::{Exit, Failure};
use crate::exchange::samples::Series;
use crate::stats::Sample;
use crate::stats::panel::{Panel, PanelOptions, Says, panel};
use crate::vocab::{Direction, Unit, UnitKind};

/// Samples of B against those of A.
pub(super) struct Pair {
    pub(super) arms: [String; 2],
    /// B is the treatment, A the control; in the unit of A.
    pub(super) comparison: Comparison,
    /// How many samples A and B have.
    pub(super) n: [usize; 2],
    pub(super) panel: Result<Panel, Undefined>,
    /// The units of A and B.
    pub(super) units: [Unit; 2],
}

/// Every metric and cell that both sides have: of the arms that were picked, or of arms with the same name.
pub(super) fn pairs(a: &Side, b: &Side, args: &Args) -> Result<Vec<Pair>, Failure> {
    let (arms_a, arms_b) = (a.arms(), b.arms());
    let shared: Vec<&String> = arms_a.iter().filter(|it| arms_b.contains(it)).collect();
    let arms: Vec<(&String, &String)> = match (arms_a.as_slice(), arms_b.as_slice()) {
        ([one], [other]) => vec![(one, other)],
        _ => shared.iter().map(|it| (*it, *it)).collect(),
    };
    // A list of numbers has no names: it is what the only metric of the other side is.
    let metrics = |side: &Side| {
        let mut names: Vec<String> = side.series.iter().map(|it| it.metric.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    let (metrics_a, metrics_b) = (metrics(a), metrics(b));
    let nameless =
        metrics_a.len() == 1 && metrics_b.len() == 1 && (metrics_a[0].is_empty() || metrics_b[0].is_empty());
    let same =
        |of_a: &Series, of_b: &Series| of_a.cell == of_b.cell && (nameless || of_a.metric == of_b.metric);
    // The same run twice: its blocks are there in both arms.
    let id = |side: &Side| side.run.as_ref().map(|(_, it)| it.data.run.id);
    let one_run = id(a).is_some() && id(a) == id(b);
    let mut pairs = Vec::new();
    for (arm_a, arm_b) in arms {
        for of_a in a.series.iter().filter(|it| it.arm == *arm_a) {
            for of_b in b.series.iter().filter(|it| it.arm == *arm_b && same(of_a, it)) {
                let paired = one_run && of_a.blocks == of_b.blocks && arm_a != arm_b;
                let metric = if of_a.metric.is_empty() { &of_b.metric } else { &of_a.metric };
                let better = a.better(metric).or_else(|| b.better(metric));
                pairs.push(pair(of_a, of_b, metric, better, args, paired)?);
            }
        }
    }
    if pairs.is_empty() {
        let names = |it: &[String]| {
            let names: Vec<_> = it.iter().map(|it| if it.is_empty() { "(none)" } else { it }).collect();
            format!("`{}`", names.join("`, `"))
        };
        let (failure, hint) =
            if arms_a.iter().all(|it| !arms_b.contains(it)) && (arms_a.len() > 1 || arms_b.len() > 1) {
                (
                    format!(
                        "`{}` and `{}` have no arm in common: {} and {}",
                        a.name,
                        b.name,
                        names(&arms_a),
                        names(&arms_b)
                    ),
                    "pick one of each: A:ARM B:ARM",
                )
            } else {
                (
                    format!(
                        "`{}` and `{}` have no metric and cell in common: their metrics are {} and {}",
                        a.name,
                        b.name,
                        names(&metrics_a),
                        names(&metrics_b)
                    ),
                    "only the same metric in the same cell can be compared",
                )
            };
        return Err(Failure::new(Exit::Usage, failure).hint(hint));
    }
    Ok(pairs)
}

fn pair(
    of_a: &Series,
    of_b: &Series,
    metric: &str,
    better: Option<Direction>,
    args: &Args,
    paired: bool,
) -> Result<Pair, Failure> {
    let name = if metric.is_empty() { "samples" } else { metric };
    let units = match (of_a.unit, of_b.unit) {
        (Some(a), Some(b)) if a.kind() == b.kind() => [a, b],
        (Some(a), Some(b)) => {
            return Err(Failure::new(Exit::Usage, format!("`{name}` is in {a} in A and in {b} in B")));
        }
        (None, None) => match Unit::parse("1") {
            Ok(one) => [one, one],
            Err(error) => return Err(Failure::chain(Exit::Failed, &error)),
        },
        (known, _) => {
            let (with, without) = if known.is_some() { ("A", "B") } else { ("B", "A") };
            return Err(Failure::new(
                Exit::Usage,
                format!("`{name}` has a unit in {with} and none in {without}"),
            )
            .hint("say which unit it has there: --unit"));
        }
    };
    let unit = units[0];
    let better = better.unwrap_or(match (args.better, unit.kind()) {
        (Some(Better::Lower), _) => Direction::Lower,
        (Some(Better::Higher), _) => Direction::Higher,
        (None, UnitKind::Rate) => Direction::Higher,
        (None, UnitKind::Time | UnitKind::Bytes | UnitKind::Count) => Direction::Lower,
    });
    let converted = of_b.clone().in_unit(unit).values;
    let samples = Sample::new(converted).and_then(|b| Ok((b, Sample::new(of_a.values.clone())?)));
    let (statistics, answers) = match &samples {
        Ok((b, a)) => (
            Statistics::of(b, a).map_err(Undefined::from),
            panel(b, a, PanelOptions { paired, ..PanelOptions::default() }).map_err(Undefined::from),
        ),
        Err(error) => (Err((*error).into()), Err((*error).into())),
    };
    let comparison = Comparison {
        metric: metric.to_owned(),
        unit,
        better,
        cell: of_a.cell.clone(),
        treatment: of_b.arm.clone(),
        control: of_a.arm.clone(),
        // The panel was asked above.
        samples: None,
        statistics,
        additivity: None,
    };
    Ok(Pair {
        arms: [of_a.arm.clone(), of_b.arm.clone()],
        comparison,
        n: [of_a.values.len(), of_b.values.len()],
        panel: answers,
        units,
    })
}

impl Pair {
    /// What Welch's test says, and how many methods of the panel say the same.
    pub(super) fn agreement(&self) -> Option<(Says, usize, usize)> {
        let panel = self.panel.as_ref().ok()?;
        let defined =
            |id: &str| panel.get(id).map(|it| it.says).filter(|it| !matches!(it, Says::Undefined(_)));
        let says = defined("welch").or_else(|| defined("mann-whitney"))?;
        let (agree, asked) = panel.agree(says);
        Some((says, agree, asked))
    }

    /// An answer in the words of the metric.
    pub(super) fn word(&self, says: Says) -> &'static str {
        match (says, self.comparison.better) {
            (Says::Less, Direction::Lower) | (Says::Greater, Direction::Higher) => "B is better",
            (Says::Less | Says::Greater, _) => "B is worse",
            (Says::NoDifference, _) => "no difference shown",
            (Says::Undefined(_), _) => "undefined",
        }
    }
}
