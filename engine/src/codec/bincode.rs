//! bincode with fixed-width little-endian integers.
//!
//! As bincode writes this, and nothing behind it:
//!
//! ```text
//! struct File { magic: [u8; 4], version: u16, terms: Terms, crc32: u32 }
//! enum Terms { Set(Vec<String>), Map(Vec<(String, u64)>) }
//! ```
//!
//! The checksum is over all bytes before it.

use super::out::Out;
use super::reader::Reader;
use super::receiver::Receiver;
use super::source::Order;
use super::{Capacity, Error, Expected, Format, Result, Sink, Source};

pub(super) const MAGIC: [u8; 4] = *b"dicb";
const VERSION: u16 = 1;
/// Bytes before the first term, and behind the last.
const HEAD: usize = 4 + 2 + 4 + 8;
const SUM: usize = 4;
/// Bytes that are copied of a short term, and for which there is room behind the last one.
const WIDE: usize = 16;

pub(super) fn encode<S: Source + ?Sized>(source: &S, capacity: Capacity, out: &mut Out<'_>) -> Result<()> {
    let valued = source.has_values();
    if capacity == Capacity::Exact {
        let fixed = if valued { 16 } else { 8 };
        out.reserve((HEAD + SUM + WIDE) as u64 + fixed * source.len() + source.text_len()?);
    }
    out.push(&MAGIC);
    out.push(&VERSION.to_le_bytes());
    out.push(&u32::from(valued).to_le_bytes());
    out.push(&source.len().to_le_bytes());
    let mut order = Order::of(source);
    source.for_each_from(|from, len, value| {
        order.check(&from[..len])?;
        let held = out.held();
        push_counted(held, from, len);
        if valued {
            held.extend_from_slice(&value.to_le_bytes());
        }
        out.settle()
    })?;
    let sum = out.sum();
    out.push(&sum.to_le_bytes());
    Ok(())
}

/// Adds a length, and as many bytes of `from`. Most terms are short: sixteen bytes are copied for them, and what is too
/// much is cut off.
#[inline]
fn push_counted(held: &mut Vec<u8>, from: &[u8], len: usize) {
    let mut record = [0; 8 + WIDE];
    record[..8].copy_from_slice(&(len as u64).to_le_bytes());
    match from.first_chunk::<WIDE>() {
        Some(wide) if len <= WIDE => {
            record[8..].copy_from_slice(wide);
            held.extend_from_slice(&record);
            held.truncate(held.len() - WIDE + len);
        }
        _ => {
            held.extend_from_slice(&record[..8]);
            held.extend_from_slice(&from[..len]);
        }
    }
}

pub(super) fn decode<S: Sink>(bytes: &[u8], capacity: Capacity, mut receiver: Receiver<'_, S>) -> Result<()> {
    let mut reader = Reader::new(bytes, Format::Bincode);
    if reader.array("the magic")? != MAGIC {
        return Err(reader.malformed(0, format!("it does not begin with `{}`", MAGIC.escape_ascii())));
    }
    let version = u16::from_le_bytes(reader.array("the version")?);
    if version != VERSION {
        let (found, known) = (u64::from(version), u64::from(VERSION));
        return Err(Error::Version { format: Format::Bincode, offset: 4, found, known });
    }
    let valued = match u32::from_le_bytes(reader.array("the kind")?) {
        0 => false,
        1 => true,
        other => {
            return Err(reader.malformed(6, format!("kind `{other}` is unknown, known are 0 and 1")));
        }
    };
    let count = u64::from_le_bytes(reader.array("the number of terms")?);
    let fixed = if valued { 16 } else { 8 };
    let room = reader.left().saturating_sub(SUM);
    if count.saturating_mul(fixed) > room as u64 {
        let reason = format!("{count} terms have no room in the {} bytes that are left", reader.left());
        return Err(reader.malformed(10, reason));
    }
    let expected = match capacity {
        Capacity::Exact => Expected { terms: count as usize, text: room - (count * fixed) as usize },
        Capacity::Growing => Expected::default(),
    };
    receiver.start(valued, expected)?;
    let mut before: &[u8] = &[];
    for _ in 0..count {
        let len = u64::from_le_bytes(reader.array("the length of a term")?);
        let offset = reader.offset();
        let term = reader.take(len, "a term")?;
        let value = if valued { u64::from_le_bytes(reader.array("a value")?) } else { 0 };
        receiver.order(before, term, offset)?;
        receiver.term(term, value, offset)?;
        before = term;
    }
    let offset = reader.offset();
    let found = u32::from_le_bytes(reader.array("the checksum")?);
    if !reader.is_empty() {
        let reason = format!("{} bytes come behind the end", reader.left());
        return Err(reader.malformed(reader.offset(), reason));
    }
    if crc32fast::hash(&bytes[..offset]) != found {
        return Err(reader.malformed(offset, "the checksum does not match"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_term_is_copied_as_a_long_one_is() {
        let text: Vec<u8> = (1..=40).collect();
        for len in 0..text.len() {
            // With much behind it, with too little for a wide copy, and with nothing.
            for from in [&text[..], &text[..(len + 3).min(40)], &text[..len]] {
                let mut held = b"before".to_vec();
                push_counted(&mut held, from, len);
                let expected = [b"before", &(len as u64).to_le_bytes()[..], &text[..len]].concat();
                assert_eq!(held, expected, "{len} of {}", from.len());
            }
        }
    }
}
