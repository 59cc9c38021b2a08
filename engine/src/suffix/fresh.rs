//! Texts that are not in a segment yet: they are searched without an index, if they can have what is sought at all.

use std::ops::{Deref, Range};
use std::sync::Arc;

use memchr::memmem;

use super::grams;
use super::texts::Texts;
use crate::error::Result;

/// Bytes of new texts that are searched without an index.
pub(super) const FRESH_LEN: usize = 2048;

/// How many new texts there are at most, so that short ones and empty ones are not copied over and over.
const FRESH_TEXTS: usize = FRESH_LEN / 2;

/// Bytes of the note of what there is: four bits for each string that there can be.
const GRAMS_LEN: usize = FRESH_LEN / 2;

/// New texts, and a note of what they are made of.
#[derive(Clone)]
pub(super) struct Fresh {
    texts: Texts,
    /// The strings that some text has or had, as in the section GRAMS.
    grams: [u8; GRAMS_LEN],
}

/// What new texts and more are together.
pub(super) enum Grown {
    Fresh(Arc<Fresh>),
    /// So many that they are to be indexed.
    Full(Texts),
}

impl Default for Fresh {
    fn default() -> Self {
        Self { texts: Texts::default(), grams: [0; GRAMS_LEN] }
    }
}

impl Deref for Fresh {
    type Target = Texts;

    fn deref(&self) -> &Texts {
        &self.texts
    }
}

impl Fresh {
    /// These texts and more.
    pub(super) fn with<'t>(&self, more: impl Iterator<Item = &'t [u8]>) -> Result<Grown> {
        let Texts { text, ends, gone } = &self.texts;
        let mut texts = Texts { text: Vec::with_capacity(FRESH_LEN), ends: ends.clone(), gone: gone.clone() };
        texts.text.extend_from_slice(text);
        more.into_iter().try_for_each(|text| texts.push(Some(text)))?;
        if texts.text.len() > FRESH_LEN || texts.ends.len() > FRESH_TEXTS {
            return Ok(Grown::Full(texts));
        }
        let mut fresh = Self { texts, grams: self.grams };
        for index in ends.len()..fresh.ends.len() {
            grams::note(&mut fresh.grams, &fresh.texts.text[fresh.texts.span(index)]);
        }
        Ok(Grown::Fresh(Arc::new(fresh)))
    }

    /// These texts without one.
    pub(super) fn without(&self, index: usize) -> Self {
        Self { texts: self.texts.without(index), grams: self.grams }
    }

    /// Where `pattern`, which is not empty, occurs within a text.
    #[inline]
    pub(super) fn find<'f>(
        &'f self,
        pattern: &'f [u8],
    ) -> impl Iterator<Item = (usize, Range<usize>, usize)> + 'f {
        let may = pattern.len() <= self.text.len() && grams::may_have(&self.grams, pattern);
        let finder = may.then(|| memmem::Finder::new(pattern));
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = from + finder.as_ref()?.find(&self.text[from..])?;
                from = at + 1;
                let (index, span) = self.locate(at);
                if at + pattern.len() <= span.end {
                    return Some((index, span, at));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_hides_no_occurrence() {
        let texts: Vec<String> =
            (0..40_u32).map(|i| format!("{:x}", u64::from(i + 1) << 36 ^ 0x9E37_79B9_7F4A_7C15)).collect();
        let mut fresh = Arc::<Fresh>::default();
        for text in &texts {
            let Grown::Fresh(grown) = fresh.with(std::iter::once(text.as_bytes())).unwrap() else { panic!() };
            fresh = grown;
        }
        let found = |fresh: &Fresh, pattern: &str| {
            fresh.find(pattern.as_bytes()).map(|(index, ..)| index).collect::<Vec<_>>()
        };
        for (number, text) in texts.iter().enumerate() {
            for start in 0..text.len() {
                for end in start + 1..=text.len() {
                    assert!(found(&fresh, &text[start..end]).contains(&number));
                }
            }
        }
        // Not over the border of two texts.
        assert_eq!(found(&fresh, &texts.concat()[10..22]), [0_usize; 0]);
        let left = fresh.without(7);
        assert_eq!((found(&left, &texts[7]), found(&left, &texts[8])), (vec![], vec![8]));
    }

    #[test]
    fn more_than_there_is_room_for_are_given_back() {
        let long = [b'x'; FRESH_LEN + 1];
        let grown = Fresh::default().with([&b"ab"[..], &long].into_iter()).unwrap();
        let Grown::Full(all) = grown else { panic!("{} bytes stay fresh", long.len()) };
        assert_eq!((all.ends.len(), all.text.len()), (2, FRESH_LEN + 3));
    }
}
