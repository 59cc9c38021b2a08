//! Sorts operations by key, so that a replay fills the table in its order: at random every insert would wait for memory.

use super::memtable::Change;

/// Runs of this many are sorted by comparing keys.
const SHORT: usize = 12;

/// An operation of the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged<'l> {
    /// Eight bytes of the key, from where the sort is.
    word: u64,
    /// Bytes of the key from there, at most 9.
    left: u8,
    /// Its place in the log: of a key's operations the last one counts.
    place: usize,
    pub(super) key: &'l [u8],
    pub(super) change: Change,
}

impl<'l> Logged<'l> {
    pub(super) fn new(key: &'l [u8], change: Change, place: usize) -> Self {
        Self { word: 0, left: 0, place, key, change }
    }

    fn look(&mut self, depth: usize) {
        let rest = self.key.get(depth..).unwrap_or(&[]);
        let mut word = [0; 8];
        let len = rest.len().min(8);
        word[..len].copy_from_slice(&rest[..len]);
        (self.word, self.left) = (u64::from_be_bytes(word), rest.len().min(9) as u8);
    }
}

/// Sorts by key, and operations of a key by their place. Eight bytes at a time: words are compared where they lie, and only
/// runs of equal ones look further into their keys.
pub(super) fn sort(operations: &mut [Logged<'_>]) {
    let mut runs = vec![(0, operations.len(), 0)];
    while let Some((from, to, depth)) = runs.pop() {
        let run = &mut operations[from..to];
        if run.len() <= SHORT {
            run.sort_unstable_by_key(|operation| (operation.key, operation.place));
            continue;
        }
        for operation in &mut *run {
            operation.look(depth);
        }
        run.sort_unstable_by_key(|operation| (operation.word, operation.left, operation.place));
        let mut at = from;
        for equal in run.chunk_by(|a, b| (a.word, a.left) == (b.word, b.left)) {
            // Keys that end here are the same one.
            if equal.len() > 1 && equal[0].left > 8 {
                runs.push((at, at + equal.len(), depth + 8));
            }
            at += equal.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_by_key_and_then_by_place(
            keys in prop::collection::vec(
                (prop::sample::select(vec!["", "same start ", "same start and more of it "]), prop::collection::vec(0_u8..3, 0..12)),
                0..400,
            ),
        ) {
            let keys: Vec<Vec<u8>> = keys.into_iter().map(|(start, end)| [start.as_bytes(), &end].concat()).collect();
            let mut sorted: Vec<_> = keys.iter().enumerate().map(|(place, key)| Logged::new(key, None, place)).collect();
            sort(&mut sorted);
            let mut expected: Vec<_> = keys.iter().map(Vec::as_slice).zip(0_usize..).collect();
            expected.sort();
            prop_assert_eq!(sorted.iter().map(|found| (found.key, found.place)).collect::<Vec<_>>(), expected);
        }
    }
}
