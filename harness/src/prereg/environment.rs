//! What the host must be like: before a run begins, and while each block is measured.

use crate::vocab::Then;

/// What the host must be like for a run to start, and for its blocks to count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// The highest load average of the last minute.
    pub max_load: Option<f64>,
    /// The highest share of processor time, 0 to 1, that a hypervisor gives to others.
    pub max_steal: Option<f64>,
    /// The highest share of time, 0 to 1, in which a task waits for a processor.
    pub max_pressure: Option<f64>,
    /// The frequency governor of every processor.
    pub governor: Option<String>,
    /// Where workers run. `None`: wherever the kernel puts them.
    pub pin: Option<Pin>,
    /// What holds for each measured block.
    pub blocks: Option<BlockRule>,
}

/// The processors that workers are kept on, all arms on the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// One that the harness takes: the last of those that it may use, which serves the fewest interrupts.
    One,
    /// These, ascending.
    Cores(Vec<u32>),
}

/// What each measured block must have been like to count. At least one limit is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRule {
    /// The highest load average of the last minute, after the block.
    pub max_load: Option<f64>,
    /// The highest share of processor time, 0 to 1, stolen during the block.
    pub max_steal: Option<f64>,
    /// The highest share of the block, 0 to 1, in which a task waited for a processor.
    pub max_pressure: Option<f64>,
    /// What becomes of a block that breaks it.
    pub then: Then,
}
