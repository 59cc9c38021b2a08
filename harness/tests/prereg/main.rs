//! Pre-registrations from the outside: what is accepted, what is said of what is not, and what is digested.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod canonical;
mod commands;
mod factors;
mod generate;
mod hostile;
mod load;
mod problems;

/// The example of the documentation; every test of a problem is an edit of it.
const EXAMPLE: &str = include_str!("exp-1-lazy.toml");
