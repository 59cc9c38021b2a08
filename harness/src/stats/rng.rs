//! Random numbers that stay the same for ever.

/// The increment of SplitMix64.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles the bits of a number: the finalizer of SplitMix64.
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The generator xoshiro256++ (Blackman and Vigna 2021), seeded by SplitMix64.
///
/// It is written out here because seeds are stored with results: the numbers that follow from a seed must not
/// change with the upgrade of a dependency. They equal those of `rand_xoshiro` 0.8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Self {
            state: std::array::from_fn(|_| {
                counter = counter.wrapping_add(GOLDEN_GAMMA);
                mix64(counter)
            }),
        }
    }

    /// Starts the sequence number `index` of a seed. The sequences of one seed are independent of each other, so
    /// that work can be divided in any way without changing its result.
    pub fn stream(seed: u64, index: u64) -> Self {
        Self::new(stream_seed(seed, index))
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Returns a number below `n`, for n > 0, as the upper half of `next_u64() * n`.
    ///
    /// The bias is below `n / 2^64`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Puts the items in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Returns the seed of the sequence number `index` of a seed.
pub fn stream_seed(seed: u64, index: u64) -> u64 {
    mix64(seed.wrapping_add(mix64(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_words() {
        let mut rng = Rng::new(0);
        assert_eq!([rng.next_u64(), rng.next_u64()], [5_987_356_902_031_041_503, 7_051_070_477_665_621_255]);
    }

    #[test]
    fn a_shuffle_is_a_permutation_and_every_order_occurs() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            Rng::new(seed).shuffle(&mut items);
            *seen.entry(items).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (880..1_120).contains(count)), "{seen:?}");
    }
}
