//! The machine and the work tree: what a run was made on, and whether the host is quiet enough for it.

mod fingerprint;
mod git;
mod load;

pub use fingerprint::{Fingerprint, fingerprint};
pub use git::{commit_that_says, commits_of, git, text_at};
pub use load::{load_average, wait_until_quiet};
