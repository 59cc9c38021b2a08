use super::args::{Global, Render};
use super::failure::{Exit, Failure};
use super::project::Project;
use super::session;
use super::ui::Ui;
use crate::exchange::evidence::replace;
use crate::render::{Experiment, Figure, ledger, of_experiment, of_ledger};
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub(super) fn run(args: &Render, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut store = session::open(global, project, ui)?;
    let known = ledgers(&mut store)?;
    let wanted: BTreeSet<String> = if args.ledgers.is_empty() {
        known.keys().cloned().collect()
    } else {
        args.ledgers.iter().cloned().collect()
    };
    let mut stale = Vec::new();
    for name in &wanted {
        let Some(ids) = known.get(name) else {
            let names: Vec<_> = known.keys().map(String::as_str).collect();
            let names = if names.is_empty() {
                "there is none yet".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(Failure::new(Exit::Usage, format!("no ledger `{name}` in the store")).hint(names));
        };
        for (path, text) in pages(&mut store, project, ui, name, ids)? {
            if args.check {
                let path = project.shown(&path);
                if std::fs::read_to_string(&path).is_ok_and(|it| it == text) {
                    ui.detail(&format!("{path} is up to date"));
                } else {
                    stale.push(path);
                }
            } else {
                replace(&path, text.as_bytes())?;
                ui.result(&project.shown(&path))?;
            }
        }
    }
    store.close()?;
    if stale.is_empty() {
        return Ok(Exit::Done);
    }
    let failure = Failure::new(Exit::Failed, format!("{} files are not what the store renders", stale.len()));
    Err(Failure { details: stale, ..failure }.hint("write them anew: harness render"))
}

/// Writes the ledger and the plots of its experiments, and returns the paths: the ledger first.
pub(super) fn write(
    store: &mut Store,
    project: &Project,
    ui: &Ui,
    name: &str,
) -> Result<Vec<PathBuf>, Failure> {
    let ids = ledgers(store)?.remove(name).unwrap_or_default();
    let pages = pages(store, project, ui, name, &ids)?;
    for (path, text) in &pages {
        replace(path, text.as_bytes())?;
    }
    Ok(pages.into_iter().map(|(path, _)| path).collect())
}

/// Every ledger with its experiments in order.
fn ledgers(store: &mut Store) -> Result<BTreeMap<String, Vec<String>>, Failure> {
    let mut ledgers: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    for line in store.experiments()? {
        if let Some((_, prereg)) = session::versions(store, &line.experiment)?.pop() {
            ledgers.entry(prereg.ledger).or_default().push((prereg.order, prereg.id));
        }
    }
    let sorted = |(name, mut experiments): (String, Vec<(i64, String)>)| {
        experiments.sort();
        (name, experiments.into_iter().map(|(_, id)| id).collect())
    };
    Ok(ledgers.into_iter().map(sorted).collect())
}

/// The ledger and its plots: path and text, the ledger first.
fn pages(
    store: &mut Store,
    project: &Project,
    ui: &Ui,
    name: &str,
    ids: &[String],
) -> Result<Vec<(PathBuf, String)>, Failure> {
    let mut experiments: Vec<Experiment> = Vec::new();
    for id in ids {
        experiments.extend(session::experiment(store, project, id)?);
    }
    let mut figures: Vec<Vec<Figure>> = Vec::new();
    for experiment in &experiments {
        let (drawn, problems) = of_experiment(experiment);
        for problem in problems {
            ui.warning(&format!("{}: {problem}", experiment.prereg().id));
        }
        figures.push(drawn);
    }
    let closing = match of_ledger(name, &experiments) {
        Some(Ok(figure)) => Some(figure),
        Some(Err(problem)) => {
            ui.warning(&format!("ledger {name}: {problem}"));
            None
        }
        None => None,
    };
    let text = ledger(name, &experiments, &figures, closing.as_ref());
    let mut pages = vec![(project.root.join("ledgers").join(format!("{name}.md")), text)];
    let plots = project.root.join("plots");
    pages.extend(figures.into_iter().flatten().chain(closing).map(|it| (plots.join(&it.path), it.svg)));
    Ok(pages)
}
