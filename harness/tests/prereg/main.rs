//! Pre-registrations from the outside: what is accepted, and what is said of what is not.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod problems;

/// The example of the documentation; every test of a problem is an edit of it.
const EXAMPLE: &str = include_str!("exp-1-lazy.toml");
