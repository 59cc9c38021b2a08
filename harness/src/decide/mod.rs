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
//! one-sided claims have twice that alpha. Guards need no correction: all of them must hold. Where p-value and
//! interval disagree, as they can with a test of ranks, a step-down correction or other degrees of freedom,
//! nothing is supported. A test of ranks that points in the other direction than the means supports nothing.
//!
//! Where neither arm varies there is no t. For bytes and counts that is a property of the work: the gain is a
//! fact, its interval a point, and p the chance of the exact test of ranks that equal arms would be divided
//! so, `2 / (n_t + n_c over n_t)` or half of it for one-sided claims, so that few samples decide nothing. The minimum
//! effect is met by any difference. For times and rates it means that the clock is too coarse: undecided.
//!
//! A share of a control of zero does not exist. A margin of 0 % is then one of zero in the metric's unit, arms
//! that are both always zero do not differ, and what got worse is refuted; the rest is undecided.

//!
//! The registered test gives the p-value of "superior". The interval that must support it as well is that of the ratio of
//! the means by Fieller, or of their difference by Welch where the margin is absolute, and with `test = "bootstrap"` the BCa
//! interval of the same resamples. Paired t and Wilcoxon's signed ranks compare within blocks, and are undefined unless both
//! arms have the same blocks and were measured together; their interval is still that of arms that are not paired, which
//! only asks for more, and the paired intervals stand in the panel. The outlook counts samples as if they were not paired.
//! The bootstrap is undefined below 10 samples of an arm. "Non-inferior" and "equivalent", and so every guard, are tested
//! by Welch's t against the margin, whatever test is registered.
//!
//! No caveat drops a sample, and none supports or refutes anything. What is not normal, far out, of several modes, of unequal
//! spread, dependent, drifting or not steady is reported, beside Welch's p of as many independent samples as dependent ones
//! are worth. Only a coarse clock counts: where a time has fewer than 100 steps of the clock in a typical sample, or more
//! than half of the samples of an arm are tied, a hypothesis or guard that is supported becomes undecided if moving
//! its interval by one step toward the limit would reach it.
//!
//! Every hypothesis is also put to a panel of methods with other assumptions ([`mod@crate::stats::panel`]), each of them asked
//! for a difference at the registered alpha, not for the margin and without correction. A method agrees with "superior"
//! if it says better, with "non-inferior" if it does not say worse, with "equivalent" if it does not contradict the direction
//! of the means. Methods without an answer do not count. With `agreement = "report"` the panel is shown; with
//! `"require"` what is supported becomes undecided unless there are answers and all agree, and nothing else changes: the
//! panel can take support away and never give it. It is computed when it is first asked for.

mod claim;
mod clock;
mod criterion;
mod decision;
mod document;
mod judge;
mod method;
mod planned;
mod power;
mod resampled;
mod robustness;
mod sham;

pub use criterion::Criterion;
pub use decision::{Decision, decide, gain_text};
pub use document::{document, findings};
pub use judge::{Judged, Kind};
pub use method::{Method, Tested};
pub use planned::{Against, POWERS, Planned, plan_power};
pub use power::Outlook;
pub use robustness::Robustness;
pub use sham::ShamCheck;
