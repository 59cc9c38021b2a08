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
//! The registered test gives the p-value of "superior", and the interval that must support it belongs to it where there is such
//! an interval:
//!
//! | test | interval of a relative gain | of an absolute one |
//! |---|---|---|
//! | `welch`, `mann-whitney` | Fieller's, of the ratio of the means | Welch's |
//! | `paired-t` | Fieller's for pairs | of the mean difference within blocks |
//! | `wilcoxon` | of the ratio at which the signed ranks balance, exact by Walsh's averages | of the pseudomedian |
//! | `bootstrap` | BCa, from the resamples of p | the same |
//!
//! The gain is that of the means, with Wilcoxon's test the one at which its ranks balance (Hodges and Lehmann). Paired tests
//! compare within blocks, and are undefined unless both arms have the same blocks and were measured together; the outlook counts
//! blocks. The bootstrap is undefined below 10 samples of an arm. "Non-inferior" and "equivalent", and so every guard, are
//! tested by Welch's t against the margin, with the interval of the means, whatever test is registered.
//!
//! With registered looks a cell stops at the first of them at which each of its hypotheses and guards is supported, or one is
//! refuted. Group-sequential looks (Lan and DeMets 1983) are judged as a single look is, with the p of the look's
//! boundary in place of alpha: the intervals are the repeated ones of Jennison and Turnbull (1989), which over all looks
//! together cover as registered whyever a cell stops, and p is the repeated p-value, valid for the same reason and therefore
//! corrected over a family like any other. Boundaries are two-sided for "superior", one-sided for the rest. The sign
//! e-process counts in how many blocks the gain is beyond the margin: p is one by the evidence (for "superior" two, one for
//! each direction), the gain is the median of the gains within blocks, and its interval holds every value that the
//! evidence does not exclude, at whichever look. Estimates of cells that stopped early are not corrected and have their caveat.
//! The panel and d know nothing of looks.
//!
//! No caveat drops a sample, and none supports or refutes anything. What is not normal, far out, of several modes, of unequal
//! spread, drifting or not steady is reported. Three things take a finding away, two of them caveats:
//!
//! * Dependence. Where the differences within blocks (of arms that were measured one after the other: an arm's own samples) have
//!   neighbors with a positive correlation, one-sided p below 5 %, what is supported or refuted becomes undecided unless
//!   the interval still decides when it is made as wide as the independent samples that they are worth have it
//!   ([`FirstOrder`](crate::stats::FirstOrder)): for the time `(1 + phi) / (1 - phi)`, and as many degrees of freedom
//!   less. What all arms of a block share drops out of the differences and takes nothing away.
//! * A coarse clock. Where a time has fewer than 100 steps of the clock in a typical sample, or more than half of the samples of an
//!   arm are tied, a hypothesis or guard that is supported becomes undecided if moving its interval by one step toward the
//!   limit would reach it.
//!
//! A third is the noise floor of the host, where a run carries a [`Calibration`]: one of exactly its registration, made on its
//! host before it began. A claim of superiority that is supported becomes undecided if its gain, as a share of the control, is below
//! what 95 % of the comparisons of the control with itself stay below there; one that is refuted does so if its gain lies less than
//! that below a relative margin.
//!
//! An effect of a factorial is a comparison of two sides, each made of several arms block by block
//! ([`EffectComparison`](crate::analyse::EffectComparison)), and judged as one of two arms is. Additivity with a relative margin
//! is counted as a share of the gain that the factors one by one add up to, with Fieller's set and the tests that it inverts
//! ([`Additivity`](crate::stats::Additivity)), from arms taken as independent; without a gain, or with one that cannot be told
//! from zero, it is undefined.
//!
//! Beside a family of several hypotheses stands how many of its p-values chance alone would bring below alpha ([`Family`]),
//! and beside what is claimed of two arms in several cells the geometric mean of the ratios over all of them ([`Overall`]).
//! Both inform and decide nothing.
//!
//! Every hypothesis is also put to a panel of methods with other assumptions ([`mod@crate::stats::panel`]), each of them asked
//! for the registered claim, against its margin and in its direction, at the registered alpha and without correction: is the
//! treatment better than the control as it were with a gain on the margin, multiplied or shifted. For "non-inferior" and
//! "equivalent" that is one-sided. A method agrees if the claim holds by it; one that finds nothing does not agree, and
//! one without an answer does not count. With `agreement = "report"` the panel is shown; with
//! `"require"` what is supported becomes undecided unless there are answers and all agree, and nothing else changes: the
//! panel can take support away and never give it. It is computed when it is first asked for.

mod calibration;
mod claim;
mod clock;
mod criterion;
mod decision;
mod dependence;
mod document;
mod effects;
mod family;
mod floor;
mod judge;
mod label;
mod looks;
mod method;
mod overall;
mod paired;
mod planned;
mod position;
mod power;
mod resampled;
mod robustness;
mod sequence;
mod sham;
mod signs;

pub use calibration::{Calibrated, Calibration, INJECTED, Power, Share, calibrate, twin};
pub use criterion::Criterion;
pub use decision::{Decision, decide, gain_text};
pub use document::{document, findings};
pub use effects::{EffectRow, Effects};
pub use family::Family;
pub use floor::calibration;
pub use judge::{Judged, Kind};
pub use label::{label, spelling};
pub use looks::{CellLooks, Look, is_over};
pub use method::{Method, Tested};
pub use overall::Overall;
pub use planned::{Against, POWERS, Planned, plan_power};
pub use position::Position;
pub use power::Outlook;
pub use robustness::{Robustness, Vote};
pub use sham::ShamCheck;
