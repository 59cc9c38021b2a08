use super::PlotError;
use super::error::drawable;

/// A confidence interval, in the unit of what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its low end.
    pub low: f64,
    /// Its high end, not below `low`.
    pub high: f64,
}

impl Interval {
    /// Checks that both ends can be drawn and are in order.
    pub(super) fn check(self, of: &str) -> Result<(), PlotError> {
        let (low, high) = (drawable(self.low, of)?, drawable(self.high, of)?);
        if low <= high { Ok(()) } else { Err(PlotError::Reversed { of: of.to_owned() }) }
    }
}
