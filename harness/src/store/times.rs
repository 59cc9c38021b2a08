//! Times as the store keeps them: samples come about evenly, so that each time is near a straight line.

/// Times as distances from a line: the i-th is `start + i * step + off[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) start: i64,
    pub(super) step: i64,
    pub(super) off: Vec<i32>,
}

impl Line {
    /// The line from the first time to the last; `None` when one of them is further away than 32 bits, 2.1 s, or none
    /// is there.
    pub(super) fn of(times: &[i64]) -> Option<Self> {
        let (start, last) = (*times.first()?, *times.last()?);
        let steps = i64::try_from(times.len() - 1).ok()?;
        let step = if steps == 0 { 0 } else { last.checked_sub(start)? / steps };
        let off = |(i, at): (i64, &i64)| i32::try_from(at.checked_sub(start + i * step)?).ok();
        let off = (0..).zip(times).map(off).collect::<Option<_>>()?;
        Some(Self { start, step, off })
    }

    /// The times; `None` when they are more than 64 bits hold.
    pub(super) fn times(&self) -> Option<Vec<i64>> {
        let at = |(i, off): (i64, &i32)| {
            self.start.checked_add(i.checked_mul(self.step)?)?.checked_add(i64::from(*off))
        };
        (0..).zip(&self.off).map(at).collect()
    }
}

/// The most times that are packed: a query unpacks them one by one, and finds each row's own value inline.
const MOST_PACKED: usize = 128;

/// Times on a line, each with as many bits for its distance as the farthest needs; see `schemas/0007`. `None` where a
/// row has too many, or they are too far apart.
pub(super) fn pack(times: &[i64]) -> Option<Vec<u8>> {
    if times.len() > MOST_PACKED {
        return None;
    }
    let Line { start, step, off } = Line::of(times)?;
    let (lowest, highest) = (*off.iter().min()?, *off.iter().max()?);
    let bits = 64 - (i64::from(highest) - i64::from(lowest)).leading_zeros();
    let (start, step) = (short(start.checked_add(lowest.into())?)?, short(step)?);
    let mut packed = vec![bits as u8, (start.len() << 4 | step.len()) as u8];
    packed.extend(start);
    packed.extend(step);
    let (mut waiting, mut held) = (0_u64, 0);
    for off in off {
        waiting = waiting << bits | i64::from(off).abs_diff(lowest.into());
        held += bits;
        while held >= 8 {
            held -= 8;
            packed.push((waiting >> held) as u8);
        }
    }
    if held > 0 {
        packed.push((waiting << (8 - held)) as u8);
    }
    Some(packed)
}

/// As few bytes as a number needs, at most 7.
fn short(number: i64) -> Option<Vec<u8>> {
    let fits = |bytes: &u32| number >> (8 * bytes - 1) == number >> 63;
    let bytes = (1..8).find(fits)?;
    Some(number.to_be_bytes()[8 - bytes as usize..].to_vec())
}

/// `n` times that were packed; `None` if these bytes are none.
pub(super) fn unpack(packed: &[u8], n: usize) -> Option<Vec<i64>> {
    let [bits @ 0..=32, lengths, rest @ ..] = packed else { return None };
    let bits = usize::from(*bits);
    let mut rest = rest;
    let mut number = |length: u8| {
        let (bytes, after) = rest.split_at_checked(length.into()).filter(|_| (1..8).contains(&length))?;
        rest = after;
        let sign = if bytes[0] > 127 { -1 } else { 0 };
        Some(bytes.iter().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte)))
    };
    let (start, step) = (number(lengths >> 4)?, number(lengths & 15)?);
    if n > MOST_PACKED || rest.len() != (n * bits).div_ceil(8) {
        return None;
    }
    let off = |i: usize| {
        let around = (0..5).map(|at| rest.get(i * bits / 8 + at).copied().unwrap_or(0));
        let around = around.fold(0_u64, |all, byte| all << 8 | u64::from(byte));
        (around >> (40 - i * bits % 8 - bits) & ((1 << bits) - 1)).cast_signed()
    };
    let at = |i: usize| start.checked_add((i as i64).checked_mul(step)?)?.checked_add(off(i));
    (0..n).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_near_a_line_is_short_and_the_rest_is_left() {
        let line = Line::of(&[100, 1_103, 2_099, 3_101]).unwrap();
        assert_eq!((line.start, line.step, &line.off[..]), (100, 1_000, &[0, 3, -1, 1][..]));
        assert_eq!(Line::of(&[7]).unwrap(), Line { start: 7, step: 0, off: vec![0] });
        // A resumed run begins to count anew.
        assert!(Line::of(&[5_000_000_000_000, 0, 1, 2]).is_none());
        assert!(Line::of(&[i64::MIN, i64::MAX]).is_none());
        assert!(Line::of(&[]).is_none());
        assert!(Line { start: i64::MAX, step: 1, off: vec![0, 0] }.times().is_none());
    }

    #[test]
    fn few_times_near_a_line_take_little_more_than_their_noise() {
        assert_eq!(
            pack(&[100, 1_103, 2_099, 3_101]).unwrap(),
            [3, 0x12, 99, 3, 232, 0b0011_0000, 0b0010_0000]
        );
        assert_eq!(pack(&[-7]).unwrap(), [0, 0x11, 249, 0]);
        assert_eq!(unpack(&[0, 0x11, 249, 0], 1).unwrap(), [-7]);
        let even: Vec<i64> = (0..129).map(|it| it * 1_000_000).collect();
        assert_eq!(pack(&even[..128]).unwrap().len(), 6);
        assert!(pack(&even).is_none());
        // A row that was tampered with.
        for (bytes, n) in
            [(&[][..], 0), (&[0], 1), (&[33, 0x11, 1, 1, 0], 1), (&[0, 0x81, 1, 1], 1), (&[8, 0x11, 1, 1], 1)]
        {
            assert!(unpack(bytes, n).is_none(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn times_come_back_to_the_nanosecond(
            start in any::<i64>(), step in -3_000_000_000_i64..3_000_000_000, jitter in prop::collection::vec(-1_000_000_i64..1_000_000, 1..200),
        ) {
            let at = |(i, off): (usize, &i64)| start.saturating_add(i as i64 * step).saturating_add(*off);
            let times: Vec<i64> = jitter.iter().enumerate().map(at).collect();
            if let Some(line) = Line::of(&times) {
                prop_assert_eq!(line.times(), Some(times.clone()));
            }
            if let Some(packed) = pack(&times) {
                prop_assert_eq!(unpack(&packed, times.len()), Some(times));
            }
        }

        #[test]
        fn any_times_come_back_or_are_left(times in prop::collection::vec(any::<i64>(), 1..5)) {
            if let Some(line) = Line::of(&times) {
                prop_assert_eq!(line.times(), Some(times.clone()));
            }
            if let Some(packed) = pack(&times) {
                prop_assert_eq!(unpack(&packed, times.len()), Some(times));
            }
        }

        #[test]
        fn no_bytes_are_too_much_for_it(bytes in prop::collection::vec(any::<u8>(), 0..40), n in 0..200_usize) {
            let _ = unpack(&bytes, n);
        }
    }
}
