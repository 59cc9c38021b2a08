//! Suffixes of a text of names in groups that begin alike, split until most are alone: what is left to sort is short.
//!
//! A suffix whose group is known follows the one before it in the text, so the group behind a suffix says more of its order
//! without a look at the text; each round knows twice as many names (Larsson and Sadakane 2007).

use super::sais::{AHEAD, MARK};
use crate::paging;
use crate::simd::prefetch;

/// So many rounds split groups; they know 16 names then.
const ROUNDS: u32 = 4;

/// Larger groups are not split: with this, a round takes linear time and the memory of its keys is bounded.
pub(super) const MOST: usize = 1 << 22;

/// The suffixes of a text of names in the order of the names they begin with.
pub(super) struct Groups<'o> {
    /// The suffixes in order, the first of each group marked.
    pub(super) order: &'o mut [u32],
    /// Where the group of each suffix begins in the order, marked if it is alone in it. The last suffix is.
    pub(super) names: Vec<u32>,
    /// How many are not alone.
    pub(super) open: usize,
}

impl Groups<'_> {
    /// Splits groups of at most `most` by the names that follow, as long as that makes many new ones.
    pub(super) fn split(&mut self, most: usize) {
        if self.open == 0 || self.repeats() {
            return;
        }
        let mut keys = Vec::new();
        // So many names are the same in each group that is not too large.
        let mut known = 1;
        for _ in 0..ROUNDS {
            let before = self.open;
            let Some((more, all)) = self.split_by(known, most, &mut keys) else { return };
            if self.open == 0 || more < before / 8 {
                return;
            }
            // In a group that is too large, only one is.
            known += if all { known } else { 1 };
        }
    }

    /// Whether few of some suffixes, from all over the text, begin with two names of their own: a round is in vain then.
    fn repeats(&self) -> bool {
        const SAMPLES: usize = 1024;
        let pairs = self.names.array_windows().step_by(self.names.len() / SAMPLES + 1);
        let mut pairs: Vec<[u32; 2]> = pairs.copied().collect();
        pairs.sort_unstable();
        pairs.chunk_by(|one, other| one == other).count() < pairs.len() / 8
    }

    /// Splits each group by the group of the suffix `skipped` names behind; how many more there are, and whether no
    /// group has more than `most`. `None` if it stopped because a sixteenth of all suffixes or more made few.
    fn split_by(&mut self, skipped: usize, most: usize, keys: &mut Vec<u64>) -> Option<(usize, bool)> {
        let (mut from, mut more, mut all) = (0, 0, true);
        let (mut seen, enough) = (0, self.order.len() / 16);
        while from < self.order.len() {
            let to = end_of(self.order, from);
            all &= to - from <= most;
            if (2..=most).contains(&(to - from)) {
                keys.clear();
                for index in from..to {
                    if let Some(&ahead) = self.order.get(index + AHEAD) {
                        prefetch(&self.names, (ahead & !MARK) as usize + skipped);
                    }
                    let at = self.order[index] & !MARK;
                    // A suffix that is not alone has as many names before it ends.
                    let name = self.names[at as usize + skipped] & !MARK;
                    keys.push(u64::from(name) << 32 | u64::from(at));
                }
                keys.sort_unstable();
                more += self.put(from, keys) - 1;
                seen += keys.len();
                if seen > enough && more < seen / 8 {
                    return None;
                }
            }
            from = to;
        }
        Some((more, all))
    }

    /// Sets the suffixes from `from` on, which were one group, to those with their keys in order; how many groups
    /// they are then.
    fn put(&mut self, from: usize, keys: &[u64]) -> usize {
        let (mut first, mut alone, mut groups) = (from, 0, 0);
        for same in keys.chunk_by(|one, other| one >> 32 == other >> 32) {
            let name = first as u32 | if same.len() == 1 { MARK } else { 0 };
            alone += usize::from(same.len() == 1);
            for (entry, &key) in self.order[first..].iter_mut().zip(same) {
                *entry = key as u32;
                self.names[key as u32 as usize] = name;
            }
            self.order[first] |= MARK;
            first += same.len();
            groups += 1;
        }
        self.open -= alone;
        groups
    }

    /// Makes the names those of the shorter text that is left to sort: a suffix that is alone is passed by none that is
    /// compared, except right behind one that is not. Where they were, marked if alone, and below what number they are.
    ///
    /// Uses `scratch`, which is as long as the order.
    pub(super) fn shorten(&mut self, scratch: &mut [u32]) -> (Vec<u32>, usize) {
        // One behind each that is not alone, at most.
        let mut ats = Vec::with_capacity((2 * self.open).min(self.names.len()));
        paging::advise(&ats);
        let mut before = MARK;
        scratch.fill(0);
        for (at, name) in self.names.iter_mut().enumerate() {
            if before & *name < MARK {
                ats.push(at as u32 | *name & MARK);
                scratch[(*name & !MARK) as usize] = 1;
            }
            before = std::mem::replace(name, *name & !MARK);
        }
        let mut count = 0;
        for number in &mut *scratch {
            count += std::mem::replace(number, count);
        }
        for (index, &at) in ats.iter().enumerate() {
            self.names[index] = scratch[self.names[(at & !MARK) as usize] as usize];
        }
        self.names.truncate(ats.len());
        (ats, count as usize)
    }

    /// Puts the suffixes that are not alone in the order that those of the shorter text are in.
    pub(super) fn fill(&mut self, ats: &[u32], sorted: &[u32]) {
        let mut open = sorted.iter().map(|&index| ats[index as usize]).filter(|&at| at < MARK);
        let mut from = 0;
        while from < self.order.len() {
            let to = end_of(self.order, from);
            if to - from > 1 {
                self.order[from..to].iter_mut().zip(&mut open).for_each(|(entry, at)| *entry = at);
            }
            from = to;
        }
    }
}

/// One behind the last of the group that begins at `from`.
fn end_of(order: &[u32], from: usize) -> usize {
    order[from + 1..].iter().take_while(|&&entry| entry < MARK).count() + from + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(names: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = (0..names.len() as u32).collect();
        all.sort_by_key(|&at| &names[at as usize..]);
        all
    }

    /// Sorts the suffixes of a text of names, the last of which gets one of its own.
    fn check(mut text: Vec<u32>, most: usize) {
        text.push(1_000);
        let mut order: Vec<u32> = (0..text.len() as u32).collect();
        order.sort_by_key(|&at| text[at as usize]);
        let (mut names, mut open, mut first) = (vec![0; text.len()], 0, 0);
        for same in order.chunk_by_mut(|&one, &other| text[one as usize] == text[other as usize]) {
            let alone = same.len() == 1;
            open += if alone { 0 } else { same.len() };
            for &mut at in &mut *same {
                names[at as usize] = first | if alone { MARK } else { 0 };
            }
            first += same.len() as u32;
            same[0] |= MARK;
        }
        let mut groups = Groups { order: &mut order, names, open };
        groups.split(most);
        let alone = groups.names.iter().filter(|&&name| name >= MARK).count();
        assert_eq!(groups.open, text.len() - alone);
        let (ats, distinct) = groups.shorten(&mut vec![7; text.len()]);
        assert!(groups.names.iter().all(|&name| (name as usize) < distinct));
        groups.fill(&ats, &naive(&groups.names));
        assert!(order.iter().map(|&entry| entry & !MARK).eq(naive(&text)), "{text:?} {most}");
    }

    proptest! {
        #[test]
        fn any_names_are_sorted(
            text in prop::collection::vec(0_u32..24, 0..200),
            again in prop::collection::vec((0_usize..200, 0_usize..60), 0..6),
            most in 2_usize..40,
        ) {
            let mut text = text;
            for (from, len) in again {
                let from = from.min(text.len());
                text.extend_from_within(from..(from + len).min(text.len()));
            }
            check(text.clone(), most);
            check(text, MOST);
        }
    }
}
