use super::SpoolError;
use super::frame::Frames;
use super::record::Record;
use crate::store::{self, Registration, RunData, SampleSet, StoredFinding, StoredVerdict};
use std::fs::File;
use std::io;
use std::path::Path;

/// All that a spool holds.
#[derive(Debug, Default)]
pub struct Held {
    /// In the order in which they were written.
    pub registrations: Vec<Registration>,
    /// The run, ordered as a store orders it; `None` when it did not get as far as its beginning.
    pub data: Option<RunData>,
    /// What was decided of it, with the findings.
    pub verdicts: Vec<(StoredVerdict, Vec<StoredFinding>)>,
}

impl Held {
    /// Reads a file of records; one that is not there holds nothing.
    pub(super) fn read(path: &Path) -> Result<Self, SpoolError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(SpoolError::io("open", path, error)),
        };
        let mut frames = Frames::of(&file, path)?;
        let mut held = Self::default();
        let mut loose = Vec::new();
        let mut joined = 0;
        while let Some(payload) = frames.next()? {
            let damaged =
                |problem: String| SpoolError::damaged(path, format!("record {}: {problem}", frames.number()));
            let record = serde_json::from_slice(&payload).map_err(|it| damaged(it.to_string()))?;
            held.add(record, &mut loose).map_err(damaged)?;
            // Joined now and then, so that memory grows with the samples and not with their names.
            if loose.len() > 4096 + 2 * joined {
                loose = store::join_samples(loose);
                joined = loose.len();
            }
        }
        if let Some(data) = &mut held.data {
            data.sets = store::join_samples(loose);
            if let Some(place) = store::sample_twice(&data.sets) {
                return Err(SpoolError::damaged(path, format!("{place} is there twice")));
            }
            data.arms.sort_by(|a, b| a.arm.cmp(&b.arm));
            data.cells.sort_by(|a, b| (&a.cell, &a.arm).cmp(&(&b.cell, &b.arm)));
            data.events.sort_by_key(|it| it.seq);
        }
        held.verdicts.sort_by_key(|(it, _)| it.seq);
        Ok(held)
    }

    fn add(&mut self, record: Record, loose: &mut Vec<SampleSet>) -> Result<(), String> {
        match (record, &mut self.data) {
            (Record::Registration(it), _) => self.registrations.push(it),
            (Record::Begin { run, arms }, data @ None) => {
                let (cells, events, sets) = (Vec::new(), Vec::new(), Vec::new());
                *data = Some(RunData { run, arms, cells, events, sets, invalidations: Vec::new() });
            }
            (Record::Begin { .. }, Some(_)) => return Err("the run begins a second time".to_owned()),
            (_, None) => return Err("it stands before the beginning of the run".to_owned()),
            (Record::Block { cells, sets }, Some(data)) => {
                data.cells.extend(cells);
                loose.extend(sets);
            }
            (Record::Event(it), Some(data)) => data.events.push(it),
            (Record::Verdict { verdict, findings }, Some(data)) if verdict.run == data.run.id => {
                self.verdicts.push((verdict, findings));
            }
            (Record::Verdict { verdict, .. }, Some(_)) => {
                return Err(format!("the verdict is of run {}", verdict.run));
            }
        }
        Ok(())
    }
}
