//! Sorting of floats by their bits, in a number of passes that does not depend on n.

/// Samples below this are sorted by comparison.
const WORTH_IT: usize = 400;

/// Bits that one pass looks at.
const BITS: u32 = 11;
const BUCKETS: usize = 1 << BITS;
const PASSES: usize = 64usize.div_ceil(BITS as usize);

/// Maps floats to integers in the same order, that of [`f64::total_cmp`].
pub(super) fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the float of a key.
pub(super) fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Returns the values in ascending order. O(n), for few values O(n log n).
pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    sorted_in_place(values.to_vec())
}

/// Returns the values in ascending order, in their own memory.
pub(super) fn sorted_in_place(mut values: Vec<f64>) -> Vec<f64> {
    if values.len() < WORTH_IT {
        values.sort_unstable_by(f64::total_cmp);
        return values;
    }
    let mut keys: Vec<u64> = values.into_iter().map(key).collect();
    sort_by_key(&mut keys, |key| *key);
    keys.into_iter().map(value).collect()
}

/// Sorts items by a number, keeping the order of equal ones. O(n), for few items O(n log n).
pub(super) fn sort_by_key<T: Copy + Default>(items: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    if items.len() < WORTH_IT || u32::try_from(items.len()).is_err() {
        items.sort_by_key(key);
        return;
    }
    let digit = |key: u64, pass: usize| (key >> (pass as u32 * BITS)) as usize & (BUCKETS - 1);
    let mut counts = vec![[0u32; BUCKETS]; PASSES];
    for item in items.iter() {
        let key = key(item);
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, pass)] += 1;
        }
    }
    let mut other = vec![T::default(); items.len()];
    for (pass, starts) in counts.iter_mut().enumerate() {
        if starts.iter().any(|count| *count as usize == items.len()) {
            // All items have the same digit.
            continue;
        }
        let mut next = 0;
        for start in starts.iter_mut() {
            (*start, next) = (next, next + *start);
        }
        for item in items.iter() {
            let place = &mut starts[digit(key(item), pass)];
            other[*place as usize] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    #[test]
    fn sorts_as_comparing_does() {
        let mut rng = Rng::new(1);
        for n in [0, 1, 399, 400, 5_000] {
            // All bit patterns but NaN, a narrow range, and many ties.
            let any =
                |rng: &mut Rng| Some(f64::from_bits(rng.next_u64())).filter(|v| !v.is_nan()).unwrap_or(-0.0);
            let narrow = |rng: &mut Rng| 8.0 + (rng.next_u64() >> 12) as f64 * 1e-18;
            let tied = |rng: &mut Rng| rng.below(7) as f64 - 3.0;
            for draw in [any, narrow, tied] {
                let values: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
                let mut expected = values.clone();
                expected.sort_by(f64::total_cmp);
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&sorted(&values)), bits(&expected));
                let mut order: Vec<(u64, usize)> = values.iter().map(|value| key(*value)).zip(0..).collect();
                sort_by_key(&mut order, |(key, _)| *key);
                assert!(order.is_sorted());
            }
        }
    }
}
