//! Dictionaries to bytes and back, in five formats that hold the same.
//!
//! A dictionary is a set of terms, or a map from terms to `u64`, in the byte order of the terms. Any [`Source`] is
//! encoded: a [`CharTrie`](crate::CharTrie), a [`Dictionary`], a sorted slice. It is decoded into any [`Sink`]: a
//! [`Dictionary`], a trie, an image on disk, without a copy in between.
//!
//! | format | layout | checksum | use it |
//! |---|---|---|---|
//! | [`Format::Bincode`] | bincode with fixed-width integers (the default of bincode 1, `legacy()` of bincode 2) | CRC-32 | between Rust programs |
//! | [`Format::Json`] | `{"version":1,"terms":["a","b"]}` or `{"version":1,"terms":{"a":1,"b":2}}` | none | for people; feature `json` |
//! | [`Format::ProtobufV1`] | a record a node and a record an edge, `proto/dictionary_v1.proto` | CRC-32 | with other languages |
//! | [`Format::ProtobufV2`] | adjacency lists of differences, `proto/dictionary_v2.proto` | CRC-32 | the same, in a third of the space |
//! | [`Format::Image`] | the engine's own, `FORMAT.md` | CRC-32 a page | to open it in place, without decoding |
//!
//! Bincode is the layout only: the crate of that name is no longer kept up, and the one that follows it reads a
//! whole `Vec` of owned strings at a time, so thirty lines here do it in a stream, as they do for Protocol Buffers.
//!
//! Encoding takes time in proportion to the terms, and to a writer memory in proportion to the longest term
//! ([`encode_to`]; an image, and with [`Capacity::Exact`] the counts of a first pass, excepted). Decoding is a walk
//! over the bytes, or for the graphs of Protocol Buffers over their nodes, never a recursion. Whatever the bytes are,
//! it ends with a dictionary or with an [`Error`] that names the byte; what it allocates is bounded by the length
//! of the bytes and by [`Decoder::text_limit`], not by what the bytes promise.
//!
//! ```
//! use engine::codec::{self, Dictionary, Format};
//!
//! # fn main() -> Result<(), codec::Error> {
//! let cities = ["京都", "東京"];
//! let bytes = codec::encode(&cities[..], Format::ProtobufV2)?;
//! let again: Dictionary = codec::decode(&bytes, Format::ProtobufV2)?;
//! assert!(again.terms().eq(cities));
//! # Ok(())
//! # }
//! ```

mod bincode;
mod dictionary;
mod error;
mod image;
#[cfg(feature = "json")]
mod json;
mod out;
mod protobuf;
mod reader;
mod receiver;
mod sink;
mod source;

use std::fmt;
use std::io::Write;
use std::str::FromStr;

pub use dictionary::Dictionary;
pub use error::{Error, Result};
pub use sink::{Expected, Sink};
pub use source::Source;

use out::Out;
use receiver::Receiver;

/// A format of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// bincode with fixed-width integers.
    Bincode,
    /// JSON. Without the feature `json` it is refused.
    Json,
    /// Protocol Buffers: nodes and edges.
    ProtobufV1,
    /// Protocol Buffers: adjacency lists.
    ProtobufV2,
    /// The image of a trie.
    Image,
}

impl Format {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Bincode, Self::Json, Self::ProtobufV1, Self::ProtobufV2, Self::Image];

    /// Its name, as [`FromStr`] takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bincode => "bincode",
            Self::Json => "json",
            Self::ProtobufV1 => "protobuf-v1",
            Self::ProtobufV2 => "protobuf-v2",
            Self::Image => "image",
        }
    }

    /// The format that bytes begin as, if any does. It says nothing of what follows.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let first = bytes.iter().position(|it| !it.is_ascii_whitespace());
        if bytes.starts_with(&crate::format::MAGIC) {
            Some(Self::Image)
        } else if bytes.starts_with(&bincode::MAGIC) {
            Some(Self::Bincode)
        } else if bytes.starts_with(&protobuf::V1_START) {
            Some(Self::ProtobufV1)
        } else if bytes.starts_with(&protobuf::V2_START) {
            Some(Self::ProtobufV2)
        } else {
            first.filter(|&at| bytes[at] == b'{').map(|_| Self::Json)
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|it| it.name() == name)
            .ok_or_else(|| format!("format `{name}` is unknown, known are {}", known()))
    }
}

/// How vectors, maps and buffers get their room. It changes no byte and no answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capacity {
    /// At once: counts are read or made first, and what is to be filled gets exactly the room it needs.
    #[default]
    Exact,
    /// As they fill, starting from nothing.
    Growing,
}

/// Encodes into memory, with [`Capacity::Exact`].
///
/// # Errors
///
/// As for [`Encoder::to_bytes`].
pub fn encode<S: Source + ?Sized>(source: &S, format: Format) -> Result<Vec<u8>> {
    Encoder::new(format).to_bytes(source)
}

/// Encodes into a writer, a piece of about 64 KiB at a time.
///
/// # Errors
///
/// As for [`Encoder::to_writer`].
pub fn encode_to<S: Source + ?Sized>(source: &S, format: Format, writer: &mut dyn Write) -> Result<()> {
    Encoder::new(format).to_writer(source, writer)
}

/// Decodes into a new sink, with [`Capacity::Exact`].
///
/// # Errors
///
/// As for [`Decoder::decode_into`].
pub fn decode<S: Sink + Default>(bytes: &[u8], format: Format) -> Result<S> {
    Decoder::new(format).decode(bytes)
}

/// Makes bytes of dictionaries.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    format: Format,
    capacity: Capacity,
}

impl Encoder {
    /// An encoder to a format.
    pub fn new(format: Format) -> Self {
        Self { format, capacity: Capacity::default() }
    }

    /// Says how buffers get their room.
    #[must_use]
    pub fn capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }

    /// Encodes into memory.
    ///
    /// # Errors
    ///
    /// [`Error::Order`] if the terms are not in order, [`Error::Trie`] if the source is a damaged image or is too
    /// large for one, [`Error::Unsupported`] if this build lacks the format.
    pub fn to_bytes<S: Source + ?Sized>(&self, source: &S) -> Result<Vec<u8>> {
        let mut out = Out::memory();
        self.encode(source, &mut out)?;
        out.finish()
    }

    /// Encodes into a writer.
    ///
    /// # Errors
    ///
    /// As for [`to_bytes`](Self::to_bytes); [`Error::Write`] if the writer refuses. What was written until then
    /// is not a whole dictionary.
    pub fn to_writer<S: Source + ?Sized>(&self, source: &S, writer: &mut dyn Write) -> Result<()> {
        let mut out = Out::writer(writer);
        self.encode(source, &mut out)?;
        out.finish().map(|_| ())
    }

    fn encode<S: Source + ?Sized>(&self, source: &S, out: &mut Out<'_>) -> Result<()> {
        match self.format {
            Format::Bincode => bincode::encode(source, self.capacity, out),
            #[cfg(feature = "json")]
            Format::Json => json::encode(source, self.capacity, out),
            #[cfg(not(feature = "json"))]
            Format::Json => Err(Error::Unsupported { format: Format::Json, feature: "json" }),
            Format::ProtobufV1 => protobuf::v1::encode(source, self.capacity, out),
            Format::ProtobufV2 => protobuf::v2::encode(source, self.capacity, out),
            Format::Image => image::encode(source, out),
        }
    }
}

/// Makes dictionaries of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    format: Format,
    capacity: Capacity,
    text_limit: Option<usize>,
}

impl Decoder {
    /// A decoder of a format.
    pub fn new(format: Format) -> Self {
        Self { format, capacity: Capacity::default(), text_limit: None }
    }

    /// Says how vectors, maps and buffers get their room.
    #[must_use]
    pub fn capacity(self, capacity: Capacity) -> Self {
        Self { capacity, ..self }
    }

    /// The most bytes that all terms together may have. Formats that share prefixes can be small and hold much:
    /// left alone, the limit is 8 MiB and 16 times the length of what is decoded.
    #[must_use]
    pub fn text_limit(self, bytes: usize) -> Self {
        Self { text_limit: Some(bytes), ..self }
    }

    /// Decodes into a new sink.
    ///
    /// # Errors
    ///
    /// As for [`decode_into`](Self::decode_into).
    pub fn decode<S: Sink + Default>(&self, bytes: &[u8]) -> Result<S> {
        let mut sink = S::default();
        self.decode_into(bytes, &mut sink)?;
        Ok(sink)
    }

    /// Gives every term to a sink, in order. After an error the sink has got some of them.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`], [`Error::Version`], [`Error::Limit`] or [`Error::Unsupported`], as their names say, and
    /// [`Error::Trie`] if the sink refuses a term.
    pub fn decode_into<S: Sink>(&self, bytes: &[u8], sink: &mut S) -> Result<()> {
        let limit = self.text_limit.unwrap_or_else(|| (8 << 20) + bytes.len().saturating_mul(16));
        let receiver = Receiver::new(sink, self.format, limit);
        match self.format {
            Format::Bincode => bincode::decode(bytes, self.capacity, receiver),
            #[cfg(feature = "json")]
            Format::Json => json::decode(bytes, self.capacity, receiver),
            #[cfg(not(feature = "json"))]
            Format::Json => Err(Error::Unsupported { format: Format::Json, feature: "json" }),
            Format::ProtobufV1 => protobuf::v1::decode(bytes, self.capacity, receiver),
            Format::ProtobufV2 => protobuf::v2::decode(bytes, self.capacity, receiver),
            Format::Image => image::decode(bytes, self.capacity, receiver),
        }
    }
}
