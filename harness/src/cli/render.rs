use super::args::{Format, Global, Render};
use super::failure::{Exit, Failure};
use super::lock::RenderLock;
use super::project::Project;
use super::records::Records;
use super::session;
use super::table::Table;
use super::ui::Ui;
use crate::exchange::evidence::{self, replace};
use crate::render::{self, Experiment};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use uuid::Uuid;

pub(super) fn run(args: &Render, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut records = session::open(global, project, ui)?;
    let known = ledgers(&mut records)?;
    let wanted: BTreeSet<String> = if args.ledgers.is_empty() {
        known.keys().cloned().collect()
    } else {
        args.ledgers.iter().cloned().collect()
    };
    let _alone = (!args.check).then(|| RenderLock::take(project)).transpose()?;
    let mut stale = Vec::new();
    let mut written = Vec::new();
    for name in &wanted {
        let Some(ids) = known.get(name) else {
            return Err(unknown(name, known.keys().map(String::as_str)));
        };
        let experiments = experiments(&mut records, project, ids)?;
        if !args.check {
            back(&mut records, project, &experiments)?;
        }
        for (path, text) in pages(project, ui, name, &experiments) {
            if args.check {
                let path = project.shown(&path);
                if std::fs::read_to_string(&path).is_ok_and(|it| it == text) {
                    ui.detail(&format!("{path} is up to date"));
                } else {
                    stale.push(path);
                }
            } else {
                replace(&path, text.as_bytes())?;
                written.push(project.shown(&path));
            }
        }
    }
    records.close()?;
    let mut table = Table::new(["file", "state"]);
    for (paths, state) in [(&written, "written"), (&stale, "stale")] {
        paths.iter().for_each(|it| table.row([json!(it), json!(state)]));
    }
    match ui.format {
        Format::Text if written.is_empty() => {}
        Format::Text => ui.result(&written.join("\n"))?,
        _ => ui.result(&table.show(ui.format))?,
    }
    if stale.is_empty() {
        return Ok(Exit::Done);
    }
    let message = match stale.len() {
        1 => "1 file is not what the store renders".to_owned(),
        n => format!("{n} files are not what the store renders"),
    };
    let failure = Failure::new(Exit::Failed, message);
    Err(Failure { details: stale, ..failure }.hint("write them anew: harness render"))
}

/// The refusal of a ledger that is not there.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<_> = known.collect();
    let hint = if known.is_empty() {
        "there is none yet".to_owned()
    } else {
        format!("ledgers are `{}`", known.join("`, `"))
    };
    Failure::new(Exit::Usage, format!("no ledger `{name}`")).hint(hint)
}

/// Writes the ledger and the plots of its experiments, and returns the paths: the ledger first.
pub(super) fn write(
    records: &mut Records,
    project: &Project,
    ui: &Ui,
    name: &str,
) -> Result<Vec<PathBuf>, Failure> {
    let _alone = RenderLock::take(project)?;
    let ids = ledgers(records)?.remove(name).unwrap_or_default();
    let experiments = experiments(records, project, &ids)?;
    back(records, project, &experiments)?;
    let pages = pages(project, ui, name, &experiments);
    for (path, text) in &pages {
        replace(path, text.as_bytes())?;
    }
    Ok(pages.into_iter().map(|(path, _)| path).collect())
}

/// Every ledger with its experiments in order.
pub(super) fn ledgers(records: &mut Records) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let mut ledgers: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    for line in records.experiments()? {
        if let Some((_, prereg)) = session::versions(records, &line.experiment)?.pop() {
            ledgers.entry(prereg.ledger).or_default().push((prereg.order, prereg.id));
        }
    }
    let sorted = |(name, mut experiments): (String, Vec<(i64, String)>)| {
        experiments.sort();
        (name, experiments.into_iter().map(|(_, id)| id).collect())
    };
    Ok(ledgers.into_iter().map(sorted).collect())
}

pub(super) fn experiments(
    records: &mut Records,
    project: &Project,
    ids: &[String],
) -> Result<Vec<Experiment>, Failure> {
    let mut experiments = Vec::new();
    for id in ids {
        experiments.extend(session::experiment(records, project, id)?);
    }
    Ok(experiments)
}

/// Writes the evidence that a ledger of these experiments wants and that is not there, or not all there: of runs
/// that were interrupted or invalidated, and of runs whose process was killed before it came to that.
fn back(records: &mut Records, project: &Project, experiments: &[Experiment]) -> Result<(), Failure> {
    let there: BTreeSet<Uuid> = evidence::runs(&project.root)?.into_iter().map(|(id, _)| id).collect();
    for experiment in experiments {
        for (registration, _) in &experiment.versions {
            evidence::write_registration(&project.root, registration)?;
        }
        for run in &experiment.runs {
            let settled = run.is_over() && run.data.invalidations.is_empty();
            if !settled || !there.contains(&run.data.run.id) {
                let evidence = session::evidence(records, run.data.clone())?;
                evidence::write_run(&project.root, &evidence)?;
            }
        }
        session::write_chain(records, project, &experiment.prereg().id)?;
    }
    Ok(())
}

/// The ledger and its plots: path and text, the ledger first.
fn pages(project: &Project, ui: &Ui, name: &str, experiments: &[Experiment]) -> Vec<(PathBuf, String)> {
    let (pages, problems) = render::pages(name, experiments);
    problems.iter().for_each(|it| ui.warning(it));
    pages.into_iter().map(|it| (project.root.join(it.path), it.text)).collect()
}
