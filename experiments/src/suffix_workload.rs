//! The texts and queries of the suffix experiments, from their published formulas.

use engine::symbol::Symbol;
use std::time::{Duration, Instant};

/// Symbols of a query.
const QUERY_LEN: usize = 12;

/// What texts are made of, and what does not occur in them.
pub(crate) trait Alphabet: Symbol + std::hash::Hash {
    const SYMBOLS: &'static [Self];
    const MISSING: Self;

    fn spell(symbols: &[Self]) -> Self::Owned;
}

impl Alphabet for u8 {
    const SYMBOLS: &'static [u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    const MISSING: u8 = b'~';

    fn spell(symbols: &[u8]) -> Vec<u8> {
        symbols.to_vec()
    }
}

impl Alphabet for char {
    const SYMBOLS: &'static [char] =
        &['a', 'b', 'c', 'é', 'ï', 'ñ', '日', '本', '語', '東', '京', '文', 'ß', 'ø', 'λ', 'Ж'];
    const MISSING: char = 'Ω';

    fn spell(symbols: &[char]) -> String {
        symbols.iter().collect()
    }
}

/// The finaliser of splitmix64.
pub(crate) fn mix64(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// `count` texts of `len` symbols.
pub(crate) fn texts<K: Alphabet>(seed: u64, count: u64, len: u64) -> Vec<Vec<K>> {
    let symbol =
        |i: u64, j: u64| K::SYMBOLS[(mix64(seed ^ (i << 32) ^ j) % K::SYMBOLS.len() as u64) as usize];
    (0..count).map(|i| (0..len).map(|j| symbol(i, j)).collect()).collect()
}

/// `count` parts of texts; every second one begins with a symbol that is in none.
pub(crate) fn queries<K: Alphabet>(texts: &[Vec<K>], count: usize) -> Vec<K::Owned> {
    (0..count)
        .map(|i| {
            let text = &texts[i % texts.len()];
            let start = mix64(i as u64) as usize % (text.len() - QUERY_LEN + 1);
            let mut query = text[start..start + QUERY_LEN].to_vec();
            if i % 2 == 1 {
                query[0] = K::MISSING;
            }
            K::spell(&query)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_query_misses() {
        let texts = texts::<u8>(7, 256, 48);
        let queries = queries(&texts, 2048);
        let found = |query: &Vec<u8>| texts.iter().any(|text| text.windows(12).any(|part| part == query));
        assert!(queries.iter().enumerate().all(|(i, query)| found(query) == i.is_multiple_of(2)));
        assert_eq!(texts.iter().map(Vec::len).sum::<usize>(), 12_288);
    }

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // The first outputs of the generator with state 0 and with state 0x9E37…15, from its reference code.
        assert_eq!(mix64(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix64(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }
}

/// When a thread worked, by its own clock.
///
/// A thread that waits for the others and times them as a whole may come back from waiting when they are all but done: on a
/// machine with fewer processors than threads it often does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: Instant,
    end: Instant,
}

impl Span {
    /// From `start` until now.
    pub(crate) fn since(start: Instant) -> Self {
        Self { start, end: Instant::now() }
    }

    /// From the earlier start to the later end.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// How long it is.
    pub(crate) fn length(self) -> Duration {
        self.end.duration_since(self.start)
    }
}
