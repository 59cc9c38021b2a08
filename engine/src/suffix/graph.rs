//! What the three graphs have in common: substrings, by what stands before and behind all their occurrences.

use std::collections::{BTreeMap, HashSet};

use super::snapshot::Snapshot;
use super::view::common;
use crate::symbol::Symbol;

/// Everything that is reached from `first`, each `name` once.
pub(super) fn reachable<T>(
    first: T,
    name: impl Fn(&T) -> Vec<u8>,
    next: impl Fn(&T) -> Vec<T>,
) -> impl Iterator<Item = T> {
    let mut seen = HashSet::from([name(&first)]);
    let mut waiting = vec![first];
    std::iter::from_fn(move || {
        let one = waiting.pop()?;
        waiting.extend(next(&one).into_iter().rev().filter(|found| seen.insert(name(found))));
        Some(one)
    })
}

/// How much of `long` follows all occurrences of its first `len` bytes, in whole symbols; at least `len`.
fn shared_behind<K: Symbol>(long: &[u8], len: usize, other: &[u8]) -> usize {
    let mut shared = common(long, other);
    while shared > len && shared < long.len() && !K::starts(long[shared]) {
        shared -= 1;
    }
    shared.max(len)
}

impl<K: Symbol> Snapshot<K> {
    /// `string` with what follows it wherever it occurs.
    pub(super) fn closed_right(&self, string: Vec<u8>) -> Vec<u8> {
        if string.is_empty() {
            return string;
        }
        let mut least: Option<&[u8]> = None;
        self.extremes(&string, |suffix| {
            least =
                Some(least.map_or(suffix, |least| &least[..shared_behind::<K>(least, string.len(), suffix)]));
        });
        least.map_or(string, <[u8]>::to_vec)
    }

    /// `string` with what stands before it wherever it occurs.
    pub(super) fn closed_left(&self, string: Vec<u8>) -> Vec<u8> {
        if string.is_empty() {
            return string;
        }
        let mut least: Option<&[u8]> = None;
        self.each(&string, |before, _| {
            least = Some(least.map_or(before, |least| {
                let same =
                    least.iter().rev().zip(before.iter().rev()).take_while(|(one, other)| one == other);
                let mut start = least.len() - same.count();
                while start < least.len() && !K::starts(least[start]) {
                    start += 1;
                }
                &least[start..]
            }));
        });
        least.map_or(string.clone(), |before| [before, &string].concat())
    }

    /// The symbols that follow `string`, and how often.
    pub(super) fn right_symbols(&self, string: &[u8]) -> BTreeMap<K, u64> {
        let mut found = BTreeMap::new();
        self.followers(string, |symbol, count| *found.entry(symbol).or_default() += count);
        found
    }

    /// The symbols that stand before `string`, and how often.
    pub(super) fn left_symbols(&self, string: &[u8]) -> BTreeMap<K, u64> {
        if string.is_empty() {
            return self.right_symbols(string);
        }
        let mut found = BTreeMap::new();
        self.each(string, |before, _| {
            let start = (0..before.len()).rev().find(|&start| K::starts(before[start]));
            if let Some((symbol, _)) = start.and_then(|start| K::first(&before[start..])) {
                *found.entry(symbol).or_default() += 1;
            }
        });
        found
    }

    /// `string` and one symbol more, if that occurs.
    pub(super) fn right_of(&self, string: &[u8], symbol: K) -> Option<Vec<u8>> {
        let mut longer = string.to_vec();
        symbol.push(&mut longer);
        (self.count_bytes(&longer) > 0).then_some(longer)
    }

    /// One symbol and `string`, if that occurs.
    pub(super) fn left_of(&self, symbol: K, string: &[u8]) -> Option<Vec<u8>> {
        let mut longer = Vec::new();
        symbol.push(&mut longer);
        longer.extend_from_slice(string);
        (self.count_bytes(&longer) > 0).then_some(longer)
    }
}
