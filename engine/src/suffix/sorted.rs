//! The suffixes of several texts in order, and what neighbours share.

use super::docs::Starts;
use super::sais::{Letter, suffix_array};
use crate::simd::prefetch;

/// Letters between two samples of what suffixes share.
pub(super) const STEP: usize = 64;

/// How many suffixes ahead memory is asked for.
const AHEAD: usize = 32;

/// The suffixes of some texts that lie behind one another. A suffix ends where its text ends, and the shorter of two
/// comes first if it begins the other one; equal ones come in any order, which depends on the texts only.
pub(super) struct Sorted {
    /// Where each suffix starts.
    pub(super) starts: Vec<u32>,
    /// How many bytes each suffix shares with the one before; 0 for the first.
    pub(super) shared: Vec<u32>,
    /// For each 64 bytes of text: where that ends which the first suffix that starts there, or behind, shares with the
    /// one before it in order; the length of the text behind the last.
    ///
    /// This place does not go back from a suffix to the next one in the text, so the bytes that any suffix shares end
    /// between two of these numbers (Kärkkäinen, Manzini and Puglisi 2009).
    pub(super) reach: Vec<u32>,
}

impl Sorted {
    /// Sorts the suffixes that start where `keep` says so. Time and memory are linear in the length of `text`.
    pub(super) fn of(text: &[u8], texts: &Starts<'_>, keep: impl Fn(u8) -> bool) -> Self {
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
        if kept.len() <= 256 {
            Self::sort(&joined(text, texts, |byte| letters(byte) as u8), &kept)
        } else {
            Self::sort(&joined(text, texts, letters), &kept)
        }
    }

    /// Sorts the suffixes that begin with a letter that is `kept`; letter 0 stands between two texts.
    fn sort<L: Shared>(letters: &[L], kept: &[bool]) -> Self {
        let mut starts = suffix_array(letters, kept.len());
        // A separator is the lowest letter; of the others, all are kept in an index over bytes.
        let separators = Separators::of(letters);
        starts.drain(..separators.count);
        if kept[1..].contains(&false) {
            starts.retain(|&at| kept[letters[at as usize].index()]);
        }
        let count = starts.len();
        let least = reaches(letters, kept, &starts);
        let len = letters.len() - separators.count;
        let mut reach = vec![u32::MAX; len.div_ceil(STEP) + 1];
        let mut shared = vec![0; count];
        let mut before = None;
        for index in 0..count {
            if let Some(&ahead) = starts.get(index + AHEAD) {
                prefetch(letters, ahead as usize);
            }
            let at = starts[index] as usize;
            if let Some(before) = before.replace(at) {
                let known = (least[at / STEP] as usize).saturating_sub(at);
                let more = L::shared(&letters[at + known..], &letters[before + known..]);
                shared[index] = (known + more) as u32;
            }
            let start = at as u32 - separators.before(at);
            starts[index] = start;
            let sample = &mut reach[start as usize / STEP];
            *sample = (*sample).min(start + shared[index]);
        }
        let mut next = len as u32;
        for sample in reach.iter_mut().rev() {
            next = next.min(*sample);
            *sample = next;
        }
        Self { starts, shared, reach }
    }
}

/// A letter that texts are compared by.
trait Shared: Letter + Default {
    /// How many letters two suffixes share, up to the end of a text.
    fn shared(one: &[Self], other: &[Self]) -> usize {
        let same = |&(one, other): &(&Self, &Self)| one == other && *one != Self::default();
        one.iter().zip(other).take_while(same).count()
    }
}

impl Shared for u16 {}

impl Shared for u8 {
    #[inline]
    fn shared(one: &[u8], other: &[u8]) -> usize {
        let mut len = 0;
        while let (Some(a), Some(b)) = (one[len..].first_chunk(), other[len..].first_chunk()) {
            let (a, b) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
            // The lowest byte that is 0 gets its highest bit.
            let zeros = a.wrapping_sub(0x0101_0101_0101_0101) & !a & 0x8080_8080_8080_8080;
            if (a ^ b) | zeros != 0 {
                return len + ((a ^ b).trailing_zeros().min(zeros.trailing_zeros()) / 8) as usize;
            }
            len += 8;
        }
        let same = |&(one, other): &(&u8, &u8)| one == other && *one != 0;
        len + one[len..].iter().zip(&other[len..]).take_while(same).count()
    }
}

/// The letters of all texts with the lowest letter between them.
fn joined<L: Shared>(text: &[u8], texts: &Starts<'_>, letter: impl Fn(u8) -> L) -> Vec<L> {
    let mut all = Vec::with_capacity(text.len() + texts.count());
    for index in 0..texts.count() {
        if index > 0 {
            all.push(L::default());
        }
        all.extend(text[texts.span(index)].iter().map(|&byte| letter(byte)));
    }
    all
}

/// For each [`STEP`] letters, how far that goes which the first kept suffix there shares with the one before it in order:
/// no suffix behind it shares letters that end before. Takes linear time, as a suffix shares all but its first letter
/// with what follows the start of the one before.
fn reaches<L: Shared>(letters: &[L], kept: &[bool], sorted: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let is_kept = |at: &usize| kept[letters[*at].index()];
    let mut samples: Vec<u32> = (0..letters.len())
        .step_by(STEP)
        .map(|from| (from..letters.len()).find(is_kept).map_or(NONE, |at| at as u32))
        .collect();
    let mut before = vec![NONE; samples.len()];
    for pair in sorted.windows(2) {
        let at = pair[1] as usize;
        // What is not kept are a separator or bytes within a char, so a sample is near.
        if at % STEP < 8 && samples[at / STEP] == pair[1] {
            before[at / STEP] = pair[0];
        }
    }
    let mut reach = 0;
    for (sample, &before) in samples.iter_mut().zip(&before) {
        let at = *sample as usize;
        if before != NONE {
            let known = reach.max(at) - at;
            reach = at + known + L::shared(&letters[at + known..], &letters[before as usize + known..]);
        }
        *sample = reach as u32;
    }
    samples
}

/// Where separators are.
struct Separators {
    words: Vec<(u64, u32)>,
    count: usize,
}

impl Separators {
    fn of<L: Shared>(letters: &[L]) -> Self {
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
