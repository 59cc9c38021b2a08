//! What an image maps its keys to.

use super::image::VARIABLE;
use super::value::{Value, unpadded};

/// What the keys of an [`Image`](super::Image) have: every [`Value`] of fixed width, `[u8]` (bytes of any length up
/// to 4 GiB), or [`Rank`].
pub trait Stored {
    /// What a lookup returns.
    type Read<'i>;
    /// What is given to the [`ImageWriter`](super::ImageWriter).
    type Write<'a>;
    /// The value width of the file: 0, 4, 8, or 255 for variable length.
    const WIDTH: u8;
    /// Nodes tell ranks.
    const RANKED: bool;

    /// Makes the value of what is stored: its eight bytes, padded with zeros, or as many as there are of variable length.
    fn read(padded: [u8; 8], variable: &[u8], rank: u64) -> Self::Read<'_>;

    /// Puts what is to be stored at the end of `out`.
    fn write(value: Self::Write<'_>, out: &mut Vec<u8>);
}

/// Keys are mapped to how many keys there are before them, which takes half a byte a key to store. At most 2^32 keys.
#[derive(Clone, Copy, Debug)]
pub struct Rank;

impl<V: Value> Stored for V {
    type Read<'i> = V;
    type Write<'a> = V;
    const WIDTH: u8 = V::WIDTH;
    const RANKED: bool = false;

    #[inline]
    fn read(padded: [u8; 8], _: &[u8], _: u64) -> V {
        unpadded(padded)
    }

    fn write(value: V, out: &mut Vec<u8>) {
        let at = out.len();
        out.resize(at + usize::from(V::WIDTH), 0);
        value.encode(&mut out[at..]);
    }
}

impl Stored for Rank {
    type Read<'i> = u64;
    type Write<'a> = ();
    const WIDTH: u8 = 0;
    const RANKED: bool = true;

    #[inline]
    fn read(_: [u8; 8], _: &[u8], rank: u64) -> u64 {
        rank
    }

    fn write((): (), _: &mut Vec<u8>) {}
}

impl Stored for [u8] {
    type Read<'i> = &'i [u8];
    type Write<'a> = &'a [u8];
    const WIDTH: u8 = VARIABLE;
    const RANKED: bool = false;

    #[inline]
    fn read(_: [u8; 8], variable: &[u8], _: u64) -> &[u8] {
        variable
    }

    fn write(value: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(value);
    }
}
