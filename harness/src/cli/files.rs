//! What is on record where no store is: the evidence beside the ledgers, and the spool.

use super::failure::{Exit, Failure};
use crate::exchange::chain;
use crate::exchange::evidence::{self, Evidence};
use crate::spool::{self, Held, Registrations};
use crate::store::{ExperimentLine, Link, Registration, RunLine};
use crate::vocab::RunState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The files of a project. They are read anew for each question: other processes write them too.
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Every version of every registration, in order of experiment and version.
    fn all_registrations(&self) -> Result<Vec<Registration>, Failure> {
        let mut all: BTreeMap<(String, u32), Registration> = BTreeMap::new();
        let mut found: Vec<Registration> =
            evidence::registrations(&self.root)?.into_iter().map(|(_, it)| it).collect();
        found.extend(spool::registrations(&self.root)?);
        for run in spool::runs(&self.root)? {
            found.extend(spool::read(&self.root, run)?.registrations);
        }
        for it in found {
            let known = all.entry((it.experiment.clone(), it.version)).or_insert_with(|| it.clone());
            if known.digest != it.digest {
                return Err(Failure::new(
                    Exit::Integrity,
                    format!(
                        "version {} of `{}` is on record with SHA-256 {} and with {}",
                        it.version,
                        it.experiment,
                        known.digest.short(),
                        it.digest.short()
                    ),
                )
                .hint("its evidence in ledgers/evidence or its spool in .harness/spool was altered"));
            }
        }
        Ok(all.into_values().collect())
    }

    pub(super) fn registrations(&self, experiment: &str) -> Result<Vec<Registration>, Failure> {
        let mut all = self.all_registrations()?;
        all.retain(|it| it.experiment == experiment);
        Ok(all)
    }

    /// Freezes a registration in the spool, unless that version is there already; gives what is there.
    pub(super) fn register(&self, registration: &Registration) -> Result<(), Failure> {
        // Whoever else registers something waits here.
        let mut registrations = Registrations::open(&self.root)?;
        let known = self.registrations(&registration.experiment)?;
        match known.iter().find(|it| it.version == registration.version) {
            None => registrations.append(registration)?,
            Some(known) if known.digest == registration.digest => {}
            Some(known) => {
                return Err(crate::store::StoreError::Conflict {
                    experiment: registration.experiment.clone(),
                    version: registration.version,
                    stored: known.digest,
                    given: registration.digest,
                }
                .into());
            }
        }
        Ok(())
    }

    pub(super) fn experiments(&self) -> Result<Vec<ExperimentLine>, Failure> {
        let mut lines: BTreeMap<String, ExperimentLine> = BTreeMap::new();
        for it in self.all_registrations()? {
            let (title, version) = (it.title.clone(), it.version);
            let line = lines.entry(it.experiment.clone()).or_insert_with(|| ExperimentLine {
                experiment: it.experiment,
                title: it.title,
                version: it.version,
                registered_at: it.registered_at,
                runs: 0,
            });
            (line.title, line.version) = (title, version);
        }
        for run in self.runs(None)? {
            if let Some(line) = lines.get_mut(&run.run.experiment) {
                line.runs += 1;
            }
        }
        Ok(lines.into_values().collect())
    }

    /// The runs of an experiment, or all runs, in order of their beginning.
    pub(super) fn runs(&self, experiment: Option<&str>) -> Result<Vec<RunLine>, Failure> {
        let mut ids = spool::runs(&self.root)?;
        for (id, path) in evidence::runs(&self.root)? {
            // Evidence lies in the folder of its experiment; reading a run checks that.
            let folder = path.parent().and_then(Path::file_name).and_then(|it| it.to_str());
            if experiment.is_none() || experiment == folder {
                ids.push(id);
            }
        }
        ids.sort();
        ids.dedup();
        let mut lines = Vec::new();
        for id in ids {
            let Some(Evidence { data, verdicts }) = self.run(id)? else { continue };
            if experiment.is_some_and(|it| data.run.experiment != it) {
                continue;
            }
            let measured = data.sets.iter().filter(|it| !it.warmup);
            lines.push(RunLine {
                state: data.events.last().map_or(RunState::Running, |it| it.state),
                state_at: data.events.last().map_or(data.run.started_at, |it| it.at),
                samples: measured.map(|it| it.values.len() as u64).sum(),
                invalidated: data.invalidated().map(|it| it.reason.clone()),
                verdict: verdicts.last().map(|(it, _)| it.verdict),
                run: data.run,
            });
        }
        lines.sort_by_key(|it| (it.run.started_at, it.run.id));
        Ok(lines)
    }

    /// The chain of an experiment as it lies beside the evidence.
    pub(super) fn chain(&self, experiment: &str) -> Result<Vec<Link>, Failure> {
        Ok(chain::read(&evidence::base(&self.root), experiment)?)
    }

    /// A run with its verdicts: of spool and evidence what each has.
    pub(super) fn run(&self, id: Uuid) -> Result<Option<Evidence>, Failure> {
        let path = evidence::runs(&self.root)?.into_iter().find(|(it, _)| *it == id).map(|(_, path)| path);
        let written = path.map(|it| evidence::read_run(&it)).transpose()?;
        let Held { data: Some(data), mut verdicts, .. } = spool::read(&self.root, id)? else {
            return Ok(written);
        };
        let Some(written) = written else { return Ok(Some(Evidence { data, verdicts })) };
        let data = data.union(&written.data)?;
        for (verdict, findings) in written.verdicts {
            if verdicts.iter().all(|(it, _)| it.seq != verdict.seq) {
                verdicts.push((verdict, findings));
            }
        }
        verdicts.sort_by_key(|(it, _)| it.seq);
        Ok(Some(Evidence { data, verdicts }))
    }
}
