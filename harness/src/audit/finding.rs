//! What a check found.

use super::reach::Reach;
use super::verdict::Verdict;

/// What recomputing a claim gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The formula, or the name of the method.
    pub formula: String,
    /// What is compared with the claim. Empty when nothing could be computed.
    pub results: Vec<Computed>,
    /// What the same numbers say beside it.
    pub details: Vec<Detail>,
    /// The confidence interval of a single result, where spreads and n are printed.
    pub interval: Option<Confidence>,
    /// What became of the claim.
    pub verdict: Verdict,
    /// Why, where the numbers do not say it themselves.
    pub reason: String,
}

/// A result with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// What it is. Empty for the only one.
    pub label: String,
    /// The number, and how far rounding may move it.
    pub reach: Reach,
}

/// A number beside the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// What it is.
    pub label: String,
    /// The number.
    pub value: f64,
}

/// A confidence interval in the unit of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// 0.95 is 95 %.
    pub level: f64,
}

impl Finding {
    /// Nothing yet but a verdict.
    pub(super) fn new(formula: &str, verdict: Verdict) -> Self {
        Self {
            formula: formula.to_owned(),
            results: Vec::new(),
            details: Vec::new(),
            interval: None,
            verdict,
            reason: String::new(),
        }
    }

    pub(super) fn detail(&mut self, label: impl Into<String>, value: f64) {
        self.details.push(Detail { label: label.into(), value });
    }

    pub(super) fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}
