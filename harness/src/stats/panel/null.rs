use crate::stats::{Sample, StatsError};

/// The treatment that differs from the control in nothing, as far as a question goes: what each method tests against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Null {
    /// The control times `1 + change`; 0 is "no difference".
    Change(f64),
    /// The control plus a difference, in the unit of the observations.
    Difference(f64),
}

impl Null {
    /// The control moved to where the treatment lies under this null; `None` where that is the control itself.
    pub(super) fn moved(self, control: &Sample) -> Result<Option<Sample>, StatsError> {
        let all = |f: &dyn Fn(f64) -> f64| Sample::new(control.values().iter().map(|it| f(*it)).collect());
        match self {
            Self::Change(0.0) | Self::Difference(0.0) => Ok(None),
            Self::Change(change) => all(&|it| it * (1.0 + change)).map(Some),
            Self::Difference(difference) => all(&|it| it + difference).map(Some),
        }
    }
}
