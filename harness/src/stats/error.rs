//! What a statistic refuses.

use std::fmt;

/// Why a statistic cannot be computed from what it was given.
///
/// A degenerate sample is not an error: see [`Status`](super::Status).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatsError {
    /// There is not a single observation.
    Empty,
    /// There are fewer observations than the method needs.
    TooFew {
        /// The smallest number the method works with.
        needed: usize,
        /// The number there is.
        found: usize,
    },
    /// An input is NaN or infinite.
    NonFinite,
    /// A level, an alpha, a power or the order of a quantile lies outside its range.
    InvalidLevel {
        /// The level as given.
        level: f64,
    },
    /// A mean, standard deviation and n that no sample can have.
    InvalidSummary,
    /// A probability outside `0..=1`.
    InvalidProbability {
        /// The probability as given.
        p: f64,
    },
    /// A margin that is not positive, or a relative one that leaves no ratio.
    InvalidMargin {
        /// The margin as given.
        margin: f64,
    },
    /// An effect of size zero, which no sample size can show.
    InvalidEffect,
    /// A parameter outside its range; the text names it.
    InvalidInput(&'static str),
    /// A logarithm needs values above zero.
    NonPositive,
    /// The mean of the control is zero, so that no ratio to it exists.
    ZeroBaseline,
    /// All observations are equal, and the method divides by their spread.
    ZeroVariance,
    /// All observations are equal in both arms, and the method divides by their spread.
    ZeroVarianceBoth,
    /// The exact distribution without ties was asked for, and there are ties.
    TiesInExact,
    /// Paired samples of different length.
    UnequalLength {
        /// Observations of the treatment.
        treatment: usize,
        /// Observations of the control.
        control: usize,
    },
    /// A factorial without all its cells.
    MissingCell,
    /// Fewer strata than a combination over strata needs.
    TooFewStrata {
        /// The number there is.
        found: usize,
    },
}

impl StatsError {
    /// Returns the stable name of the error, as stores and reference cases spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooFew { .. } => "too_few",
            Self::NonFinite => "non_finite",
            Self::InvalidLevel { .. } => "invalid_level",
            Self::InvalidSummary => "invalid_summary",
            Self::InvalidProbability { .. } => "invalid_probability",
            Self::InvalidMargin { .. } => "invalid_margin",
            Self::InvalidEffect => "invalid_effect",
            Self::InvalidInput(_) => "invalid_input",
            Self::NonPositive => "non_positive",
            Self::ZeroBaseline => "zero_baseline",
            Self::ZeroVariance => "zero_variance",
            Self::ZeroVarianceBoth => "zero_variance_both",
            Self::TiesInExact => "ties_in_exact",
            Self::UnequalLength { .. } => "unequal_length",
            Self::MissingCell => "missing_cell",
            Self::TooFewStrata { .. } => "too_few_strata",
        }
    }
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the sample is empty"),
            Self::TooFew { needed, found } => {
                write!(f, "the method needs at least {needed} observations, the sample has {found}")
            }
            Self::NonFinite => f.write_str("a value is not a finite number"),
            Self::InvalidLevel { level } => write!(f, "level `{level}` is outside its range"),
            Self::InvalidSummary => f.write_str("no sample has this mean, standard deviation and n"),
            Self::InvalidProbability { p } => write!(f, "probability `{p}` is outside 0 to 1"),
            Self::InvalidMargin { margin } => write!(f, "margin `{margin}` is outside its range"),
            Self::InvalidEffect => f.write_str("an effect of zero cannot be shown by any n"),
            Self::InvalidInput(what) => write!(f, "invalid input: {what}"),
            Self::NonPositive => f.write_str("a logarithm needs values above zero"),
            Self::ZeroBaseline => f.write_str("the mean of the control is zero: no ratio exists"),
            Self::ZeroVariance => f.write_str("all observations are equal"),
            Self::ZeroVarianceBoth => f.write_str("all observations are equal in both arms"),
            Self::TiesInExact => {
                f.write_str("the exact distribution assumes no ties, and some observations are equal")
            }
            Self::UnequalLength { treatment, control } => {
                write!(
                    f,
                    "pairs need equally many observations, found {treatment} of the treatment and {control} of the control"
                )
            }
            Self::MissingCell => f.write_str("a cell of the factorial is missing"),
            Self::TooFewStrata { found } => {
                write!(f, "a combination needs at least 2 strata, found {found}")
            }
        }
    }
}

impl std::error::Error for StatsError {}
