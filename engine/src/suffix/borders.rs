//! Where texts that lie behind one another end, before there is a section that says so.

use super::docs::Starts;

/// The ends of some texts.
pub(super) struct Borders {
    /// A bit for each byte of text and one more; none for a single text.
    words: Vec<u64>,
    len: usize,
}

impl Borders {
    pub(super) fn of(texts: &Starts<'_>, len: usize) -> Self {
        if texts.count() <= 1 {
            return Self { words: Vec::new(), len };
        }
        // One word more than there are bits: two are read at once.
        let mut words = vec![0; len / 64 + 2];
        for index in 0..texts.count() {
            let end = texts.span(index).end;
            words[end / 64] |= 1 << (end % 64);
        }
        Self { words, len }
    }

    /// Whether some text ends at a position.
    #[inline]
    pub(super) fn has(&self, at: usize) -> bool {
        if self.words.is_empty() { at == self.len } else { self.words[at / 64] >> (at % 64) & 1 == 1 }
    }

    /// The first end from `from` on that is at most 64 positions away.
    #[inline]
    pub(super) fn near(&self, from: usize) -> Option<usize> {
        if self.words.is_empty() {
            return (from <= self.len && self.len <= from + 64).then_some(self.len);
        }
        let [low, high] = self.words.get(from / 64..)?.first_chunk()?;
        let both = (u128::from(*low) | u128::from(*high) << 64) >> (from % 64);
        (both as u64 != 0).then(|| from + both.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_from_all_places() {
        for starts in [vec![0], vec![0, 1, 2, 70, 127, 128, 129, 300, 389]] {
            let borders = Borders::of(&Starts::new(&starts, 390), 390);
            let ends: Vec<usize> = starts[1..].iter().map(|&end| end as usize).chain([390]).collect();
            for at in 0..=390 {
                assert_eq!(borders.has(at), ends.contains(&at), "{at}");
                let near = ends.iter().copied().find(|&end| end >= at).filter(|end| end - at < 64);
                assert_eq!(borders.near(at).filter(|end| end - at < 64), near, "{at}");
            }
        }
    }
}
