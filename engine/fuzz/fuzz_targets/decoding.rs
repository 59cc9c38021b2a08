//! What every decoder owes: an error that names a byte, or a dictionary that survives every format.

use engine::codec::{self, Capacity, Decoder, Dictionary, Encoder, Format};

pub fn check(bytes: &[u8], format: Format) {
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
