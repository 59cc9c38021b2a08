//! What is kept of the outputs of a command, however much it says.

use crate::measure::pipe::last_lines;
use crate::vocab::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;

/// How much of standard error is kept.
const TAIL: usize = 16 << 10;
/// How many lines of it are told.
const LINES: usize = 20;

/// A standard output: its beginning, its length and its digest.
pub(super) struct Capture {
    limit: usize,
    kept: Vec<u8>,
    length: u64,
    hash: Sha256,
}

impl Capture {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), length: 0, hash: Sha256::new() }
    }

    pub(super) fn add(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        self.hash.update(piece);
        let room = self.limit - self.kept.len();
        self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// All of it, unless it is longer than what is kept.
    pub(super) fn text(&self) -> Result<std::borrow::Cow<'_, str>, String> {
        if self.length > self.kept.len() as u64 {
            return Err(format!(
                "it printed {} bytes, of which {} are kept (`capture_limit`)",
                self.length, self.limit
            ));
        }
        Ok(String::from_utf8_lossy(&self.kept))
    }

    /// SHA-256 of all of it.
    pub(super) fn digest(self) -> Digest {
        Digest(self.hash.finalize().into())
    }
}

/// The end of a standard error.
#[derive(Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.0.extend(&piece[piece.len().saturating_sub(TAIL)..]);
        let excess = self.0.len().saturating_sub(TAIL);
        self.0.drain(..excess);
    }

    pub(super) fn lines(&self) -> Vec<String> {
        last_lines(&self.0, LINES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_is_hashed_whole_and_kept_in_part() {
        let mut capture = Capture::new(4);
        for piece in ["ab", "cd", "ef"] {
            capture.add(piece.as_bytes());
        }
        assert_eq!(capture.text().unwrap_err(), "it printed 6 bytes, of which 4 are kept (`capture_limit`)");
        assert_eq!(capture.digest(), Digest::of("abcdef"));
        let mut exact = Capture::new(4);
        exact.add(b"abcd");
        assert_eq!(exact.text().unwrap(), "abcd");
    }

    #[test]
    fn a_tail_keeps_the_last_lines() {
        let mut tail = Tail::default();
        tail.add(&vec![b'x'; 3 * TAIL]);
        tail.add(b"\nlast words\n");
        assert_eq!(tail.lines().last().unwrap(), "last words");
        assert!(tail.0.len() <= TAIL);
    }
}
