//! Pre-registered performance experiments: measured in blocks, kept in Postgres, decided by a rule that
//! was frozen before the first sample.
//!
//! A sample's road runs one way, and so do the modules, in reading order:
//!
//! ```text
//! experiments/<id>.toml -> prereg -> plan -> measure -> store -> analyse -> decide -> render -> ledgers/, plots/
//! ```
//!
//! On its way into the store each block goes through the `spool`, a file that outlives a kill, a power failure and
//! a database that went away.
//!
//! `vocab` and `stats` import nothing of the crate, and each module imports only what stands before it. A
//! worker crate needs only the feature `worker`: `worker::main` and a `worker::System`.

#[cfg(feature = "worker")]
pub mod vocab;

#[cfg(feature = "worker")]
pub mod worker;

#[cfg(feature = "stats")]
pub mod stats;

#[cfg(feature = "app")]
pub mod probe;

#[cfg(feature = "app")]
pub mod prereg;

#[cfg(feature = "app")]
pub mod plan;

#[cfg(feature = "app")]
pub mod store;

#[cfg(feature = "app")]
pub mod spool;

#[cfg(feature = "app")]
pub mod host;

#[cfg(feature = "app")]
pub mod measure;

#[cfg(feature = "app")]
pub mod analyse;

#[cfg(feature = "app")]
pub mod decide;

#[cfg(feature = "app")]
pub mod render;

#[cfg(feature = "app")]
pub mod audit;

#[cfg(feature = "app")]
pub mod exchange;

#[cfg(feature = "app")]
pub mod verify;

#[cfg(feature = "app")]
pub mod cli;
