//! The rule: from an analysis to a verdict, as it was registered. Pure.
//!
//! | finding | superior | non-inferior, guard | equivalent |
//! |---|---|---|---|
//! | supported | corrected p < alpha, the interval of the gain lies above the margin, \|d\| is at least the minimum effect | p < alpha, the interval lies above minus the margin | p < alpha, the interval lies inside the margin |
//! | refuted | the interval lies below the margin, or it is significantly worse | the interval lies below minus the margin | the interval lies outside the margin |
//! | undecided | otherwise | otherwise | otherwise |
//!
//! Over a family of m hypotheses, p-values are adjusted as registered, and intervals are made simultaneous:
//! each has the level `1 - alpha / m` (Bonferroni, with Holm), `1 - alpha k / m` for the k hypotheses that
//! pass (Benjamini and Yekutieli 2005, with Benjamini-Hochberg), or `1 - alpha` without correction. Intervals of
//! one-sided claims have twice that alpha. Guards need no correction: all of them must hold.
//!
//! Where neither arm varies there is no test; what is deterministic is shown and left undecided.

mod criterion;
mod decision;
mod document;
mod judge;
mod power;
mod sham;

pub use criterion::Criterion;
pub use decision::{Decision, decide};
pub use document::{document, findings};
pub use judge::{Judged, Kind};
pub use power::Outlook;
pub use sham::ShamCheck;
