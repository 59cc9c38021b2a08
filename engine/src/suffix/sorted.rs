//! The suffixes of several texts in order, and what neighbours share.

use super::docs::Starts;
use super::sais::{Letter, suffix_array};

/// The suffixes of some texts that lie behind one another. A suffix ends where its text ends, and the shorter of two
/// comes first if it begins the other one; equal ones come in any order, which depends on the texts only.
pub(super) struct Sorted {
    /// Where each suffix starts.
    pub(super) starts: Vec<u32>,
    /// How many bytes each suffix shares with the one before; 0 for the first.
    pub(super) shared: Vec<u32>,
}

impl Sorted {
    /// Sorts the suffixes that start where `keep` says so. Time and memory are linear in the length of `text`.
    pub(super) fn of(text: &[u8], texts: &Starts<'_>, keep: impl Fn(u8) -> bool) -> Self {
        let mut ranks = [0_u16; 256];
        for &byte in text {
            ranks[usize::from(byte)] = 1;
        }
        // 0 stands between two texts.
        let mut used = 0;
        for rank in ranks.iter_mut().filter(|rank| **rank == 1) {
            used += 1;
            *rank = used;
        }
        let alphabet = usize::from(used) + 1;
        let letters = |byte: u8| ranks[usize::from(byte)];
        if alphabet <= 256 {
            Self::sort(&joined(text, texts, |byte| letters(byte) as u8), alphabet, text, texts, keep)
        } else {
            Self::sort(&joined(text, texts, letters), alphabet, text, texts, keep)
        }
    }

    fn sort<L: Letter + Default>(
        letters: &[L],
        alphabet: usize,
        text: &[u8],
        texts: &Starts<'_>,
        keep: impl Fn(u8) -> bool,
    ) -> Self {
        let mut starts = suffix_array(letters, alphabet);
        let shared = shared_in_text_order(letters, &starts);
        let separators = letters.len() - text.len();
        let several = Separators::of(letters, separators);
        let (mut kept, mut least) = (0, u32::MAX);
        let mut lengths = Vec::with_capacity(text.len());
        for index in separators..starts.len() {
            let at = starts[index];
            least = least.min(shared[at as usize]);
            let start = at - several.before(at as usize);
            if keep(text[start as usize]) {
                starts[kept] = start;
                lengths.push(if kept == 0 { 0 } else { least });
                kept += 1;
                least = u32::MAX;
            }
        }
        starts.truncate(kept);
        debug_assert!(texts.count() == 0 || separators + 1 == texts.count());
        Self { starts, shared: lengths }
    }
}

/// The letters of all texts with the lowest letter between them.
fn joined<L: Letter + Default>(text: &[u8], texts: &Starts<'_>, letter: impl Fn(u8) -> L) -> Vec<L> {
    let mut all = Vec::with_capacity(text.len() + texts.count());
    for index in 0..texts.count() {
        if index > 0 {
            all.push(L::default());
        }
        all.extend(text[texts.span(index)].iter().map(|&byte| letter(byte)));
    }
    all
}

/// How many letters the suffix at each position shares with the one before it in order, up to the end of its text
/// (Kärkkäinen, Manzini and Puglisi 2009).
fn shared_in_text_order<L: Letter + Default>(letters: &[L], sorted: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut shared = vec![NONE; letters.len()];
    for pair in sorted.windows(2) {
        shared[pair[1] as usize] = pair[0];
    }
    let separator = L::default();
    let mut length = 0_usize;
    for at in 0..letters.len() {
        let before = shared[at];
        if before == NONE {
            length = 0;
        } else {
            let (one, other) = (&letters[at..], &letters[before as usize..]);
            let most = one.len().min(other.len());
            while length < most && one[length] == other[length] && one[length] != separator {
                length += 1;
            }
        }
        shared[at] = length as u32;
        length = length.saturating_sub(1);
    }
    shared
}

/// How many separators are before a position.
struct Separators {
    words: Vec<(u64, u32)>,
}

impl Separators {
    fn of<L: Letter + Default>(letters: &[L], count: usize) -> Self {
        if count == 0 {
            return Self { words: Vec::new() };
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
        Self { words }
    }

    fn before(&self, at: usize) -> u32 {
        match self.words.get(at / 64) {
            Some((bits, before)) => before + (bits & ((1 << (at % 64)) - 1)).count_ones(),
            None => 0,
        }
    }
}
