use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of all that `reader` gives.
    pub fn of_reader(mut reader: impl std::io::Read) -> std::io::Result<Self> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(Self(hash.finalize().into())),
                n => hash.update(&buffer[..n]),
            }
        }
    }

    /// The digest of samples: over their big-endian IEEE bytes, so that
    /// `sha256(string_agg(float8send(v), ''::bytea order by ord))` gives the same in SQL.
    pub fn of_samples(values: &[f64]) -> Self {
        Self::of_numbers(values, f64::to_be_bytes)
    }

    /// The digest of numbers of eight bytes each. Hashed a piece at a time: a call for every number would cost as
    /// much as the hash.
    pub(crate) fn of_numbers<'a, T: 'a + Copy>(
        numbers: impl IntoIterator<Item = &'a T>,
        bytes: impl Fn(T) -> [u8; 8],
    ) -> Self {
        let mut hash = Sha256::new();
        let mut piece = [0; 4096];
        let mut filled = 0;
        for number in numbers {
            piece[filled..filled + 8].copy_from_slice(&bytes(*number));
            filled += 8;
            if filled == piece.len() {
                hash.update(piece);
                filled = 0;
            }
        }
        hash.update(&piece[..filled]);
        Self(hash.finalize().into())
    }

    /// The digest written as 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The first twelve digits: enough for a reader.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_hashed_as_their_bytes_in_one_piece() {
        for n in [0, 1, 511, 512, 513, 1500] {
            let values: Vec<f64> = (0..n).map(|it| f64::from(it).sqrt() - 7.0).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_be_bytes()).collect();
            assert_eq!(Digest::of_samples(&values), Digest::of(bytes), "{n}");
        }
    }
}
