//! The words of the field as types: closed sets are enums, matched exhaustively everywhere.
//!
//! The spelling of each word is the same in a pre-registration, in the store and on the command line;
//! `word!` derives all of them from one list.

mod cell;
#[cfg(feature = "app")]
mod digest;
mod margin;
mod number;
mod scalar;
mod unit;

pub use cell::Cell;
#[cfg(feature = "app")]
pub use digest::Digest;
pub use margin::Margin;
#[cfg(feature = "app")]
pub(crate) use number::{minus, significant, with_interval};
pub use scalar::Scalar;
pub use unit::{Unit, UnitKind, UnknownUnit};

/// Declares a closed set with one spelling for each member.
macro_rules! word {
    ($(#[$meta:meta])* $name:ident { $($(#[$member_meta:meta])* $member:ident = $spelling:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$member_meta])* $member,)+ }

        impl $name {
            /// Every member, in the order in which they are documented.
            pub const ALL: &'static [Self] = &[$(Self::$member,)+];

            /// The spelling in files, in the store and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$member => $spelling,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                Self::ALL.iter().copied().find(|it| it.as_str() == text).ok_or_else(|| UnknownWord {
                    found: text.to_owned(),
                    known: Self::ALL.iter().map(|it| it.as_str()).collect(),
                })
            }
        }
    };
}

/// A word that is not in its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What was found.
    pub found: String,
    /// The members of the set.
    pub known: Vec<&'static str>,
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown word `{}`, known are {}", self.found, self.known.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

word! {
    /// Whether a metric repeats itself.
    Nature {
        /// It varies from sample to sample.
        Measured = "measured",
        /// The same on every repetition of an arm and cell, else the run is invalid: bytes on disk, instructions.
        Exact = "exact",
    }
}

word! {
    /// Which way a metric improves.
    Direction {
        /// Smaller is an improvement: time, bytes, misses.
        Lower = "lower",
        /// Larger is an improvement: throughput, hit rate.
        Higher = "higher",
    }
}

impl Direction {
    /// Turns a difference `treatment - control` into a gain: positive is an improvement.
    ///
    /// This is the one place where a sign turns.
    pub fn gain(self, difference: f64) -> f64 {
        match self {
            Self::Lower => -difference,
            Self::Higher => difference,
        }
    }
}

word! {
    /// What an arm is for.
    Role {
        /// What is compared against.
        Control = "control",
        /// What is asked about.
        Treatment = "treatment",
        /// A second copy of the control: it must not differ from it, else the run cannot be trusted.
        Sham = "sham",
        /// The loop without the work: the floor that no arm can go below.
        Null = "null",
    }
}

word! {
    /// The form of a claim about the gain of a treatment.
    Claim {
        /// The gain is larger than the margin.
        Superior = "superior",
        /// The loss is smaller than the margin.
        NonInferior = "non-inferior",
        /// Gain and loss are both smaller than the margin.
        Equivalent = "equivalent",
    }
}

word! {
    /// The registered test of a difference between two arms.
    Test {
        /// Welch's t, unequal variances.
        Welch = "welch",
        /// Mann-Whitney U.
        MannWhitney = "mann-whitney",
        /// Student's t of the differences within blocks.
        PairedT = "paired-t",
        /// Wilcoxon's signed ranks of the differences within blocks.
        Wilcoxon = "wilcoxon",
        /// Bootstrap interval of the relative gain.
        Bootstrap = "bootstrap",
    }
}

word! {
    /// How p-values and intervals are corrected over the family of hypotheses.
    Correction {
        /// Holm's step-down: controls the chance of any false support.
        Holm = "holm",
        /// Benjamini and Hochberg: controls the share of false supports.
        BenjaminiHochberg = "bh",
        /// None. Flagged in the ledger when the family has more than one member.
        None = "none",
    }
}

word! {
    /// What a disagreement of the robustness panel does.
    Agreement {
        /// It is reported.
        Report = "report",
        /// It makes the hypothesis undecided.
        Require = "require",
    }
}

word! {
    /// How a ledger spells verdicts.
    Labels {
        /// ACCEPT, REJECT, INCONCLUSIVE, INVALID.
        AcceptReject = "accept-reject",
        /// GO, STRONG GO, NEUTRAL, NO-GO.
        GoNogo = "go-nogo",
    }
}

word! {
    /// The order of the arms within a block.
    Order {
        /// A new random permutation for every block, from the recorded seed.
        RandomBlocks = "random-blocks",
        /// The registered order and its reverse, in turn.
        Abba = "abba",
        /// One arm after the other, all its samples at once. Flagged: drift looks like an effect.
        Sequential = "sequential",
    }
}

word! {
    /// Whether arms are measured one at a time.
    Mode {
        /// The arms of a block take turns.
        Turns = "turns",
        /// Both arms at once, on a processor each; what else the host does meets both.
        Duet = "duet",
    }
}

word! {
    /// How long a worker process lives.
    Process {
        /// One process for each arm of a cell, kept through all blocks.
        PerArm = "per-arm",
        /// A fresh process for every sample, which is one block of one arm.
        PerBlock = "per-block",
    }
}

word! {
    /// What an experiment replicates: the n of its rule counts these.
    Replicate {
        /// A block: every sample by itself.
        Block = "block",
        /// A process: the mean of its samples is one observation.
        Process = "process",
        /// A build: the mean of the samples of one order of linking is one observation.
        Build = "build",
    }
}

word! {
    /// What becomes of a block that breaks the registered rule.
    Then {
        /// It is measured again, at most ten times.
        Remeasure = "remeasure",
        /// It does not count, in any arm.
        Exclude = "exclude",
    }
}

word! {
    /// How a run that is looked at before its end keeps its error rates.
    LookMethod {
        /// Boundaries that spend alpha over the looks.
        GroupSequential = "group-sequential",
        /// Evidence from the signs of the differences within blocks, valid at any time.
        SignEProcess = "sign-e-process",
    }
}

word! {
    /// How much of alpha group-sequential looks have spent by when.
    Spending {
        /// Hardly anything early, nearly everything at the end.
        OBrienFleming = "obrien-fleming",
        /// About the same at every look.
        Pocock = "pocock",
    }
}

word! {
    /// The clock by which a sample is timed.
    Clock {
        /// Monotonic wall time.
        Wall = "wall",
        /// Processor time of the measuring thread.
        ThreadCpu = "thread-cpu",
    }
}

word! {
    /// What a run says of an experiment's claim.
    Verdict {
        /// Every primary hypothesis is supported and every guard held.
        Accept = "accept",
        /// A primary hypothesis is refuted or a guard violated.
        Reject = "reject",
        /// Neither.
        Inconclusive = "inconclusive",
        /// The run cannot be trusted: samples missing, answers that differ, a sham effect.
        Invalid = "invalid",
        /// Nothing was claimed: the experiment only records.
        Recorded = "recorded",
    }
}

word! {
    /// What a run says of one hypothesis or guard.
    Finding {
        /// The hypothesis is supported, the guard held.
        Supported = "supported",
        /// The hypothesis is refuted, the guard violated.
        Refuted = "refuted",
        /// The interval does not decide.
        Undecided = "undecided",
    }
}

word! {
    /// Where a run stands: the state of its last event.
    RunState {
        /// Measuring, or killed while measuring.
        Running = "running",
        /// Measuring again after an interruption.
        Resumed = "resumed",
        /// All samples are stored.
        Done = "done",
        /// Ended by a worker, an answer or the host: INVALID.
        Failed = "failed",
        /// Ended by the user between two samples; can be resumed.
        Aborted = "aborted",
    }
}

word! {
    /// What a link of an experiment's chain seals.
    Seal {
        /// The first version of the registration.
        Registered = "registered",
        /// A later version.
        Amended = "amended",
        /// That a run began, and with what.
        Begun = "begun",
        /// A change of a run's state; of one that ends it, everything that was measured.
        Event = "event",
        /// A verdict with its findings.
        Verdict = "verdict",
        /// That a run was set aside.
        Invalidated = "invalidated",
        /// That this was taken back.
        Restored = "restored",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse::<Role>().as_ref(), Ok(role));
        }
        let unknown = "sideways".parse::<Direction>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown word `sideways`, known are lower, higher");
    }

    #[test]
    fn a_gain_is_positive_when_better() {
        assert_eq!(Direction::Lower.gain(-2.0), 2.0);
        assert_eq!(Direction::Higher.gain(-2.0), -2.0);
    }
}
