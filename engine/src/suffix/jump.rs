//! Jumps over the top of the tree: the section JUMP.
//!
//! A hash table leads from the first 4, 6 or 8 bytes of a pattern to the stored node that lies on or below that string, if
//! there is one. A line is 64 bytes:
//!
//! ```text
//! 0   keys     5 u64    the bytes of each entry, the first one lowest, zeros behind them
//! 40  nodes    5 u32    unit of the node in STREE
//! 60  lengths  u32      bytes of each entry's string, 4 bits each from the lowest on, 0 where there is no entry;
//!                       bit 31: an entry that belongs here or before went on to the next line
//! ```
//!
//! There are `ceil(entries / 3)` lines. An entry belongs to line `hash * lines / 2^64` and goes to the first line from
//! there, the first one behind the last, that has room. The hash is `(key + length * 0xD6E8FEB86659FD93) *
//! 0x9E3779B97F4A7C15` modulo 2^64.

use super::docs::u32_of;
use super::tree::NO_NODE;
use crate::simd::prefetch;

/// Lengths of strings that are jumped over.
const LENGTHS: [usize; 3] = [4, 6, 8];

const LINE: usize = 64;

const ENTRIES: usize = 5;

/// Entries a line on the average: few go on to the next one.
const PER_LINE: usize = 3;

const OVERFLOW: u32 = 1 << 31;

/// A string and the node that it leads to.
pub(super) struct Jump {
    key: u64,
    len: usize,
    node: u32,
}

/// The first `len` bytes of a string that has as many, as a number.
#[inline]
fn key(string: &[u8], len: usize) -> u64 {
    match string.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk) & (u64::MAX >> (64 - 8 * len)),
        None => string[..len].iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte)),
    }
}

#[inline]
fn line_of(key: u64, len: usize, lines: usize) -> usize {
    let salted = key.wrapping_add((len as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let hash = salted.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(hash) * lines as u128) >> 64) as usize
}

/// Adds the jumps to a node whose parent has a string of `above` bytes.
pub(super) fn add(jumps: &mut Vec<Jump>, string: &[u8], above: usize, node: u32) {
    for len in LENGTHS {
        if above < len && len <= string.len() {
            jumps.push(Jump { key: key(string, len), len, node });
        }
    }
}

/// The section of these jumps; the same ones in the same order give the same bytes.
pub(super) fn encode(jumps: &[Jump]) -> Vec<u8> {
    let lines = jumps.len().div_ceil(PER_LINE);
    let mut out = vec![0; lines * LINE];
    for jump in jumps {
        let mut at = line_of(jump.key, jump.len, lines);
        loop {
            let line = &mut out[at * LINE..(at + 1) * LINE];
            let mut lengths = u32_of(line, 15);
            let room = (0..ENTRIES).find(|slot| lengths >> (4 * slot) & 15 == 0);
            match room {
                Some(slot) => {
                    line[8 * slot..8 * slot + 8].copy_from_slice(&jump.key.to_le_bytes());
                    line[40 + 4 * slot..44 + 4 * slot].copy_from_slice(&jump.node.to_le_bytes());
                    lengths |= (jump.len as u32) << (4 * slot);
                }
                None => lengths |= OVERFLOW,
            }
            line[60..].copy_from_slice(&lengths.to_le_bytes());
            if room.is_some() {
                break;
            }
            at = if at + 1 == lines { 0 } else { at + 1 };
        }
    }
    out
}

/// Where the strings that a pattern begins with would be; asked for, but not read yet.
pub(super) struct Lines<'s> {
    section: &'s [u8],
    lines: [usize; LENGTHS.len()],
}

impl<'s> Lines<'s> {
    #[inline]
    pub(super) fn ask(section: &'s [u8], pattern: &[u8]) -> Self {
        let mut lines = [0; LENGTHS.len()];
        if !section.is_empty() {
            for (len, line) in LENGTHS.into_iter().zip(&mut lines) {
                if len <= pattern.len() {
                    *line = line_of(key(pattern, len), len, section.len() / LINE);
                    prefetch(section, *line * LINE);
                }
            }
        }
        Self { section, lines }
    }

    /// The node to go on from with `pattern`, and how many bytes of it surely are those of the node's string; [`NO_NODE`] if
    /// the section knows none.
    #[inline]
    pub(super) fn find(&self, pattern: &[u8]) -> (u32, usize) {
        let mut found = (NO_NODE, 0);
        if self.section.is_empty() {
            return found;
        }
        // All of them, though a longer string is there only if the shorter one is: the lines arrive together, and where
        // the last one is cannot be guessed.
        for (len, line) in LENGTHS.into_iter().zip(self.lines) {
            if len <= pattern.len() {
                let node = get(self.section, key(pattern, len), len, line);
                found = if node == NO_NODE { found } else { (node, len) };
            }
        }
        found
    }
}

#[inline]
fn get(section: &[u8], key: u64, len: usize, from: usize) -> u32 {
    let (mut at, lines) = (from, section.len() / LINE);
    for _ in 0..lines {
        let Some(line) = section.get(at * LINE..).and_then(|rest| rest.first_chunk::<LINE>()) else { break };
        let lengths = u32_of(line, 15);
        // Bit `4 * slot` of each: the bytes are the same, and so is the length.
        let mut same = 0;
        for (slot, &found) in line.as_chunks().0.iter().enumerate().take(ENTRIES) {
            same |= u32::from(u64::from_le_bytes(found) == key) << (4 * slot);
        }
        let other = lengths ^ (0x11111 * len as u32);
        same &= !(other | other >> 1 | other >> 2 | other >> 3);
        // Without an entry this reads the lengths, for nothing.
        let node = u32_of(line, 10 + (same | 1 << (4 * ENTRIES)).trailing_zeros() as usize / 4);
        if (same != 0) | (lengths & OVERFLOW == 0) {
            return if same == 0 { NO_NODE } else { node };
        }
        at = if at + 1 == lines { 0 } else { at + 1 };
    }
    NO_NODE
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: (u32, usize) = (NO_NODE, 0);

    fn find(section: &[u8], pattern: &[u8]) -> (u32, usize) {
        Lines::ask(section, pattern).find(pattern)
    }

    #[test]
    fn every_string_is_found_and_no_other() {
        let strings: Vec<String> = (0..500_u32).map(|i| format!("{i:05}{:04}", i * 7919 % 9973)).collect();
        let mut jumps = Vec::new();
        for (string, node) in strings.iter().zip(0..) {
            // As in a tree: the shorter strings lead to nodes that others share.
            for len in 1..=9 {
                let first = strings.iter().position(|other| other[..len] == string[..len]);
                if first == Some(node as usize) {
                    add(&mut jumps, &string.as_bytes()[..len], len - 1, node);
                }
            }
        }
        assert_eq!(jumps.len(), 50 + 500 + 500);
        let section = encode(&jumps);
        for (string, node) in strings.iter().zip(0..) {
            assert_eq!(find(&section, string.as_bytes()), (node, 8));
            assert_eq!(find(&section, &string.as_bytes()[..5]), (node / 10 * 10, 4));
            assert_eq!(find(&section, &string.as_bytes()[..3]), NONE);
        }
        assert_eq!(find(&section, b"abcdefgh"), NONE);
        assert_eq!(find(&[], b"abcdefgh"), NONE);
        assert_eq!(find(&[0xFF; 128], b"abcdefgh"), NONE);
    }

    #[test]
    fn zeros_are_bytes_like_others() {
        let mut jumps = Vec::new();
        add(&mut jumps, b"ab\0\0", 0, 3);
        add(&mut jumps, b"ab\0\0\0\0", 4, 5);
        let section = encode(&jumps);
        assert_eq!(find(&section, b"ab\0\0"), (3, 4));
        assert_eq!(find(&section, b"ab\0\0\0\0"), (5, 6));
        assert_eq!(find(&section, b"ab\0"), NONE);
    }
}
