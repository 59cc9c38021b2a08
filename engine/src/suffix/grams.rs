//! Which strings of four bytes occur: the section GRAMS, by which most patterns that are nowhere are known for that before
//! anything else is looked at.
//!
//! A power of two of bits, one set for each string that occurs. With `hash` = the four bytes, the first one lowest, times
//! 0x9E3779B1 modulo 2^32, the bit is `hash ^ hash >> 15` modulo the number of bits; bit `i` is bit `i % 8` of byte `i / 8`.

/// Bytes of a string.
const GRAM: usize = 4;

/// So many strings of a pattern are looked up at most.
const ASKED: usize = 16;

/// Fewest and most bits of a section, as powers of two.
const SIZES: [u32; 2] = [12, 24];

#[inline]
fn place(gram: [u8; GRAM], bits: &[u8]) -> usize {
    let hash = u32::from_le_bytes(gram).wrapping_mul(0x9E37_79B1);
    (hash ^ hash >> 15) as usize & (8 * bits.len()).wrapping_sub(1)
}

/// Notes the strings of a text; there is a power of two of `bits`.
pub(super) fn note(bits: &mut [u8], text: &[u8]) {
    for &gram in text.array_windows() {
        let at = place(gram, bits);
        bits[at / 8] |= 1 << (at % 8);
    }
}

/// Whether a text whose strings are noted may have `pattern`; if nothing is noted, it may.
#[inline]
pub(super) fn may_have(bits: &[u8], pattern: &[u8]) -> bool {
    if bits.is_empty() {
        return true;
    }
    let noted = |&gram: &[u8; GRAM]| {
        let at = place(gram, bits);
        bits.get(at / 8).map_or(1, |bits| bits >> (at % 8)) & 1
    };
    // All of them, since which one is missing cannot be guessed.
    pattern.array_windows().take(ASKED).fold(1, |all, gram| all & noted(gram)) == 1
}

/// The section of a text: a bit for each four bytes of it, halved as long as no more than one in sixteen is set. Empty if
/// more than one in four is.
pub(super) fn encode(text: &[u8]) -> Vec<u8> {
    let size = (text.len() / 4).next_power_of_two().clamp(1 << SIZES[0], 1 << SIZES[1]);
    let mut bits = vec![0; size / 8];
    note(&mut bits, text);
    let set = |bits: &[u8]| bits.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
    if set(&bits) > size / 4 {
        return Vec::new();
    }
    while set(&bits) <= bits.len() / 2 && 8 * bits.len() > 1 << SIZES[0] {
        let half = bits.len() / 2;
        let (low, high) = bits.split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(low, high)| *low |= *high);
        bits.truncate(half);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurs_may_occur_and_most_else_may_not() {
        let text: String = (0..20_000).map(|i| format!("{} ", i * 7919 % 499)).collect();
        let bits = encode(text.as_bytes());
        assert!(bits.len().is_power_of_two());
        let may = |pattern: &str| may_have(&bits, pattern.as_bytes());
        for start in 0..2_000 {
            for len in [0, 1, 3, 4, 5, 12, 33, 60] {
                assert!(may(&text[start..start + len]), "{start} {len}");
            }
        }
        let others = (0..1_000).map(|i| format!("{:012}", i * 7919 % 100_003 * 7919));
        let missed = others.filter(|other| !may(other)).count();
        assert!(missed > 950, "{missed}");
        for at in 0..ASKED {
            let mut near = text[100..140].to_owned();
            near.replace_range(at..=at, "?");
            assert!(!may(&near), "{at}");
        }
    }

    #[test]
    fn texts_that_have_nearly_everything_have_no_section() {
        let mut state = 1_u32;
        let text: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(0x0019_660D).wrapping_add(0x3C6E_F35F);
            (state >> 24) as u8
        })
        .take(1 << 16)
        .collect();
        assert_eq!(encode(&text), [0; 0]);
        assert!(may_have(&[], b"abcd"));
    }
}
