//! What can go wrong, said so that a person can act on it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::symbol::KeyKind;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was refused.
///
/// Messages say what was attempted, on which path, what was found at which offset and, where there is one, the
/// way out. The cause is never part of a message: follow [`source`](std::error::Error::source).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    Io {
        /// What was attempted, as a verb: `open`, `write`, `rename`, ...
        attempt: &'static str,
        /// The file or directory it was attempted on.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The path names something that is not a regular file.
    NotAFile {
        /// The path that was to be opened.
        path: PathBuf,
        /// What was found there, for example `a directory`.
        found: &'static str,
    },
    /// The file is not an image of this engine. It was not touched.
    Foreign {
        /// The file that was to be opened.
        path: PathBuf,
        /// What stands at its beginning instead of the magic.
        found: String,
    },
    /// The file was written by a newer version of the format.
    Version {
        /// The file that was to be opened.
        path: PathBuf,
        /// Its version.
        found: u16,
        /// The newest version this build reads.
        newest: u16,
    },
    /// The file is sound but holds something that this build or this call cannot read.
    Unsupported {
        /// The file that was to be opened.
        path: PathBuf,
        /// Where the header or the table says so, in bytes from the start of the file.
        offset: u64,
        /// What it holds.
        found: String,
    },
    /// A byte trie was opened as a char trie, or the reverse.
    KeyKind {
        /// The file that was to be opened.
        path: PathBuf,
        /// What the file holds.
        found: KeyKind,
        /// What the caller asked for.
        wanted: KeyKind,
    },
    /// The values of the file have another width than those of the type asked for.
    ValueWidth {
        /// The file that was to be opened.
        path: PathBuf,
        /// Bytes a value in the file.
        found: u8,
        /// Bytes a value of the type asked for.
        wanted: u8,
    },
    /// The file is cut or damaged.
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A key is longer than the format can hold. The trie is unchanged.
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
        /// The longest key there can be, in bytes.
        limit: usize,
    },
    /// A key that does not come after the one before it was given to the writer of an image.
    KeyOrder {
        /// The key that came before, escaped and cut.
        before: String,
        /// The key that was refused, escaped and cut.
        key: String,
    },
    /// The terms do not fit into one image.
    ImageTooLarge {
        /// The largest trie section there can be, in bytes.
        limit: u64,
    },
    /// The operations of one commit need more than a record of the log can hold. Nothing of it was done.
    CommitTooLarge {
        /// The most there can be, in bytes.
        limit: u64,
    },
    /// The store has an owner already.
    Locked {
        /// Its directory.
        path: PathBuf,
        /// Who has it open: `this process` or `another process`.
        by: &'static str,
    },
    /// The log or the manifest of the store could not be written earlier, so nothing can be acknowledged any more.
    Stopped {
        /// Its directory.
        path: PathBuf,
        /// What happened then.
        reason: String,
    },
    /// The texts do not fit into one suffix index. The index is unchanged.
    TextsTooLarge {
        /// The most bytes and texts there can be together.
        limit: usize,
    },
}

impl Error {
    pub(crate) fn io(attempt: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { attempt, path: path.to_owned(), source }
    }

    /// The message with that of its cause.
    pub(crate) fn with_cause(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }

    pub(crate) fn corrupt(path: &Path, offset: u64, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), offset, reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { attempt, path, .. } => write!(f, "failed to {attempt} `{}`", path.display()),
            Self::NotAFile { path, found } => {
                write!(
                    f,
                    "failed to open `{}`: it is {found}, give the path of an image file",
                    path.display()
                )
            }
            Self::Foreign { path, found } => write!(
                f,
                "failed to open `{}`: not an image of this engine, found {found} at byte 0; \
                 the file was left as it is, use another path for a new one",
                path.display()
            ),
            Self::Version { path, found, newest } => write!(
                f,
                "failed to open `{}`: format version `{found}` at byte 8 is newer than `{newest}`, \
                 the newest this build reads; use a newer build or write the image again",
                path.display()
            ),
            Self::Unsupported { path, offset, found } => {
                write!(
                    f,
                    "failed to open `{}`: found {found} at byte {offset}, which needs another build",
                    path.display()
                )
            }
            Self::KeyKind { path, found, wanted } => write!(
                f,
                "failed to open `{}` as a trie over `{wanted}`: byte 13 says its keys are `{found}`; open it as such",
                path.display()
            ),
            Self::ValueWidth { path, found, wanted } => write!(
                f,
                "failed to open `{}` with values of `{wanted}` bytes: byte 14 says they have `{found}`; \
                 open it with a value type of that width",
                path.display()
            ),
            Self::Corrupt { path, offset, reason } => write!(
                f,
                "`{}` is damaged at byte {offset}: {reason}; restore the file or write the image again",
                path.display()
            ),
            Self::KeyTooLong { len, limit } => {
                write!(f, "key of `{len}` bytes is longer than the limit of `{limit}`; the trie is unchanged")
            }
            Self::KeyOrder { before, key } => write!(
                f,
                "key `{key}` does not come after `{before}`; give an image its keys in byte order, each once"
            ),
            Self::TextsTooLarge { limit } => write!(
                f,
                "texts have more than `{limit}` bytes together; split them over several indexes, the index is unchanged"
            ),
            Self::ImageTooLarge { limit } => {
                write!(f, "terms need more than `{limit}` bytes in one image; split them over several tries")
            }
            Self::CommitTooLarge { limit } => {
                write!(
                    f,
                    "the operations of a commit need more than `{limit}` bytes; split them over several"
                )
            }
            Self::Locked { path, by } => write!(
                f,
                "failed to open the store `{}`: {by} has it open; close it there first",
                path.display()
            ),
            Self::Stopped { path, reason } => write!(
                f,
                "failed to write to the store `{}`, which stopped earlier: {reason}; \
                 what was acknowledged is safe, see to the disk and open the store again",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
