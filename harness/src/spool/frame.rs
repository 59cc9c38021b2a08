//! How records lie in a file: `MAGIC`, then for each record a mark, its length, a checksum, and its bytes.
//!
//! ```text
//! A5 72 65 63 | length, u32 little-endian | CRC-32 of length and bytes, u32 little-endian | bytes
//! ```

use super::SpoolError;
use flate2::Crc;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 16] = b"harness spool 1\n";
const MARK: [u8; 4] = [0xa5, b'r', b'e', b'c'];
const HEAD: u64 = 12;
/// The longest record: a registration, or 32,768 samples, take less than a tenth of it.
const LONGEST: usize = 32 << 20;

fn checksum(length: [u8; 4], bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&length);
    crc.update(bytes);
    crc.sum()
}

/// Appends a record to `out`; an error in words if it is too long.
pub(super) fn write(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > LONGEST {
        return Err(format!("a record has {} bytes, at most {LONGEST} are written", bytes.len()));
    }
    let length = (bytes.len() as u32).to_le_bytes();
    out.extend_from_slice(&MARK);
    out.extend_from_slice(&length);
    out.extend_from_slice(&checksum(length, bytes).to_le_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

/// The records of a file, one after the other, in the memory of the longest one.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    file: &'a File,
    path: PathBuf,
    /// The length when reading began: who appends meanwhile is not waited for.
    length: u64,
    at: u64,
    number: u64,
}

impl<'a> Frames<'a> {
    pub(super) fn of(file: &'a File, path: &Path) -> Result<Self, SpoolError> {
        let failed = |it: io::Error| SpoolError::io("read", path, it);
        let length = file.metadata().map_err(failed)?.len();
        let mut start = vec![0; MAGIC.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        file.read_exact_at(&mut start, 0).map_err(failed)?;
        if *start != MAGIC[..start.len()] {
            let problem = "it does not begin as a spool of this harness does";
            return Err(SpoolError::damaged(path, problem));
        }
        // A file that was killed within its first bytes holds nothing.
        let at = if start.len() < MAGIC.len() { 0 } else { MAGIC.len() as u64 };
        Ok(Self { file, path: path.to_owned(), length, at, number: 0 })
    }

    /// Where the last whole record ends.
    pub(super) fn end(&self) -> u64 {
        self.at
    }

    /// How many records were read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next record. `None` at the end, also where a torn record is the last one; a bad record that is followed by
    /// a whole one is damage.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, SpoolError> {
        if self.at < MAGIC.len() as u64 || self.at >= self.length {
            return Ok(None);
        }
        let failed = |it: io::Error| SpoolError::io("read", &self.path, it);
        if let Some(bytes) = self.whole_at(self.at).map_err(failed)? {
            self.at += HEAD + bytes.len() as u64;
            self.number += 1;
            return Ok(Some(bytes));
        }
        match self.whole_after(self.at + 1).map_err(failed)? {
            None => Ok(None),
            Some(next) => Err(SpoolError::damaged(
                &self.path,
                format!(
                    "record {} at byte {} is not what was written, a whole one follows at byte {next}",
                    self.number + 1,
                    self.at
                ),
            )),
        }
    }

    /// The record at an offset, if a whole one is there.
    fn whole_at(&self, at: u64) -> io::Result<Option<Vec<u8>>> {
        let rest = self.length.saturating_sub(at);
        if rest < HEAD {
            return Ok(None);
        }
        let mut head = [0; HEAD as usize];
        self.file.read_exact_at(&mut head, at)?;
        let part = |i: usize| [head[i], head[i + 1], head[i + 2], head[i + 3]];
        let length = u32::from_le_bytes(part(4));
        if part(0) != MARK || length as usize > LONGEST || u64::from(length) > rest - HEAD {
            return Ok(None);
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, at + HEAD)?;
        Ok((checksum(part(4), &bytes) == u32::from_le_bytes(part(8))).then_some(bytes))
    }

    /// Where the first whole record at or after `from` is.
    fn whole_after(&self, from: u64) -> io::Result<Option<u64>> {
        let mut window = vec![0; 64 << 10];
        let mut at = from;
        while self.length.saturating_sub(at) >= HEAD {
            let n = window.len().min(usize::try_from(self.length - at).unwrap_or(usize::MAX));
            self.file.read_exact_at(&mut window[..n], at)?;
            for (i, _) in window[..n].windows(MARK.len()).enumerate().filter(|(_, it)| **it == MARK) {
                if self.whole_at(at + i as u64)?.is_some() {
                    return Ok(Some(at + i as u64));
                }
            }
            // A mark may lie across the border.
            at += (n - (MARK.len() - 1)) as u64;
        }
        Ok(None)
    }
}
