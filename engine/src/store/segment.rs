//! A segment of the log: a header, then records to the end of the file.

use std::path::Path;

use super::record::{HEAD, Record, u64_at};
use crate::error::{Error, Result};
use crate::format::crc32;

/// Bytes before the first record.
pub(super) const HEADER: usize = 64;
const MAGIC: [u8; 8] = *b"\x89TLOG\r\n\x1A";
const VERSION: u16 = 1;

/// What a segment says about itself and the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) epoch: u64,
    /// Bytes of the segment before: what is behind them was never acknowledged.
    pub(super) previous_end: u64,
    /// The number of the last commit before the first record.
    pub(super) seq: u64,
}

impl SegmentHeader {
    pub(super) fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.previous_end.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.seq.to_le_bytes());
        let sum = crc32(&bytes[..HEADER - 4]);
        bytes[HEADER - 4..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header of a segment, or `None` for a file that a crash kept from getting one: no record was ever written to it,
    /// as a header is durable before.
    pub(super) fn decode(bytes: &[u8], epoch: u64, path: &Path) -> Result<Option<Self>> {
        let sound =
            bytes.len() >= HEADER && crc32(&bytes[..HEADER - 4]).to_le_bytes() == bytes[HEADER - 4..HEADER];
        if !sound {
            if bytes.len() <= HEADER {
                return Ok(None);
            }
            return Err(Error::corrupt(path, 0, "the header of a log segment that has records is damaged"));
        }
        if bytes[..8] != MAGIC {
            return Err(Error::corrupt(path, 0, "it is not a log segment"));
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version > VERSION {
            return Err(Error::Version { path: path.to_owned(), found: version, newest: VERSION });
        }
        if version != VERSION || bytes[10..16] != [0; 6] || bytes[40..HEADER - 4] != [0; 20] {
            let found = "a field of a log segment that this build does not know".to_owned();
            return Err(Error::Unsupported { path: path.to_owned(), offset: 8, found });
        }
        let header =
            Self { epoch: u64_at(bytes, 16), previous_end: u64_at(bytes, 24), seq: u64_at(bytes, 32) };
        if header.epoch != epoch {
            let reason = format!("it says that it is segment {}, and its name says {epoch}", header.epoch);
            return Err(Error::corrupt(path, 16, reason));
        }
        Ok(Some(header))
    }
}

/// Reads the records of a segment, each handed to `each` with where it ends, and returns where they end and the number of the last one.
///
/// `end` is where they must end, as the next segment says. Without it this is the last segment, and what a crash left
/// behind the last whole record is not read; unless a later record says that the place was durable already.
///
/// # Errors
///
/// [`Error::Corrupt`] if a record that was durable is damaged, or if `each` says that operations make no sense.
pub(super) fn read<'b>(
    bytes: &'b [u8],
    header: SegmentHeader,
    end: Option<u64>,
    path: &Path,
    mut each: impl FnMut(Record<'b>, usize) -> std::result::Result<(), &'static str>,
) -> Result<(u64, u64)> {
    let limit = match end {
        None => bytes.len(),
        Some(end) if end >= HEADER as u64 && end <= bytes.len() as u64 => end as usize,
        Some(end) => {
            let reason = format!("the next log segment says that this one has {end} bytes");
            return Err(Error::corrupt(path, bytes.len() as u64, reason));
        }
    };
    let (mut at, mut seq) = (HEADER, header.seq);
    while at < limit {
        let record = Record::read(&bytes[at..limit], header.epoch)
            .filter(|record| seq.checked_add(1) == Some(record.seq) && record.synced <= at as u64);
        let Some(record) = record else {
            let durable = end.is_some() || known_durable(&bytes[..limit], header.epoch, at, seq);
            if durable {
                let reason = "a record of the log is damaged, and what came after it is not";
                return Err(Error::corrupt(path, at as u64, reason));
            }
            break;
        };
        let end = at + record.len();
        each(record, end).map_err(|reason| Error::corrupt(path, at as u64, reason))?;
        at = end;
        seq = record.seq;
    }
    Ok((at as u64, seq))
}

/// Whether a record behind `bad` says that `bad` was durable when it was written.
///
/// Writes that were not synced reach the disk in any order, so a whole record behind a torn one is no proof by itself.
fn known_durable(bytes: &[u8], epoch: u64, bad: usize, seq: u64) -> bool {
    let most = seq.saturating_add((bytes.len() / HEAD) as u64);
    // Checksums of candidates that are none cannot take more than a few times reading the file.
    let mut budget = bytes.len().saturating_mul(8);
    for at in bad + 1..bytes.len().saturating_sub(HEAD - 1) {
        let (found, synced) = (u64_at(bytes, at + 8), u64_at(bytes, at + 16));
        if found <= seq || found > most || synced <= bad as u64 || synced > at as u64 {
            continue;
        }
        let len = u64_at(bytes, at) as u32 as usize;
        if len > bytes.len() - at - HEAD {
            continue;
        }
        let Some(left) = budget.checked_sub(HEAD + len) else { return true };
        budget = left;
        if Record::read(&bytes[at..], epoch).is_some() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::record::{begin, seal};
    use super::*;

    /// Three groups: the first two synced before the next was written.
    fn segment() -> (SegmentHeader, Vec<u8>, Vec<usize>) {
        let header = SegmentHeader { epoch: 4, previous_end: 0, seq: 10 };
        let mut bytes = header.encode().to_vec();
        let mut starts = Vec::new();
        for (group, seqs) in [(0, 11..=12_u64), (1, 13..=14), (2, 15..=16)] {
            let mut records = Vec::new();
            for seq in seqs {
                starts.push(bytes.len() + records.len());
                begin(&mut records, seq, &[group; 20]);
            }
            let synced = bytes.len() as u64;
            seal(&mut records, 4, synced);
            bytes.extend_from_slice(&records);
        }
        (header, bytes, starts)
    }

    fn last(bytes: &[u8], end: Option<u64>) -> Result<(u64, u64)> {
        let header = SegmentHeader::decode(bytes, 4, Path::new("log"))?.unwrap();
        read(bytes, header, end, Path::new("log"), |_, _| Ok(()))
    }

    #[test]
    fn a_torn_tail_is_cut_and_a_damaged_middle_is_not() {
        let (header, bytes, starts) = segment();
        assert_eq!(SegmentHeader::decode(&bytes, 4, Path::new("log")).unwrap(), Some(header));
        assert_eq!(last(&bytes, None).unwrap(), (bytes.len() as u64, 16));
        for bit in HEADER * 8..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let hit = starts.iter().rposition(|&start| start <= bit / 8).unwrap();
            match last(&flipped, None) {
                // Of the last group nobody knows that it was durable.
                Ok((end, seq)) => {
                    assert!(hit >= 4, "bit {bit}");
                    assert_eq!((end, seq), (starts[hit] as u64, 10 + hit as u64));
                }
                Err(Error::Corrupt { offset, .. }) => {
                    assert!(hit < 4, "bit {bit}");
                    assert_eq!(offset, starts[hit] as u64);
                }
                Err(other) => panic!("{other}"),
            }
            assert!(last(&flipped, Some(bytes.len() as u64)).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_cut_segment_is_read_to_its_last_whole_record_or_refused() {
        let (_, bytes, starts) = segment();
        for cut in HEADER..bytes.len() {
            let whole = starts.iter().skip(1).filter(|&&start| start <= cut).count();
            assert_eq!(last(&bytes[..cut], None).unwrap().1, 10 + whole as u64);
            assert!(last(&bytes[..cut], Some(bytes.len() as u64)).is_err());
        }
        assert_eq!(last(&bytes, Some(starts[3] as u64)).unwrap(), (starts[3] as u64, 13));
    }

    #[test]
    fn a_damaged_header_is_refused_once_there_are_records() {
        let (_, bytes, _) = segment();
        for bit in 0..HEADER * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::decode(&flipped, 4, Path::new("log")).is_err(), "bit {bit}");
            let alone = SegmentHeader::decode(&flipped[..HEADER], 4, Path::new("log"));
            assert_eq!(alone.unwrap(), None, "bit {bit}");
        }
        assert!(SegmentHeader::decode(&bytes, 5, Path::new("log")).is_err());
    }
}
