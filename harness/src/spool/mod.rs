//! The spool: a run on the project's own disk, from its first sample until a database holds all of it.
//!
//! ```text
//! .harness/spool/<run id>/records          a run: its registration, its beginning, blocks, events, verdicts
//! .harness/spool/registrations/records     what was registered while there was no store
//! ```
//!
//! A file of records is only appended to, between blocks and never during one, and by one process at a time, which
//! holds its lock. A record is written in one piece; a process that is killed leaves whole records and at most one
//! torn one, which the next writer cuts off. So a kill takes the block that was being measured, and nothing else.
//!
//! Records reach the disk (`fdatasync`) at once, but blocks at most every [`SYNC_PERIOD`]: where samples take
//! microseconds, waiting for the disk after each block would take longer than the blocks. A power failure takes the
//! block that was being measured, and those that ended within that period after the last sync.
//!
//! The spool of a run is complete in itself, also after a resumption: a verdict can be computed from it alone.

mod error;
mod file;
mod frame;
mod held;
mod record;

pub use error::SpoolError;
pub use held::Held;

use crate::store::{
    self, CellArm, Event, Registration, Run, RunArm, RunData, SampleSet, StoredFinding, StoredVerdict,
};
use crate::vocab::RunState;
use file::RecordFile;
use record::Record;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use uuid::Uuid;

/// Blocks wait at most so long for the next sync.
pub const SYNC_PERIOD: Duration = Duration::from_millis(50);

/// The folder of the registrations that no store has yet.
const REGISTRATIONS: &str = "registrations";

/// The spool of a run, open for appending. Nobody else appends to it meanwhile.
#[derive(Debug)]
pub struct Spool {
    file: RecordFile,
}

impl Spool {
    /// Makes the spool of a new run: with its registration, its beginning and its first event, all synced.
    pub fn create(
        root: &Path,
        registration: &Registration,
        run: &Run,
        arms: &[RunArm],
    ) -> Result<Self, SpoolError> {
        let first = Event { seq: 1, at: run.started_at, state: RunState::Running, detail: None };
        Self::begin(
            root,
            run.id,
            &[
                Record::Registration(registration.clone()),
                Record::Begin { run: run.clone(), arms: arms.to_vec() },
                Record::Event(first),
            ],
        )
    }

    /// Opens the spool of a run that goes on, and completes it by what `data` has and it has not.
    ///
    /// Waits for a process that is just loading it into a store.
    pub fn resume(root: &Path, registration: &Registration, data: &RunData) -> Result<Self, SpoolError> {
        let id = data.run.id;
        let mut spool = Self { file: RecordFile::wait_for(&folder(root, &id.to_string()))? };
        let held = spool.held()?;
        let mut new = Vec::new();
        if !held.registrations.contains(registration) {
            new.push(Record::Registration(registration.clone()));
        }
        let known = match held.data {
            Some(known) => known,
            None => {
                new.push(Record::Begin { run: data.run.clone(), arms: data.arms.clone() });
                RunData { cells: Vec::new(), events: Vec::new(), sets: Vec::new(), ..data.clone() }
            }
        };
        let cells = data.cells.iter().filter(|it| !known.cells.contains(it)).cloned().collect::<Vec<_>>();
        if !cells.is_empty() {
            new.push(Record::Block { cells, sets: Vec::new() });
        }
        let missing = store::missing_samples(&known.sets, &data.sets)?;
        new.extend(missing.into_iter().map(|it| Record::Block { cells: Vec::new(), sets: vec![it] }));
        new.extend(data.events.iter().filter(|it| !known.events.contains(it)).cloned().map(Record::Event));
        spool.file.append(&encode(&new)?)?;
        spool.file.sync()?;
        Ok(spool)
    }

    /// Opens the spool of a run to load it into a store; `None` while another process has it, or if it is gone.
    pub fn take(root: &Path, run: Uuid) -> Result<Option<Self>, SpoolError> {
        Ok(RecordFile::take(&folder(root, &run.to_string()))?.map(|file| Self { file }))
    }

    fn begin(root: &Path, run: Uuid, records: &[Record]) -> Result<Self, SpoolError> {
        for record in records {
            record.check()?;
        }
        let mut file = RecordFile::wait_for(&folder(root, &run.to_string()))?;
        let written = encode(records).and_then(|it| file.append(&it)).and_then(|()| file.sync());
        match written {
            Ok(()) => Ok(Self { file }),
            Err(error) => {
                // Half a beginning is none.
                let _ = file.remove();
                Err(error)
            }
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        self.file.folder()
    }

    /// Appends what one step measured; synced if the last sync is longer ago than [`SYNC_PERIOD`].
    pub fn block(&mut self, sets: &[SampleSet], cells: &[CellArm]) -> Result<(), SpoolError> {
        self.write(Record::Block { cells: cells.to_vec(), sets: sets.to_vec() })?;
        if self.file.since_sync() >= SYNC_PERIOD { self.file.sync() } else { Ok(()) }
    }

    /// Appends an event and syncs.
    pub fn event(&mut self, event: &Event) -> Result<(), SpoolError> {
        self.write(Record::Event(event.clone()))?;
        self.file.sync()
    }

    /// Appends a verdict and syncs.
    pub fn verdict(&mut self, verdict: &StoredVerdict, findings: &[StoredFinding]) -> Result<(), SpoolError> {
        self.write(Record::Verdict { verdict: verdict.clone(), findings: findings.to_vec() })?;
        self.file.sync()
    }

    fn write(&mut self, record: Record) -> Result<(), SpoolError> {
        record.check()?;
        self.file.append(&encode(&[record])?)
    }

    /// All that it holds.
    pub fn held(&self) -> Result<Held, SpoolError> {
        Held::read(self.file.path())
    }

    /// Removes it: a store holds all of it.
    pub fn remove(self) -> Result<(), SpoolError> {
        self.file.remove()
    }
}

/// The registrations that were made while there was no store, open for appending.
#[derive(Debug)]
pub struct Registrations {
    file: RecordFile,
}

impl Registrations {
    /// Opens them, waiting for whoever has them.
    pub fn open(root: &Path) -> Result<Self, SpoolError> {
        Ok(Self { file: RecordFile::wait_for(&folder(root, REGISTRATIONS))? })
    }

    /// All of them, in the order in which they were made.
    pub fn all(&self) -> Result<Vec<Registration>, SpoolError> {
        Ok(Held::read(self.file.path())?.registrations)
    }

    /// Appends one and syncs.
    pub fn append(&mut self, registration: &Registration) -> Result<(), SpoolError> {
        let record = Record::Registration(registration.clone());
        record.check()?;
        self.file.append(&encode(&[record])?)?;
        self.file.sync()
    }

    /// Removes them: a store holds all of them.
    pub fn remove(self) -> Result<(), SpoolError> {
        self.file.remove()
    }
}

/// The runs that have a spool in the project, the oldest first.
pub fn runs(root: &Path) -> Result<Vec<Uuid>, SpoolError> {
    let folder = root.join(".harness/spool");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SpoolError::io("list", &folder, error)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry.map_err(|it| SpoolError::io("list", &folder, it))?.file_name();
        runs.extend(name.to_str().and_then(|it| Uuid::parse_str(it).ok()));
    }
    runs.sort();
    Ok(runs)
}

/// What the spool of a run holds, whoever appends to it meanwhile; nothing if there is none.
pub fn read(root: &Path, run: Uuid) -> Result<Held, SpoolError> {
    Held::read(&folder(root, &run.to_string()).join(file::NAME))
}

/// The registrations that were made while there was no store.
pub fn registrations(root: &Path) -> Result<Vec<Registration>, SpoolError> {
    Ok(Held::read(&folder(root, REGISTRATIONS).join(file::NAME))?.registrations)
}

/// Whether registrations wait to be loaded.
pub fn has_registrations(root: &Path) -> bool {
    folder(root, REGISTRATIONS).exists()
}

fn folder(root: &Path, name: &str) -> PathBuf {
    root.join(".harness/spool").join(name)
}

/// Records as the bytes that are appended.
fn encode(records: &[Record]) -> Result<Vec<u8>, SpoolError> {
    let mut bytes = Vec::new();
    for record in records {
        frame::write(&mut bytes, &record.payload()?).map_err(|it| SpoolError::Invalid { problem: it })?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
