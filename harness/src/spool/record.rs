use super::SpoolError;
use crate::store::{
    CellArm, Event, Registration, Run, RunArm, SampleSet, StoredFinding, StoredVerdict, check,
};
use serde::{Deserialize, Serialize};

/// What a record says, as JSON with one key. Numbers are in the shortest form that reads back to the same bits.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record {
    Registration(Registration),
    Begin { run: Run, arms: Vec<RunArm> },
    Block { cells: Vec<CellArm>, sets: Vec<SampleSet> },
    Event(Event),
    Verdict { verdict: StoredVerdict, findings: Vec<StoredFinding> },
}

impl Record {
    /// Whether every store would take it: what is in a spool can be loaded.
    pub(super) fn check(&self) -> Result<(), SpoolError> {
        match self {
            Self::Registration(it) => check::registration(it)?,
            Self::Begin { run, arms } => check::run(run, arms)?,
            Self::Block { cells, sets } => {
                sets.iter().try_for_each(check::sample_set)?;
                cells.iter().try_for_each(check::cell_arm)?;
            }
            Self::Event(it) => check::event(it)?,
            Self::Verdict { verdict, findings } => check::verdict(verdict, findings)?,
        }
        Ok(())
    }

    pub(super) fn payload(&self) -> Result<Vec<u8>, SpoolError> {
        serde_json::to_vec(self).map_err(|it| SpoolError::Invalid { problem: it.to_string() })
    }
}
