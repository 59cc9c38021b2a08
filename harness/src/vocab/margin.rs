use std::fmt;

/// The smallest difference that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// A share of the control's mean: `0.05` is 5 %.
    Relative(f64),
    /// In the metric's unit.
    Absolute(f64),
}

impl Margin {
    /// The number itself, whatever it is a share or an amount of.
    pub fn value(self) -> f64 {
        match self {
            Self::Relative(it) | Self::Absolute(it) => it,
        }
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(it) => write!(f, "{} %", super::number::plain(it * 100.0)),
            Self::Absolute(it) => write!(f, "{}", super::number::plain(*it)),
        }
    }
}
