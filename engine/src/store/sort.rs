//! Sorts operations by key, so that a replay fills the table in its order: at random every insert would wait for memory.

/// Runs of this many are sorted by comparing keys.
const SHORT: usize = 12;

/// Bytes of a key that are compared at a time.
const WORD: usize = size_of::<u128>();

/// Bits of [`Logged::order`] that hold the place.
const PLACE_BITS: u32 = 56;

/// An operation of a segment of the log. It is small, as sorting moves it about; the key and what follows it are in the
/// segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    /// Bytes of the key, from where the sort is.
    word: u128,
    /// Above: how many bytes of the key there are from there, at most one more than a word has. Below: where the key is. Of a
    /// key's operations the last one counts.
    order: u64,
    len: u32,
    pub(super) gone: bool,
}

impl Logged {
    /// An operation whose key has `len` bytes from byte `place` of the segment on.
    pub(super) fn new(place: usize, len: usize, gone: bool) -> Self {
        // No segment has 2^56 bytes, and no key 2^32.
        Self { word: 0, order: place as u64, len: len as u32, gone }
    }

    /// Where the key begins in the segment.
    pub(super) fn place(&self) -> usize {
        (self.order & ((1 << PLACE_BITS) - 1)) as usize
    }

    pub(super) fn key<'s>(&self, segment: &'s [u8]) -> &'s [u8] {
        &segment[self.place()..][..self.len as usize]
    }

    fn left(&self) -> usize {
        (self.order >> PLACE_BITS) as usize
    }

    fn look(&mut self, segment: &[u8], depth: usize) {
        let rest = self.key(segment).get(depth..).unwrap_or(&[]);
        let left = rest.len().min(WORD + 1);
        let mut word = [0; WORD];
        let held = left.min(WORD);
        word[..held].copy_from_slice(&rest[..held]);
        self.word = u128::from_be_bytes(word);
        self.order = (left as u64) << PLACE_BITS | self.place() as u64;
    }
}

/// Sorts by key, and operations of a key by their place. A word at a time: words are compared where they lie, and only runs of
/// equal ones look further into their keys.
pub(super) fn sort(operations: &mut [Logged], segment: &[u8]) {
    let mut runs = vec![(0, operations.len(), 0)];
    while let Some((from, to, depth)) = runs.pop() {
        let run = &mut operations[from..to];
        if run.len() <= SHORT {
            run.sort_unstable_by(|a, b| {
                a.key(segment).cmp(b.key(segment)).then_with(|| a.place().cmp(&b.place()))
            });
            continue;
        }
        for operation in &mut *run {
            operation.look(segment, depth);
        }
        run.sort_unstable_by_key(|operation| (operation.word, operation.order));
        let mut at = from;
        for equal in run.chunk_by(|a, b| a.word == b.word && a.left() == b.left()) {
            // Keys that end here are the same one.
            if equal.len() > 1 && equal[0].left() > WORD {
                runs.push((at, at + equal.len(), depth + WORD));
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
                (
                    prop::sample::select(vec!["", "same start ", "same start and more of it ", "same start, as long as a word"]),
                    prop::collection::vec(0_u8..3, 0..12),
                ),
                0..400,
            ),
        ) {
            let (mut segment, mut sorted, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for (start, end) in &keys {
                let key = [start.as_bytes(), end].concat();
                sorted.push(Logged::new(segment.len(), key.len(), false));
                expected.push((key.clone(), segment.len()));
                segment.extend(key);
                segment.push(7);
            }
            sort(&mut sorted, &segment);
            expected.sort();
            let found: Vec<_> = sorted.iter().map(|found| (found.key(&segment).to_vec(), found.place())).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
