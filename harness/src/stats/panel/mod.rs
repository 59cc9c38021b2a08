//! The robustness panel: what methods with different assumptions say about the same difference.
//!
//! The panel does not decide. It shows whether an answer hangs on one method: if means, ranks, resampling and trimmed
//! means agree, it does not hang on normality, on outliers or on the scale.

mod methods;
mod null;

use std::fmt;

use super::bootstrap::bootstrap_relative_changes;
use super::interval::checked_alpha;
use super::{Bootstrap, Interval, PValue, Sample, StatsError, Status, Tails};

pub use methods::ALL;
pub use null::Null;

/// How the panel asks its methods.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelOptions {
    /// The error rate of each method on its own; intervals have the level `1 - alpha`.
    pub alpha: f64,
    /// Resamples of the permutation test, and of the bootstrap.
    pub resamples: usize,
    /// The seed of both.
    pub seed: u64,
    /// The share that the trimmed means cut off at either end, below 1/2.
    pub trim: f64,
    /// Whether the i-th observations of both arms belong to one block. That follows from the design, not from the data.
    pub paired: bool,
    /// What each method tests against: "no difference", or the limit of a claim.
    pub null: Null,
}

impl Default for PanelOptions {
    /// Alpha 0.05, 10,000 resamples, seed 0, a trim of 0.2, not paired, against "no difference".
    fn default() -> Self {
        Self { alpha: 0.05, resamples: 10_000, seed: 0, trim: 0.2, paired: false, null: Null::Change(0.0) }
    }
}

/// What the estimate of an answer is, and its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A difference, treatment minus control, in the unit of the observations.
    Difference,
    /// A difference by the magnitude of the control: -0.1 is 10 % less.
    RelativeChange,
    /// The probability that an observation of the treatment is greater, ties as halves; 1/2 is no difference.
    Superiority,
}

impl Meaning {
    /// Returns the stable name of the meaning.
    pub fn code(self) -> &'static str {
        match self {
            Self::Difference => "difference",
            Self::RelativeChange => "relative-change",
            Self::Superiority => "superiority",
        }
    }

    /// Returns the estimate that means "no difference".
    pub fn neutral(self) -> f64 {
        match self {
            Self::Difference | Self::RelativeChange => 0.0,
            Self::Superiority => 0.5,
        }
    }
}

/// Why a method has no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The method refuses these samples.
    Refused(StatsError),
    /// The samples leave the method without a value.
    Degenerate(Status),
    /// The design has no pairs.
    NotPaired,
    /// No interval of so few observations has the level.
    LevelOutOfReach,
}

impl Reason {
    /// Returns the stable name of the reason.
    pub fn code(self) -> &'static str {
        match self {
            Self::Refused(error) => error.code(),
            Self::Degenerate(status) => status.code(),
            Self::NotPaired => "not_paired",
            Self::LevelOutOfReach => "level_out_of_reach",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Degenerate(Status::ZeroVarianceBoth) => StatsError::ZeroVarianceBoth.fmt(f),
            Self::Degenerate(Status::ZeroVarianceDifference) => {
                f.write_str("all differences within pairs are equal")
            }
            Self::Degenerate(Status::AllZero) => f.write_str("no pair differs"),
            Self::Degenerate(Status::DegenerateSeparation) => {
                f.write_str("the arms do not overlap, or all observations are equal")
            }
            Self::Degenerate(Status::Degenerate) => f.write_str("all resamples are equal"),
            Self::Degenerate(Status::Regular) => f.write_str("the result has no value"),
            Self::NotPaired => f.write_str("the design has no pairs"),
            Self::LevelOutOfReach => f.write_str("no interval of so few observations has this level"),
        }
    }
}

impl From<StatsError> for Reason {
    fn from(error: StatsError) -> Self {
        Self::Refused(error)
    }
}

/// What a method says about the treatment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Says {
    /// It is less than the null, significantly.
    Less,
    /// It is greater than the null, significantly.
    Greater,
    /// Nothing significant.
    NoDifference,
    /// The method has no answer, for a reason.
    Undefined(Reason),
}

impl Says {
    /// Returns the stable name of the answer.
    pub fn code(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::Greater => "greater",
            Self::NoDifference => "no-difference",
            Self::Undefined(_) => "undefined",
        }
    }
}

/// The two arms, and how they are asked about.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    treatment: &'a Sample,
    control: &'a Sample,
    options: PanelOptions,
    /// Whether its p-value and what it says count, and not only its estimate and interval.
    decides: bool,
    /// The bootstrap of these arms.
    resampled: &'a Result<Bootstrap, StatsError>,
}

/// One method of the panel. To add one: a function in `methods.rs` and its entry in [`ALL`].
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Name in the store and in a ledger.
    pub id: &'static str,
    /// What a table calls it.
    pub label: &'static str,
    /// What its estimate is.
    pub meaning: Meaning,
    answer: fn(&Question<'_>) -> Result<Finding, Reason>,
}

/// What a method found.
struct Finding {
    estimate: f64,
    p: Option<PValue>,
    interval: Option<Interval>,
    says: Says,
}

impl Finding {
    /// A finding whose p-value decides.
    fn by_p(meaning: Meaning, estimate: f64, p: &Tails, interval: Option<Interval>, alpha: f64) -> Self {
        let says = if p.two_sided.value() >= alpha {
            Says::NoDifference
        } else if estimate < meaning.neutral() {
            Says::Less
        } else if estimate > meaning.neutral() {
            Says::Greater
        } else {
            Says::NoDifference
        };
        Self { estimate, p: Some(p.two_sided), interval, says }
    }

    /// A finding whose interval decides.
    fn by_interval(estimate: f64, interval: Interval) -> Self {
        let says = if interval.upper < 0.0 {
            Says::Less
        } else if interval.lower > 0.0 {
            Says::Greater
        } else {
            Says::NoDifference
        };
        Self { estimate, p: None, interval: Some(interval), says }
    }
}

/// The answer of one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelAnswer {
    /// The method's name in the store and in a ledger.
    pub id: &'static str,
    /// What a table calls the method.
    pub label: &'static str,
    /// What the estimate and the interval are.
    pub meaning: Meaning,
    /// The estimate; `None` if undefined.
    pub estimate: Option<f64>,
    /// The two-sided p-value of the null; `None` if undefined, or if the method is an interval.
    pub p: Option<PValue>,
    /// The confidence interval of the estimate; `None` if undefined, or if the method has none.
    pub interval: Option<Interval>,
    /// What the method says of the null at alpha.
    pub says: Says,
}

/// The answers of all methods, in the order of [`ALL`].
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// One answer a method.
    pub answers: Vec<PanelAnswer>,
    /// How the methods were asked.
    pub options: PanelOptions,
}

/// Asks all methods of [`ALL`] about two arms.
///
/// Estimates and intervals are of the arms as they are. The p-value and what a method says are against [`PanelOptions::null`]:
/// the method is asked for a difference from the control as it would be there, multiplied or shifted, so that ranks
/// and resamples answer for a margin as means do.
///
/// The answers are not independent evidence and need no correction: they are one question asked in several ways. A seed
/// decides every answer, and the number of threads none. O(resamples (n_t + n_c)) over all cores.
///
/// # Errors
///
/// [`StatsError::InvalidLevel`] unless `0 < alpha < 1` and `0 <= trim < 0.5`, [`StatsError::InvalidInput`] for 0 resamples,
/// [`StatsError::NonFinite`] or [`StatsError::InvalidInput`] for a null that takes the control out of range.
/// Samples that a method refuses are an answer of that method.
pub fn panel(treatment: &Sample, control: &Sample, options: PanelOptions) -> Result<Panel, StatsError> {
    checked_alpha(options.alpha)?;
    if !(0.0..0.5).contains(&options.trim) {
        return Err(StatsError::InvalidLevel { level: options.trim });
    }
    if options.resamples == 0 {
        return Err(StatsError::InvalidInput("a panel needs resamples"));
    }
    let moved = options.null.moved(control)?;
    let ask = |control: &Sample, decides: bool, resampled: &Result<Bootstrap, StatsError>| {
        let question = Question { treatment, control, options, decides, resampled };
        ALL.iter().map(|method| method.ask(&question)).collect::<Vec<_>>()
    };
    let PanelOptions { resamples, seed, .. } = options;
    let Some(moved) = moved else {
        let [resampled] = bootstrap_relative_changes(treatment, [control], resamples, seed);
        return Ok(Panel { answers: ask(control, true, &resampled), options });
    };
    let [plain, against] = bootstrap_relative_changes(treatment, [control, &moved], resamples, seed);
    let mut answers = ask(control, false, &plain);
    for (answer, asked) in answers.iter_mut().zip(ask(&moved, true, &against)) {
        (answer.p, answer.says) = (asked.p, asked.says);
    }
    Ok(Panel { answers, options })
}

impl Method {
    fn ask(&self, question: &Question<'_>) -> PanelAnswer {
        let Self { id, label, meaning, .. } = *self;
        match (self.answer)(question) {
            Ok(Finding { estimate, p, interval, says }) => {
                PanelAnswer { id, label, meaning, estimate: Some(estimate), p, interval, says }
            }
            Err(reason) => {
                let says = Says::Undefined(reason);
                PanelAnswer { id, label, meaning, estimate: None, p: None, interval: None, says }
            }
        }
    }
}

impl Panel {
    /// Returns how many methods say the same as `says`, and how many have an answer at all: "9 of 10 agree".
    pub fn agree(&self, says: Says) -> (usize, usize) {
        let answers = || self.answers.iter().filter(|answer| !matches!(answer.says, Says::Undefined(_)));
        (answers().filter(|answer| answer.says == says).count(), answers().count())
    }

    /// Returns the answer of a method by its name.
    pub fn get(&self, id: &str) -> Option<&PanelAnswer> {
        self.answers.iter().find(|answer| answer.id == id)
    }
}

#[cfg(test)]
mod tests;
