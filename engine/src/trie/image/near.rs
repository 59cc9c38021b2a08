//! A node as a lookup reads it: without a look at the end of the section for every part.

use super::nodes::Nodes;

/// How far from its start the parts of a node begin. Whatever a writer puts down keeps to it: of a bucket, head, rank,
/// fingerprints, lengths, short prefix, values and tails are 4 + 4 + 64 + 128 + 255 + 512 + 1024 bytes.
const PLACES: usize = 2048;

/// The longest part that is read in one piece.
const PIECE: usize = u8::MAX as usize;

/// Bytes from the start of a node that a lookup may read.
pub(super) const REACH: usize = PLACES + PIECE + 1;

/// The end of a section of nodes, with zeros behind it.
pub(super) struct Tail([u8; 2 * REACH]);

impl Tail {
    pub(super) fn of(section: &[u8]) -> Self {
        let mut tail = [0; 2 * REACH];
        let end = &section[Self::start(section)..];
        tail[..end.len()].copy_from_slice(end);
        Self(tail)
    }

    /// Where in the section it begins.
    #[inline(always)]
    fn start(section: &[u8]) -> usize {
        section.len().saturating_sub(REACH)
    }
}

/// A node and what is behind it.
///
/// Places are taken modulo [`PLACES`]. That changes nothing for a node that keeps to them; of one that does not, something else
/// may be read than it says, and still nothing but the section.
#[derive(Clone, Copy)]
pub(super) struct Near<'i>(&'i [u8; REACH]);

impl<'i> Near<'i> {
    /// The node at byte `at`, if there is one.
    #[inline(always)]
    pub(super) fn of(nodes: &Nodes<'i>, at: usize) -> Option<Self> {
        let within = |bytes: &'i [u8], at: usize| bytes.get(at..at + REACH)?.first_chunk().map(Self);
        within(nodes.bytes, at).or_else(|| within(&nodes.tail.0, at.checked_sub(Tail::start(nodes.bytes))?))
    }

    /// The first bytes, as a number.
    #[inline(always)]
    pub(super) fn head(self) -> u64 {
        u64::from_le_bytes(*self.chunk(0))
    }

    #[inline(always)]
    pub(super) fn byte(self, at: usize) -> usize {
        usize::from(self.0[at % PLACES])
    }

    #[inline(always)]
    pub(super) fn u16(self, at: usize) -> usize {
        usize::from(u16::from_le_bytes(*self.chunk(at)))
    }

    #[inline(always)]
    pub(super) fn chunk<const N: usize>(self, at: usize) -> &'i [u8; N] {
        const { assert!(N <= PIECE) }
        self.0[at % PLACES..].first_chunk().expect("a place and a piece are within reach")
    }

    #[inline(always)]
    pub(super) fn slice(self, at: usize, len: u8) -> &'i [u8] {
        &self.0[at % PLACES..][..usize::from(len)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Shape;
    use super::*;

    #[test]
    fn every_node_of_a_section_is_near() {
        for len in [0, 1, 64, REACH - 1, REACH, REACH + 1, 3 * REACH] {
            let section: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let tail = Tail::of(&section);
            let nodes = Nodes { bytes: &section, tail: &tail, shape: Shape { slot: 8, ranks: false } };
            for at in 0..len {
                let near = Near::of(&nodes, at).unwrap();
                let held = &section[at..(at + REACH).min(len)];
                assert!(near.0.starts_with(held) && near.0[held.len()..].iter().all(|&byte| byte == 0));
            }
            assert!(Near::of(&nodes, len + REACH + 1).is_none());
        }
    }

    #[test]
    fn places_far_away_are_read_within_reach() {
        let section = [7; REACH];
        let tail = Tail::of(&section);
        let nodes = Nodes { bytes: &section, tail: &tail, shape: Shape { slot: 8, ranks: false } };
        let near = Near::of(&nodes, 0).unwrap();
        for at in [0, PLACES - 1, PLACES, usize::MAX] {
            assert_eq!((near.byte(at), near.u16(at), near.slice(at, 255)), (7, 0x0707, &[7; 255][..]));
        }
    }
}
