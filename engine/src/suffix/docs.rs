//! Which text a position lies in: the section DOCS.
//!
//! ```text
//! 0   texts       u32   all texts
//! 4   full        u32   texts that are not empty
//! 8   suffixes    u32   entries of the suffix array
//! 12  width       u8    bits of an entry
//! 13  zeros       3
//! 16  starts      texts + 1 u32    where each text starts, bit 31: it was removed; the length of all
//!     numbers     full u32         which texts are not empty; only if there are empty ones
//!     chars       u32 each 256 bytes of text   chars that start before; only in indexes over chars
//!     ranks       u32 each 128 bytes of text   texts that start before; not for a single one
//!     zeros       to a multiple of 8
//!     bits        1 for each byte of text and one more, in words of 64: a text starts here, or all end; not for a
//!                 single one
//! ```

use std::ops::Range;

use super::texts::Texts;

/// Bytes before the arrays.
pub(super) const HEAD: usize = 16;

/// Bytes of text a sample of chars.
const CHARS_STEP: usize = 256;

/// Bits a sample of texts: two words.
const LINE: usize = 128;

/// Reads the `index`-th number; 0 behind the end.
#[inline]
pub(super) fn u32_of(bytes: &[u8], index: usize) -> u32 {
    let number = index.checked_mul(4).and_then(|at| bytes.get(at..)).and_then(|rest| rest.first_chunk());
    number.map_or(0, |&number| u32::from_le_bytes(number))
}

#[inline]
fn word_of(bytes: &[u8], index: usize) -> u64 {
    let word = bytes.get(index * 8..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |&word| u64::from_le_bytes(word))
}

/// Whether a char does not start with this byte.
#[inline]
pub(super) fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many chars start in these bytes.
#[inline]
pub(super) fn chars_in(bytes: &[u8]) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// 1 in each byte that continues a char.
    fn continued(word: [u8; 8]) -> u64 {
        let word = u64::from_le_bytes(word);
        word >> 7 & !(word >> 6) & ONES
    }
    let (words, rest) = bytes.as_chunks();
    // The rest is the end of the last eight bytes.
    let mut inner = match bytes.last_chunk() {
        Some(&last) => (continued(last) >> 8 >> (8 * (7 - rest.len()))).wrapping_mul(ONES) >> 56,
        None => rest.iter().filter(|&&byte| continues(byte)).count() as u64,
    };
    // So many that their sum still is one byte.
    for words in words.chunks(31) {
        let sum: u64 = words.iter().copied().map(continued).sum();
        inner += sum.wrapping_mul(ONES) >> 56;
    }
    (bytes.len() as u64 - inner) as u32
}

/// Where texts that are not empty start, before there is a section.
pub(super) struct Starts<'t> {
    starts: &'t [u32],
    len: usize,
}

impl<'t> Starts<'t> {
    pub(super) fn new(starts: &'t [u32], len: usize) -> Self {
        Self { starts, len }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn span(&self, index: usize) -> Range<usize> {
        self.starts[index] as usize..self.starts.get(index + 1).map_or(self.len, |&next| next as usize)
    }
}

/// What the head of the section says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) texts: u32,
    pub(super) full: u32,
    pub(super) suffixes: u32,
    pub(super) width: u8,
}

impl Head {
    /// Where the arrays lie, for `len` bytes of text.
    fn layout(&self, len: usize, chars: bool) -> Layout {
        let starts = HEAD..HEAD + 4 * (self.texts as usize + 1);
        let numbers =
            starts.end..starts.end + if self.full < self.texts { 4 * self.full as usize } else { 0 };
        let chars = numbers.end..numbers.end + if chars { 4 * (len / CHARS_STEP + 1) } else { 0 };
        let several = usize::from(self.full > 1);
        let ranks = chars.end..chars.end + several * 4 * (len / LINE + 1);
        let bits = ranks.end.next_multiple_of(8);
        Layout { starts, numbers, chars, ranks, bits: bits..bits + several * 8 * (len / 64 + 1) }
    }
}

#[derive(Clone, Debug)]
struct Layout {
    starts: Range<usize>,
    numbers: Range<usize>,
    chars: Range<usize>,
    ranks: Range<usize>,
    bits: Range<usize>,
}

/// On the start of a text that was removed.
const GONE: u32 = 1 << 31;

/// The section for some texts.
pub(super) fn encode(texts: &Texts, suffixes: u32, width: u8, chars: bool) -> Vec<u8> {
    let Texts { text, ends, gone } = texts;
    let (mut starts, mut numbers) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (number, &end) in ends.iter().enumerate() {
        if end > start {
            starts.push(start);
            numbers.push(number as u32);
        }
        start = end;
    }
    let head = Head { texts: ends.len() as u32, full: starts.len() as u32, suffixes, width };
    let layout = head.layout(text.len(), chars);
    let mut out = vec![0; layout.bits.end];
    let mut put = |at: usize, number: u32| out[at..at + 4].copy_from_slice(&number.to_le_bytes());
    for (index, number) in [head.texts, head.full, suffixes, u32::from(width)].into_iter().enumerate() {
        put(4 * index, number);
    }
    for (index, &start) in [0].iter().chain(ends).enumerate() {
        let gone = if gone.has(index as u32) { GONE } else { 0 };
        put(layout.starts.start + 4 * index, start | gone);
    }
    if !layout.numbers.is_empty() {
        for (index, &number) in numbers.iter().enumerate() {
            put(layout.numbers.start + 4 * index, number);
        }
    }
    if !layout.chars.is_empty() {
        let mut before = 0;
        for index in 0..=text.len() / CHARS_STEP {
            put(layout.chars.start + 4 * index, before);
            before += chars_in(&text[CHARS_STEP * index..text.len().min(CHARS_STEP * (index + 1))]);
        }
    }
    if starts.len() > 1 {
        let mut started = starts.iter().peekable();
        let mut before = 0;
        for index in 0..=text.len() / LINE {
            put(layout.ranks.start + 4 * index, before);
            while started.next_if(|&&start| (start as usize) < LINE * (index + 1)).is_some() {
                before += 1;
            }
        }
        for &start in starts.iter().chain([&(text.len() as u32)]) {
            out[layout.bits.start + start as usize / 8] |= 1 << (start % 8);
        }
    }
    out
}

/// Where the parts of a section lie in it.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) head: Head,
    layout: Layout,
}

impl Plan {
    /// Reads the head of a section of `section_len` bytes; `None` if it does not fit `len` bytes of text.
    pub(super) fn of(head: &[u8], section_len: usize, len: usize, chars: bool) -> Option<Self> {
        let number = |index| u32_of(head, index);
        let width = number(3);
        let head = Head { texts: number(0), full: number(1), suffixes: number(2), width: width as u8 };
        let fits = head.full <= head.texts
            && head.full as usize <= len
            && head.suffixes as usize <= len
            && (1..=32).contains(&width);
        let layout = fits.then(|| head.layout(len, chars))?;
        (section_len == layout.bits.end).then_some(Self { head, layout })
    }

    #[inline]
    pub(super) fn read<'a>(&'a self, section: &'a [u8], text: &'a [u8]) -> Docs<'a> {
        Docs { plan: self, section, text }
    }
}

/// The section, read in place.
#[derive(Clone, Copy)]
pub(super) struct Docs<'a> {
    plan: &'a Plan,
    section: &'a [u8],
    text: &'a [u8],
}

impl<'a> Docs<'a> {
    #[inline]
    fn part(&self, range: &Range<usize>) -> &'a [u8] {
        debug_assert!(self.section.get(range.clone()).is_some(), "{range:?} of {} bytes", self.section.len());
        // SAFETY: `Plan::of` lets no layout pass but one whose parts follow each other up to the end of a section of this
        // length, and `Plan::read` is called with that section. As in `View::part`.
        unsafe { self.section.get_unchecked(range.clone()) }
    }

    #[inline]
    fn starts(&self) -> &'a [u8] {
        self.part(&self.plan.layout.starts)
    }

    #[inline]
    fn numbers(&self) -> &'a [u8] {
        self.part(&self.plan.layout.numbers)
    }

    #[inline]
    fn bits(&self) -> &'a [u8] {
        self.part(&self.plan.layout.bits)
    }

    /// Whether a text starts strictly between `from` and `to`.
    #[inline]
    pub(super) fn starts_between(&self, from: usize, to: usize) -> bool {
        self.next_start(from + 1, to).is_some()
    }

    /// The first start from `from` on that is below `to`.
    #[inline]
    pub(super) fn next_start(&self, from: usize, to: usize) -> Option<usize> {
        if self.plan.head.full <= 1 {
            // A single text ends where all do.
            return (from..to).contains(&self.text.len()).then_some(self.text.len());
        }
        let (all, mut word) = (self.bits(), from / 64);
        if to.saturating_sub(from) <= 56
            && let Some(&near) = all.get(from / 8..).and_then(|rest| rest.first_chunk())
        {
            // Seven bits at most are before `from`, so one read has all of them.
            let bits = u64::from_le_bytes(near) >> (from % 8) & ((1 << to.saturating_sub(from)) - 1);
            return (bits != 0).then(|| from + bits.trailing_zeros() as usize);
        }
        let mut bits = word_of(all, word) & (u64::MAX << (from % 64));
        while word * 64 < to {
            if bits != 0 {
                let found = word * 64 + bits.trailing_zeros() as usize;
                return (found < to).then_some(found);
            }
            word += 1;
            bits = word_of(all, word);
        }
        None
    }

    /// Where the text that `at` lies in ends.
    pub(super) fn end_after(&self, at: usize) -> usize {
        self.next_start(at + 1, self.text.len()).unwrap_or(self.text.len())
    }

    /// The number of the text that `at` lies in, and where it starts.
    #[inline]
    pub(super) fn locate(&self, at: usize) -> (u32, usize) {
        if self.plan.head.full <= 1 {
            return (if self.numbers().is_empty() { 0 } else { u32_of(self.numbers(), 0) }, 0);
        }
        let (line, word) = (at / LINE, at / 64);
        let all = self.bits();
        let bits = word_of(all, word) & (u64::MAX >> (63 - at % 64));
        let before = if word.is_multiple_of(2) { 0 } else { word_of(all, word - 1) };
        // A forged sample can be anything.
        let full = u32_of(self.part(&self.plan.layout.ranks), line)
            .wrapping_add(before.count_ones() + bits.count_ones())
            .saturating_sub(1);
        let number = if self.numbers().is_empty() { full } else { u32_of(self.numbers(), full as usize) };
        // The start is mostly near, in words that were just read.
        let start = if bits != 0 {
            word * 64 + 63 - bits.leading_zeros() as usize
        } else if before != 0 {
            word * 64 - 1 - before.leading_zeros() as usize
        } else {
            ((u32_of(self.starts(), number as usize) & !GONE) as usize).min(at)
        };
        (number, start)
    }

    /// How many chars lie between the start of a text and a place in it.
    #[inline]
    pub(super) fn chars_between(&self, start: usize, at: usize) -> u32 {
        if at - start <= CHARS_STEP {
            return chars_in(self.text.get(start..at).unwrap_or_default());
        }
        self.chars_before(at).saturating_sub(self.chars_before(start))
    }

    fn chars_before(&self, at: usize) -> u32 {
        let sample = at / CHARS_STEP;
        let rest = self.text.get(sample * CHARS_STEP..at).unwrap_or_default();
        u32_of(self.part(&self.plan.layout.chars), sample).saturating_add(chars_in(rest))
    }

    /// The bytes of a text, unless it was removed.
    pub(super) fn text(&self, number: u32) -> Option<&'a [u8]> {
        let start = u32_of(self.starts(), number as usize);
        if number >= self.plan.head.texts || start & GONE != 0 {
            return None;
        }
        let end = u32_of(self.starts(), number as usize + 1) & !GONE;
        Some(self.text.get(start as usize..end as usize).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_lies_in_its_text() {
        let texts = ["", "ab", "", "", "日本語", "c", "", &"é".repeat(700), "z", ""];
        let text = texts.concat();
        let mut all = Texts::default();
        texts.iter().try_for_each(|text| all.push(Some(text.as_bytes()))).unwrap();
        all.push(None).unwrap();
        let section = encode(&all, 3, 11, true);
        let plan = Plan::of(&section, section.len(), text.len(), true).unwrap();
        assert_eq!(plan.head, Head { texts: 11, full: 5, suffixes: 3, width: 11 });
        let docs = plan.read(&section, text.as_bytes());
        let mut start = 0;
        for (number, part) in texts.iter().enumerate() {
            assert_eq!(docs.text(number as u32), Some(part.as_bytes()));
            for (chars, (at, _)) in part.char_indices().enumerate() {
                assert_eq!(docs.locate(start + at), (number as u32, start));
                assert_eq!(docs.chars_between(start, start + at), chars as u32);
                assert_eq!(docs.end_after(start + at), start + part.len());
            }
            start += part.len();
        }
        assert_eq!([docs.text(10), docs.text(11)], [None; 2]);
        assert!(docs.starts_between(text.len() - 1, text.len() + 1));
        assert!(Plan::of(&section, section.len(), text.len() + 64, true).is_none());
    }
}
