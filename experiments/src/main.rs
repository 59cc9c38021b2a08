//! The worker of this workspace: the engine's systems, dressed for measuring.
//!
//! `harness run <experiment>` builds and starts it; by hand it answers the lines of the worker protocol.

mod loading;
mod memory;
mod terms;

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::worker::main(&[&loading::Loading, &loading::LoadingMemory])
}
