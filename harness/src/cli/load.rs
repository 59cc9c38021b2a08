//! Evidence, loaded into the store: what it does not have yet, and nothing that it has otherwise.

use super::failure::{Exit, Failure};
use super::project::Project;
use super::ui::Ui;
use crate::exchange::chain;
use crate::exchange::evidence::{self, Evidence};
use crate::store::{Link, Registration, RunLine, Store};
use crate::vocab::{RunState, Seal};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Some of the evidence below a folder.
pub(super) struct Selection {
    pub(super) registrations: Vec<(PathBuf, Registration)>,
    pub(super) runs: Vec<(Uuid, PathBuf)>,
    pub(super) chains: BTreeMap<String, Vec<Link>>,
    /// Whether runs that the store has whole are read as well: damage and contradictions come to light.
    pub(super) again: bool,
}

/// What was new to the store.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) registrations: usize,
    pub(super) runs: usize,
    /// Runs that were stored once, as the chain says, and were not there any more.
    pub(super) gone: Vec<Uuid>,
}

impl Loaded {
    /// Says what should not have happened.
    pub(super) fn warn(&self, ui: &Ui) {
        for run in &self.gone {
            ui.warning(&format!(
                "run {run} was gone from the store, though its chain names it; it is loaded again from its evidence"
            ));
        }
    }
}

impl Selection {
    /// All evidence of the project.
    pub(super) fn of_project(project: &Project) -> Result<Self, Failure> {
        Self::of(&evidence::base(&project.root), |_| true)
    }

    /// All evidence below `base` of which `wanted` says so of the experiment's name.
    pub(super) fn of(base: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self, Failure> {
        let mut registrations = evidence::registrations_in(base)?;
        registrations.retain(|(_, it)| wanted(&it.experiment));
        let mut runs = evidence::runs_in(base)?;
        runs.retain(|(_, path)| wanted(experiment_of(path)));
        let names = registrations.iter().map(|(_, it)| it.experiment.clone());
        let names: HashSet<String> =
            names.chain(runs.iter().map(|(_, it)| experiment_of(it).to_owned())).collect();
        let mut chains = BTreeMap::new();
        for name in names {
            let links = chain::read(base, &name)?;
            chains.insert(name, links);
        }
        Ok(Self { registrations, runs, chains, again: false })
    }
}

/// The folder that a file of evidence lies in has the name of its experiment.
pub(super) fn experiment_of(path: &Path) -> &str {
    path.parent().and_then(Path::file_name).and_then(|it| it.to_str()).unwrap_or_default()
}

/// Loads evidence. A contradiction is an error that names it; everything before it stays loaded.
pub(super) fn load(
    store: &mut Store,
    selection: &Selection,
    project: &Project,
    ui: &Ui,
) -> Result<Loaded, Failure> {
    let registrations = registrations(store, selection, project)?;
    Ok(Loaded { registrations, ..runs(store, selection, project, ui)? })
}

/// Loads the registrations that the store does not have, and says how many.
pub(super) fn registrations(
    store: &mut Store,
    selection: &Selection,
    project: &Project,
) -> Result<usize, Failure> {
    let mut loaded = 0;
    let mut known: Vec<Registration> = Vec::new();
    for experiment in selection.chains.keys() {
        known.extend(store.registrations(experiment)?);
    }
    for (path, registration) in &selection.registrations {
        let (experiment, version) = (&registration.experiment, registration.version);
        match known.iter().find(|it| it.experiment == *experiment && it.version == version) {
            Some(stored) if stored.digest == registration.digest => {}
            Some(stored) => {
                return Err(Failure::new(
                    Exit::Integrity,
                    format!(
                        "evidence `{}` has version {version} of `{experiment}` with SHA-256 {}, the store has it with {}",
                        project.shown(path),
                        registration.digest.short(),
                        stored.digest.short(),
                    ),
                )
                .hint("the project was registered twice, independently: keep one of the two histories"));
            }
            None => {
                let links = selection.up_to(experiment, |it| {
                    matches!(it.kind, Seal::Registered | Seal::Amended) && it.object == version.to_string()
                });
                store.import_registration(registration, links)?;
                loaded += 1;
            }
        }
    }
    Ok(loaded)
}

/// Loads the runs that the store does not have, or not all of.
pub(super) fn runs(
    store: &mut Store,
    selection: &Selection,
    project: &Project,
    ui: &Ui,
) -> Result<Loaded, Failure> {
    let mut loaded = Loaded::default();
    if selection.runs.is_empty() {
        return Ok(loaded);
    }
    let mut sealed: HashSet<(Seal, String)> = HashSet::new();
    for experiment in selection.chains.keys() {
        sealed.extend(store.chain(experiment)?.into_iter().map(|it| (it.kind, it.object)));
    }
    // A run that was exported unfinished may have been finished since.
    let settled =
        |it: &&RunLine| it.verdict.is_some() && matches!(it.state, RunState::Done | RunState::Failed);
    let stored = store.runs(None)?;
    let settled: HashSet<Uuid> = stored.iter().filter(settled).map(|it| it.run.id).collect();
    let stored: HashSet<Uuid> = stored.iter().map(|it| it.run.id).collect();
    for (id, path) in &selection.runs {
        let experiment = experiment_of(path);
        let name = id.to_string();
        let about = |it: &Link| it.object.split('/').next() == Some(&name);
        let links = selection.chains.get(experiment).map_or(&[][..], Vec::as_slice);
        // What happened to it since may be new, such as that it was invalidated elsewhere.
        let mut new = links.iter().filter(|it| about(it) && !sealed.contains(&(it.kind, it.object.clone())));
        if !selection.again && settled.contains(id) && new.next().is_none() {
            continue;
        }
        if !stored.contains(id) {
            loaded.runs += 1;
            if sealed.contains(&(Seal::Begun, name.clone())) {
                loaded.gone.push(*id);
            }
        }
        let Evidence { data, verdicts } = evidence::read_run(path)?;
        store.import_linked(&data, &[], &verdicts, selection.up_to(experiment, about))?;
        ui.detail(&format!("loaded `{}`", project.shown(path)));
    }
    Ok(loaded)
}

impl Selection {
    /// The chain of an experiment up to the last link of that kind.
    fn up_to(&self, experiment: &str, last: impl Fn(&Link) -> bool) -> &[Link] {
        let links = self.chains.get(experiment).map_or(&[][..], Vec::as_slice);
        let end = links.iter().rposition(last).map_or(0, |at| at + 1);
        &links[..end]
    }
}
