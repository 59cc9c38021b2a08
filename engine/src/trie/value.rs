//! What a trie maps its keys to.

/// A value of fixed width.
///
/// Widths of 0, 4 and 8 bytes exist; another width does not compile. Values are stored as little-endian bytes and
/// the header of an image records their width, not their type.
pub trait Value: Sized {
    /// Bytes a stored value: 0, 4 or 8.
    const WIDTH: u8;

    /// Writes the value to `out`, which has [`Self::WIDTH`] bytes.
    fn encode(&self, out: &mut [u8]);

    /// Reads the value that was written to `bytes`, which has [`Self::WIDTH`] bytes.
    fn decode(bytes: &[u8]) -> Self;
}

/// The value that was padded to eight bytes.
#[inline]
pub(super) fn unpadded<V: Value>(bytes: [u8; 8]) -> V {
    V::decode(&bytes[..usize::from(V::WIDTH)])
}

/// No value: the trie is a set.
impl Value for () {
    const WIDTH: u8 = 0;

    fn encode(&self, _: &mut [u8]) {}

    fn decode(_: &[u8]) -> Self {}
}

impl Value for u32 {
    const WIDTH: u8 = 4;

    fn encode(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("a value has the width of its type"))
    }
}

impl Value for u64 {
    const WIDTH: u8 = 8;

    fn encode(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("a value has the width of its type"))
    }
}
