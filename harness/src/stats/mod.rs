//! Pure numerics: what a sample says, and how surely.
//!
//! # Conventions
//!
//! * The order of arguments is always `(treatment, control)`, and a difference, a t, a d, a delta or a shift is
//!   always *treatment minus control*. "Less" and "greater" say where the treatment lies. Whether that is
//!   an improvement is not for this module to say.
//! * Functions are pure: no clock, no locale, no randomness but that of a seed in the arguments ([`rng`]). The
//!   same arguments give the same bits.
//! * Bad input is an [`StatsError`] with a stable code. A degenerate sample is not bad input: the result has a
//!   [`Status`], and what does not exist is `None`. There is no NaN in any result.
//! * A p-value is a [`PValue`]: a tail computed as a tail, with its logarithm, and never zero.
//! * Observations are pivoted and summed with compensation, so that an offset of 1e12 costs no digit, and
//!   rescaling all observations by a power of two leaves every dimensionless number bit for bit as it was.
//! * Levels lie between 0 and 1, both excluded; 0.95 means 95 %.

pub mod dist;
pub mod rng;

mod error;
mod interval;
mod moments;
mod p_value;
mod quantile;
mod sample;
mod status;
mod summary;
mod welch;

pub use error::StatsError;
pub use interval::Interval;
pub use moments::Moments;
pub use p_value::{PValue, Tail, Tails};
pub use quantile::{median, quantile, supports_quantile};
pub use sample::Sample;
pub use status::Status;
pub use summary::{MAD_TO_SD, Shape, Spread, Summary, mean_interval};
pub use welch::{TTest, Welch, student, welch, welch_of_moments};
