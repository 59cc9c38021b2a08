//! The machine and the work tree: what a run was made on, and whether the host is quiet enough for it.
//!
//! What the kernel tells is read through a [`Kernel`], whose root a test can make; what it does not tell is `None`,
//! never a good value.

mod checks;
mod doctor;
mod fingerprint;
mod git;
mod governor;
mod kernel;
mod load;
mod moment;

pub use checks::CHECKS;
pub use doctor::{Check, Finding, Fitness, Patient, clock_step};
pub use fingerprint::{Fingerprint, fingerprint};
pub use git::{commit_that_says, commits_of, git, text_at};
pub use governor::governors;
pub use kernel::Kernel;
pub use load::load_average;
pub use moment::Moment;
