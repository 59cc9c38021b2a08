//! What the store keeps, as values. Every record is written once and never changed.

use crate::vocab::{Digest, RunState, Verdict};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The state of a git work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    /// Full hash of the commit; `unknown` outside a repository.
    pub commit: String,
    /// Whether tracked files differ from it.
    pub dirty: bool,
}

/// One version of a pre-registration, frozen.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct RunArm {
    /// The arm.
    pub arm: String,
    /// Program and arguments, paths relative to the project's root.
    pub command: Vec<String>,
    /// Registered environment variables.
    pub env: BTreeMap<String, String>,
    /// SHA-256 of the program.
    pub binary: Option<Digest>,
}

/// What an arm said of itself in a cell.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
    /// In order of metric, cell, arm, warm-up, block.
    pub sets: Vec<SampleSet>,
}

/// A decision on a run, as stored.
#[derive(Clone, Debug, PartialEq)]
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
}
