//! Other people's formats, each as its documentation shows it.

use super::Subject;
use harness::worker::{Error, Result};
use rkyv::rancor;
use rkyv::vec::ArchivedVec;
use std::error::Error as StdError;

fn failed<E: StdError + Send + Sync + 'static>(attempt: &'static str) -> impl FnOnce(E) -> Error {
    Error::context(attempt)
}

pub(super) fn subject(format: &str, words: Vec<String>) -> Result<Box<dyn Subject>> {
    Ok(match format {
        "rkyv" => Box::new(Rkyv(words)),
        "postcard" => Box::new(Postcard(words)),
        "fst" => Box::new(Fst(words)),
        "json-derived" => Box::new(Json(Document { version: 1, terms: words })),
        other => {
            let known = "bincode, json, protobuf-v1, protobuf-v2, image, rkyv, postcard, fst, json-derived";
            return Err(Error::new(format!("format `{other}` is unknown, known are {known}")));
        }
    })
}

fn contains(words: &[String], term: &str) -> bool {
    words.binary_search_by(|word| word.as_str().cmp(term)).is_ok()
}

/// Archived: read in place once it is checked.
struct Rkyv(Vec<String>);

type Archived = ArchivedVec<rkyv::string::ArchivedString>;

impl Subject for Rkyv {
    fn encode(&self) -> Result<Vec<u8>> {
        let bytes = rkyv::to_bytes::<rancor::Error>(&self.0).map_err(failed("failed to archive"))?;
        Ok(bytes.into_vec())
    }

    fn decode(&self, bytes: &[u8]) -> Result<u64> {
        let words: Vec<String> =
            rkyv::from_bytes::<_, rancor::Error>(bytes).map_err(failed("failed to read the archive"))?;
        Ok(words.len() as u64)
    }

    fn open(&self, bytes: &[u8], term: &str) -> Result<bool> {
        let words =
            rkyv::access::<Archived, rancor::Error>(bytes).map_err(failed("failed to check the archive"))?;
        Ok(words.binary_search_by(|word| word.as_str().cmp(term)).is_ok())
    }
}

struct Postcard(Vec<String>);

impl Subject for Postcard {
    fn encode(&self) -> Result<Vec<u8>> {
        postcard::to_allocvec(&self.0).map_err(failed("failed to encode"))
    }

    fn decode(&self, bytes: &[u8]) -> Result<u64> {
        let words: Vec<String> = postcard::from_bytes(bytes).map_err(failed("failed to decode"))?;
        Ok(words.len() as u64)
    }

    fn open(&self, bytes: &[u8], term: &str) -> Result<bool> {
        let words: Vec<String> = postcard::from_bytes(bytes).map_err(failed("failed to decode"))?;
        Ok(contains(&words, term))
    }
}

/// An automaton: read in place; its checksum is verified when it is asked for.
struct Fst(Vec<String>);

impl Subject for Fst {
    fn encode(&self) -> Result<Vec<u8>> {
        let set = fst::Set::from_iter(&self.0).map_err(failed("failed to build"))?;
        Ok(set.into_fst().into_inner())
    }

    fn decode(&self, bytes: &[u8]) -> Result<u64> {
        let set = fst::Set::new(bytes).map_err(failed("failed to open"))?;
        let words = set.stream().into_strs().map_err(failed("failed to decode"))?;
        Ok(words.len() as u64)
    }

    fn open(&self, bytes: &[u8], term: &str) -> Result<bool> {
        let set = fst::Set::new(bytes).map_err(failed("failed to open"))?;
        set.as_fst().verify().map_err(failed("failed to verify"))?;
        Ok(set.contains(term))
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Document {
    version: u32,
    terms: Vec<String>,
}

struct Json(Document);

impl Subject for Json {
    fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(&self.0).map_err(failed("failed to encode"))
    }

    fn decode(&self, bytes: &[u8]) -> Result<u64> {
        let document: Document = serde_json::from_slice(bytes).map_err(failed("failed to decode"))?;
        Ok(document.terms.len() as u64)
    }

    fn open(&self, bytes: &[u8], term: &str) -> Result<bool> {
        let document: Document = serde_json::from_slice(bytes).map_err(failed("failed to decode"))?;
        Ok(contains(&document.terms, term))
    }
}
