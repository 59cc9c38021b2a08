//! The engine's codecs.

use super::Subject;
use engine::codec::{Capacity, Decoder, Dictionary, Encoder, Format, Sink, Source};
use engine::trie::Verify;
use engine::{CharImage, CharTrie};
use harness::worker::{Error, Result};

/// A format, and what is held of the terms.
struct Own<D> {
    format: Format,
    encoder: Encoder,
    decoder: Decoder,
    held: D,
}

fn failed(attempt: &'static str) -> impl FnOnce(engine::codec::Error) -> Error {
    Error::context(attempt)
}

pub(super) fn subject(
    format: Format,
    capacity: &str,
    held: &str,
    words: Vec<String>,
) -> Result<Box<dyn Subject>> {
    let capacity = match capacity {
        "exact" => Capacity::Exact,
        "growing" => Capacity::Growing,
        other => return Err(Error::new(format!("capacity `{other}` is unknown, known are exact, growing"))),
    };
    let encoder = Encoder::new(format).capacity(capacity);
    let decoder = Decoder::new(format).capacity(capacity);
    let bytes = encoder.to_bytes(&words[..]).map_err(failed("failed to encode the words"))?;
    match held {
        "terms" => {
            let held: Dictionary = decoder.decode(&bytes).map_err(failed("failed to decode the words"))?;
            Ok(Box::new(Own { format, encoder, decoder, held }))
        }
        "trie" => {
            let held: CharTrie<()> = decoder.decode(&bytes).map_err(failed("failed to decode the words"))?;
            Ok(Box::new(Own { format, encoder, decoder, held }))
        }
        other => Err(Error::new(format!("held `{other}` is unknown, known are terms, trie"))),
    }
}

/// What is decoded into, and asked.
trait Held: Source + Sink + Default {
    fn contains(&self, term: &str) -> bool;
}

impl Held for Dictionary {
    fn contains(&self, term: &str) -> bool {
        self.position(term).is_some()
    }
}

impl Held for CharTrie<()> {
    fn contains(&self, term: &str) -> bool {
        self.contains(term).is_ok_and(|found| found)
    }
}

impl<D: Held> Subject for Own<D> {
    fn encode(&self) -> Result<Vec<u8>> {
        self.encoder.to_bytes(&self.held).map_err(failed("failed to encode"))
    }

    fn decode(&self, bytes: &[u8]) -> Result<u64> {
        let decoded: D = self.decoder.decode(bytes).map_err(failed("failed to decode"))?;
        Ok(Source::len(&decoded))
    }

    fn open(&self, bytes: &[u8], term: &str) -> Result<bool> {
        if self.format == Format::Image {
            let image = CharImage::<()>::from_bytes(bytes.to_vec(), Verify::Full)
                .map_err(Error::context("failed to open the image"))?;
            return image.contains(term).map_err(Error::context("failed to ask the image"));
        }
        let decoded: D = self.decoder.decode(bytes).map_err(failed("failed to decode"))?;
        Ok(decoded.contains(term))
    }
}
