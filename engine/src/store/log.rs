//! The end of the log, where records are written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{self, Role};
use super::pipeline::Sink;
use super::record;
use super::segment::{HEADER, SegmentHeader};
use crate::error::{Error, Result};
use crate::format::{Storage, StorageFile};

/// The last segment.
pub(super) struct Log {
    storage: Arc<dyn Storage>,
    directory: PathBuf,
    /// A segment that an earlier owner wrote is not written to again: there is none until something is to be written.
    file: Option<Box<dyn StorageFile>>,
    epoch: u64,
    /// Bytes of the segment.
    end: u64,
    /// Bytes of the segment that are durable.
    synced: u64,
    /// The last commit in it.
    seq: u64,
    /// Whether an acknowledged commit is a durable one.
    sync_first: bool,
    pub(super) syncs: u64,
    /// Bytes of the segments before.
    pub(super) before: u64,
}

impl Log {
    /// The log behind a segment of an earlier owner, which ends at `end` with commit `seq`.
    pub(super) fn after(
        storage: Arc<dyn Storage>,
        directory: &Path,
        (epoch, end, seq): (u64, u64, u64),
        before: u64,
        sync_first: bool,
    ) -> Self {
        let directory = directory.to_owned();
        Self { storage, directory, file: None, epoch, end, synced: 0, seq, sync_first, syncs: 0, before }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Bytes from the first segment that a recovery would read.
    pub(super) fn bytes(&self) -> u64 {
        self.before + self.end
    }

    fn path(&self) -> PathBuf {
        files::path(&self.directory, Role::Segment, self.epoch)
    }

    /// Makes everything durable that was written.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.synced == self.end {
            return Ok(());
        }
        let path = self.path();
        let fail = |source| Error::io("sync", &path, source);
        match &mut self.file {
            Some(file) => file.sync().map_err(fail)?,
            // What the earlier owner wrote was read, but may never have reached the disk.
            None => {
                let open = |source| Error::io("open", &path, source);
                self.storage.append(&path).map_err(open)?.sync().map_err(fail)?;
            }
        }
        self.syncs += 1;
        self.synced = self.end;
        Ok(())
    }

    /// Ends this segment and begins the next one, all durable.
    pub(super) fn rotate(&mut self) -> Result<()> {
        if self.epoch > 0 {
            self.sync()?;
        }
        let header = SegmentHeader { epoch: self.epoch + 1, previous_end: self.end, seq: self.seq };
        let path = files::path(&self.directory, Role::Segment, header.epoch);
        let fail = |source| Error::io("write", &path, source);
        let file = if path.exists() {
            // A crash left it without a header, hence without records.
            let mut file = self.storage.append(&path).map_err(|source| Error::io("open", &path, source))?;
            file.write_at(0, &header.encode()).map_err(fail)?;
            file
        } else {
            let mut file = self.storage.create(&path).map_err(|source| Error::io("create", &path, source))?;
            file.write(&header.encode()).map_err(fail)?;
            file
        };
        let file = self.file.insert(file);
        file.sync().map_err(|source| Error::io("sync", &path, source))?;
        self.storage
            .sync_directory(&self.directory)
            .map_err(|source| Error::io("sync the directory", &self.directory, source))?;
        self.syncs += 2;
        self.before += self.end;
        self.epoch = header.epoch;
        (self.end, self.synced) = (HEADER as u64, HEADER as u64);
        Ok(())
    }

    /// Ends the log with a record without operations, so that a later damage of the last records is seen as such.
    pub(super) fn close(&mut self) -> Result<()> {
        if self.file.is_none() || self.end == HEADER as u64 {
            return Ok(());
        }
        self.sync()?;
        let mut end = Vec::new();
        record::begin(&mut end, self.seq + 1, &[]);
        self.append(end, self.seq + 1)?;
        self.sync()
    }
}

impl Sink for Log {
    fn append(&mut self, mut records: Vec<u8>, seq: u64) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.rotate()?;
        }
        record::seal(&mut records, self.epoch, self.synced);
        let path = self.path();
        if let Some(file) = &mut self.file {
            file.write(&records).map_err(|source| Error::io("write", &path, source))?;
        }
        self.end += records.len() as u64;
        self.seq = seq;
        if self.sync_first { self.sync() } else { Ok(()) }
    }
}
