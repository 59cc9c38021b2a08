//! Pre-registered performance experiments: measured in blocks, kept in Postgres, decided by a rule that
//! was frozen before the first sample.
//!
//! A sample's road runs one way, and so do the modules, in reading order:
//!
//! ```text
//! experiments/<id>.toml -> prereg -> plan -> measure -> store -> analyse -> decide -> render -> ledgers/, plots/
//! ```

#[cfg(feature = "app")]
pub mod prereg;
#[cfg(feature = "stats")]
pub mod stats;
#[cfg(feature = "app")]
pub mod store;
#[cfg(feature = "app")]
pub mod vocab;
