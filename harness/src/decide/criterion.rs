use super::judge::{Judged, Kind};
use crate::vocab::Finding;

/// One line of the table that leads to a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// The hypothesis or guard that is asked for, with its name; `None` of what concerns the whole run.
    pub subject: Option<(Kind, String)>,
    /// What is asked: a quantity of the subject, or of the run.
    pub quantity: String,
    /// What it takes.
    pub threshold: String,
    /// What was found.
    pub result: String,
    /// Whether it passes (supported), fails (refuted) or stays open (undecided).
    pub finding: Finding,
}

impl Criterion {
    /// `open-1m at terms=1000: gain`, `samples`.
    pub fn name(&self) -> String {
        match &self.subject {
            Some((_, subject)) => format!("{subject}: {}", self.quantity),
            None => self.quantity.clone(),
        }
    }
}

/// As the subject of a criterion.
pub(super) fn subject(judged: &Judged) -> Option<(Kind, String)> {
    Some((judged.kind, judged.name()))
}
