//! One byte that tells most tails of a bucket apart without comparing them.

/// The fingerprint of a tail. It is stored in images: `FORMAT.md` defines it, and it never changes.
#[inline]
pub(super) fn fingerprint(tail: &[u8]) -> u8 {
    let n = tail.len();
    let (first, last) = if let (Some(first), Some(last)) = (tail.first_chunk::<8>(), tail.last_chunk::<8>()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (tail.first_chunk::<4>(), tail.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
    } else if n > 0 {
        (u64::from(tail[0]) | u64::from(tail[n / 2]) << 8, u64::from(tail[n - 1]))
    } else {
        (0, 0)
    };
    let mixed = first.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ last.wrapping_mul(0xD6E8_FEB8_6659_FD93)
        ^ (n as u64).wrapping_mul(0xA24B_AED4_963E_E407);
    (mixed >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files hold these numbers.
    #[test]
    fn fingerprints_never_change() {
        let tails: [&[u8]; 6] = [b"", b"a", b"ab", b"abcd", b"abcdefgh", b"abcdefghij"];
        assert_eq!(tails.map(fingerprint), EXPECTED);
    }

    const EXPECTED: [u8; 6] = [0, 52, 46, 24, 35, 247];

    #[test]
    fn neighbours_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for i in 0..100 {
            seen.insert(fingerprint(format!("{i:02}14end").as_bytes()));
        }
        assert!(seen.len() > 70, "{}", seen.len());
    }
}
