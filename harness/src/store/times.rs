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

    proptest! {
        #[test]
        fn times_come_back_to_the_nanosecond(
            start in any::<i64>(), step in -3_000_000_000_i64..3_000_000_000, jitter in prop::collection::vec(-1_000_000_i64..1_000_000, 1..200),
        ) {
            let at = |(i, off): (usize, &i64)| start.saturating_add(i as i64 * step).saturating_add(*off);
            let times: Vec<i64> = jitter.iter().enumerate().map(at).collect();
            if let Some(line) = Line::of(&times) {
                prop_assert_eq!(line.times(), Some(times));
            }
        }

        #[test]
        fn any_times_come_back_or_are_left(times in prop::collection::vec(any::<i64>(), 1..5)) {
            if let Some(line) = Line::of(&times) {
                prop_assert_eq!(line.times(), Some(times));
            }
        }
    }
}
