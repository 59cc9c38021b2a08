//! The store against real servers: an ephemeral cluster for most tests, private clusters for the rest.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod appends;
mod chains;
mod clusters;
mod crashes;
mod errors;
mod imports;
mod migrations;
mod numbers;
mod refusals;
mod roles;
mod silence;
mod sql;
mod support;
mod times;
mod tls;
mod upgrades;
mod zones;
