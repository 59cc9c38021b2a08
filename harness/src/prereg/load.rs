//! A pre-registration from a file.

use super::{Prereg, Problems, parse};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// No pre-registration is longer, in bytes.
pub const LONGEST_FILE: u64 = 1024 * 1024;

/// Why a file is not a pre-registration.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The system would not give its bytes.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is longer than [`LONGEST_FILE`].
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// It is not text.
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// How many bytes are text.
        offset: usize,
    },
    /// What it says cannot be registered.
    Invalid(Problems),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, .. } => write!(f, "failed to read `{}`", path.display()),
            Self::TooLong { path } => write!(
                f,
                "failed to read `{}`: it is longer than {LONGEST_FILE} bytes, the most that is read",
                path.display()
            ),
            Self::NotUtf8 { path, offset } => write!(
                f,
                "failed to read `{}`: it is not UTF-8 at byte {offset}, expected TOML text",
                path.display()
            ),
            Self::Invalid(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::TooLong { .. } | Self::NotUtf8 { .. } | Self::Invalid(_) => None,
        }
    }
}

impl Prereg {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is too long (found before it is read), is not text, or has problems.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let text = read_text(path)?;
        parse(&text, &path.display().to_string()).map_err(LoadError::Invalid)
    }
}

/// The text of a file that may be a document of the harness.
pub(crate) fn read_text(path: &Path) -> Result<String, LoadError> {
    let bytes = read(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
    let bytes = bytes.ok_or_else(|| LoadError::TooLong { path: path.to_owned() })?;
    String::from_utf8(bytes).map_err(|error| LoadError::NotUtf8 {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// The bytes of a file; `None` when there are too many.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    if file.metadata()?.len() > LONGEST_FILE {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // A pipe has no length, and a file may grow.
    file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= LONGEST_FILE).then_some(bytes))
}
