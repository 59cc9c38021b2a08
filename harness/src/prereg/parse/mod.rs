//! From text to a checked value, one table of the file in each file here.
//!
//! Reading never stops at a problem: a part that cannot be read is `None`, its problem is reported, and
//! whatever does not depend on it is still checked.

mod arms;
mod claims;
mod commands;
mod decision;
mod design;
mod environment;
mod factors;
mod looks;
mod metrics;
mod params;
mod worker;

use super::check;
use super::grammar::Grammar;
use super::problem::{Problems, Report, quote};
use super::table::{Item, Table};
use super::{Arm, FORMAT, Factorial, Guard, Hypothesis, Metric, Prereg, Thresholds, keys};
use crate::vocab::{Role, Scalar};
use factors::FactorDraft;
use std::path::Path;
use toml::de::DeTable;

/// A swept or single parameter.
pub(super) struct ParamDraft {
    pub(super) name: String,
    /// `None` when they could not be read.
    pub(super) values: Option<Vec<Scalar>>,
}

/// An arm. Its name can be referred to even if the rest could not be read.
pub(super) struct ArmDraft {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) role: Option<Role>,
    /// The combination of factors that it is.
    pub(super) cell: Option<usize>,
    pub(super) arm: Option<Arm>,
}

/// A metric, as [`ArmDraft`].
pub(super) struct MetricDraft {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) metric: Option<Metric>,
}

impl MetricDraft {
    fn placed(&self) -> Option<At<&Metric>> {
        Some(At { at: self.at, value: self.metric.as_ref()? })
    }
}

/// A part with the place where it stands.
pub(super) struct At<T> {
    pub(super) at: usize,
    pub(super) value: T,
}

/// What names in hypotheses and guards can refer to.
///
/// Without knowing the arms or the metrics, names of them are not looked up.
pub(super) struct Names<'a> {
    pub(super) params: &'a [ParamDraft],
    pub(super) arms: Option<&'a [ArmDraft]>,
    pub(super) metrics: Option<&'a [MetricDraft]>,
    /// None in a file without factors.
    pub(super) factors: Option<&'a [FactorDraft]>,
    pub(super) factorial: Option<&'a Factorial>,
    pub(super) thresholds: Option<Thresholds>,
}

impl<'a> Names<'a> {
    pub(super) fn of_role(&self, role: Role) -> Vec<&'a ArmDraft> {
        self.arms.into_iter().flatten().filter(|it| it.role == Some(role)).collect()
    }
}

/// Reads a pre-registration and checks it; `file` is its name for messages.
///
/// When `file` ends in `.toml`, its stem must be the experiment's `id`.
///
/// # Errors
/// Every problem of the text, each with line and column.
pub fn parse(text: &str, file: &str) -> Result<Prereg, Problems> {
    document(text, file, |report, entries| read(report, entries, file))
}

/// Reads any TOML text: what `read` makes of it, or every problem of it.
pub(crate) fn document<T>(
    text: &str,
    file: &str,
    read: impl for<'a> FnOnce(&'a Report<'a>, &'a DeTable<'a>) -> Option<T>,
) -> Result<T, Problems> {
    let report = Report::new(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            let span = error.span().unwrap_or(text.len()..text.len());
            let (at, source, message) = (span.start, report.source(span), error.message());
            if source.is_empty() || message.contains('`') {
                report.add(at, format!("not TOML: {message}"));
            } else {
                report.add(at, format!("not TOML: {message}: {}", quote(source)));
            }
        }
        report.first_of_each_line();
        return report.finish(file, None);
    }
    let value = read(&report, root.get_ref());
    report.finish(file, value)
}

/// Reads a [canonical text](Prereg::canonical), as the store keeps it.
///
/// # Errors
/// Every problem of the text; one more when it is not, to the byte, the canonical text of what it says.
pub fn parse_canonical(text: &str) -> Result<Prereg, Problems> {
    const NAME: &str = "canonical text";
    let prereg = parse(text, NAME)?;
    let canonical = prereg.canonical();
    if canonical == text {
        return Ok(prereg);
    }
    let same = text.bytes().zip(canonical.bytes()).take_while(|(a, b)| a == b).count();
    let report = Report::new(text);
    let expected = canonical.get(canonical.floor_char_boundary(same)..).unwrap_or_default();
    let expected = expected.lines().next().unwrap_or_default();
    report.add(same, format!("this is not the canonical text, which goes on with {}", quote(expected)));
    report.finish(NAME, None)
}

fn read<'a>(report: &'a Report<'a>, entries: &'a DeTable<'a>, file: &str) -> Option<Prereg> {
    if let Some(format) = entries.get("format") {
        // Of a newer format nothing else is known, so nothing else is reported.
        let newer = format.get_ref().as_integer().is_some_and(|it| {
            i64::from_str_radix(it.as_str(), it.radix())
                .map_or(!it.as_str().starts_with('-'), |it| it > FORMAT)
        });
        if newer {
            report.help(
                format.span().start,
                format!(
                    "format {} is written for a newer harness, this one reads up to {FORMAT}",
                    quote(report.source(format.span()))
                ),
                Some("update harness".to_owned()),
            );
            return None;
        }
    }
    let root = Table::root(report, entries, keys::ROOT);
    let format = root.or("format", FORMAT, |it| it.whole(1..=FORMAT));
    let id = root.need("id").and_then(|it| id(&it, file));
    let title = root.need("title").and_then(|it| it.filled(200));
    let ledger = root.need("ledger").and_then(|it| it.name(Grammar::Id));
    let order = root.or("order", 0, |it| it.whole(i64::MIN..=i64::MAX));
    let claim = root.or("claim", String::new(), |it| it.text(2_000));
    let changes = root.or("changes", Vec::new(), |it| texts(&it));
    let baseline = root.maybe("baseline", |it| baseline(&it, id.as_deref()));
    let params = params::read(&root);
    let factors = factors::read(&root, &params);
    let mut arms = arms::read(&root, &params, factors.as_deref());
    let factorial =
        factors.as_deref().zip(arms.as_mut()).and_then(|(it, arms)| factors::arms(&root, it, arms));
    if root.get("factors").is_some() && factorial.is_none() {
        // Which arms there are is not known.
        arms = None;
    }
    let design = design::read(&root);
    let metrics = metrics::read(&root);
    let worker = match commands::are_meant(&root) {
        true => commands::read(&root, metrics.as_deref()),
        false => worker::read(&root),
    };
    let decision = decision::rule(&root);
    let names = Names {
        params: &params,
        arms: arms.as_deref(),
        metrics: metrics.as_deref(),
        factors: factors.as_deref(),
        factorial: factorial.as_ref(),
        thresholds: decision.as_ref().and_then(|it| it.thresholds),
    };
    let hypotheses = claims::hypotheses(&root, &names);
    let guards = claims::guards(&root, &names);
    let environment = environment::read(&root);
    let reference = claims::reference(&root, &names);

    check::roles(&root, &names, claims::declared(&root));
    check::twins(report, &names, worker.as_ref());
    if let Some(worker) = &worker {
        let metrics: Vec<_> = metrics.iter().flatten().filter_map(MetricDraft::placed).collect();
        commands::check(&root, worker, &params, arms.as_deref(), &metrics);
    }
    check::size(&root, &names, design.as_ref());
    check::design(&root, &names, design.as_ref(), decision.as_ref());
    check::commands(&root, design.as_ref(), worker.as_ref());
    check::builds(&root, &names, design.as_ref(), worker.as_ref());
    check::guards(report, &guards, &hypotheses);
    check::looks(&root, design.as_ref(), decision.as_ref(), claims::declared(&root), &hypotheses);
    check::blocks(&root, design.as_ref(), environment.as_ref());

    let _: i64 = format?;
    Some(Prereg {
        id: id?,
        title: title?,
        ledger: ledger?,
        order: order?,
        claim: claim?,
        changes: changes?,
        baseline: baseline?,
        worker: worker?,
        params: params::finish(params)?,
        factors: factorial,
        arms: arms?.into_iter().map(|it| it.arm).collect::<Option<_>>()?,
        design: design?,
        metrics: metrics?.into_iter().map(|it| it.metric).collect::<Option<_>>()?,
        hypotheses: values::<Hypothesis>(hypotheses)?,
        guards: values::<Guard>(guards)?,
        decision: decision?,
        environment: environment?,
        reference: reference?,
    })
}

fn id(item: &Item<'_>, file: &str) -> Option<String> {
    let id = item.name(Grammar::Id)?;
    let path = Path::new(file);
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    if path.extension().is_some_and(|it| it == "toml") && stem != id {
        return item.problem(
            format!("`id` is `{id}`, but the file is named {}", quote(stem)),
            Some(format!("rename the file to `{id}.toml` or change `id`")),
        );
    }
    Some(id)
}

fn baseline(item: &Item<'_>, id: Option<&str>) -> Option<String> {
    let baseline = item.name(Grammar::Id)?;
    if id == Some(baseline.as_str()) {
        return item.problem("`baseline` is the experiment itself, expected an earlier one", None);
    }
    Some(baseline)
}

fn texts(item: &Item<'_>) -> Option<Vec<String>> {
    let texts: Vec<_> = item.list(100)?.iter().map(|it| it.filled(2_000)).collect();
    texts.into_iter().collect()
}

fn values<T>(parts: Vec<Option<At<T>>>) -> Option<Vec<T>> {
    parts.into_iter().map(|it| it.map(|it| it.value)).collect()
}
