use crate::exchange::chain;
use crate::exchange::evidence::{self, Evidence, EvidenceError};
use crate::store::{Link, Registration, Store, StoreError};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Everything on record of an experiment. What is damaged says how.
#[derive(Debug)]
pub struct Source {
    /// Its identity.
    pub experiment: String,
    /// Every version.
    pub registrations: Result<Vec<Registration>, String>,
    /// Its chain; empty if it is older than chains.
    pub links: Result<Vec<Link>, String>,
    /// Every run.
    pub runs: Vec<Found>,
}

/// A run by its id, or what is wrong with it.
type Found = (Uuid, Result<Evidence, String>);

impl Source {
    /// What a store holds.
    ///
    /// # Errors
    /// The store cannot be asked. Damage is no error here.
    pub fn of_store(store: &mut Store, experiment: &str) -> Result<Self, StoreError> {
        let registrations = held(store.registrations(experiment))?;
        let links = held(store.chain(experiment))?;
        let mut runs = Vec::new();
        for line in store.runs(Some(experiment))? {
            let id = line.run.id;
            runs.push((id, held(whole(store, id))?));
        }
        Ok(Self { experiment: experiment.to_owned(), registrations, links, runs })
    }

    /// What the files of `experiment` below an evidence folder hold.
    ///
    /// # Errors
    /// A file or folder cannot be read. Damage is no error here.
    pub fn of_evidence(base: &Path, experiment: &str) -> Result<Self, EvidenceError> {
        let here = |path: &Path| path.parent().is_some_and(|it| it.ends_with(experiment));
        let mut registrations = Ok(Vec::new());
        for path in evidence::registration_files(base)?.into_iter().filter(|it| here(it)) {
            registrations = match (registrations, whole_file(evidence::read_registration(&path))?) {
                (Ok(mut all), Ok(it)) => {
                    all.push(it);
                    Ok(all)
                }
                (Err(problem), _) | (_, Err(problem)) => Err(problem),
            };
        }
        if let Ok(all) = &mut registrations {
            all.sort_by_key(|it: &Registration| it.version);
        }
        let links = whole_file(chain::links(base, experiment))?;
        let mut files = evidence::runs_in(base)?;
        files.retain(|(_, path)| here(path));
        let runs = read_all(&files)?;
        Ok(Self { experiment: experiment.to_owned(), registrations, links, runs })
    }
}

/// Reads runs on as many cores as there are.
fn read_all(files: &[(Uuid, PathBuf)]) -> Result<Vec<Found>, EvidenceError> {
    let read = |(id, path): &(Uuid, PathBuf)| Ok((*id, whole_file(evidence::read_run(path))?));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn whole(store: &mut Store, id: Uuid) -> Result<Evidence, StoreError> {
    let data = store.run(id)?.ok_or(StoreError::UnknownRun(id))?;
    let mut verdicts = Vec::new();
    for verdict in store.verdicts(id)? {
        let findings = store.findings(id, verdict.seq)?;
        verdicts.push((verdict, findings));
    }
    Ok(Evidence { data, verdicts })
}

fn held<T>(result: Result<T, StoreError>) -> Result<Result<T, String>, StoreError> {
    match result {
        Ok(it) => Ok(Ok(it)),
        Err(StoreError::Damaged { problem }) => Ok(Err(problem)),
        Err(error) => Err(error),
    }
}

fn whole_file<T>(result: Result<T, EvidenceError>) -> Result<Result<T, String>, EvidenceError> {
    match result {
        Ok(it) => Ok(Ok(it)),
        Err(error @ EvidenceError::Invalid { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}
