//! Suffix sorting in linear time: induced sorting (SA-IS; Nong, Zhang and Chan 2009).

/// A letter of a text that is sorted.
pub(super) trait Letter: Copy + Ord {
    /// Its place in the alphabet.
    fn index(self) -> usize;
}

impl Letter for u8 {
    #[inline]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Letter for u16 {
    #[inline]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Letter for u32 {
    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

/// No suffix yet.
const EMPTY: u32 = u32::MAX;

/// The starts of all suffixes of `text` in their order, where the end of the text is below every letter. Letters are
/// below `alphabet`. Time and memory are linear in the length, which is below 2^31.
pub(super) fn suffix_array<L: Letter>(text: &[L], alphabet: usize) -> Vec<u32> {
    let mut sorted = vec![EMPTY; text.len()];
    sort(text, alphabet, &mut sorted);
    sorted
}

/// A set of positions.
struct Marks(Vec<u64>);

impl Marks {
    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}

fn sort<L: Letter>(text: &[L], alphabet: usize, sorted: &mut [u32]) {
    if text.len() < 2 {
        sorted.fill(0);
        return;
    }
    let mut counts = vec![0_u32; alphabet];
    for letter in text {
        counts[letter.index()] += 1;
    }
    // Leftmost positions where the text begins to ascend, in text order.
    let (marks, lefts) = ascents(text);
    if lefts.len() > 1 {
        induce(text, &counts, lefts.iter().rev().copied(), sorted);
        let (names, distinct) = name(text, &marks, &lefts, sorted);
        let order = &mut sorted[..lefts.len()];
        if distinct < lefts.len() {
            sort(&names, distinct, order);
        } else {
            for (at, &name) in names.iter().enumerate() {
                order[name as usize] = at as u32;
            }
        }
        let order: Vec<u32> = order.iter().map(|&at| lefts[at as usize]).collect();
        induce(text, &counts, order.into_iter().rev(), sorted);
    } else {
        induce(text, &counts, lefts.iter().copied(), sorted);
    }
}

/// The positions whose suffix is below the next one while that of the position before is above its next.
fn ascents<L: Letter>(text: &[L]) -> (Marks, Vec<u32>) {
    let mut marks = Marks(vec![0; text.len().div_ceil(64)]);
    let mut lefts = Vec::new();
    let mut below = false;
    for at in (0..text.len() - 1).rev() {
        let now = text[at] < text[at + 1] || (below && text[at] == text[at + 1]);
        if below && !now {
            marks.set(at + 1);
            lefts.push(at as u32 + 1);
        }
        below = now;
    }
    lefts.reverse();
    (marks, lefts)
}

/// Sorts all suffixes from the leftmost ascents, which are given in descending order.
fn induce<L: Letter>(text: &[L], counts: &[u32], lefts: impl Iterator<Item = u32>, sorted: &mut [u32]) {
    let ends = |counts: &[u32]| -> Vec<u32> {
        counts
            .iter()
            .scan(0, |end, &count| {
                *end += count;
                Some(*end)
            })
            .collect()
    };
    sorted.fill(EMPTY);
    let mut tails = ends(counts);
    for at in lefts {
        let tail = &mut tails[text[at as usize].index()];
        *tail -= 1;
        sorted[*tail as usize] = at;
    }
    let mut heads: Vec<u32> = ends(counts).iter().zip(counts).map(|(end, count)| end - count).collect();
    // The suffix before the end of the text, which is the lowest of all.
    let last = text.len() - 1;
    let head = &mut heads[text[last].index()];
    sorted[*head as usize] = last as u32;
    *head += 1;
    for index in 0..sorted.len() {
        let at = sorted[index];
        if at == EMPTY || at == 0 {
            continue;
        }
        let (before, letter) = (at as usize - 1, text[at as usize]);
        if text[before] >= letter {
            let head = &mut heads[text[before].index()];
            sorted[*head as usize] = before as u32;
            *head += 1;
        }
    }
    // Every suffix that is below its next one is put down again, above those that are not.
    let mut tails = ends(counts);
    for index in (0..sorted.len()).rev() {
        let at = sorted[index];
        if at == EMPTY || at == 0 {
            continue;
        }
        let (before, letter) = (at as usize - 1, text[at as usize]);
        let below =
            text[before] < letter || (text[before] == letter && index as u32 >= tails[letter.index()]);
        if below {
            let tail = &mut tails[text[before].index()];
            *tail -= 1;
            sorted[*tail as usize] = before as u32;
        }
    }
}

/// Numbers the pieces between leftmost ascents by their order, equal ones alike; in text order, and how many there are.
fn name<L: Letter>(text: &[L], marks: &Marks, lefts: &[u32], sorted: &mut [u32]) -> (Vec<u32>, usize) {
    let mut count = 0;
    for index in 0..sorted.len() {
        let at = sorted[index];
        if marks.has(at as usize) {
            sorted[count] = at;
            count += 1;
        }
    }
    // Two ascents are at least two letters apart, so half as many places do.
    let (order, places) = sorted.split_at_mut(count);
    let mut distinct = 0;
    let mut before: Option<usize> = None;
    for &at in &*order {
        if before.is_none_or(|before| !same_piece(text, marks, before, at as usize)) {
            distinct += 1;
        }
        places[at as usize / 2] = distinct as u32 - 1;
        before = Some(at as usize);
    }
    (lefts.iter().map(|&at| places[at as usize / 2]).collect(), distinct)
}

fn same_piece<L: Letter>(text: &[L], marks: &Marks, one: usize, other: usize) -> bool {
    for step in 0.. {
        let (one, other) = (one + step, other + step);
        // The end of the text is a letter of its own.
        if one >= text.len() || other >= text.len() || text[one] != text[other] {
            return false;
        }
        if step > 0 && (marks.has(one) || marks.has(other)) {
            return marks.has(one) && marks.has(other);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(text: &[u8]) -> Vec<u32> {
        let mut all: Vec<u32> = (0..text.len() as u32).collect();
        all.sort_by_key(|&at| &text[at as usize..]);
        all
    }

    #[test]
    fn known_texts_are_sorted() {
        assert_eq!(suffix_array(b"mississippi", 256), [10, 7, 4, 1, 0, 9, 8, 6, 3, 5, 2]);
        assert_eq!(suffix_array(b"", 256), [] as [u32; 0]);
        assert_eq!(suffix_array(b"a", 256), [0]);
        let (mut one, mut two) = (b"b".to_vec(), b"a".to_vec());
        for _ in 0..16 {
            (one, two) = (two.clone(), [two, one].concat());
        }
        for text in
            [&two[..], &[b'a'; 3_000], &b"ab".repeat(999), &b"ba".repeat(999), &b"abcbabc".repeat(200)]
        {
            assert_eq!(suffix_array(text, 256), naive(text));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_sorted(text in prop::collection::vec(0_u8..4, 0..200)) {
            prop_assert_eq!(suffix_array(&text, 4), naive(&text));
        }

        #[test]
        fn any_bytes_are_sorted(text in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(suffix_array(&text, 256), naive(&text));
        }
    }
}
