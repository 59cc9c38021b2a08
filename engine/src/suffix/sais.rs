//! Suffix sorting in linear time: induced sorting (SA-IS; Nong, Zhang and Chan 2009).
//!
//! A place holds a suffix and a mark that says whether the suffix before it in the text is sorted by it in this pass, so
//! that the text is only read for those that are (the idea is Mori's). What is read soon is asked for ahead.

use super::groups::{self, Groups};
use crate::paging;
use crate::simd::prefetch;

/// A letter of a text that is sorted.
pub(super) trait Letter: Copy + Ord {
    /// Its place in the alphabet.
    fn index(self) -> usize;

    /// Whether `len` letters are the same from two places on.
    #[inline]
    fn same(text: &[Self], one: usize, other: usize, len: usize) -> bool {
        (0..len).all(|skipped| text[one + skipped] == text[other + skipped])
    }
}

impl Letter for u8 {
    #[inline]
    fn same(text: &[u8], one: usize, other: usize, len: usize) -> bool {
        // Most have few letters, and a call would take longer.
        if let (1..=8, Some(a), Some(b)) = (len, text[one..].first_chunk(), text[other..].first_chunk()) {
            return (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)) << (8 * (8 - len)) == 0;
        }
        text[one..one + len] == text[other..other + len]
    }

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

/// On a suffix that sorts none in this pass.
pub(super) const MARK: u32 = 1 << 31;

/// How many places ahead memory is asked for.
pub(super) const AHEAD: usize = 32;

/// The starts of all suffixes of `text` in their order, where the end of the text is below every letter. Letters are
/// below `alphabet`. Time and memory are linear in the length, which is below 2^31.
pub(super) fn suffix_array<L: Letter>(text: &[L], alphabet: usize) -> Vec<u32> {
    let mut sorted = vec![0; text.len()];
    paging::advise(&sorted);
    sort(text, alphabet, &mut sorted);
    sorted
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
    let lefts = ascents(text, sorted);
    sorted.fill(0);
    let mut tails = ends(&counts);
    for &at in &lefts {
        let tail = &mut tails[text[at as usize].index()];
        *tail -= 1;
        sorted[*tail as usize] = at;
    }
    if lefts.len() > 1 {
        induce::<L, false>(text, &counts, sorted);
        order(text, &lefts, sorted);
        let order = &mut sorted[..lefts.len()];
        for index in 0..order.len() {
            if let Some(&ahead) = order.get(index + AHEAD) {
                prefetch(&lefts, (ahead & !MARK) as usize);
            }
            order[index] = lefts[(order[index] & !MARK) as usize];
        }
        sorted[lefts.len()..].fill(0);
        // Those with one letter lie together and go to the end of its places; none is further to the front than where it
        // comes from.
        let mut from = lefts.len();
        for (tail, end) in tails.into_iter().zip(ends(&counts)).rev() {
            let here = from - (end - tail) as usize..from;
            from = here.start;
            sorted.copy_within(here.clone(), tail as usize);
            sorted[here.start..here.end.min(tail as usize)].fill(0);
        }
    }
    induce::<L, true>(text, &counts, sorted);
}

/// Where the suffixes of each letter end.
fn ends(counts: &[u32]) -> Vec<u32> {
    let mut end = 0;
    let sum = |&count: &u32| {
        end += count;
        end
    };
    counts.iter().map(sum).collect()
}

/// The positions whose suffix is below the next one while that of the position before is above its next, in text order.
/// Uses `scratch`, which is as long as the text.
fn ascents<L: Letter>(text: &[L], scratch: &mut [u32]) -> Vec<u32> {
    let (mut below, mut first) = (false, text.len());
    for at in (0..text.len() - 1).rev() {
        let now = (text[at] < text[at + 1]) | (below & (text[at] == text[at + 1]));
        // Written in any case: there is no telling which, so there is no branch.
        scratch[first - 1] = at as u32 + 1;
        first -= usize::from(below & !now);
        below = now;
    }
    let mut lefts = Vec::with_capacity(text.len() - first);
    paging::advise(&lefts);
    lefts.extend_from_slice(&scratch[first..]);
    lefts
}

/// Sorts suffixes from the leftmost ascents, which are at the ends of the places of their letters; all others are 0.
///
/// If they are in their order, it is all suffixes and this is the `LAST` step. If not, only the leftmost ascents stay,
/// marked, in the order of what lies between them.
fn induce<L: Letter, const LAST: bool>(text: &[L], counts: &[u32], sorted: &mut [u32]) {
    let tails = ends(counts);
    let mut heads: Vec<u32> = tails.iter().zip(counts).map(|(end, count)| end - count).collect();
    let ask = |sorted: &[u32], ahead: usize| {
        if let Some(&entry) = sorted.get(ahead) {
            // Without a branch, which would be guessed wrong often.
            let at = if entry < MARK { entry as usize } else { 0 };
            prefetch(text, at.wrapping_sub(1));
        }
    };
    let put = |sorted: &mut [u32], heads: &mut [u32], at: usize| {
        let letter = text[at];
        let waits = at > 0 && text[at - 1] < letter;
        let head = &mut heads[letter.index()];
        sorted[*head as usize] = at as u32 | if waits { MARK } else { 0 };
        *head += 1;
    };
    // The suffix before the end of the text, which is the lowest of all.
    put(sorted, &mut heads, text.len() - 1);
    for index in 0..sorted.len() {
        ask(sorted, index + AHEAD);
        let entry = sorted[index];
        if (1..MARK).contains(&entry) {
            sorted[index] = if LAST { entry | MARK } else { 0 };
            put(sorted, &mut heads, entry as usize - 1);
        } else {
            // What waited for the second pass, or nothing.
            sorted[index] = if LAST { entry ^ MARK } else { entry & !MARK };
        }
    }
    let mut tails = tails;
    for index in (0..sorted.len()).rev() {
        ask(sorted, index.wrapping_sub(AHEAD));
        let entry = sorted[index];
        if (1..MARK).contains(&entry) {
            if !LAST {
                sorted[index] = 0;
            }
            let at = entry as usize - 1;
            let letter = text[at];
            let mark = match at {
                0 if LAST => MARK,
                0 => 0,
                _ if text[at - 1] > letter => MARK,
                _ => 0,
            };
            let tail = &mut tails[letter.index()];
            *tail -= 1;
            sorted[*tail as usize] = at as u32 | mark;
        } else if LAST {
            sorted[index] = entry & !MARK;
        }
    }
}

/// Puts the numbers of the leftmost ascents to the front of `sorted` in the order of their suffixes, some of them marked. The
/// ascents are marked there, in the order of the pieces of text up to the next one.
fn order<L: Letter>(text: &[L], lefts: &[u32], sorted: &mut [u32]) {
    let mut count = 0;
    for index in 0..sorted.len() {
        let entry = sorted[index];
        sorted[count] = entry & !MARK;
        count += usize::from(entry >= MARK);
    }
    let (order, scratch) = sorted.split_at_mut(count);
    let mut groups = group(text, &Ascents::of(lefts, text.len()), order);
    groups.split(groups::MOST);
    if groups.open > 0 {
        let (ats, distinct) = groups.shorten(&mut scratch[..count]);
        let sorted = &mut scratch[..ats.len()];
        sort(&groups.names, distinct, sorted);
        groups.fill(&ats, sorted);
    }
}

/// The suffixes from leftmost ascents in groups that begin with the same piece, as numbers of ascents.
fn group<'o, L: Letter>(text: &[L], ascents: &Ascents, order: &'o mut [u32]) -> Groups<'o> {
    let mut names = vec![0; order.len()];
    paging::advise(&names);
    let (mut first, mut before, mut open) = (0, (0, usize::MAX, 0), order.len());
    for index in 0..order.len() {
        if let Some(&ahead) = order.get(index + AHEAD) {
            prefetch(text, ahead as usize);
            prefetch(&ascents.words, ahead as usize / 64);
        }
        let at = order[index] as usize;
        let (number, len) = ascents.piece(at);
        let begins = len != before.1 || !L::same(text, at, before.0, len);
        if begins {
            if index == first + 1 {
                names[before.2] |= MARK;
                open -= 1;
            }
            first = index;
        }
        order[index] = number as u32 | if begins { MARK } else { 0 };
        names[number] = first as u32;
        before = (at, len, number);
    }
    if order.len() == first + 1 {
        names[before.2] |= MARK;
        open -= 1;
    }
    Groups { order, names, open }
}

/// Which of the leftmost ascents is at a place.
struct Ascents {
    /// For each 64 places, a bit for each ascent and how many are before.
    words: Vec<(u64, u32)>,
}

impl Ascents {
    fn of(lefts: &[u32], len: usize) -> Self {
        let mut words = vec![(0, 0); len / 64 + 1];
        for (number, &at) in lefts.iter().enumerate() {
            let word: &mut (u64, u32) = &mut words[at as usize / 64];
            if word.0 == 0 {
                word.1 = number as u32;
            }
            word.0 |= 1 << (at % 64);
        }
        Self { words }
    }

    /// The number of the ascent at a place, and how many letters there are up to the next one and with the letter there. The
    /// last piece has 0: it has the end of the text and is like no other.
    #[inline]
    fn piece(&self, at: usize) -> (usize, usize) {
        let (bits, before) = self.words[at / 64];
        let number = before + (bits & ((1 << (at % 64)) - 1)).count_ones();
        let behind = bits >> (at % 64) >> 1;
        if behind != 0 {
            return (number as usize, behind.trailing_zeros() as usize + 2);
        }
        let next = (at / 64 + 1..self.words.len()).find(|&word| self.words[word].0 != 0);
        let end = next.map(|word| 64 * word + self.words[word].0.trailing_zeros() as usize);
        (number as usize, end.map_or(0, |end| end + 1 - at))
    }
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

    #[test]
    fn texts_that_repeat_late_are_sorted() {
        let words = (0..3_000_u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> (i % 20));
        let text: Vec<u8> = words.flat_map(|word| format!("{word} ").into_bytes()).collect();
        for (from, to) in [(0, 0), (0, 9_000), (500, 700), (0, text.len())] {
            let text = [&text[..], &text[from..to], b"x", &text[from..to], &text[from..to]].concat();
            assert_eq!(suffix_array(&text, 256), naive(&text));
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
