//! Audits from the outside: the four ledgers, every kind, every problem, and the program.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod kinds;
mod ledgers;
mod problems;
mod program;
mod properties;

use harness::audit::{Audit, Document};
use std::path::{Path, PathBuf};

/// A file of this folder.
fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit").join(name)
}

/// A file of the repository.
fn root(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// What became of the claims of a text that is sound.
fn audit(text: &str) -> Audit {
    Audit::of(Document::parse(text, "a.toml").unwrap_or_else(|it| panic!("{it}")))
}
