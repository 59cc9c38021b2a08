//! The suffixes of several texts in order, and what neighbours share.

use super::borders::Borders;
use super::docs::Starts;
use super::sais::{Letter, suffix_array};
use super::view::common;
use crate::paging;
use crate::simd::prefetch;

/// Letters between two samples of what suffixes share.
pub(super) const STEP: usize = 64;

/// How many suffixes ahead memory is asked for.
const AHEAD: usize = 32;

/// The suffixes of some texts that lie behind one another. A suffix ends where its text ends, and the shorter of two
/// comes first if it begins the other one; equal ones come in any order, which depends on the texts only.
pub(super) struct Sorted<'t> {
    text: &'t [u8],
    pub(super) borders: Borders,
    /// Where each suffix starts.
    pub(super) starts: Vec<u32>,
    /// For each 64 bytes of text: where that ends which the first suffix that starts there, or behind, shares with the
    /// one before it in order; the length of the text behind the last.
    ///
    /// This place does not go back from a suffix to the next one in the text, so the bytes that any suffix shares end
    /// between two of these numbers (Kärkkäinen, Manzini and Puglisi 2009).
    pub(super) reach: Vec<u32>,
}

impl<'t> Sorted<'t> {
    /// Sorts the suffixes that start where `keep` says so. Time and memory are linear in the length of `text`.
    pub(super) fn of(text: &'t [u8], texts: &Starts<'_>, keep: impl Fn(u8) -> bool) -> Self {
        let mut ranks = [0_u16; 256];
        for &byte in text {
            ranks[usize::from(byte)] = 1;
        }
        // 0 stands between two texts.
        let mut kept = vec![false];
        for (byte, rank) in (0..=255).zip(&mut ranks) {
            if *rank == 1 {
                *rank = kept.len() as u16;
                kept.push(keep(byte));
            }
        }
        let letters = |byte: u8| ranks[usize::from(byte)];
        let starts = if kept.len() <= 256 {
            sort(&joined(text, texts, |byte| letters(byte) as u8), &kept)
        } else {
            sort(&joined(text, texts, letters), &kept)
        };
        let borders = Borders::of(texts, text.len());
        let mut sorted = Self { text, borders, starts, reach: Vec::new() };
        sorted.reach = sorted.reaches(|at| keep(text[at]));
        sorted
    }

    /// How many bytes a suffix shares with the one before, `most` if they are more; 0 for the first. Takes constant time on the
    /// average over all of them, each asked for once; it is fastest in their order.
    #[inline]
    pub(super) fn shared(&self, index: usize, most: u32) -> u32 {
        const WORD: usize = 8;
        if let Some(&ahead) = self.starts.get(index + AHEAD) {
            prefetch(self.text, ahead as usize);
            prefetch(&self.reach, ahead as usize / STEP);
        }
        let Some(before) = index.checked_sub(1) else { return 0 };
        let (at, before) = (self.starts[index] as usize, self.starts[before] as usize);
        let (one, other) = (&self.text[at..], &self.text[before..]);
        let mut known = 0;
        if let (Some(one), Some(other)) = (one.first_chunk::<WORD>(), other.first_chunk::<WORD>()) {
            let differs = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
            if differs != 0 {
                let same = (differs.trailing_zeros() / 8) as usize;
                return (self.within(at, same).min(self.within(before, same)) as u32).min(most);
            }
            // Most share less than a word: only now it pays to look at what is known of them.
            known = (self.reach[at / STEP] as usize).saturating_sub(at);
            if known >= most as usize {
                return most;
            }
        }
        (self.shared_from(known, at, before) as u32).min(most)
    }

    /// How many of `len` bytes from the start of a suffix, 64 at most, belong to it.
    #[inline]
    fn within(&self, at: usize, len: usize) -> usize {
        self.borders.near(at + 1).map_or(len, |end| len.min(end - at))
    }

    /// How many bytes two suffixes share that share `known` bytes.
    fn shared_from(&self, known: usize, at: usize, before: usize) -> usize {
        let mut len = known;
        loop {
            let rest = |at: usize| &self.text[at + len..];
            let same = common(rest(at), &rest(before)[..rest(before).len().min(STEP)]);
            // A suffix ends behind its first byte at the earliest.
            let left = |at: usize| {
                let from = (at + len).max(at + 1);
                self.borders.near(from).map_or(same, |end| same.min(end - at - len))
            };
            let more = left(at).min(left(before));
            len += more;
            if more < STEP {
                return len;
            }
        }
    }

    /// The samples [`Sorted::reach`] of suffixes that start where `keep` says so. Takes linear time, as a suffix shares all
    /// but its first symbol with what follows the start of the one before.
    fn reaches(&self, keep: impl Fn(usize) -> bool) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let len = self.text.len();
        let mut samples: Vec<u32> = (0..len)
            .step_by(STEP)
            .map(|from| (from..len).find(|&at| keep(at)).map_or(NONE, |at| at as u32))
            .collect();
        let mut before = vec![NONE; samples.len()];
        for pair in self.starts.windows(2) {
            let at = pair[1] as usize;
            // What is not kept are bytes within a char, so a sample is near.
            if at % STEP < 8 && samples[at / STEP] == pair[1] {
                before[at / STEP] = pair[0];
            }
        }
        let mut reach = 0;
        for (sample, &before) in samples.iter_mut().zip(&before) {
            let at = *sample as usize;
            reach = match (*sample, before) {
                (NONE, _) => len,
                (_, NONE) => reach.max(at),
                _ => at + self.shared_from(reach.max(at) - at, at, before as usize),
            };
            *sample = reach as u32;
        }
        samples.push(len as u32);
        samples
    }
}

/// Sorts the suffixes that begin with a letter that is `kept`; letter 0 stands between two texts, and places behind it are
/// counted without it.
fn sort<L: Letter + Default>(letters: &[L], kept: &[bool]) -> Vec<u32> {
    let mut starts = suffix_array(letters, kept.len());
    // A separator is the lowest letter; of the others, all are kept in an index over bytes.
    let separators = Separators::of(letters);
    starts.drain(..separators.count);
    if kept[1..].contains(&false) {
        starts.retain(|&at| kept[letters[at as usize].index()]);
    }
    if separators.count > 0 {
        for index in 0..starts.len() {
            if let Some(&ahead) = starts.get(index + AHEAD) {
                prefetch(&separators.words, ahead as usize / 64);
            }
            starts[index] -= separators.before(starts[index] as usize);
        }
    }
    starts
}

/// The letters of all texts with the lowest letter between them.
fn joined<L: Default>(text: &[u8], texts: &Starts<'_>, letter: impl Fn(u8) -> L) -> Vec<L> {
    let mut all = Vec::with_capacity(text.len() + texts.count());
    paging::advise(&all);
    for index in 0..texts.count() {
        if index > 0 {
            all.push(L::default());
        }
        all.extend(text[texts.span(index)].iter().map(|&byte| letter(byte)));
    }
    all
}

/// Where separators are.
struct Separators {
    words: Vec<(u64, u32)>,
    count: usize,
}

impl Separators {
    fn of<L: Letter + Default>(letters: &[L]) -> Self {
        let count = letters.iter().filter(|&&letter| letter == L::default()).count();
        if count == 0 {
            return Self { words: Vec::new(), count };
        }
        let mut words = vec![(0_u64, 0_u32); letters.len() / 64 + 1];
        for (at, &letter) in letters.iter().enumerate() {
            if letter == L::default() {
                words[at / 64].0 |= 1 << (at % 64);
            }
        }
        let mut before = 0;
        for word in &mut words {
            word.1 = before;
            before += word.0.count_ones();
        }
        Self { words, count }
    }

    /// How many are before a position.
    fn before(&self, at: usize) -> u32 {
        match self.words.get(at / 64) {
            Some((bits, before)) => before + (bits & ((1 << (at % 64)) - 1)).count_ones(),
            None => 0,
        }
    }
}
