//! Plots as SVG documents: pure functions from plain values to text.
//!
//! | plot | input | shows |
//! |---|---|---|
//! | [`distribution`] | [`Samples`] | every sample, median and interval of every arm |
//! | [`sequence`] | [`Samples`] | the samples in the order in which they were made |
//! | [`interaction`] | [`Interaction`] | the means of a factorial, and where they would be if effects added up |
//! | [`gain`] | [`Gains`] | each hypothesis and guard: gain, interval, margin, finding; and geometric means over cells |
//! | [`heat`] | [`Heat`] | the gain and the finding of each hypothesis, cells by cells |
//! | [`looks`] | [`Looks`] | each hypothesis and guard at each look: observed statistic and boundary |
//! | [`arms`] | [`Arms`] | each arm of a ledger in one metric, and what was found of it |
//! | [`telemetry`] | [`Telemetry`] | what the host did in each block, and which blocks did not count |
//! | [`verdicts`] | [`Verdicts`] | each experiment of a ledger: gain and verdict |
//!
//! What all of them keep to:
//!
//! - The same input gives the same bytes. Places are whole pixels; logarithms come from `libm`, not from the
//!   platform.
//! - They read in light and in dark: see the style sheet in each document. Without style sheets they are light.
//! - No color stands alone: a shape or a word says the same.
//! - No text overlaps another or is cut off: what has no room is shortened, and its full form is in the
//!   `<title>` of the text. More rows make a plot taller.
//! - Whatever the numbers are, drawing ends at once with a document or with a [`PlotError`].

pub mod arms;
mod axis;
mod canvas;
pub mod distribution;
mod error;
mod frame;
pub mod gain;
pub mod heat;
pub mod interaction;
mod interval;
pub mod looks;
mod palette;
mod samples;
pub mod sequence;
mod series;
mod share;
mod swarm;
pub mod telemetry;
mod text;
mod thin;
mod value_axis;
pub mod verdicts;

pub use arms::{ArmBar, ArmGroup, Arms};
pub use canvas::WIDTH;
pub use error::{LARGEST, PlotError};
pub use gain::{Gain, GainMean, GainRow, Gains};
pub use heat::{Heat, HeatPanel, Tile};
pub use interaction::{Interaction, Mean, Square};
pub use interval::Interval;
pub use looks::{LookPanel, LookPoint, Looks};
pub use samples::{Arm, Panel, Samples};
pub use telemetry::{Quantity, Row, Telemetry};
pub use verdicts::{VerdictRow, Verdicts};

/// A plot of samples. To add one: a file here, its `mod` line, its entry in [`OF_SAMPLES`].
pub struct SamplePlot {
    /// The stem of its file, `plots/<experiment-id>/<id>-<metric>.svg`.
    pub id: &'static str,
    /// What a ledger calls it.
    pub title: &'static str,
    /// Draws it.
    pub draw: fn(&Samples) -> Result<String, PlotError>,
}

/// Every plot of samples there is, in ledger order.
pub static OF_SAMPLES: &[SamplePlot] = &[
    SamplePlot { id: "distribution", title: "Distribution", draw: distribution::draw },
    SamplePlot { id: "sequence", title: "Run sequence", draw: sequence::draw },
];
