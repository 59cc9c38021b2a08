//! Terms one behind the other, without an allocation a term.

use super::{Expected, Result, Sink, Source};

/// A dictionary in memory: all terms in one string, in order, with or without values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    text: String,
    /// Where each term ends in the text.
    ends: Vec<usize>,
    /// One a term, or none at all if it is a set.
    values: Vec<u64>,
    valued: bool,
}

impl Dictionary {
    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether terms have values.
    pub fn has_values(&self) -> bool {
        self.valued
    }

    /// The term with a number, from 0.
    pub fn term(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    /// The value of the term with a number, from 0.
    pub fn value(&self, index: usize) -> Option<u64> {
        self.values.get(index).copied()
    }

    /// The terms in order.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        let (mut start, mut rest) = (0, self.text.as_str());
        self.ends.iter().map(move |&end| {
            let (term, behind) = rest.split_at(end - start);
            (start, rest) = (end, behind);
            term
        })
    }

    /// The number of a term, in time logarithmic in their number.
    pub fn position(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle)?.cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl Sink for Dictionary {
    fn start(&mut self, valued: bool, expected: Expected) -> Result<()> {
        self.text.clear();
        self.ends.clear();
        self.values.clear();
        self.valued = valued;
        self.text.reserve_exact(expected.text);
        self.ends.reserve_exact(expected.terms);
        self.values.reserve_exact(if valued { expected.terms } else { 0 });
        Ok(())
    }

    #[inline]
    fn term(&mut self, term: &str, value: u64) -> Result<()> {
        self.text.push_str(term);
        self.ends.push(self.text.len());
        if self.valued {
            self.values.push(value);
        }
        Ok(())
    }
}

impl Source for Dictionary {
    fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    fn has_values(&self) -> bool {
        self.valued
    }

    fn is_sorted(&self) -> bool {
        true
    }

    fn text_len(&self) -> Result<u64> {
        Ok(self.text.len() as u64)
    }

    fn for_each(&self, mut each: impl FnMut(&str, u64) -> Result<()>) -> Result<()> {
        if self.valued {
            self.terms().zip(&self.values).try_for_each(|(term, &value)| each(term, value))
        } else {
            self.terms().try_for_each(|term| each(term, 0))
        }
    }

    fn for_each_from(&self, mut each: impl FnMut(&[u8], usize, u64) -> Result<()>) -> Result<()> {
        let mut rest = self.text.as_bytes();
        for (index, end) in self.ends.iter().enumerate() {
            let len = rest.len() - (self.text.len() - end);
            each(rest, len, self.values.get(index).copied().unwrap_or(0))?;
            rest = &rest[len..];
        }
        Ok(())
    }
}
