use super::args::{Format, Global, Verify};
use super::failure::{Exit, Failure};
use super::load;
use super::project::Project;
use super::table::Table;
use super::ui::{Tone, Ui};
use super::{render, session};
use crate::exchange::evidence;
use crate::prereg::parse_canonical;
use crate::render::Experiment;
use crate::store::{Store, StoreError};
use crate::verify::{self, Check, Source, State, counted};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(super) fn run(args: &Verify, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut records = if args.evidence { Records::Files } else { open(global, project, ui)? };
    let (ledgers, damaged) = records.ledgers(project)?;
    let wanted = wanted(args, project, &ledgers)?;
    let mut done = Done { checks: records.gaps(), ..Done::default() };
    // Nothing is rendered of an experiment that cannot be read, but it is told.
    for id in damaged.iter().filter(|_| wanted.is_none()) {
        done.experiment(project, &mut records, id, true)?;
    }
    for (name, ids) in &ledgers {
        if wanted.as_ref().is_some_and(|(ledger, _)| ledger != name) {
            continue;
        }
        let mut experiments = Vec::new();
        for id in ids {
            let checked = wanted.as_ref().is_none_or(|(_, only)| only.as_ref().is_none_or(|it| it == id));
            experiments.extend(done.experiment(project, &mut records, id, checked)?);
        }
        if experiments.len() == ids.len() {
            done.checks.extend(verify::pages(&project.root, name, &experiments));
        }
    }
    records.close()?;
    done.show(ui)
}

/// Every ledger with its experiments in order.
type Ledgers = BTreeMap<String, Vec<String>>;

/// Where the records come from.
enum Records {
    /// With what was wrong before anything was loaded.
    Store(Box<Store>, Vec<Check>),
    Files,
}

fn open(global: &Global, project: &Project, ui: &Ui) -> Result<Records, Failure> {
    let mut store = session::connect(global, project, ui)?;
    // Before evidence is loaded, which puts back what was taken out.
    let mut gaps = Vec::new();
    for line in store.experiments()? {
        let check = |detail| Check {
            subject: line.experiment.clone(),
            what: "store".to_owned(),
            state: State::Fails,
            detail,
        };
        gaps.extend(store.chain_gaps(&line.experiment)?.into_iter().map(check));
    }
    load::load(&mut store, &load::Selection::of_project(project)?, project, ui)?;
    Ok(Records::Store(Box::new(store), gaps))
}

impl Records {
    /// What the store's chains name and the store does not have, and the other way round.
    fn gaps(&self) -> Vec<Check> {
        match self {
            Self::Store(_, gaps) => gaps.clone(),
            Self::Files => Vec::new(),
        }
    }

    /// Every ledger with its experiments in order, and the experiments whose registrations cannot be read.
    fn ledgers(&mut self, project: &Project) -> Result<(Ledgers, Vec<String>), Failure> {
        let names: BTreeSet<String> = match self {
            Self::Store(store, _) => store.experiments()?.into_iter().map(|it| it.experiment).collect(),
            Self::Files => {
                let base = evidence::base(&project.root);
                let files = evidence::registration_files(&base)?;
                let runs = evidence::runs(&project.root)?.into_iter().map(|(_, it)| it);
                files.into_iter().chain(runs).map(|it| load::experiment_of(&it).to_owned()).collect()
            }
        };
        let mut ledgers: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
        let mut damaged = Vec::new();
        for id in names {
            let newest = match self {
                Self::Store(store, _) => match store.registrations(&id) {
                    Err(StoreError::Damaged { .. }) => None,
                    result => result?.pop(),
                },
                Self::Files => {
                    let files = evidence::registration_files(&evidence::base(&project.root))?;
                    let own = files.iter().filter(|it| load::experiment_of(it) == id);
                    let read: Vec<_> = own.filter_map(|it| evidence::read_registration(it).ok()).collect();
                    read.into_iter().max_by_key(|it| it.version)
                }
            };
            match newest.and_then(|it| parse_canonical(&it.canonical).ok()) {
                Some(it) => ledgers.entry(it.ledger).or_default().push((it.order, id)),
                None => damaged.push(id),
            }
        }
        let sorted = |(name, mut experiments): (String, Vec<(i64, String)>)| {
            experiments.sort();
            (name, experiments.into_iter().map(|(_, id)| id).collect())
        };
        Ok((ledgers.into_iter().map(sorted).collect(), damaged))
    }

    fn source(&mut self, base: &Path, id: &str) -> Result<Source, Failure> {
        Ok(match self {
            Self::Store(store, _) => Source::of_store(store, id)?,
            Self::Files => Source::of_evidence(base, id)?,
        })
    }

    fn close(self) -> Result<(), Failure> {
        if let Self::Store(store, _) = self {
            store.close()?;
        }
        Ok(())
    }
}

/// The ledger and perhaps the one experiment that were asked for.
fn wanted(
    args: &Verify,
    project: &Project,
    ledgers: &Ledgers,
) -> Result<Option<(String, Option<String>)>, Failure> {
    if let Some(name) = &args.ledger {
        return if ledgers.contains_key(name) {
            Ok(Some((name.clone(), None)))
        } else {
            Err(render::unknown(name, ledgers.keys().map(String::as_str)))
        };
    }
    let Some(id) = args.experiment.as_deref().map(|it| project.id(it)) else { return Ok(None) };
    if let Some((name, _)) = ledgers.iter().find(|(_, ids)| ids.iter().any(|it| it == id)) {
        return Ok(Some((name.clone(), Some(id.to_owned()))));
    }
    // An unknown name has its own message.
    project.file(id)?;
    Err(Failure::new(Exit::Failed, format!("`{id}` is not on record, so there is nothing to verify"))
        .hint(format!("harness register {id}")))
}

/// What was looked at.
#[derive(Default)]
struct Done {
    checks: Vec<Check>,
    experiments: usize,
    runs: usize,
    samples: usize,
    links: usize,
}

impl Done {
    fn experiment(
        &mut self,
        project: &Project,
        records: &mut Records,
        id: &str,
        checked: bool,
    ) -> Result<Option<Experiment>, Failure> {
        let source = records.source(&evidence::base(&project.root), id)?;
        let links = source.links.as_ref().map_or(0, Vec::len);
        let (checks, experiment) = verify::experiment(&project.root, source, project.notes(id));
        if checked {
            self.checks.extend(checks);
            self.experiments += 1;
            self.links += links;
            for set in experiment.iter().flat_map(|it| &it.runs).flat_map(|it| &it.data.sets) {
                self.samples += set.values.len();
            }
            self.runs += experiment.as_ref().map_or(0, |it| it.runs.len());
        }
        Ok(experiment)
    }

    fn show(self, ui: &mut Ui) -> Result<Exit, Failure> {
        let count = |state| self.checks.iter().filter(|it| it.state == state).count();
        let (holds, notes, fails) = (count(State::Holds), count(State::Note), count(State::Fails));
        let first = self.checks.iter().find(|it| it.state == State::Fails);
        let mut table = Table::new(["of", "what", "state", "found"]);
        for it in &self.checks {
            table.row([json!(it.subject), json!(it.what), json!(it.state.as_str()), json!(it.detail)]);
        }
        let total = format!(
            "{}, {}, {}, {}",
            counted(self.experiments, "experiment"),
            counted(self.runs, "run"),
            counted(self.samples, "sample"),
            counted(self.links, "link"),
        );
        match ui.format {
            Format::Text => {
                for it in &self.checks {
                    let tone = match it.state {
                        State::Holds => Tone::Good,
                        State::Note => Tone::Open,
                        State::Fails => Tone::Bad,
                    };
                    // Names come from files: no control character of theirs reaches the terminal.
                    let line = it.to_string().replace(char::is_control, " ");
                    ui.result(&format!("{} {line}", ui.tone(tone, &format!("{:5}", it.state.as_str()))))?;
                }
                let (tone, word) =
                    if fails == 0 { (Tone::Good, "holds") } else { (Tone::Bad, "does not hold") };
                let word = ui.tone(tone, word);
                ui.result(&format!(
                    "\nwhat is on record {word}: {total}\n{holds} hold, {fails} fail, {}",
                    counted(notes, "note")
                ))?;
            }
            Format::Json => {
                let it = json!({
                    "holds": fails == 0,
                    "first": first.map(|it| json!({ "of": it.subject, "what": it.what, "found": it.detail })),
                    "counts": {
                        "experiments": self.experiments, "runs": self.runs, "samples": self.samples,
                        "links": self.links, "holds": holds, "fails": fails, "notes": notes,
                    },
                    "checks": table.to_json(),
                });
                ui.result(&format!("{it:#}"))?;
            }
            Format::Csv | Format::Markdown => ui.result(&table.show(ui.format))?,
        }
        match first {
            None => Ok(Exit::Done),
            Some(first) => Err(Failure::new(
                Exit::Integrity,
                format!("the first thing that does not hold: {first}"),
            )
            .hint(
                "git log and git diff tell who changed a file; harness render writes ledgers and plots anew",
            )),
        }
    }
}
