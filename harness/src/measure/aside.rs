//! Blocks that break the registered rule.

use super::Conditions;
use crate::prereg::{BlockRule, Prereg};
use crate::vocab::{Then, significant};

/// Why the samples of a block do not count. Decided by the host alone, never by a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// What was broken, such as `steal 0.12, at most 0.02`.
    pub reasons: Vec<String>,
    /// Which attempt at the block this was, from 1.
    pub attempt: u32,
    /// Whether the block is excluded for good; else it is measured again.
    pub excluded: bool,
}

impl Aside {
    pub(super) fn of(prereg: &Prereg, conditions: &Conditions, attempt: u32) -> Option<Self> {
        let rule = prereg.environment.blocks.as_ref()?;
        let reasons = breaches(rule, conditions);
        (!reasons.is_empty()).then(|| Self { reasons, attempt, excluded: rule.then == Then::Exclude })
    }
}

/// What of a rule is broken. What the kernel does not tell breaks nothing: the gate has refused such a host, and a block
/// that is too short for a tick has no steal.
pub fn breaches(rule: &BlockRule, conditions: &Conditions) -> Vec<String> {
    let limits = [
        ("load", conditions.load, rule.max_load),
        ("steal", conditions.steal, rule.max_steal),
        ("pressure", conditions.pressure, rule.max_pressure),
    ];
    let broken = |(name, found, limit): (&str, Option<f64>, Option<f64>)| {
        let (found, limit) = (found?, limit?);
        (found > limit).then(|| format!("{name} {}, at most {limit}", significant(found, 3)))
    };
    limits.into_iter().filter_map(broken).collect()
}
