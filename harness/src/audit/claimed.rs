//! What is claimed: a number, a limit, a range or a word.

use super::printed::Printed;
use super::range::Range;
use std::fmt;

/// What is claimed.
#[derive(Clone, Debug, PartialEq)]
pub enum Claimed {
    /// A number: `11.6`.
    Number(ClaimedNumber),
    /// A limit: `> 10`.
    Limit(Limit, ClaimedNumber),
    /// Two numbers: `6 .. 11`.
    Range(ClaimedNumber, ClaimedNumber),
    /// One of the words of the kind, or any words where nothing can be computed.
    Word(String),
}

/// A number with what is accepted in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedNumber {
    /// As printed.
    pub printed: Printed,
    /// How its digits were got.
    pub rounding: Rounding,
    /// How far the result may be from it, in place of half a unit of its last digit.
    pub tolerance: Option<f64>,
}

/// How the digits of a claim were got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest.
    #[default]
    Rounded,
    /// By cutting off what follows.
    Truncated,
}

/// On which side of a number a result is claimed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Limit {
    /// The sign at the start of a text, and what follows it.
    pub(super) fn strip(text: &str) -> Option<(Self, &str)> {
        // The longer signs first.
        [(">=", Self::AtLeast), ("≥", Self::AtLeast), ("<=", Self::AtMost), ("≤", Self::AtMost)]
            .into_iter()
            .chain([(">", Self::Above), ("<", Self::Below)])
            .find_map(|(sign, limit)| Some((limit, text.trim_start().strip_prefix(sign)?)))
    }

    /// The sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// Whether results must not be greater.
    pub fn is_upper(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }

    /// Whether `result` keeps the limit.
    pub fn holds(self, result: f64, limit: f64) -> bool {
        match self {
            Self::Above => result > limit,
            Self::AtLeast => result >= limit,
            Self::Below => result < limit,
            Self::AtMost => result <= limit,
        }
    }
}

impl ClaimedNumber {
    /// A number that is rounded to its last digit.
    pub fn new(printed: Printed) -> Self {
        Self { printed, rounding: Rounding::Rounded, tolerance: None }
    }

    /// The results that are printed so.
    pub fn accepted(&self) -> Range {
        let value = self.printed.value();
        // Ties may go either way, and the last bit of a computed half is not worth a verdict.
        let slack = 1.0 + 1e-9;
        match (self.tolerance, self.rounding) {
            (Some(tolerance), _) => around(value, tolerance * slack),
            (None, Rounding::Rounded) => around(value, self.printed.half() * slack),
            (None, Rounding::Truncated) => {
                let (unit, slack) = (self.printed.unit(), self.printed.half() * 1e-9);
                if self.printed.text().starts_with(['-', '\u{2212}']) {
                    Range { low: value - unit + slack, high: value + slack }
                } else {
                    Range { low: value - slack, high: value + unit - slack }
                }
            }
        }
    }
}

fn around(value: f64, half: f64) -> Range {
    Range { low: value - half, high: value + half }
}

impl fmt::Display for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(it) => f.write_str(it.printed.text()),
            Self::Limit(limit, it) => write!(f, "{} {}", limit.sign(), it.printed.text()),
            Self::Range(low, high) => write!(f, "{} .. {}", low.printed.text(), high.printed.text()),
            Self::Word(it) => f.write_str(it),
        }
    }
}
