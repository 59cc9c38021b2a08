use std::fmt;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is as it should be.
    Holds,
    /// Nothing is wrong, but a reader should know.
    Note,
    /// It is not as it should be.
    Fails,
}

impl State {
    /// `holds`, `note`, `FAILS`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Note => "note",
            Self::Fails => "FAILS",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// An experiment or a ledger.
    pub subject: String,
    /// What of it.
    pub what: String,
    /// What came of it.
    pub state: State,
    /// What was found.
    pub detail: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.subject, self.what, self.detail)
    }
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

/// The checks of one subject, as they are made.
pub(super) struct Subject {
    name: String,
    checks: Vec<Check>,
}

impl Subject {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), checks: Vec::new() }
    }

    pub(super) fn holds(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.put(State::Holds, what.into(), detail.into());
    }

    pub(super) fn note(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.put(State::Note, what.into(), detail.into());
    }

    pub(super) fn fails(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.put(State::Fails, what.into(), detail.into());
    }

    fn put(&mut self, state: State, what: String, detail: String) {
        self.checks.push(Check { subject: self.name.clone(), what, state, detail });
    }

    pub(super) fn done(self) -> Vec<Check> {
        self.checks
    }
}
