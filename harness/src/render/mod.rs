//! What a reader sees: plots and markdown, as pure functions of plain values.
//!
//! The same values give the same bytes: nothing here reads a clock, a locale or the environment.

pub mod markdown;
pub mod plot;
