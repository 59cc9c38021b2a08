//! The command line as its users meet it: the built program in throw-away projects, over real Postgres.
//!
//! What a user reads is compared with files in `golden/`; `HARNESS_BLESS=1 cargo test -p harness --test cli`
//! writes them. Linux only: processes are looked for in `/proc`, terminals made by `script`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builds;
mod commands;
mod compare;
mod credentials;
mod databases;
mod designs;
mod factorial;
mod hosts;
mod inputs;
mod installs;
mod interruptions;
mod looks;
mod power;
mod queries;
mod recheck;
mod refusals;
mod runs;
mod silence;
mod spools;
mod support;
mod terminal;
mod together;
mod troubles;
mod verify;
