use crate::vocab::Finding;

/// One line of the table that leads to a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// What is asked.
    pub name: String,
    /// What it takes.
    pub threshold: String,
    /// What was found.
    pub result: String,
    /// Whether it passes (supported), fails (refuted) or stays open (undecided).
    pub finding: Finding,
}
