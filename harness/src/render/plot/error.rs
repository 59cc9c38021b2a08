use std::fmt;

/// The largest magnitude that can be drawn; what is beyond is refused.
pub const LARGEST: f64 = 1e300;

/// Why there is no plot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlotError {
    /// An arm without a single sample.
    EmptyArm {
        /// Its name.
        arm: String,
        /// Its cell; empty for the empty cell.
        cell: String,
    },
    /// Nothing at all to draw.
    Nothing {
        /// What there should have been.
        what: &'static str,
    },
    /// A number that is NaN, infinite, or beyond [`LARGEST`].
    OutOfRange {
        /// Whose number it is.
        of: String,
        /// The number.
        value: f64,
    },
    /// An interval whose low end lies above its high end.
    Reversed {
        /// Whose interval it is.
        of: String,
    },
    /// The drawing library failed.
    Backend {
        /// Its message.
        message: String,
    },
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyArm { arm, cell } if cell.is_empty() => write!(f, "arm {arm} has no samples"),
            Self::EmptyArm { arm, cell } => write!(f, "arm {arm} has no samples in cell {cell}"),
            Self::Nothing { what } => write!(f, "nothing to plot: there are no {what}"),
            Self::OutOfRange { of, value } => {
                write!(f, "cannot plot {value:e} of {of}: only finite numbers up to {LARGEST:e} have a place")
            }
            Self::Reversed { of } => write!(f, "the interval of {of} ends before it begins"),
            Self::Backend { message } => write!(f, "failed to draw: {message}"),
        }
    }
}

impl std::error::Error for PlotError {}

/// Checks that `value` can be drawn; `of` names its owner in the error.
pub(super) fn drawable(value: f64, of: &str) -> Result<f64, PlotError> {
    if value.abs() <= LARGEST { Ok(value) } else { Err(PlotError::OutOfRange { of: of.to_owned(), value }) }
}
