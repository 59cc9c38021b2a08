//! Bytes being read, which know where they are.

use super::{Error, Format, Result};

/// Some bytes of an encoded dictionary.
#[derive(Clone, Copy)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Where the bytes begin in the whole.
    base: usize,
    format: Format,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], format: Format) -> Self {
        Self { bytes, at: 0, base: 0, format }
    }

    /// The offset of the next byte in the whole.
    #[inline]
    pub(super) fn offset(&self) -> usize {
        self.base + self.at
    }

    /// How many bytes are left.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    pub(super) fn malformed(&self, offset: usize, reason: impl Into<String>) -> Error {
        Error::Malformed { format: self.format, offset: offset as u64, reason: reason.into() }
    }

    #[cold]
    fn cut(&self, wanted: u64, what: &str) -> Error {
        let reason = format!("{what} needs {wanted} bytes, {} are left", self.left());
        self.malformed(self.offset(), reason)
    }

    /// The next `len` bytes.
    #[inline]
    pub(super) fn take(&mut self, len: u64, what: &str) -> Result<&'b [u8]> {
        if len > self.left() as u64 {
            return Err(self.cut(len, what));
        }
        let taken = &self.bytes[self.at..self.at + len as usize];
        self.at += len as usize;
        Ok(taken)
    }

    /// The next `len` bytes, to be read by themselves.
    #[inline]
    pub(super) fn part(&mut self, len: u64, what: &str) -> Result<Self> {
        let base = self.offset();
        Ok(Self { bytes: self.take(len, what)?, at: 0, base, format: self.format })
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        Ok(self.take(N as u64, what)?.try_into().expect("as many bytes as were asked for"))
    }

    /// The next byte, which stays.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The number behind a tag of one byte that was peeked at.
    #[inline]
    pub(super) fn tagged(&mut self, what: &str) -> Result<u64> {
        self.at += 1;
        self.varint(what)
    }

    /// The bytes behind a tag of one byte that was peeked at, and their length.
    #[inline]
    pub(super) fn tagged_part(&mut self, what: &str) -> Result<Self> {
        let len = self.tagged(what)?;
        self.part(len, what)
    }

    /// A number in groups of seven bits, the lowest first.
    #[inline]
    pub(super) fn varint(&mut self, what: &str) -> Result<u64> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(what),
        }
    }

    fn long_varint(&mut self, what: &str) -> Result<u64> {
        let start = self.offset();
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array(what)?;
            // The tenth byte has room for one bit.
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed(start, format!("{what} is a number of more than 64 bits")))
    }
}
