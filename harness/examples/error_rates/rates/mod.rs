//! The simulations, one table a file.

mod coverage;
mod decisions;
mod door;
mod families;
mod limits;
mod parallel;
mod peeking;
mod power;
mod shape;
pub(crate) mod table;

use table::Table;

/// Makes a table from so many simulated experiments for every number.
pub(crate) type Make = fn(usize) -> Table;

/// Every table, in the order in which they are printed.
pub(crate) const TABLES: &[Make] = &[
    |runs| coverage::table(10, runs),
    |runs| coverage::table(30, runs),
    |runs| coverage::table(51, runs),
    decisions::table,
    families::table,
    power::table,
    peeking::table,
    limits::table,
];
