use crate::exchange::evidence::EvidenceError;
use crate::measure::{self, LaunchError};
use crate::prereg::LoadError;
use crate::spool::SpoolError;
use crate::store::StoreError;
use std::fmt;
use std::process::ExitCode;

/// What the program's exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// Wrong usage, or an invalid file.
    Usage = 2,
    /// The verdict is REJECT, with `--gate`.
    Reject = 3,
    /// The verdict is INCONCLUSIVE, with `--gate`.
    Inconclusive = 4,
    /// A registration or a ledger is not what was frozen.
    Integrity = 5,
    /// The host is not fit.
    Host = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // The codes are below 256.
        Self::from(exit as u8)
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What was attempted, on what, and what was found; causes follow after colons.
    pub message: String,
    /// Lines that explain, such as the last words of a worker.
    pub details: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
    /// Whether the store failed, without which the same may succeed.
    pub(super) away: bool,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), details: Vec::new(), hint: None, away: false }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with what was attempted in front.
    pub(super) fn context(self, attempt: &str) -> Self {
        Self { message: format!("{attempt}: {}", self.message), ..self }
    }

    /// A failure from the whole chain of an error.
    pub(super) fn chain(exit: Exit, error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(it) = cause {
            message.push_str(&format!(": {it}"));
            cause = it.source();
        }
        Self::new(exit, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::Contradiction { .. } | StoreError::Damaged { .. } => Exit::Integrity,
            _ => Exit::Failed,
        };
        let (hint, away) = (error.hint(), error.is_away());
        Self { hint, away, ..Self::chain(exit, &error) }
    }
}

impl From<SpoolError> for Failure {
    fn from(error: SpoolError) -> Self {
        let exit = match error {
            SpoolError::Damaged { .. }
            | SpoolError::Store(StoreError::Contradiction { .. } | StoreError::Damaged { .. }) => {
                Exit::Integrity
            }
            _ => Exit::Failed,
        };
        let hint = error.hint();
        Self { hint, ..Self::chain(exit, &error) }
    }
}

impl From<EvidenceError> for Failure {
    fn from(error: EvidenceError) -> Self {
        match error {
            EvidenceError::Io { .. } => Self::chain(Exit::Failed, &error),
            EvidenceError::Invalid { .. } => {
                Self::chain(Exit::Integrity, &error).hint("restore it: git checkout -- ledgers/evidence")
            }
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match &error {
            // Each problem is a line of its own already.
            LoadError::Invalid(problems) => {
                let n = problems.all().len();
                let message = match n {
                    1 => "1 problem in the pre-registration".to_owned(),
                    n => format!("{n} problems in the pre-registration"),
                };
                let details = problems.to_string().lines().map(str::to_owned).collect();
                Self { details, ..Self::new(Exit::Usage, message) }
            }
            _ => Self::chain(Exit::Usage, &error),
        }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let details = error.lines().iter().map(|it| format!("build: {it}")).collect();
        Self { details, hint: error.hint(), ..Self::chain(Exit::Failed, &error) }
    }
}

impl From<&measure::Failure> for Failure {
    fn from(failure: &measure::Failure) -> Self {
        let who = if failure.is_of_worker() { "worker" } else { "stderr" };
        let details = failure.stderr().iter().map(|it| format!("{who}: {it}")).collect();
        Self { details, hint: failure.hint().map(str::to_owned), ..Self::chain(Exit::Failed, failure) }
    }
}
