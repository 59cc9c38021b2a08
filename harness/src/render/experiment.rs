use crate::analyse::{Analysis, analyse};
use crate::decide::{Decision, decide, label};
use crate::prereg::Prereg;
use crate::store::{Registration, RunData};
use crate::vocab::{RunState, Verdict};
use std::collections::BTreeSet;

/// An experiment as the store holds it, with every run analysed and decided anew.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Every version of its registration, the first one first; at least one.
    pub versions: Vec<(Registration, Prereg)>,
    /// Every run, in any order.
    pub runs: Vec<RecordedRun>,
    /// What was written about it afterwards.
    pub notes: Option<String>,
}

/// A run, analysed and decided.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// What was stored.
    pub data: RunData,
    /// Where it stands.
    pub state: RunState,
    /// What its samples say.
    pub analysis: Analysis,
    /// What follows.
    pub decision: Decision,
}

/// What became of a claim that was accepted, by its newest replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was accepted again.
    Holds,
    /// It was rejected.
    Lost,
    /// Neither.
    Undecided,
}

impl Standing {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "standing",
            Self::Lost => "lost",
            Self::Undecided => "undecided",
        }
    }
}

impl RecordedRun {
    /// Analyses and decides a run of `prereg`.
    pub fn new(prereg: &Prereg, data: RunData) -> Self {
        let analysis = analyse(prereg, &data);
        let decision = decide(prereg, &data, &analysis);
        // A run is stored together with its first event.
        let state = data.events.iter().max_by_key(|it| it.seq).map_or(RunState::Running, |it| it.state);
        Self { data, state, analysis, decision }
    }

    /// Whether it has a verdict at all: it is complete, or it failed for good.
    pub fn is_over(&self) -> bool {
        matches!(self.state, RunState::Done | RunState::Failed)
    }

    /// Whether somebody set the run aside, with a reason.
    pub fn is_invalidated(&self) -> bool {
        self.data.invalidated().is_some()
    }
}

impl Experiment {
    /// The version in force: the newest.
    pub fn prereg(&self) -> &Prereg {
        &self.versions[self.versions.len() - 1].1
    }

    /// The registration in force: the newest.
    pub fn registration(&self) -> &Registration {
        &self.versions[self.versions.len() - 1].0
    }

    /// Every run, in order of its beginning.
    pub fn in_order(&self) -> Vec<&RecordedRun> {
        let mut runs: Vec<&RecordedRun> = self.runs.iter().collect();
        runs.sort_by_key(|it| (it.data.run.started_at, it.data.run.id));
        runs
    }

    /// The run that decides: the first complete one of the newest version that is not INVALID; while there is
    /// none, the first INVALID one. A run that was invalidated by hand never does.
    pub fn deciding(&self) -> Option<&RecordedRun> {
        let version = self.registration().version;
        let mut over = self.in_order();
        over.retain(|it| it.data.run.version == version && it.is_over() && !it.is_invalidated());
        let valid = over.iter().find(|it| it.decision.verdict != Verdict::Invalid);
        valid.or(over.first()).copied()
    }

    /// Runs of the deciding run's version that are INVALID, though it is not.
    pub fn set_aside(&self) -> usize {
        let Some(deciding) = self.deciding() else { return 0 };
        let invalid = |it: &&RecordedRun| {
            it.data.run.version == deciding.data.run.version
                && it.data.run.id != deciding.data.run.id
                && it.is_over()
                && !it.is_invalidated()
                && it.decision.verdict == Verdict::Invalid
        };
        self.runs.iter().filter(invalid).count()
    }

    /// Runs that were invalidated by hand, of any version.
    pub fn invalidated(&self) -> usize {
        self.runs.iter().filter(|it| it.is_invalidated()).count()
    }

    /// The verdict of the deciding run as its rule spells it; without one, why there is none.
    pub fn label(&self) -> &'static str {
        if let Some(run) = self.deciding() {
            return label(self.prereg(), &run.decision);
        }
        let version = self.registration().version;
        let runs: Vec<_> = self.runs.iter().filter(|it| it.data.run.version == version).collect();
        match &runs[..] {
            [] => "not run yet",
            all if all.iter().all(|it| it.is_invalidated()) => "invalidated",
            _ => "not complete",
        }
    }

    /// The verdict of the deciding run.
    pub fn verdict(&self) -> Option<Verdict> {
        self.deciding().map(|it| it.decision.verdict)
    }

    /// What became of an accepted claim; `None` if it was not accepted, or never measured again.
    pub fn standing(&self) -> Option<Standing> {
        self.deciding().filter(|it| it.decision.verdict == Verdict::Accept)?;
        Some(match self.later().last()?.decision.verdict {
            Verdict::Accept => Standing::Holds,
            Verdict::Reject => Standing::Lost,
            Verdict::Inconclusive | Verdict::Recorded | Verdict::Invalid => Standing::Undecided,
        })
    }

    /// Later complete runs of the deciding run's version that are not INVALID, in order of their beginning.
    fn later(&self) -> Vec<&RecordedRun> {
        let Some(deciding) = self.deciding() else { return Vec::new() };
        let mut later = self.in_order();
        later.retain(|it| {
            it.is_over()
                && !it.is_invalidated()
                && it.data.run.version == deciding.data.run.version
                && it.data.run.id != deciding.data.run.id
                && it.decision.verdict != Verdict::Invalid
        });
        later
    }

    /// Later complete runs of the deciding run's version: those that agree with it, all of them, and the number
    /// of hosts of all including the deciding one.
    pub fn replications(&self) -> (usize, usize, usize) {
        let Some(deciding) = self.deciding() else { return (0, 0, 0) };
        let later = self.later();
        let agreeing = later.iter().filter(|it| it.decision.verdict == deciding.decision.verdict).count();
        let hosts: BTreeSet<_> =
            later.iter().map(|it| &it.data.run.host).chain([&deciding.data.run.host]).collect();
        (agreeing, later.len(), hosts.len())
    }
}
