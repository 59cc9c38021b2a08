use std::hash::Hasher;

/// FNV-1a over the answers of a sample: the same answers in the same order give the same digest, in every
/// process and on every machine.
///
/// It guards against accidents, not against forgery. Source: Fowler, Noll, Vo, offset basis and prime for
/// 64 bits.
pub(super) struct Answers(u64);

impl Default for Answers {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Answers {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }

    // Integers hash as little-endian bytes of explicit width, whatever the host.
    fn write_u16(&mut self, it: u16) {
        self.write(&it.to_le_bytes());
    }
    fn write_u32(&mut self, it: u32) {
        self.write(&it.to_le_bytes());
    }
    fn write_u64(&mut self, it: u64) {
        self.write(&it.to_le_bytes());
    }
    fn write_u128(&mut self, it: u128) {
        self.write(&it.to_le_bytes());
    }
    fn write_usize(&mut self, it: usize) {
        self.write(&(it as u64).to_le_bytes());
    }
    fn write_i16(&mut self, it: i16) {
        self.write(&it.to_le_bytes());
    }
    fn write_i32(&mut self, it: i32) {
        self.write(&it.to_le_bytes());
    }
    fn write_i64(&mut self, it: i64) {
        self.write(&it.to_le_bytes());
    }
    fn write_i128(&mut self, it: i128) {
        self.write(&it.to_le_bytes());
    }
    fn write_isize(&mut self, it: isize) {
        self.write(&(it as i64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    #[test]
    fn agrees_with_the_published_vectors() {
        let digest = |text: &str| {
            let mut answers = Answers::default();
            answers.write(text.as_bytes());
            answers.finish()
        };
        // Vectors of the authors' test suite.
        assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(digest("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_miss_is_not_a_hit_of_zero() {
        let digest = |answer: Option<u64>| {
            let mut answers = Answers::default();
            answer.hash(&mut answers);
            answers.finish()
        };
        assert_ne!(digest(None), digest(Some(0)));
    }
}
