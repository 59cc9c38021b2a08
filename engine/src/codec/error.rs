//! Why a dictionary was not encoded or decoded.

use std::fmt;
use std::io;

use super::Format;

/// A result of a codec.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a dictionary was not encoded or decoded.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no dictionary of this format, or are cut or damaged.
    Malformed {
        /// What they were decoded as.
        format: Format,
        /// The byte where that shows, from the start.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The bytes are of a version that this build does not read.
    Version {
        /// What they were decoded as.
        format: Format,
        /// Where the version stands.
        offset: u64,
        /// The version found.
        found: u64,
        /// The one that this format has.
        known: u64,
    },
    /// All terms together are longer than the limit.
    Limit {
        /// What the bytes were decoded as.
        format: Format,
        /// The byte at which the limit was passed.
        offset: u64,
        /// The limit, in bytes of terms.
        limit: usize,
    },
    /// A source gave a term that does not come after the one before it.
    Order {
        /// The number of the term, from 0.
        index: u64,
        /// The term, escaped and cut.
        term: String,
    },
    /// This build lacks the format.
    Unsupported {
        /// The format asked for.
        format: Format,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// The trie that is the source or the sink refused.
    Trie(crate::Error),
    /// The writer refused.
    Write(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { format, offset, reason } => {
                write!(f, "failed to decode a dictionary as {format} at byte {offset}: {reason}")
            }
            Self::Version { format, offset, found, known } => write!(
                f,
                "failed to decode a dictionary as {format} at byte {offset}: its version is `{found}`, this build \
                 reads `{known}`; decode it as another format or with another build"
            ),
            Self::Limit { format, offset, limit } => write!(
                f,
                "failed to decode a dictionary as {format} at byte {offset}: its terms have more than `{limit}` bytes; \
                 raise the limit with `Decoder::text_limit` if that is what is to be expected"
            ),
            Self::Order { index, term } => write!(
                f,
                "failed to encode a dictionary: term {index}, `{term}`, does not come after the one before it; \
                 sort the terms by bytes and give each once"
            ),
            Self::Unsupported { format, feature } => {
                write!(f, "format {format} is not in this build; build with the feature `{feature}`")
            }
            Self::Trie(_) => f.write_str("failed to walk or fill a trie"),
            Self::Write(_) => f.write_str("failed to write an encoded dictionary"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Trie(source) => Some(source),
            Self::Write(source) => Some(source),
            _ => None,
        }
    }
}

impl From<crate::Error> for Error {
    fn from(source: crate::Error) -> Self {
        Self::Trie(source)
    }
}

/// The start of a term as a message shows it.
pub(super) fn shown(term: &[u8]) -> String {
    const MOST: usize = 60;
    let cut = if term.len() > MOST { ".." } else { "" };
    format!("{}{cut}", term[..term.len().min(MOST)].escape_ascii())
}
