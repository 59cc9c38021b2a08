//! What the store keeps, as values. Every record is written once and never changed.

use crate::vocab::{Digest, Finding, RunState, Seal, Verdict};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The state of a git work tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Git {
    /// Full hash of the commit; `unknown` outside a repository.
    pub commit: String,
    /// Whether tracked files differ from it.
    pub dirty: bool,
}

/// One version of a pre-registration, frozen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// Identity of the experiment.
    pub experiment: String,
    /// Heading of the experiment.
    pub title: String,
    /// 1 for the first, 2 and more for amendments.
    pub version: u32,
    /// The canonical text: the exact bytes of the digest.
    pub canonical: String,
    /// The same, as JSON, for SQL.
    pub doc: Value,
    /// SHA-256 of `canonical`.
    pub digest: Digest,
    /// The commit at which it was registered.
    pub git: Git,
    /// When.
    pub registered_at: Timestamp,
    /// Why it amends the version before it.
    pub reason: Option<String>,
}

/// One execution of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Identity; UUIDv7, so it sorts by time.
    pub id: Uuid,
    /// The experiment.
    pub experiment: String,
    /// The version of its registration.
    pub version: u32,
    /// Digest of that version.
    pub registration: Digest,
    /// A stable pseudonym of the host; never its name.
    pub host: String,
    /// The host and its software, as found: see `host::fingerprint`.
    pub environment: Value,
    /// Version of the harness.
    pub harness: String,
    /// Of the order of the arms.
    pub seed: u64,
    /// The commit that was measured.
    pub git: Git,
    /// When it began.
    pub started_at: Timestamp,
}

/// What an arm really was in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunArm {
    /// The arm.
    pub arm: String,
    /// Program and arguments, paths relative to the project's root.
    pub command: Vec<String>,
    /// Registered environment variables.
    pub env: BTreeMap<String, String>,
    /// SHA-256 of the program.
    pub binary: Option<Digest>,
    /// How it was built, if it was built for the arm: commit, command, compiler, flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Value>,
}

/// What an arm said of itself in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellArm {
    /// The cell, as `Cell` displays itself.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// The configuration that the worker really ran with.
    pub effective: Value,
    /// Identifies the result of the work; equal in all arms of a cell.
    pub result: String,
}

/// Consecutive blocks of one metric, cell and arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSet {
    /// The metric.
    pub metric: String,
    /// The cell, as `Cell` displays itself.
    pub cell: String,
    /// The arm.
    pub arm: String,
    /// Whether these are warm-ups.
    pub warmup: bool,
    /// The block of the first value; the i-th value belongs to block `first_block + i`.
    pub first_block: u32,
    /// The unit.
    pub unit: String,
    /// The samples: finite numbers.
    pub values: Vec<f64>,
    /// When each sample was complete, in nanoseconds since the run began or was resumed last.
    pub at_ns: Vec<i64>,
}

/// A change of a run's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// 1, 2, ... within the run.
    pub seq: u32,
    /// When.
    pub at: Timestamp,
    /// The state from then on.
    pub state: RunState,
    /// Why, for `failed` and `aborted`: `{"reason": .., "stderr": [..]}`.
    pub detail: Option<Value>,
}

/// That a run is set aside, or taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invalidation {
    /// 1, 2, ... within the run; the last one counts.
    pub seq: u32,
    /// When.
    pub at: Timestamp,
    /// Whether the run is set aside from then on.
    pub invalid: bool,
    /// Why.
    pub reason: String,
}

/// A link of an experiment's chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// 1, 2, ... within the experiment.
    pub seq: u32,
    /// What is sealed.
    pub kind: Seal,
    /// Which one: a version, a run, or a run and a number, `id/2`.
    pub object: String,
    /// When that happened.
    pub at: Timestamp,
    /// Whether it was sealed later: it was there already, or came from another store.
    pub found: bool,
    /// The digest of what is sealed.
    pub body: Digest,
    /// The digest of this link and of all before it.
    pub hash: Digest,
}

/// A run with everything that it stored.
#[derive(Clone, Debug, PartialEq)]
pub struct RunData {
    /// The run.
    pub run: Run,
    /// Its arms, in order of the name.
    pub arms: Vec<RunArm>,
    /// Echoes and results, in order of cell and arm.
    pub cells: Vec<CellArm>,
    /// In order.
    pub events: Vec<Event>,
    /// In order of metric, cell, arm, warm-up, block; as few sets as there are gaps, however they were stored.
    pub sets: Vec<SampleSet>,
    /// In order; empty for a run that nobody ever set aside.
    pub invalidations: Vec<Invalidation>,
}

impl RunData {
    /// Why the run is set aside; `None` if it is not.
    pub fn invalidated(&self) -> Option<&Invalidation> {
        self.invalidations.iter().max_by_key(|it| it.seq).filter(|it| it.invalid)
    }
}

/// A decision on a run, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredVerdict {
    /// The run.
    pub run: Uuid,
    /// 1, 2, ...: a re-analysis by a later harness adds one.
    pub seq: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The whole decision as JSON: criteria, statistics, caveats.
    pub doc: Value,
    /// Version of the harness that decided.
    pub harness: String,
    /// When.
    pub decided_at: Timestamp,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLine {
    /// The run.
    pub run: Run,
    /// Its last event.
    pub state: RunState,
    /// When that was.
    pub state_at: Timestamp,
    /// Measured samples stored, warm-ups not counted.
    pub samples: u64,
    /// The newest verdict.
    pub verdict: Option<Verdict>,
    /// Why it is set aside; `None` if it is not.
    pub invalidated: Option<String>,
}

/// An experiment in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentLine {
    /// Its identity.
    pub experiment: String,
    /// Heading of the newest version.
    pub title: String,
    /// The newest version.
    pub version: u32,
    /// When version 1 was registered.
    pub registered_at: Timestamp,
    /// Runs of any version.
    pub runs: u64,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Something that was claimed.
    Hypothesis,
    /// Something that must not get worse.
    Guard,
}

impl Subject {
    /// The spelling in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hypothesis => "hypothesis",
            Self::Guard => "guard",
        }
    }
}

/// What a verdict says of one hypothesis or guard in one cell: a row for people who write SQL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredFinding {
    /// Hypothesis or guard.
    pub subject: Subject,
    /// Its name; a guard's is its metric.
    pub id: String,
    /// The metric.
    pub metric: String,
    /// The cell, as `Cell` displays itself.
    pub cell: String,
    /// The arm in question.
    pub treatment: String,
    /// What it is compared with.
    pub control: String,
    /// Supported or held, refuted or violated, undecided.
    pub finding: Finding,
    /// Samples of the control.
    pub n_control: u32,
    /// Samples of the treatment.
    pub n_treatment: u32,
    /// Mean of the control, in the metric's unit.
    pub mean_control: Option<f64>,
    /// Mean of the treatment.
    pub mean_treatment: Option<f64>,
    /// Direction-adjusted difference, as the margin has it: positive is better.
    pub gain: Option<f64>,
    /// Lower end of its interval.
    pub gain_low: Option<f64>,
    /// Upper end of its interval.
    pub gain_high: Option<f64>,
    /// The registered test's statistic.
    pub statistic: Option<f64>,
    /// Its degrees of freedom.
    pub df: Option<f64>,
    /// Its p-value, uncorrected.
    pub p_value: Option<f64>,
    /// The natural logarithm of the p-value, also where that is below the smallest double.
    pub ln_p: Option<f64>,
    /// The p-value, corrected over the family.
    pub p_adjusted: Option<f64>,
    /// Cohen's d or its like, signed as the difference.
    pub effect_size: Option<f64>,
}
