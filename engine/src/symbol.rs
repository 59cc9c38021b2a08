//! The alphabet of a trie: bytes, and chars as a view over their UTF-8 bytes.
//!
//! There is one trie over bytes and one file format. A char trie stores the UTF-8 bytes of its keys: their byte
//! order is the order of their code points, and a prefix that is valid UTF-8 only ever matches at char boundaries.
//! What differs is the type of a key and one byte in the header.

use std::borrow::Borrow;
use std::fmt;

/// Which keys a trie holds, as the header of its image says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Any bytes.
    Bytes,
    /// Valid UTF-8.
    Chars,
}

impl KeyKind {
    /// The byte that stands for it in a header.
    pub const fn code(self) -> u8 {
        match self {
            Self::Bytes => 0,
            Self::Chars => 1,
        }
    }

    /// The kind a byte of a header stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Bytes),
            1 => Some(Self::Chars),
            _ => None,
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Chars => "chars",
        })
    }
}

/// A symbol that keys are made of: [`u8`] or [`char`].
pub trait Symbol: Copy + Ord + fmt::Debug + Send + Sync + 'static {
    /// A borrowed key: `[u8]` or `str`.
    type Key: ?Sized;
    /// An owned key, as iteration returns it: `Vec<u8>` or `String`.
    type Owned: Borrow<Self::Key>;
    /// What the header says about keys of this symbol.
    const KIND: KeyKind;

    /// The bytes that are stored for a key.
    fn bytes(key: &Self::Key) -> &[u8];

    /// The key that was stored as these bytes, or `None` if no key is.
    fn key(bytes: &[u8]) -> Option<Self::Owned>;

    /// As [`key`](Self::key), without a copy.
    fn borrowed(bytes: &[u8]) -> Option<&Self::Key>;

    /// Puts the bytes of this symbol at the end of `out`.
    fn push(self, out: &mut Vec<u8>);

    /// The symbol at the start of these bytes and how many of them it takes, or `None` if there is none.
    fn first(bytes: &[u8]) -> Option<(Self, usize)>;

    /// Whether a symbol starts with this byte, in bytes that are those of keys.
    fn starts(byte: u8) -> bool;
}

impl Symbol for u8 {
    type Key = [u8];
    type Owned = Vec<u8>;
    const KIND: KeyKind = KeyKind::Bytes;

    fn bytes(key: &[u8]) -> &[u8] {
        key
    }

    fn key(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }

    fn borrowed(bytes: &[u8]) -> Option<&[u8]> {
        Some(bytes)
    }

    fn push(self, out: &mut Vec<u8>) {
        out.push(self);
    }

    fn first(bytes: &[u8]) -> Option<(u8, usize)> {
        bytes.first().map(|&byte| (byte, 1))
    }

    #[inline]
    fn starts(_: u8) -> bool {
        true
    }
}

impl Symbol for char {
    type Key = str;
    type Owned = String;
    const KIND: KeyKind = KeyKind::Chars;

    fn bytes(key: &str) -> &[u8] {
        key.as_bytes()
    }

    fn key(bytes: &[u8]) -> Option<String> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }

    fn borrowed(bytes: &[u8]) -> Option<&str> {
        std::str::from_utf8(bytes).ok()
    }

    fn push(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn first(bytes: &[u8]) -> Option<(char, usize)> {
        let chunk = bytes.utf8_chunks().next()?;
        let first = chunk.valid().chars().next()?;
        Some((first, first.len_utf8()))
    }

    #[inline]
    fn starts(byte: u8) -> bool {
        byte & 0xC0 != 0x80
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_survive_their_code() {
        for kind in [KeyKind::Bytes, KeyKind::Chars] {
            assert_eq!(KeyKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(KeyKind::from_code(2), None);
    }

    #[test]
    fn the_first_symbol_takes_its_bytes() {
        for (text, first) in
            [("日本", Some(('日', 3))), ("𝛃", Some(('𝛃', 4))), ("a", Some(('a', 1))), ("", None)]
        {
            assert_eq!(<char as Symbol>::first(text.as_bytes()), first);
        }
        assert_eq!(<char as Symbol>::first(b"\xE6\x97"), None);
        assert_eq!(<u8 as Symbol>::first(b"\xE6\x97"), Some((0xE6, 1)));
        let mut bytes = Vec::new();
        '語'.push(&mut bytes);
        assert_eq!(bytes, "語".as_bytes());
    }

    #[test]
    fn chars_refuse_what_is_not_utf8() {
        assert_eq!(<char as Symbol>::key(b"\xE6\x97"), None);
        assert_eq!(<char as Symbol>::key("日".as_bytes()), Some("日".to_owned()));
        assert_eq!(<u8 as Symbol>::key(b"\xFF"), Some(vec![0xFF]));
    }
}
