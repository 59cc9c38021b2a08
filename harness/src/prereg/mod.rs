//! Pre-registrations: an experiment as TOML, checked once into a value that cannot be wrong.
//!
//! [`Prereg`] is what every later stage works from. It is made from a file by [`Prereg::load`] or from text by
//! [`parse`], which report every problem of the file at once, and identified by the digest of its
//! [canonical text](Prereg::canonical): the same experiment with other white space, comments or spelling of
//! numbers is the same registration.
//!
//! # Format 1
//!
//! `schemas/prereg.schema.json` describes the file to editors. What is left out is filled in:
//!
//! | table | needed | default |
//! |---|---|---|
//! | top level | `id` (the file's name), `title`, `ledger` | `order = 0`, `claim = ""`, `changes = []`, no `baseline` |
//! | `[worker]` | `system`; `package` or `command` | `timeout = "120s"` (`ms`, `s`, `min`); of a package no `features`, and the `profile` `release` |
//! | `[commands]` | in place of `[worker]`; may be left out when every arm has a `command` | see below |
//! | `[params]` | | none; a list of two or more is swept |
//! | `[factors]` | | none; else one to four, each with two levels |
//! | `[arms.<name>]` | `role` unless it has `levels` | no `params`, no `env`, the worker's `command`; no `git`, no `build` |
//! | `[design]` | `samples` | `warmups = 3`, `order = "random-blocks"`, `process = "per-arm"`, `clock = "wall"`, `seed = 1`, `slices = 1`, `processes = 1`, `builds = 1`, `mode = "turns"`, `padding = 0` |
//! | `[design.looks]` | `at` or `every` | none: n is fixed; `method = "group-sequential"` with `spending = "obrien-fleming"`, or `"sign-e-process"` with `every = 1` |
//! | `[metrics.<name>]` | `unit`, `better`; of commands `probe` | `nature = "measured"` |
//! | `[[hypotheses]]` | `id`, `metric`; `margin` unless superior | `claim = "superior"`, `margin = 0`, `min_effect = 0.5`, every cell |
//! | `[[guards]]` | `metric`, `margin` | every cell |
//! | `[decision]` | | `alpha = 0.05`, `test = "welch"`, `correction = "holm"`, `agreement = "report"`, `labels = "accept-reject"`, `noise_margin = 0.05` |
//! | `[decision.thresholds]` | with `labels = "go-nogo"`: `go`, `strong_go` | `neutral` is `go` |
//! | `[environment]` | | no `max_load`, `max_steal`, `max_pressure`, `governor`; `pin = false` |
//! | `[environment.blocks]` | `max_steal`, `max_pressure` or `max_load` | none: every block counts; `then = "remeasure"`, or `"exclude"` |
//! | `[report]` | | no `reference`: the arm that the others are shown as a percentage of |
//!
//! A hypothesis or guard names its `treatment` and `control` where there is not exactly one arm of that role. Each may be a
//! list: every treatment is compared with every control, and `faster` becomes `faster.<treatment>`, `faster.<control>` or
//! `faster.<treatment>.<control>`. A number as a margin is relative; `{ absolute = 2.0 }` is in the metric's unit.
//! `go` is the margin of every claim of superiority that gives none.
//!
//! # Plain commands
//!
//! Without a worker the arms are programs that know nothing of the harness; `{name}` in their arguments is the value of that
//! parameter. `[commands]` says how all of them are run:
//!
//! | key | default | |
//! |---|---|---|
//! | `command` | | of the arms that have none of their own |
//! | `shell` | `false` | every command is one text for `sh -c` |
//! | `dir`, `stdin` | the project's root, nothing | where they work, the file they read |
//! | `before`, `after` | none | untimed commands once a `run`, a `block` or a `sample`; they must exit with 0 |
//! | `exit_codes` | `[0]` | any other ends the run |
//! | `timeout` | `"120s"` | after it the whole process group is killed |
//! | `output` | `"null"`; `"capture"` when a metric reads it | or `{ file = ".." }` |
//! | `capture_limit` | 1 MiB | of a captured output that numbers are read from; a longer one ends the run |
//! | `result` | `"stdout"` when captured and no metric reads it, else `"unchecked"` | or `{ files = [..] }`; must be the same in every arm and block |
//!
//! A metric's `probe` is a [gauge](crate::probe) such as `"wall"`, `{ bytes = ["out.bin"] }`, `{ pattern = 'took ([0-9.]+)' }`
//! or `{ pointer = "/results/0/time" }`. `instructions` is of workers as well: what Callgrind counts where they time their work, in a
//! process of its own for each sample. `nature = "exact"` of any metric: it must repeat itself to the bit, else the run is
//! invalid.
//!
//! # Factorials
//!
//! A factor has two levels, the baseline's first. Where they say what they set, every combination becomes an arm, the one
//! of first levels the control and all others treatments:
//!
//! ```toml
//! [factors.c5]
//! off = { env = { INLINE_C5 = "0" } }
//! on  = { env = { INLINE_C5 = "1" } }
//! [factors.c6]
//! off = { params = { c6 = false } }
//! on  = { params = { c6 = true } }
//! ```
//!
//! makes `c5-off.c6-off`, `c5-on.c6-off`, `c5-off.c6-on` and `c5-on.c6-on`. An arm by hand with `levels = { c5 = "on", c6 =
//! "on" }` takes the place of the one that would be made, and sets what it says beside what its levels set. Where levels
//! have names only (`c5 = ["off", "on"]`), every arm is by hand; the canonical text is always of this form. A
//! hypothesis names a `contrast` in place of arms:
//!
//! | contrast | treatment against control | a relative margin is a share of |
//! |---|---|---|
//! | `main:c6` | c6 on against off, averaged over the other factors | the mean of the arms with c6 off |
//! | `interaction:c5,c6` | both on against what each alone adds up to, averaged over the other factors | that sum |
//! | `total` | the last combination against the baseline; short for these two arms | the baseline |
//! | `additivity` | all on against what each alone adds up to | the *gain* that they add up to |
//!
//! # Revisions
//!
//! `git = "v1.2"` in an arm builds that revision in a work tree of its own: the worker's package by cargo, or, with a command,
//! what `build = ["make"]` makes there. The command is then the revision's own, and works in its work tree. `build` without
//! `git` builds the work tree as it is. "My branch against main" is:
//!
//! ```toml
//! [arms.main]
//! role = "control"
//! git = "main"
//! [arms.branch]
//! role = "treatment"
//! ```
//!
//! # The unit of replication
//!
//! With `slices = 20` a sample is the mean of 20 answers of the worker, and the slices of the arms of a block take turns in
//! random order, so that whatever happens on the host meets all arms alike; with `clock = "thread-cpu"` it hardly meets them.
//!
//! With `processes = 8` the blocks of a cell are divided among 8 processes of each arm, one after the other and each after its own
//! warm-ups. What a process happens to be (where its memory lies) is then part of what varies: everything is decided by the means
//! of the processes, n = 8.
//!
//! With `builds = 4` every arm is built four times, and each build is linked in another order. Where the linker puts a function
//! can change its time by more than a change of code does, so what one build shows may be the luck of its layout. The builds take the
//! place of the processes: the blocks are divided among them, and everything is decided by the means of the builds, n = 4. A
//! package is linked with `--shuffle-sections` of lld, the linker of Rust on 64-bit Linux; a `build` of a `git` revision finds the
//! number of its order in `HARNESS_BUILD_SALT`, and passes it on (`-Wl,--shuffle-sections=.text*=$HARNESS_BUILD_SALT`). Numbers
//! and digests of all builds stand with the run; two that come out the same are refused.
//!
//! With `mode = "duet"` the two arms are measured at once, on a processor each, and change sides from block to block. On a shared
//! host both meet the same load; the registered test is one of pairs, and its gain a ratio within them.
//!
//! With `padding = 4096` the environment of each process is larger by a random number of bytes, the same in all arms: where the
//! stack begins is then part of what varies, and not a property of the run. The paddings stand with the echo of the first sample.
//!
//! # Looks
//!
//! With `[design.looks]` a cell stops at the first of the registered looks at which all that is claimed of it is decided;
//! `at` lists the numbers of blocks, the last of them `samples`, and `every = k` is every k blocks and the last.
//! Group-sequential looks number at most 20, and the first comes after at least 10 blocks, since before that a t is too
//! far from a normal z; they go with every test but the bootstrap, whose p has no room below 1 in 5,000. The sign e-process
//! is a test of its own, of the sign of what a block gains, so no `test` is registered with it, and the order of the arms
//! in a block must be random. Both correct over a family as registered, and both judge guards as they judge hypotheses.

mod canonical;
mod check;
mod commands;
mod design;
mod environment;
mod factors;
pub(crate) mod grammar;
mod keys;
mod load;
mod node;
mod parse;
pub(crate) mod problem;
pub(crate) mod table;
pub(crate) mod word;

pub use commands::{Commands, Output, Steps, WorkResult, fill_in};
pub use design::{Design, Looks, Schedule, Stopping};
pub use environment::{BlockRule, Environment, Pin};
pub use factors::{Effect, Factor, Factorial};
pub(crate) use load::read_text;
pub use load::{LONGEST_FILE, LoadError};
pub(crate) use parse::document;
pub use parse::{parse, parse_canonical};
pub use problem::{Problem, Problems};

use crate::probe::Probe;
use crate::vocab::{
    Agreement, Cell, Claim, Correction, Direction, Labels, Margin, Nature, Role, Scalar, Test, Unit,
};
use std::time::Duration;

/// The newest format of a pre-registration that this version reads, and the one that it writes.
pub const FORMAT: i64 = 1;

/// One question, its arms, metrics and rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Prereg {
    /// Identity: lower-case letters, digits, `.`, `_` and `-`; the file's name.
    pub id: String,
    /// A heading.
    pub title: String,
    /// The ledger that lists the experiment: `ledgers/<ledger>.md`.
    pub ledger: String,
    /// Its place in that ledger.
    pub order: i64,
    /// The claim in words. Empty when nothing is claimed.
    pub claim: String,
    /// What the treatment changes, in words.
    pub changes: Vec<String>,
    /// The experiment whose accepted state this one starts from.
    pub baseline: Option<String>,
    /// Who measures.
    pub worker: Worker,
    /// Parameters with the values they take; more than one value is a sweep. In order of the name.
    pub params: Vec<(String, Vec<Scalar>)>,
    /// Factors whose combinations are arms, if it is a factorial.
    pub factors: Option<Factorial>,
    /// The arms, in the order of the file; those that factors make come first.
    pub arms: Vec<Arm>,
    /// How it is measured.
    pub design: Design,
    /// What is measured, in the order of the file.
    pub metrics: Vec<Metric>,
    /// What is claimed. Empty: the experiment only records.
    pub hypotheses: Vec<Hypothesis>,
    /// What must not get worse.
    pub guards: Vec<Guard>,
    /// How it is decided.
    pub decision: Rule,
    /// What the host must be like.
    pub environment: Environment,
    /// The arm that the others are shown as a percentage of. Nothing is decided by it.
    pub reference: Option<String>,
}

/// The process that measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// How it is started.
    pub launch: Launch,
    /// The system that it measures; one of those that its greeting names.
    pub system: String,
    /// How long one answer may take before its process group is killed.
    pub timeout: Duration,
}

/// How a worker is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// Cargo builds a package and its binary of the same name is run.
    Package(Package),
    /// Program and arguments, relative to the project's root. No shell.
    Command(Vec<String>),
    /// No worker: the arms are plain commands, and [`Worker::system`] is empty.
    Plain(Box<Commands>),
}

/// A package that cargo builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name, and that of the binary.
    pub name: String,
    /// Its cargo features besides the default ones, in order of the name, each once.
    pub features: Vec<String>,
    /// The cargo profile. `None`: `release`.
    pub profile: Option<String>,
}

/// One configuration that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its name: as the identity of an experiment.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Parameters that make the arm. In order of the name; none is swept as well.
    pub params: Vec<(String, Scalar)>,
    /// Environment variables that make the arm. In order of the name.
    pub env: Vec<(String, String)>,
    /// A worker, or a plain command, of its own in place of the experiment's.
    pub command: Option<Vec<String>>,
    /// A revision of the project's repository to build the program from; `None`: the work tree as it is.
    pub git: Option<String>,
    /// What builds the program: program and arguments, no shell. A package is built by cargo.
    pub build: Option<Vec<String>>,
}

/// Something measured: one number a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name, as in the worker's answer.
    pub name: String,
    /// The unit in which the worker answers and the store keeps.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Direction,
    /// Where it is read: of all metrics of plain commands, and of workers where it is not the worker that tells it.
    pub probe: Option<Probe>,
    /// Whether it must be the same on every repetition.
    pub nature: Nature,
}

/// What is claimed of one metric, and when that is enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// Its name within the experiment.
    pub id: String,
    /// The metric.
    pub metric: String,
    /// The cells it speaks of: those with these values. Empty: every cell, one family.
    pub condition: Vec<(String, Scalar)>,
    /// The arm in question, and what it is compared with; of an [`Effect`], its [sides](Factorial::sides).
    pub contrast: Contrast,
    /// The effect of a factorial that it is about, unless it is about two arms.
    pub effect: Option<Effect>,
    /// The form.
    pub claim: Claim,
    /// The smallest gain worth having (superior), or the largest difference that does not matter.
    pub margin: Margin,
    /// The smallest |Cohen's d| that counts. Only of `superior`.
    pub min_effect: f64,
}

/// A metric that must not get worse by more than a margin.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The metric.
    pub metric: String,
    /// The cells it speaks of, as in [`Hypothesis::condition`].
    pub condition: Vec<(String, Scalar)>,
    /// The arm in question, and what it is compared with.
    pub contrast: Contrast,
    /// The largest loss that does not matter.
    pub margin: Margin,
}

/// Two arms, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// The arm in question.
    pub treatment: String,
    /// What it is compared with.
    pub control: String,
}

/// How an experiment is decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Error rate of the family of hypotheses; of each guard.
    pub alpha: f64,
    /// The registered test.
    pub test: Test,
    /// Over the family.
    pub correction: Correction,
    /// What a disagreement of other methods does.
    pub agreement: Agreement,
    /// How the verdict is spelled.
    pub labels: Labels,
    /// What GO, STRONG GO and NEUTRAL take; only of these labels.
    pub thresholds: Option<Thresholds>,
    /// The relative difference between sham and control that is called noise.
    pub noise_margin: f64,
}

/// Gains that labels are given by, as shares of the control's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The margin of claims of superiority that give none.
    pub go: f64,
    /// Above it, an accepted gain is a STRONG GO. More than `go`.
    pub strong_go: f64,
    /// A gain between minus this and this is NEUTRAL. At most `go`.
    pub neutral: f64,
}

impl Prereg {
    /// Every combination of the swept parameters, the last name varying fastest.
    ///
    /// A parameter with a single value is not part of a cell.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::default()];
        for (name, values) in self.params.iter().filter(|(_, values)| values.len() > 1) {
            cells = cells
                .iter()
                .flat_map(|cell| {
                    values.iter().map(|value| {
                        let mut cell = cell.clone();
                        cell.0.push((name.clone(), value.clone()));
                        cell
                    })
                })
                .collect();
        }
        cells
    }

    /// Parameters of `arm` in `cell`: single values, the cell's own and the arm's, in order of the name.
    pub fn params_of(&self, arm: &Arm, cell: &Cell) -> Vec<(String, Scalar)> {
        let mut params: Vec<(String, Scalar)> = self
            .params
            .iter()
            .filter_map(|(name, values)| {
                let value = cell.get(name).or(values.first().filter(|_| values.len() == 1))?;
                Some((name.clone(), value.clone()))
            })
            .filter(|(name, _)| arm.params.iter().all(|(own, _)| own != name))
            .chain(arm.params.iter().cloned())
            .collect();
        params.sort_by(|(a, _), (b, _)| a.cmp(b));
        params
    }

    /// The arms that a hypothesis rests on: two, or those of the factorial of which it compares an effect.
    pub fn arms_of<'a>(&'a self, hypothesis: &'a Hypothesis) -> Vec<&'a str> {
        match (&hypothesis.effect, &self.factors) {
            (Some(_), Some(factorial)) => factorial.arms.iter().map(String::as_str).collect(),
            _ => vec![&hypothesis.contrast.treatment, &hypothesis.contrast.control],
        }
    }

    /// The arm of that name.
    pub fn arm(&self, name: &str) -> Option<&Arm> {
        self.arms.iter().find(|it| it.name == name)
    }

    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|it| it.name == name)
    }
}
