//! Valid samples that leave a statistic without a value.

/// Whether a statistic has a value, and if not, why. No p-value is made up for a degenerate sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything is defined.
    Regular,
    /// No observation of either arm differs from the others of its arm.
    ZeroVarianceBoth,
    /// All differences within pairs are equal.
    ZeroVarianceDifference,
    /// All differences within pairs are zero.
    AllZero,
    /// The arms do not overlap or are all tied, so that ranks have no variance.
    DegenerateSeparation,
    /// All bootstrap replicates are equal.
    Degenerate,
}

impl Status {
    /// Returns the stable name of the status, as stores and reference cases spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::ZeroVarianceBoth => "zero_variance_both",
            Self::ZeroVarianceDifference => "zero_variance_diff",
            Self::AllZero => "all_zero",
            Self::DegenerateSeparation => "degenerate_separation",
            Self::Degenerate => "degenerate",
        }
    }
}
