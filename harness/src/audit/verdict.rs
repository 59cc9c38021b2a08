//! Whether a claim follows from the numbers beside it.

use super::claimed::{Claimed, Limit, Rounding};
use super::range::Range;
use super::reach::Reach;
use std::fmt;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The claim is what its numbers give, to the digits in which it is printed.
    Agrees,
    /// It is not, but it would be for inputs that are printed alike.
    WithinRounding,
    /// What it needs is not printed, or it is no arithmetic.
    CannotBeChecked,
    /// No inputs that are printed alike give it.
    DoesNotFollow,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 4] =
        [Self::Agrees, Self::WithinRounding, Self::DoesNotFollow, Self::CannotBeChecked];

    /// The words of a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::WithinRounding => "within rounding",
            Self::DoesNotFollow => "does not follow",
            Self::CannotBeChecked => "cannot be checked",
        }
    }

    /// Of a claim that holds only if all of its parts do.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().max().unwrap_or(Self::CannotBeChecked)
    }

    /// Whether one of the numbers that a result can be has a property.
    ///
    /// A result without bounds can be anything, and so says nothing.
    fn of(reach: Reach, holds: bool, can_hold: bool) -> Self {
        if holds {
            Self::Agrees
        } else if !reach.range.is_bounded() {
            Self::CannotBeChecked
        } else if can_hold {
            Self::WithinRounding
        } else {
            Self::DoesNotFollow
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Of a result that is claimed to be a number or to keep a limit.
pub(super) fn of_value(claimed: &Claimed, reach: Reach) -> Verdict {
    match claimed {
        Claimed::Number(it) => within(it.accepted(), reach),
        Claimed::Limit(limit, it) => of_limit(*limit, it.printed.value(), reach),
        Claimed::Range(low, high) => {
            let accepted = Range { low: low.accepted().low, high: high.accepted().high };
            within(accepted, reach)
        }
        Claimed::Word(_) => Verdict::CannotBeChecked,
    }
}

/// Of a result that is claimed to keep a limit.
pub(super) fn of_limit(limit: Limit, value: f64, reach: Reach) -> Verdict {
    let best = if limit.is_upper() { reach.range.low } else { reach.range.high };
    Verdict::of(reach, limit.holds(reach.at, value), limit.holds(best, value))
}

/// Of a result that is claimed to lie within bounds.
pub(super) fn within(accepted: Range, reach: Reach) -> Verdict {
    let touches = reach.range.low <= accepted.high && accepted.low <= reach.range.high;
    Verdict::of(reach, accepted.contains(reach.at), touches)
}

/// Whether the claim cuts digits off where it says that it rounds.
pub(super) fn is_cut_off(claimed: &Claimed, at: f64) -> bool {
    let Claimed::Number(it) = claimed else { return false };
    if it.rounding == Rounding::Truncated || it.tolerance.is_some() || it.accepted().contains(at) {
        return false;
    }
    let value = it.printed.value();
    value.signum() == at.signum() && value.abs() < at.abs() && at.abs() - value.abs() < it.printed.unit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::claimed::ClaimedNumber;
    use crate::audit::printed::Printed;
    use proptest::prelude::*;

    fn number(text: &str) -> Claimed {
        Claimed::Number(ClaimedNumber::new(Printed::parse(text).unwrap()))
    }

    fn reach(at: f64, low: f64, high: f64) -> Reach {
        Reach { at, range: Range { low, high } }
    }

    #[test]
    fn the_four_verdicts() {
        let cases = [
            ("11.6", reach(11.6224, 11.62, 11.63), Verdict::Agrees),
            ("119", reach(119.534, 119.42, 119.64), Verdict::WithinRounding),
            ("91.1", reach(92.5, 92.13, 92.88), Verdict::DoesNotFollow),
            ("91.1", reach(92.5, f64::NEG_INFINITY, f64::INFINITY), Verdict::CannotBeChecked),
        ];
        for (claimed, reach, verdict) in cases {
            assert_eq!(of_value(&number(claimed), reach), verdict, "{claimed}");
        }
        assert!(is_cut_off(&number("32"), 32.6) && is_cut_off(&number("-32"), -32.6));
        assert!(!is_cut_off(&number("32"), 32.4) && !is_cut_off(&number("32"), 33.1));
        assert!(!is_cut_off(&number("33"), 32.4) && !is_cut_off(&number("-32"), 32.6));
    }

    #[test]
    fn one_broken_part_breaks_the_whole() {
        use Verdict::{Agrees, CannotBeChecked, DoesNotFollow, WithinRounding};
        assert_eq!(Verdict::all([Agrees, WithinRounding]), WithinRounding);
        assert_eq!(Verdict::all([DoesNotFollow, CannotBeChecked]), DoesNotFollow);
        assert_eq!(Verdict::all([]), CannotBeChecked);
    }

    proptest! {
        /// What agrees lies in the range that rounding allows, widened by the claim's own rounding; and a wider
        /// range never makes a claim look worse.
        #[test]
        fn more_rounding_never_hurts(at in -1e3..1e3f64, below in 0.0..5.0f64, above in 0.0..5.0f64, more in 0.0..5.0f64, claimed in -1000..1000i32) {
            let claimed = number(&claimed.to_string());
            let (narrow, wide) = (reach(at, at - below, at + above), reach(at, at - below - more, at + above + more));
            let (first, second) = (of_value(&claimed, narrow), of_value(&claimed, wide));
            prop_assert!(second <= first);
            let Claimed::Number(it) = &claimed else { unreachable!() };
            if first == Verdict::Agrees {
                prop_assert!(narrow.range.contains(at) && (at - it.printed.value()).abs() <= 0.5 * (1.0 + 1e-8));
            }
        }
    }
}
