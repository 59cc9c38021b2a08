use crate::stats::Sample;

/// The samples behind a comparison, each arm in order of its blocks.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Of the arm in question.
    pub treatment: Sample,
    /// Of what it is compared with.
    pub control: Sample,
    /// Whether the i-th samples of both arms belong together: both have the same blocks, and the arms of a block were
    /// measured together.
    pub by_block: bool,
}
