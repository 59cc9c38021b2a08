//! Where the suffixes with the same first bytes are in the array of a small index: the section HEADS. Most longer patterns are
//! found there, or known to be nowhere, without a step in the tree.
//!
//! A head is 8 bytes, or 12 in an index over chars, which have more than one byte if they have many forms. A hash table with
//! linear probing leads from heads to suffixes; those that have fewer bytes are not in it. A slot is a `u16`: 0 if it is
//! empty, else one more than the index of the first suffix that begins with some head, and bit 15 if others do too. There are
//! `ceil(entries * 5 / 2)` slots. An entry goes to the first empty slot from `hash * slots / 2^64` on, the first one behind
//! the last. With the first and the last 8 bytes of a head as numbers, their first bytes lowest, the hash is
//! `(first ^ last * 0xD6E8FEB86659FD93) * 0x9E3779B97F4A7C15` modulo 2^64.

use super::sorted::Sorted;

/// Bytes of a head in an index over bytes, and in one over chars.
pub(super) const BYTES: usize = 8;
pub(super) const CHARS: usize = 12;

/// Indexes of more suffixes have no such section: a slot has no room for more.
pub(super) const MOST: usize = OTHERS as usize - 1;

/// Bit of a slot whose suffix is not the only one.
const OTHERS: u16 = 1 << 15;

/// What the table knows of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No suffix begins with its head.
    None,
    /// This one does, and no other.
    One(usize),
    /// This one and those that follow it.
    First(usize),
}

#[inline]
fn place<const N: usize>(head: &[u8; N], slots: usize) -> usize {
    let number = |part: Option<&[u8; 8]>| part.map_or(0, |&part| u64::from_le_bytes(part));
    let (first, last) = (number(head.first_chunk()), number(head.last_chunk()));
    let hash = (first ^ last.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

/// The section of the suffixes of a text.
pub(super) fn encode<const N: usize>(text: &[u8], sorted: &Sorted<'_>) -> Vec<u8> {
    let shared: Vec<u32> = (0..sorted.starts.len()).map(|index| sorted.shared(index, N as u32)).collect();
    let has_head = |at: usize| sorted.borders.near(at + 1).is_none_or(|end| end - at >= N);
    let begins = |index: &usize| (shared[*index] as usize) < N && has_head(sorted.starts[*index] as usize);
    let slots = (0..shared.len()).filter(begins).count() * 5;
    let mut table = vec![[0; 2]; slots.div_ceil(2)];
    for index in (0..shared.len()).filter(begins) {
        let Some(head) = text[sorted.starts[index] as usize..].first_chunk::<N>() else { continue };
        let mut at = place(head, table.len());
        while table[at] != [0; 2] {
            at = if at + 1 == table.len() { 0 } else { at + 1 };
        }
        let others = shared.get(index + 1).is_some_and(|&shared| shared as usize >= N);
        table[at] = ((index as u16 + 1) | if others { OTHERS } else { 0 }).to_le_bytes();
    }
    table.into_flattened()
}

/// Looks for the first bytes of a pattern; `has` tells whether the suffix of that index begins with them.
#[inline]
pub(super) fn find<const N: usize>(section: &[u8], head: &[u8; N], has: impl Fn(usize) -> bool) -> Found {
    let (slots, _) = section.as_chunks();
    let mut at = place(head, slots.len());
    for _ in 0..slots.len() {
        let slot = slots.get(at).map_or(0, |&slot| u16::from_le_bytes(slot));
        let Some(index) = (slot & !OTHERS).checked_sub(1) else { break };
        let index = usize::from(index);
        if has(index) {
            return if slot & OTHERS == 0 { Found::One(index) } else { Found::First(index) };
        }
        at = if at + 1 == slots.len() { 0 } else { at + 1 };
    }
    Found::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suffix::docs::Starts;

    fn every_head_is_found<const N: usize>() {
        let words = (0..4_000_u32).map(|i| format!("{:x}", (i % 3_000).wrapping_mul(0x9E37_79B9)));
        let text: Vec<u8> = words.collect::<String>().into_bytes();
        let sorted = Sorted::of(&text, &Starts::new(&[0], text.len()), |_| true);
        let (starts, section) = (&sorted.starts, encode::<N>(&text, &sorted));
        let suffix = |index: usize| &text[starts[index] as usize..];
        let find = |head: &[u8; N]| find(&section, head, |index| suffix(index).starts_with(head));
        let mut several = 0;
        for head in text.array_windows() {
            let index = starts.partition_point(|&at| text[at as usize..] < head[..]);
            let others = starts.get(index + 1).is_some_and(|&at| text[at as usize..].starts_with(head));
            several += usize::from(others);
            assert_eq!(find(head), if others { Found::First(index) } else { Found::One(index) });
        }
        assert!(several > 100 && several < text.len() - 100, "{several}");
        for stranger in (0..1_000).map(|i| format!("{i:011}g")) {
            let head = stranger.as_bytes().last_chunk().unwrap();
            assert_eq!(find(head), Found::None);
        }
    }

    #[test]
    fn every_head_is_found_and_no_other() {
        every_head_is_found::<BYTES>();
        every_head_is_found::<CHARS>();
    }

    #[test]
    fn any_section_is_searched_to_its_end() {
        for section in [&[][..], &[1], &[0xFF; 64], &[0x80; 6]] {
            assert_eq!(find(section, b"abcdefgh", |_| false), Found::None);
        }
    }
}
