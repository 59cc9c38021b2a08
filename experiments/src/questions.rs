//! Questions in a row: what dictionaries are asked beside the ledger's own queries.

/// Keys to look up, one behind the other in memory, so that reading them costs every dictionary the same.
#[derive(Default)]
pub(crate) struct Questions {
    text: String,
    ends: Vec<usize>,
}

impl Questions {
    fn push(&mut self, key: &str) {
        self.text.push_str(key);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let key = &self.text[start..end];
            start = end;
            key
        })
    }

    /// Keys that exist, uniformly at random.
    pub(crate) fn hits(keys: &[String], count: usize) -> Self {
        let mut random = Random(1);
        let mut questions = Self::default();
        (0..count).for_each(|_| questions.push(&keys[random.below(keys.len())]));
        questions
    }

    /// Keys of which one char was replaced, at a uniformly random place, and which do not exist.
    pub(crate) fn near_misses(keys: &[String], count: usize) -> Self {
        let mut random = Random(2);
        let mut questions = Self::default();
        while questions.len() < count {
            let mut chars: Vec<char> = keys[random.below(keys.len())].chars().collect();
            if chars.is_empty() {
                continue;
            }
            let (at, from) = (random.below(chars.len()), random.below(keys.len()));
            // From another key, so that it is a char that occurs.
            let Some(other) = keys[from].chars().next_back() else { continue };
            chars[at] = other;
            let near: String = chars.into_iter().collect();
            if keys.binary_search(&near).is_err() {
                questions.push(&near);
            }
        }
        questions
    }
}

impl<'k> FromIterator<&'k str> for Questions {
    fn from_iter<I: IntoIterator<Item = &'k str>>(keys: I) -> Self {
        let mut questions = Self::default();
        keys.into_iter().for_each(|key| questions.push(key));
        questions
    }
}

/// The finaliser of splitmix64 over a counter.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_what_they_say() {
        let keys = crate::terms::terms(1_000);
        let [hits, misses] = [Questions::hits(&keys, 500), Questions::near_misses(&keys, 500)];
        assert_eq!([hits.len(), misses.len()], [500, 500]);
        assert!(hits.iter().all(|key| keys.binary_search_by(|it| it.as_str().cmp(key)).is_ok()));
        assert!(misses.iter().all(|key| keys.binary_search_by(|it| it.as_str().cmp(key)).is_err()));
        let again: Questions = hits.iter().collect();
        assert!(again.iter().eq(hits.iter()));
    }
}
