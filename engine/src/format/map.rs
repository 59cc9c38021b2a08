//! The bytes of an image: mapped, or copied into memory.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use super::header::{HEADER_LEN, Header};
use crate::error::{Error, Result};

/// The whole content of a file that passed the checks of its header.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(memmap2::Mmap),
    Copied(Vec<u8>),
}

/// The first bytes of a file: its header, and the section table of every file that this build writes.
pub(crate) struct Head {
    bytes: [u8; Self::LEN],
    len: usize,
}

impl Head {
    const LEN: usize = 512;

    /// The beginning of a whole file.
    fn of(file: &[u8]) -> Self {
        let mut head = Self { bytes: [0; Self::LEN], len: file.len().min(Self::LEN) };
        head.bytes[..head.len].copy_from_slice(&file[..head.len]);
        head
    }
}

impl Deref for Head {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl Bytes {
    /// Maps a file. See the soundness section of `FORMAT.md` for what callers owe.
    pub(crate) fn map(path: &Path) -> Result<(Header, Head, Self)> {
        let (file, len) = open(path)?;
        // A read costs less than a fault of the first page, which lookups may never need.
        let mut head = Head { bytes: [0; Head::LEN], len: 0 };
        while head.len < head.bytes.len() {
            match (&file).read(&mut head.bytes[head.len..]) {
                Ok(0) => break,
                Ok(some) => head.len += some,
                Err(fault) if fault.kind() == std::io::ErrorKind::Interrupted => {}
                Err(fault) => return Err(Error::io("read", path, fault)),
            }
        }
        let header = Header::decode(&head, len, path)?;
        let Ok(mapped) = usize::try_from(len) else {
            let source = std::io::Error::from(std::io::ErrorKind::FileTooLarge);
            return Err(Error::io("map", path, source));
        };
        // SAFETY: the map is only read. Images are private files that this engine replaces by rename and never
        // writes in place or truncates, so the mapped inode keeps its bytes for as long as the map lives; that
        // others keep to this is the documented contract of `Backing::Map`.
        let map = unsafe { memmap2::MmapOptions::new().len(mapped).map(&file) };
        let map = map.map_err(|source| Error::io("map", path, source))?;
        Ok((header, head, Self::Mapped(map)))
    }

    /// Takes bytes that are in memory already; `path` is what errors name.
    pub(crate) fn owned(bytes: Vec<u8>, path: &Path) -> Result<(Header, Head, Self)> {
        let header = Header::decode(&bytes, bytes.len() as u64, path)?;
        Ok((header, Head::of(&bytes), Self::Copied(bytes)))
    }

    /// Reads a file into memory. Nothing is allocated before the header vouches for the length.
    pub(crate) fn copy(path: &Path) -> Result<(Header, Head, Self)> {
        let (mut file, len) = open(path)?;
        let mut head = Vec::with_capacity(HEADER_LEN);
        let fail = |source| Error::io("read", path, source);
        file.by_ref().take(HEADER_LEN as u64).read_to_end(&mut head).map_err(fail)?;
        let header = Header::decode(&head, len, path)?;
        let mut bytes = head;
        bytes.reserve_exact((len as usize).saturating_sub(bytes.len()));
        file.take(len - HEADER_LEN as u64).read_to_end(&mut bytes).map_err(fail)?;
        if bytes.len() as u64 != len {
            return Err(Error::corrupt(path, bytes.len() as u64, "the file was cut while it was read"));
        }
        Ok((header, Head::of(&bytes), Self::Copied(bytes)))
    }
}

/// Opens a regular file for reading; asking first keeps a pipe from blocking the open.
fn open(path: &Path) -> Result<(File, u64)> {
    let fail = |source| Error::io("open", path, source);
    let kind = fs::metadata(path).map_err(fail)?;
    if !kind.is_file() {
        let found = if kind.is_dir() { "a directory" } else { "not a regular file" };
        return Err(Error::NotAFile { path: path.to_owned(), found });
    }
    let file = File::open(path).map_err(fail)?;
    let len = file.metadata().map_err(fail)?.len();
    Ok((file, len))
}
