//! Ledgers, plots and tables, from what the store holds and nothing else: no clock, no locale. The same rows
//! give the same bytes, for ever.

mod arm_bars;
mod caveats;
mod criteria;
mod design;
mod effects;
mod experiment;
mod factorial;
mod family;
mod figures;
mod heat_map;
mod host;
mod ledger;
mod looks;
pub mod markdown;
mod pages;
pub mod plot;
mod robustness;
mod section;
mod tables;

pub use criteria::{Criteria, criteria, mark};
pub use effects::{Grid, adds_up, contrasts, effects, scorecard};
pub use experiment::{Experiment, RecordedRun, Standing};
pub use figures::{Figure, claimed_first, of_experiment, of_ledger};
pub use ledger::ledger;
pub use pages::{Page, pages};
pub use tables::gain_95;
