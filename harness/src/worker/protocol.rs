//! Version 1 of the worker protocol.
//!
//! Lines of JSON: requests on the worker's standard input, one answer to each on its standard output.
//! Standard error is the worker's own; its last lines are shown when it fails.
//!
//! ```text
//! -> {"hello":{"protocol":1}}
//! <- {"hello":{"protocol":1,"systems":["loading"],"checks":true,"build":{"profile":"release"}}}
//! -> {"prepare":{"system":"loading","params":{"terms":1000,"strategy":"lazy"},"seed":7,
//!                "scratch":"target/bench-scratch/…","clock":"wall","metrics":{"open_time":"ms"}}}
//! <- {"ready":{"effective":{"terms":1000,"strategy":"lazy"}}}
//! -> {"sample":{"block":0,"warmup":true}}
//! <- {"sample":{"values":{"open_time":0.705},"digest":"9f3c…"}}
//! -> {"finish":{}}
//! <- {"bye":{}}
//! ```
//!
//! * Before a run begins, a worker whose greeting has `checks` is asked `{"check":{…}}` with the fields of `prepare`, for each
//!   arm of each cell: whether the host has what it takes. One process of each arm is asked for all cells, one after the
//!   other. It answers `{"fit":{}}`, or an error, and then nothing is measured and nothing recorded. It prepares nothing.
//! * `prepare` comes once; the worker then serves one arm of one cell until `finish` or the end of its input.
//! * `values` has every metric asked for, as a finite number in the unit that `metrics` gives for it.
//!   Further values are ignored.
//! * `digest` is text that identifies the *result* of the work. It must be the same in every arm and block.
//! * `effective` echoes the parameters that the worker obeys. A registered parameter that is missing there,
//!   or differs, refuses the arm.
//! * In place of any answer: `{"error":{"message":"…"}}`. The run is then invalid.
//! * Unknown fields are ignored on both sides, so later versions can add some. A request of an unknown kind
//!   is answered with an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of this module.
pub const VERSION: u32 = 1;

/// From the driver to the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The greeting: which version the driver speaks.
    Hello {
        /// Its version.
        protocol: u32,
    },
    /// Say whether the host has what it takes to make ready for samples.
    Check(Prepare),
    /// Make ready for samples.
    Prepare(Prepare),
    /// Make one sample.
    Sample {
        /// Counted from 0, warm-ups apart.
        block: u32,
        /// Whether it is a warm-up.
        warmup: bool,
    },
    /// Say goodbye and end.
    Finish {},
}

/// What a worker is to make ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// One of the systems of the worker's greeting.
    pub system: String,
    /// Parameters of cell and arm.
    pub params: BTreeMap<String, Value>,
    /// Of the inputs: the same in all arms.
    pub seed: u64,
    /// A folder for files; it exists. Relative to the folder in which the worker is started.
    pub scratch: String,
    /// `wall` or `thread-cpu`.
    #[serde(default = "wall")]
    pub clock: String,
    /// Metrics and their units.
    #[serde(default)]
    pub metrics: BTreeMap<String, String>,
}

fn wall() -> String {
    crate::vocab::Clock::Wall.to_string()
}

/// From the worker to the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The greeting.
    Hello {
        /// The version that the worker speaks.
        protocol: u32,
        /// The systems that it knows.
        systems: Vec<String>,
        /// Whether it can be asked to check.
        #[serde(default)]
        checks: bool,
        /// Facts of its build, for the record.
        #[serde(default)]
        build: BTreeMap<String, Value>,
    },
    /// The host has what it takes.
    Fit {},
    /// Ready for samples.
    Ready {
        /// The parameters that the worker obeys.
        #[serde(default)]
        effective: BTreeMap<String, Value>,
    },
    /// One sample.
    Sample {
        /// Metric and value. Numbers; anything else is refused by the driver with the metric's name.
        values: BTreeMap<String, Value>,
        /// Identifies the result of the work.
        #[serde(default)]
        digest: String,
    },
    /// Goodbye.
    Bye {},
    /// What was asked cannot be done.
    Error {
        /// Why.
        message: String,
    },
}
