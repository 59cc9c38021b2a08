//! Protocol Buffers: the wire format, and what both versions share.
//!
//! The wire is read and written by hand: records stream, nothing is allocated that the bytes do not bound, and
//! what a generated decoder takes for a shorter dictionary, a message cut between two records, is found, since the
//! last field, the tail, says how many nodes, terms and bytes of terms there are, with the checksum of all before it.

mod graph;
pub(super) mod v1;
pub(super) mod v2;

use super::out::{Out, varint_len};
use super::reader::Reader;
use super::{Capacity, Error, Expected, Format, Result};

/// How encoded messages begin: field 1, a number, the version.
pub(super) const V1_START: [u8; 2] = [0x08, 1];
pub(super) const V2_START: [u8; 2] = [0x08, 2];

/// The numbers of the fields that both versions have.
const VERSION: u64 = 1;
const VALUED: u64 = 2;
const TAIL: u64 = 15;
/// Those of the tail.
const NODES: u64 = 1;
const TERMS: u64 = 2;
const TEXT: u64 = 3;
const CRC: u64 = 4;

/// How a field is laid out.
const NUMBER: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

/// Bytes of the tail as the encoder puts it at the end: three counts and the checksum, each behind a tag.
const TAIL_LEN: usize = 3 * 9 + 5;

/// How much there is of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    nodes: u64,
    terms: u64,
    text: u64,
}

fn head(version: u64, valued: bool, out: &mut Out<'_>) {
    out.push(&[(VERSION << 3 | NUMBER) as u8, version as u8]);
    if valued {
        out.push(&[(VALUED << 3 | NUMBER) as u8, 1]);
    }
}

fn tail(counts: Counts, out: &mut Out<'_>) {
    let sum = out.sum();
    out.push(&[(TAIL << 3 | BYTES) as u8, TAIL_LEN as u8]);
    for (field, count) in [(NODES, counts.nodes), (TERMS, counts.terms), (TEXT, counts.text)] {
        out.push(&[(field << 3 | FIXED64) as u8]);
        out.push(&count.to_le_bytes());
    }
    out.push(&[(CRC << 3 | FIXED32) as u8]);
    out.push(&sum.to_le_bytes());
}

/// What the fields of both versions say.
#[derive(Default)]
struct Common {
    valued: bool,
    version: Option<u64>,
    counts: Option<Counts>,
}

/// A field that is not one of those.
struct Field<'b> {
    number: u64,
    /// Where it begins.
    offset: usize,
    /// Its bytes, or the number it is.
    content: Content<'b>,
}

enum Content<'b> {
    Bytes(Reader<'b>),
    Number(u64),
}

impl<'b> Field<'b> {
    fn bytes(self, reader: &Reader<'b>) -> Result<Reader<'b>> {
        match self.content {
            Content::Bytes(bytes) => Ok(bytes),
            Content::Number(_) => {
                let reason = format!("field {} is a number, expected bytes", self.number);
                Err(reader.malformed(self.offset, reason))
            }
        }
    }

    fn number(self, reader: &Reader<'_>) -> Result<u64> {
        match self.content {
            Content::Number(number) => Ok(number),
            Content::Bytes(_) => {
                let reason = format!("field {} is bytes, expected a number", self.number);
                Err(reader.malformed(self.offset, reason))
            }
        }
    }
}

/// The next field of a message, whatever it is.
#[inline]
fn field<'b>(reader: &mut Reader<'b>) -> Result<Field<'b>> {
    let offset = reader.offset();
    let tag = reader.varint("the tag of a field")?;
    let number = tag >> 3;
    let content = match tag & 7 {
        BYTES => {
            let len = reader.varint("the length of a field")?;
            Content::Bytes(reader.part(len, "a field")?)
        }
        NUMBER => Content::Number(reader.varint("a number")?),
        FIXED64 => Content::Number(u64::from_le_bytes(reader.array("a fixed number")?)),
        FIXED32 => Content::Number(u64::from(u32::from_le_bytes(reader.array("a fixed number")?))),
        other => {
            let reason = format!("field {number} has wire type {other}, known are 0, 1, 2 and 5");
            return Err(reader.malformed(offset, reason));
        }
    };
    if number == 0 {
        return Err(reader.malformed(offset, "a field has the number 0"));
    }
    Ok(Field { number, offset, content })
}

impl Common {
    /// Takes the next field, or returns it if it is not common. Unknown fields are the caller's to skip, as newer
    /// schemas of the same version may have more.
    fn take<'b>(
        &mut self,
        known: u64,
        format: Format,
        whole: &[u8],
        reader: &mut Reader<'b>,
    ) -> Result<Option<Field<'b>>> {
        let field = field(reader)?;
        let offset = field.offset;
        match field.number {
            VERSION => {
                let found = field.number(reader)?;
                if found != known {
                    return Err(Error::Version { format, offset: offset as u64, found, known });
                }
                self.version = Some(found);
            }
            VALUED => self.valued = field.number(reader)? != 0,
            TAIL => {
                let tail = field.bytes(reader)?;
                self.counts = Some(read_tail(tail, &whole[..offset], reader)?);
            }
            _ => return Ok(Some(field)),
        }
        Ok(None)
    }

    /// The counts, which have to be there, as has the version.
    fn counts(&self, reader: &Reader<'_>) -> Result<Counts> {
        let missing = |name: &str| {
            let reason = format!("the message ends without {name}; it was cut, or is no dictionary");
            reader.malformed(reader.offset(), reason)
        };
        self.version.ok_or_else(|| missing("`version`, field 1"))?;
        self.counts.ok_or_else(|| missing("`tail`, field 15"))
    }
}

/// Reads the tail. If it has a checksum, that is of all bytes before, and nothing may follow.
fn read_tail(mut tail: Reader<'_>, before: &[u8], reader: &Reader<'_>) -> Result<Counts> {
    let mut counts = Counts::default();
    while !tail.is_empty() {
        let field = field(&mut tail)?;
        let offset = field.offset;
        match field.number {
            NODES => counts.nodes = field.number(reader)?,
            TERMS => counts.terms = field.number(reader)?,
            TEXT => counts.text = field.number(reader)?,
            CRC => {
                if field.number(reader)? != u64::from(crc32fast::hash(before)) {
                    return Err(reader.malformed(offset, "the checksum does not match"));
                }
                if !reader.is_empty() {
                    let reason = format!("{} bytes come behind the checksum", reader.left());
                    return Err(reader.malformed(reader.offset(), reason));
                }
            }
            _ => {}
        }
    }
    Ok(counts)
}

/// The counts that stand at the end of what the encoder writes, as hints: to be bounded before they are used.
fn peek(whole: &[u8], capacity: Capacity) -> Option<Counts> {
    if capacity == Capacity::Growing {
        return None;
    }
    let (counts, _) = whole.get(whole.len().checked_sub(TAIL_LEN)?..)?.split_at(27);
    let count = |at: usize, field: u64| {
        let (tag, number) = counts[at..at + 9].split_first()?;
        (u64::from(*tag) == field << 3 | FIXED64)
            .then(|| Some(u64::from_le_bytes(number.try_into().ok()?)))?
    };
    Some(Counts { nodes: count(0, NODES)?, terms: count(9, TERMS)?, text: count(18, TEXT)? })
}

/// What a sink can expect of a graph.
fn expected(counts: Counts, capacity: Capacity, nodes: usize) -> Expected {
    match capacity {
        Capacity::Exact => Expected {
            terms: counts.terms.min(nodes as u64) as usize,
            text: usize::try_from(counts.text).unwrap_or(usize::MAX),
        },
        Capacity::Growing => Expected::default(),
    }
}
