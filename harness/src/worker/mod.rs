//! The worker's side of the protocol: a worker binary from a list of systems.
//!
//! ```no_run
//! use harness::worker::{self, Prepared, Sample, Setup, System};
//!
//! struct Sorting;
//!
//! impl System for Sorting {
//!     fn name(&self) -> &'static str {
//!         "sorting"
//!     }
//!
//!     fn prepare(&self, setup: &Setup) -> worker::Result<Box<dyn Prepared>> {
//!         let n: usize = setup.params.get("n")?;
//!         let input: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(setup.seed)).collect();
//!         Ok(Box::new(Input(input)))
//!     }
//! }
//!
//! struct Input(Vec<u64>);
//!
//! impl Prepared for Input {
//!     fn sample(&mut self, sample: &mut Sample) -> worker::Result<()> {
//!         let mut numbers = self.0.clone();
//!         sample.time("sort_time", || numbers.sort_unstable());
//!         numbers.iter().for_each(|it| sample.answer(it));
//!         Ok(())
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     worker::main(&[&Sorting])
//! }
//! ```
//!
//! The protocol itself, for workers in other languages, is documented at [`protocol`].

mod answers;
mod clock;
mod error;
mod fresh;
mod main;
mod params;
pub mod protocol;
mod sample;

pub use error::{Error, Result};
pub use fresh::in_fresh_process;
pub use main::main;
pub use params::Params;
pub use sample::Sample;

use crate::vocab::{Clock, Unit};
use std::path::PathBuf;

/// A system under study: something that can be prepared for measuring.
pub trait System: Sync {
    /// Its name in pre-registrations.
    fn name(&self) -> &'static str;

    /// Whether the host has what it takes to [`prepare`](Self::prepare): files, devices, services. Asked for every arm of every
    /// cell before a run begins; an error says what is missing, and then nothing is recorded. It is to take no time.
    fn check(&self, _setup: &Setup) -> Result<()> {
        Ok(())
    }

    /// Builds everything that is not measured: inputs, files, warm structures.
    ///
    /// Reads every parameter that it obeys from [`Setup::params`]: those, and no others, are echoed to the
    /// driver, which refuses an arm whose registered parameters were not read.
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>>;
}

/// A system ready to be measured, one sample at a time.
pub trait Prepared {
    /// Makes one sample: a value for each metric, and the answers of the work.
    fn sample(&mut self, sample: &mut Sample) -> Result<()>;
}

/// What a system is prepared from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The name of the system.
    pub system: String,
    /// Parameters of the cell and the arm.
    pub params: Params,
    /// Of the inputs: the same in all arms.
    pub seed: u64,
    /// A folder for files, shared by the arms of a cell and removed after it. Relative to the current folder.
    pub scratch: PathBuf,
    /// By which clock to time.
    pub clock: Clock,
    /// The metrics that are asked for and the unit of each.
    pub metrics: Vec<(String, Unit)>,
}
