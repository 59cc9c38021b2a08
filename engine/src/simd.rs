//! Compares one byte with sixteen at once, and asks for memory ahead.
//!
//! The tests compare SSE2 with the scalar code. The four lines of NEON were not compiled yet, for want of a standard library
//! of such a processor; how their result is drawn together is tested everywhere.

/// Bit `i` is set if byte `i` of `bytes` is `byte`.
#[inline(always)]
pub(crate) fn equal16(bytes: &[u8; 16], byte: u8) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: the processor has SSE2, as the build says, and sixteen bytes are read from an array of sixteen.
        unsafe {
            let lanes = _mm_loadu_si128(bytes.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(lanes, _mm_set1_epi8(byte.cast_signed()))) as u32
        }
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", not(miri)))]
    {
        use std::arch::aarch64::{
            vceqq_u8, vdupq_n_u8, vget_lane_u64, vld1q_u8, vreinterpret_u64_u8, vreinterpretq_u16_u8,
            vshrn_n_u16,
        };
        // SAFETY: the processor has NEON, as the build says, and sixteen bytes are read from an array of sixteen.
        let nibbles = unsafe {
            let equal = vceqq_u8(vld1q_u8(bytes.as_ptr()), vdupq_n_u8(byte));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(equal))))
        };
        one_bit_a_nibble(nibbles)
    }
    #[cfg(any(
        miri,
        not(any(
            all(target_arch = "x86_64", target_feature = "sse2"),
            all(target_arch = "aarch64", target_feature = "neon")
        ))
    ))]
    scalar(bytes, byte)
}

/// Bit `i` of the result is the lowest of nibble `i`: they are drawn together by halves.
#[cfg(any(test, all(target_arch = "aarch64", target_feature = "neon", not(miri))))]
#[inline(always)]
fn one_bit_a_nibble(nibbles: u64) -> u32 {
    let mut bits = nibbles & 0x1111_1111_1111_1111;
    bits = (bits | bits >> 3) & 0x0303_0303_0303_0303;
    bits = (bits | bits >> 6) & 0x000F_000F_000F_000F;
    bits = (bits | bits >> 12) & 0x0000_00FF_0000_00FF;
    (bits | bits >> 24) as u32 & 0xFFFF
}

/// The same as [`equal16`] without SIMD.
#[cfg_attr(
    any(
        all(target_arch = "x86_64", target_feature = "sse2"),
        all(target_arch = "aarch64", target_feature = "neon")
    ),
    cfg(any(test, miri))
)]
fn scalar(bytes: &[u8; 16], byte: u8) -> u32 {
    bytes.iter().rev().fold(0, |bits, &found| bits << 1 | u32::from(found == byte))
}

/// Asks for the line of memory that `items[at]` would be in, if the processor takes such hints.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint never faults, whatever the address is, and `wrapping_add` may leave the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse", not(miri))))]
    let _ = (items, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nibbles_become_bits() {
        for bits in 0..=0xFFFF_u32 {
            let nibbles = (0..16).filter(|lane| bits >> lane & 1 != 0).map(|lane| 0xF << (4 * lane)).sum();
            assert_eq!(one_bit_a_nibble(nibbles), bits);
        }
    }

    #[test]
    fn lanes_agree_with_one_byte_at_a_time() {
        let mut bytes = [0_u8; 16];
        for round in 0..1_000_u32 {
            for (lane, byte) in bytes.iter_mut().enumerate() {
                *byte = (round.wrapping_mul(2_654_435_761).rotate_left(lane as u32 * 5) >> 13) as u8 & 3;
            }
            for byte in [0, 1, 2, 3, 255] {
                assert_eq!(equal16(&bytes, byte), scalar(&bytes, byte), "{bytes:?} {byte}");
            }
        }
        assert_eq!(equal16(&[7; 16], 7), 0xFFFF);
    }
}
