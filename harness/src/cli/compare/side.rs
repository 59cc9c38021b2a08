//! What is compared: a stored run, one of its arms, or a file of samples.

use crate::analyse::Samples;
use crate::cli::args::{Compare as Args, Sign};
use crate::cli::failure::{Exit, Failure};
use crate::cli::project::Project;
use crate::cli::records::Records;
use crate::cli::session;
use crate::exchange::samples::{self, Decimal, Series};
use crate::prereg::Prereg;
use crate::render::RecordedRun;
use crate::vocab::{Direction, Unit};
use std::collections::BTreeSet;
use std::path::Path;
use uuid::Uuid;

/// One of the two.
pub(super) struct Side {
    /// As the user named it.
    pub(super) name: String,
    /// The arm that the user picked.
    pub(super) arm: Option<String>,
    pub(super) series: Vec<Series>,
    /// Of a stored run.
    pub(super) run: Option<(Prereg, RecordedRun)>,
}

/// `name` and the arm behind its last colon.
fn split(name: &str) -> (&str, Option<&str>) {
    name.rsplit_once(':').map_or((name, None), |(name, arm)| (name, Some(arm)))
}

impl Side {
    /// A file of samples; `None` if there is none of that name.
    pub(super) fn of_file(name: &str, args: &Args) -> Result<Option<Self>, Failure> {
        let is_file = |name: &str| Path::new(name).exists() && !Path::new(name).is_dir();
        let (path, arm) = match split(name) {
            _ if is_file(name) => (name, None),
            (path, Some(arm)) if is_file(path) => (path, Some(arm)),
            _ => return Ok(None),
        };
        let decimal = match args.decimal {
            Sign::Point => Decimal::Point,
            Sign::Comma => Decimal::Comma,
        };
        let series = samples::read(Path::new(path), decimal, args.unit);
        let series = series.map_err(|it| Failure::chain(Exit::Usage, &it))?;
        Self { name: name.to_owned(), arm: arm.map(str::to_owned), series, run: None }.picked().map(Some)
    }

    /// A run by its id, or the run that decides an experiment.
    pub(super) fn of_store(name: &str, store: &mut Records, project: &Project) -> Result<Self, Failure> {
        let (subject, arm) = split(name);
        let run = Uuid::parse_str(subject).ok();
        let id = match run {
            Some(run) => {
                let line = store.runs(None)?.into_iter().find(|it| it.run.id == run);
                let line =
                    line.ok_or_else(|| Failure::new(Exit::Usage, format!("no run {run} in the store")))?;
                line.run.experiment
            }
            None => project.id(subject).to_owned(),
        };
        let Some(mut experiment) = session::experiment(store, project, &id)? else {
            return Err(Failure::new(
                Exit::Usage,
                format!("`{subject}` is neither a file, nor a run, nor an experiment that is registered"),
            )
            .hint("A and B are files of samples, ids of runs, or experiments; `harness list` names these"));
        };
        let chosen = match run {
            Some(_) => run,
            None => experiment.deciding().map(|it| it.data.run.id),
        };
        let at = experiment.runs.iter().position(|it| Some(it.data.run.id) == chosen);
        let recorded = experiment.runs.swap_remove(at.ok_or_else(|| {
            Failure::new(Exit::Failed, format!("`{id}` has no complete run to compare"))
                .hint(format!("measure it: harness run {id}"))
        })?);
        let version = recorded.data.run.version;
        let prereg = experiment.versions.iter().find(|(it, _)| it.version == version);
        let prereg = prereg.map_or(experiment.prereg(), |(_, it)| it).clone();
        let series = stored(&prereg, &recorded);
        let (name, arm) = (name.to_owned(), arm.map(str::to_owned));
        Self { name, arm, series, run: Some((prereg, recorded)) }.picked()
    }

    /// With the samples of the picked arm only, if one is picked.
    fn picked(mut self) -> Result<Self, Failure> {
        if let Some(arm) = &self.arm {
            let known = self.arms();
            self.series.retain(|it| it.arm == *arm);
            if self.series.is_empty() {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("`{}` has no samples of an arm `{arm}`", self.name),
                )
                .hint(format!("its arms are `{}`", known.join("`, `"))));
            }
        }
        Ok(self)
    }

    /// The arms that have samples, in order.
    pub(super) fn arms(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.series.iter().filter(|it| seen.insert(&it.arm)).map(|it| it.arm.clone()).collect()
    }

    /// Which way a metric improves, if it was registered.
    pub(super) fn better(&self, metric: &str) -> Option<Direction> {
        self.run.as_ref()?.0.metric(metric).map(|it| it.better)
    }
}

fn stored(prereg: &Prereg, run: &RecordedRun) -> Vec<Series> {
    let samples = Samples::of(&run.data).units(&prereg.design);
    let mut series = Vec::new();
    for metric in &prereg.metrics {
        let set = run.data.sets.iter().find(|it| it.metric == metric.name);
        let unit = set.and_then(|it| Unit::parse(&it.unit).ok());
        for cell in prereg.cells().iter().map(ToString::to_string) {
            for arm in &prereg.arms {
                let (blocks, values): (Vec<_>, Vec<_>) =
                    samples.blocks(&metric.name, &cell, &arm.name).unzip();
                if !values.is_empty() {
                    let (arm, metric, cell) = (arm.name.clone(), metric.name.clone(), cell.clone());
                    series.push(Series { arm, metric, cell, unit, values, blocks });
                }
            }
        }
    }
    series
}
