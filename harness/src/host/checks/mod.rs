//! What can make a machine unfit, one check a file.

mod aslr;
mod battery;
mod busy;
mod clock;
mod counters;
mod governor;
mod huge_pages;
mod load;
mod pressure;
mod quota;
mod smt;
mod steal;
mod swap;
mod thermal;
mod turbo;
mod virtualisation;

use super::doctor::Check;

/// Every check, in the order in which they are shown: what changes from minute to minute first.
pub const CHECKS: &[Check] = &[
    load::CHECK,
    busy::CHECK,
    pressure::CHECK,
    steal::CHECK,
    swap::CHECK,
    thermal::CHECK,
    governor::CHECK,
    turbo::CHECK,
    smt::CHECK,
    quota::CHECK,
    battery::CHECK,
    aslr::CHECK,
    huge_pages::CHECK,
    virtualisation::CHECK,
    clock::CHECK,
    counters::CHECK,
];

#[cfg(test)]
mod tests;
