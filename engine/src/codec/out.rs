//! Where encoded bytes go: into memory, or to a writer a piece at a time.

use std::io::Write;

use super::{Error, Result};

/// Bytes that gather before they are written.
const PIECE: usize = 64 << 10;

/// Encoded bytes, with the checksum of all so far.
pub(super) struct Out<'w> {
    held: Vec<u8>,
    /// Bytes of `held` that are in the checksum.
    summed: usize,
    sum: crc32fast::Hasher,
    writer: Option<&'w mut dyn Write>,
}

impl<'w> Out<'w> {
    pub(super) fn memory() -> Self {
        Self { held: Vec::new(), summed: 0, sum: crc32fast::Hasher::new(), writer: None }
    }

    pub(super) fn writer(writer: &'w mut dyn Write) -> Self {
        Self { writer: Some(writer), ..Self::memory() }
    }

    /// Makes room for a whole that is `len` bytes long, or for a piece of it.
    pub(super) fn reserve(&mut self, len: u64) {
        let most = if self.writer.is_some() { 2 * PIECE as u64 } else { isize::MAX as u64 };
        self.held.reserve_exact(len.min(most) as usize);
    }

    /// Whether a caller that holds bytes back had better pass them on.
    pub(super) fn is_streaming(&self) -> bool {
        self.writer.is_some()
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// The bytes not yet written, to add to.
    #[inline]
    pub(super) fn held(&mut self) -> &mut Vec<u8> {
        &mut self.held
    }

    /// Adds a number in groups of seven bits, the lowest first.
    #[inline]
    pub(super) fn varint(&mut self, value: u64) {
        varint(&mut self.held, value);
    }

    /// Writes what has gathered, if it is a piece. To be called after each record.
    #[inline]
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.held.len() >= PIECE && self.writer.is_some() { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.add_up();
        if let Some(writer) = &mut self.writer {
            writer.write_all(&self.held).map_err(Error::Write)?;
            self.held.clear();
            self.summed = 0;
        }
        Ok(())
    }

    fn add_up(&mut self) {
        self.sum.update(&self.held[self.summed..]);
        self.summed = self.held.len();
    }

    /// The checksum of everything so far.
    pub(super) fn sum(&mut self) -> u32 {
        self.add_up();
        self.sum.clone().finalize()
    }

    /// Writes the rest, or returns it all.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        if self.writer.is_some() {
            self.write()?;
        }
        if let Some(writer) = self.writer {
            writer.flush().map_err(Error::Write)?;
        }
        Ok(self.held)
    }
}

/// Adds a number to some bytes in groups of seven bits, the lowest first.
#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// How many bytes [`varint`] adds.
#[inline]
pub(super) fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}
