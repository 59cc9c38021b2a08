//! A record of the log: one commit, all of it or nothing.

use super::memtable::Change;
use crate::symbol::KeyKind;

/// Bytes before the operations of a record.
pub(super) const HEAD: usize = 24;

const NEW: u8 = 1;
const REPLACED: u8 = 2;
const REMOVED: u8 = 3;

/// An operation that changed something. It says what it met, so that a replay can count keys without looking them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation<'a> {
    pub(super) key: &'a [u8],
    pub(super) change: Change,
    /// Whether the key was there before.
    pub(super) replaced: bool,
}

/// Puts an operation at the end of `out`. A removal of a key that is not there is no operation.
pub(super) fn push(out: &mut Vec<u8>, operation: Operation<'_>, width: usize) {
    out.push(match (operation.change, operation.replaced) {
        (None, _) => REMOVED,
        (Some(_), true) => REPLACED,
        (Some(_), false) => NEW,
    });
    let mut len = operation.key.len();
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(operation.key);
    if let Some(value) = operation.change {
        out.extend_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// Puts a record that is not sealed yet at the end of `out`.
pub(super) fn begin(out: &mut Vec<u8>, seq: u64, operations: &[u8]) {
    // A commit is refused before it gets that long.
    let len = operations.len() as u32;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&seq.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(operations);
}

/// Seals the records in `records`, which are about to be written to the segment `epoch`, whose first `synced` bytes are
/// durable.
pub(super) fn seal(records: &mut [u8], epoch: u64, synced: u64) {
    let mut rest = records;
    while rest.len() >= HEAD {
        let len = HEAD + u32_at(rest, 0) as usize;
        let (record, later) = rest.split_at_mut(len);
        record[16..24].copy_from_slice(&synced.to_le_bytes());
        let sum = checksum(record, epoch);
        record[4..8].copy_from_slice(&sum.to_le_bytes());
        rest = later;
    }
}

/// The checksum of a record. The epoch is part of it, so that bytes of another segment are no record here. It is masked,
/// so that a key or value that holds records is none.
fn checksum(record: &[u8], epoch: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    let mut start = [0; 12];
    start[..8].copy_from_slice(&epoch.to_le_bytes());
    start[8..].copy_from_slice(&record[..4]);
    hasher.update(&start);
    hasher.update(&record[8..]);
    hasher.finalize().rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// A record whose checksum is right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) seq: u64,
    /// Bytes of the segment that were durable when it was written.
    pub(super) synced: u64,
    pub(super) operations: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record at the start of `bytes`, if a whole one is there.
    pub(super) fn read(bytes: &'a [u8], epoch: u64) -> Option<Self> {
        if bytes.len() < HEAD {
            return None;
        }
        let record = bytes.get(..HEAD.checked_add(u32_at(bytes, 0) as usize)?)?;
        if checksum(record, epoch) != u32_at(record, 4) {
            return None;
        }
        Some(Self { seq: u64_at(record, 8), synced: u64_at(record, 16), operations: &record[HEAD..] })
    }

    /// Bytes of the record.
    pub(super) fn len(&self) -> usize {
        HEAD + self.operations.len()
    }

    /// Whether it is the end that closing a store puts to the log.
    pub(super) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Its operations, each with the reason if the rest is none.
    pub(super) fn operations(&self, kind: KeyKind, width: usize) -> Operations<'a> {
        Operations { rest: self.operations, kind, width }
    }
}

pub(super) struct Operations<'a> {
    rest: &'a [u8],
    kind: KeyKind,
    width: usize,
}

impl<'a> Operations<'a> {
    /// Bytes of the record that were not read yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn length(&mut self) -> Option<usize> {
        let mut len = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.take(1)?[0];
            len |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return usize::try_from(len).ok();
            }
        }
        None
    }

    fn operation(&mut self) -> Result<Operation<'a>, &'static str> {
        const CUT: &str = "an operation that ends behind its record";
        let code = self.take(1).ok_or(CUT)?[0];
        let len = self.length().ok_or(CUT)?;
        let key = self.take(len).ok_or(CUT)?;
        if self.kind == KeyKind::Chars && std::str::from_utf8(key).is_err() {
            return Err("a key that is not UTF-8");
        }
        let change = match code {
            REMOVED => None,
            NEW | REPLACED => {
                let mut value = [0; 8];
                value[..self.width].copy_from_slice(self.take(self.width).ok_or(CUT)?);
                Some(u64::from_le_bytes(value))
            }
            _ => return Err("an operation of an unknown kind"),
        };
        Ok(Operation { key, change, replaced: code != NEW })
    }
}

impl<'a> Iterator for Operations<'a> {
    type Item = Result<Operation<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let operation = self.operation();
        if operation.is_err() {
            self.rest = &[];
        }
        Some(operation)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(epoch: u64) -> Vec<u8> {
        let mut operations = Vec::new();
        push(&mut operations, Operation { key: &[7; 200], change: Some(3), replaced: true }, 8);
        push(&mut operations, Operation { key: b"", change: None, replaced: true }, 8);
        let mut records = Vec::new();
        begin(&mut records, 5, &operations);
        begin(&mut records, 6, &[]);
        seal(&mut records, epoch, 64);
        records
    }

    #[test]
    fn what_is_written_is_read() {
        let records = sealed(9);
        let first = Record::read(&records, 9).unwrap();
        assert_eq!((first.seq, first.synced), (5, 64));
        let operations: Vec<_> = first.operations(KeyKind::Bytes, 8).map(Result::unwrap).collect();
        assert_eq!(operations[0], Operation { key: &[7; 200], change: Some(3), replaced: true });
        assert_eq!(operations[1], Operation { key: b"", change: None, replaced: true });
        let second = Record::read(&records[first.len()..], 9).unwrap();
        assert_eq!((second.seq, second.operations.len()), (6, 0));
    }

    #[test]
    fn any_flipped_bit_cut_or_other_epoch_is_seen() {
        let records = sealed(9);
        let len = Record::read(&records, 9).unwrap().len();
        assert!(Record::read(&records, 8).is_none());
        for cut in 0..len {
            assert!(Record::read(&records[..cut], 9).is_none(), "cut at {cut}");
        }
        for bit in 0..len * 8 {
            let mut flipped = records.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::read(&flipped, 9).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn operations_that_make_no_sense_are_refused() {
        for bad in
            [&[9_u8, 0][..], &[NEW], &[NEW, 5, 1], &[NEW, 0, 1], &[REMOVED, 0x80, 0x80, 0x80, 0x80, 0x80, 0]]
        {
            let record = Record { seq: 1, synced: 0, operations: bad };
            assert!(record.operations(KeyKind::Bytes, 8).any(|operation| operation.is_err()), "{bad:?}");
        }
        let record = Record { seq: 1, synced: 0, operations: &[REMOVED, 1, 0xFF] };
        assert!(record.operations(KeyKind::Chars, 8).any(|operation| operation.is_err()));
    }
}
