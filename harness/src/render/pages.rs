use super::experiment::Experiment;
use super::figures::{Figure, of_experiment, of_ledger};
use super::ledger::ledger;

/// A file that is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its path below the project's root, with `/` between the folders.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// A ledger and its plots, the ledger first; and what could not be drawn, with the reason.
pub fn pages(name: &str, experiments: &[Experiment]) -> (Vec<Page>, Vec<String>) {
    let mut problems = Vec::new();
    let mut figures: Vec<Vec<Figure>> = Vec::new();
    for experiment in experiments {
        let (drawn, left_out) = of_experiment(experiment);
        problems.extend(left_out.into_iter().map(|it| format!("{}: {it}", experiment.prereg().id)));
        figures.push(drawn);
    }
    let (of_all, left_out) = of_ledger(name, experiments);
    problems.extend(left_out.into_iter().map(|it| format!("ledger {name}: {it}")));
    let text = ledger(name, experiments, &figures, &of_all);
    let mut pages = vec![Page { path: format!("ledgers/{name}.md"), text }];
    let plots = figures.into_iter().flatten().chain(of_all);
    pages.extend(plots.map(|it| Page { path: format!("plots/{}", it.path), text: it.svg }));
    (pages, problems)
}
