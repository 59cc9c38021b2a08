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
    pub(crate) fn map(path: &Path) -> Result<(Header, Self)> {
        let (file, len) = open(path)?;
        if len == 0 {
            return Err(refuse_short(&[], len, path));
        }
        // SAFETY: the map is only read. Images are private files that this engine replaces by rename and never
        // writes in place or truncates, so the mapped inode keeps its bytes for as long as the map lives; that
        // others keep to this is the documented contract of `Backing::Map`.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(|source| Error::io("map", path, source))?;
        let header = Header::decode(&map, len, path)?;
        Ok((header, Self::Mapped(map)))
    }

    /// Reads a file into memory. Nothing is allocated before the header vouches for the length.
    pub(crate) fn copy(path: &Path) -> Result<(Header, Self)> {
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
        Ok((header, Self::Copied(bytes)))
    }
}

fn refuse_short(bytes: &[u8], len: u64, path: &Path) -> Error {
    match Header::decode(bytes, len, path) {
        Err(refused) => refused,
        Ok(_) => Error::corrupt(path, len, "the file ends inside the header"),
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
