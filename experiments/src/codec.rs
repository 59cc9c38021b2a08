//! Dictionaries to bytes and back: what a format costs, and what knowing the room beforehand saves.
//!
//! | parameter | meaning |
//! |---|---|
//! | `format` | `bincode`, `json`, `protobuf-v1`, `protobuf-v2` or `image`; with the feature `peers` also `rkyv`, `postcard`, `fst` and `json-derived` |
//! | `capacity` | `exact`: vectors, maps and buffers get their room at once; `growing`: as they fill. Peers have none |
//! | `terms` | number of terms |
//! | `held` | `terms`: a dictionary in memory is encoded, and decoded into; `trie`: a trie is |
//! | `passes` | number of passes that a sample is the mean of |
//!
//! | metric | meaning |
//! |---|---|
//! | `encode` | dictionary to bytes |
//! | `decode` | bytes to dictionary |
//! | `open` | bytes to something that can be asked for a term, everything checked: in place where the format allows it, else by decoding; and one question |
//! | `size` | bytes |

mod own;
#[cfg(feature = "peers")]
mod theirs;

use harness::worker::{Error, Prepared, Result, Sample, Setup, System};
use std::hint::black_box;

/// The system `codec`.
pub(crate) struct Codec;

/// A format with what it encodes.
trait Subject {
    fn encode(&self) -> Result<Vec<u8>>;

    /// Decodes, and tells the number of terms.
    fn decode(&self, bytes: &[u8]) -> Result<u64>;

    /// Makes bytes ready to be asked, and asks for a term.
    fn open(&self, bytes: &[u8], term: &str) -> Result<bool>;
}

struct Coding {
    subject: Box<dyn Subject>,
    middle: String,
    passes: u32,
}

/// The terms of the serialization ledger: `word` and the number, in up to eight digits; sorted.
fn words(count: u64) -> Vec<String> {
    let mut words: Vec<String> =
        (0..count).map(|i| format!("word{i:0width$}", width = (i % 9) as usize)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

impl System for Codec {
    fn name(&self) -> &'static str {
        "codec"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let format: String = setup.params.get("format")?;
        let count: u64 = setup.params.get("terms")?;
        let passes: u32 = setup.params.get_or("passes", 1)?;
        let capacity: String = setup.params.get_or("capacity", "exact".to_owned())?;
        let held: String = setup.params.get_or("held", "terms".to_owned())?;
        if count == 0 || passes == 0 {
            return Err(Error::new(format!(
                "{count} terms and {passes} passes: expected at least 1 of each"
            )));
        }
        let words = words(count);
        let middle = words[words.len() / 2].clone();
        let subject = match format.parse() {
            Ok(format) => own::subject(format, &capacity, &held, words)?,
            #[cfg(feature = "peers")]
            Err(_) => theirs::subject(&format, words)?,
            #[cfg(not(feature = "peers"))]
            Err(unknown) => return Err(Error::new(unknown)),
        };
        Ok(Box::new(Coding { subject, middle, passes }))
    }
}

impl Prepared for Coding {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let Self { subject, middle, passes } = self;
        let bytes = sample.mean_time("encode", *passes, || subject.encode())?;
        let decoded = sample.mean_time("decode", *passes, || subject.decode(black_box(&bytes)))?;
        if sample.wants("open") {
            let found = sample.mean_time("open", *passes, || subject.open(black_box(&bytes), middle))?;
            sample.answer(&found);
        }
        sample.bytes("size", bytes.len() as u64);
        sample.answer(&decoded);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_ledger() {
        let words = words(5_000);
        assert_eq!(words.len(), 5_000);
        // The published size.
        assert_eq!(words.iter().map(String::len).sum::<usize>(), 45_068);
    }
}
