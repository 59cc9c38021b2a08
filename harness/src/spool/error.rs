use crate::store::StoreError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why the spool could not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpoolError {
    /// A file or folder.
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On which.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file holds something else than was written.
    Damaged {
        /// Which.
        path: PathBuf,
        /// What does not hold, and where.
        problem: String,
    },
    /// A record that the spool does not take.
    Invalid {
        /// What is wrong with it.
        problem: String,
    },
    /// A value that no store would take, or that contradicts another one.
    Store(StoreError),
}

impl SpoolError {
    pub(super) fn io(attempt: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { attempt, path: path.to_owned(), source: source.into() }
    }

    pub(super) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("free some space: nothing that was written is lost".to_owned())
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("the folder .harness must be writable".to_owned())
                }
                _ => None,
            },
            Self::Damaged { .. } => Some(
                "the file was altered or its disk is failing: put a copy of it in its place, or move its folder away"
                    .to_owned(),
            ),
            Self::Invalid { .. } => None,
            Self::Store(error) => error.hint(),
        }
    }
}

impl From<StoreError> for SpoolError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { attempt, path, .. } => write!(f, "failed to {attempt} `{}`", path.display()),
            Self::Damaged { path, problem } => {
                write!(f, "the spool `{}` is damaged: {problem}", path.display())
            }
            Self::Invalid { problem } => write!(f, "the spool does not take it: {problem}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Store(error) => error.source(),
            Self::Damaged { .. } | Self::Invalid { .. } => None,
        }
    }
}
