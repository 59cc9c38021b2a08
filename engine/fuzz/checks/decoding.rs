//! What every decoder owes: an error that names a byte, or a dictionary that survives every format.

use engine::codec::{self, Capacity, Decoder, Dictionary, Encoder, Format};

/// Bytes of the tail of a message, with its tag and length, and of a checksum.
const TAIL: usize = 2 + 32;
const SUM: usize = 4;

/// Checks some bytes as they are, and once more with the checksum put right, so that what lies behind it is reached.
pub(crate) fn check(bytes: &[u8], format: Format) {
    decode(bytes, format);
    let behind = match format {
        Format::Bincode => SUM,
        Format::ProtobufV1 | Format::ProtobufV2 => TAIL,
        Format::Json | Format::Image => return,
    };
    if let Some(sealed) = bytes.len().checked_sub(behind) {
        let mut all = bytes.to_vec();
        let sum = crc32fast::hash(&all[..sealed]);
        all[bytes.len() - SUM..].copy_from_slice(&sum.to_le_bytes());
        decode(&all, format);
    }
}

fn decode(bytes: &[u8], format: Format) {
    let exact: Result<Dictionary, _> = Decoder::new(format).decode(bytes);
    let growing: Result<Dictionary, _> = Decoder::new(format).capacity(Capacity::Growing).decode(bytes);
    match (exact, growing) {
        (Ok(exact), Ok(growing)) => {
            assert!(exact == growing, "capacity changes the dictionary");
            for other in Format::ALL {
                let again = Encoder::new(other).to_bytes(&exact).expect("what was decoded is in order");
                let again: Dictionary = Decoder::new(other)
                    .text_limit(usize::MAX)
                    .decode(&again)
                    .expect("what was encoded is sound");
                assert!(again == exact, "{other} changes the dictionary");
            }
        }
        (Err(exact), Err(growing)) => {
            assert_eq!(exact.to_string(), growing.to_string());
            if let codec::Error::Malformed { offset, .. } = exact {
                assert!(offset <= bytes.len() as u64, "byte {offset} of {}", bytes.len());
            }
        }
        _ => panic!("capacity decides whether it is a dictionary"),
    }
}
