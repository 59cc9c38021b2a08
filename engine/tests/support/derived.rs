//! The formats as the usual crates have them: types with derived codecs, straight from the schemas.

use bincode::config::{Configuration, Fixint, LittleEndian, NoLimit};

/// What the engine writes as bincode.
#[derive(Clone, Debug, PartialEq, bincode::Encode, bincode::Decode)]
pub(crate) struct File {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u16,
    pub(crate) terms: Terms,
    pub(crate) crc32: u32,
}

#[derive(Clone, Debug, PartialEq, bincode::Encode, bincode::Decode)]
pub(crate) enum Terms {
    Set(Vec<String>),
    Map(Vec<(String, u64)>),
}

/// Fixed-width integers, as bincode 1 has them.
pub(crate) fn legacy() -> Configuration<LittleEndian, Fixint, NoLimit> {
    bincode::config::legacy()
}

/// What the engine writes as JSON, without values.
#[cfg(feature = "json")]
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Document {
    pub(crate) version: u32,
    pub(crate) terms: Vec<String>,
}
