//! The closed sets of a pre-registration, and which of their members this version can carry out.

use crate::vocab::{
    Agreement, Claim, Clock, Correction, Direction, Labels, LookMethod, Mode, Nature, Order, Process, Role,
    Spending, Test, Then, UnknownWord,
};
use std::str::FromStr;

/// A closed set of words.
pub(crate) trait Word: FromStr<Err = UnknownWord> + Copy + 'static {
    /// What a member is called.
    const KIND: &'static str;
    /// Every member.
    const ALL: &'static [Self];
    /// The spelling.
    fn as_str(self) -> &'static str;
    /// Whether this version can carry it out; a file that asks for another one is refused.
    fn available(self) -> bool;
}

macro_rules! words {
    ($($name:ident, $kind:literal, $available:expr;)+) => {
        $(impl Word for $name {
            const KIND: &'static str = $kind;
            const ALL: &'static [Self] = $name::ALL;

            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }

            fn available(self) -> bool {
                let available: fn(Self) -> bool = $available;
                available(self)
            }
        })+
    };
}

// The one place that says what is available.
words! {
    Role, "role", |_| true;
    Direction, "direction", |_| true;
    Nature, "nature", |_| true;
    Claim, "claim", |it| match it {
        Claim::Superior | Claim::NonInferior | Claim::Equivalent => true,
    };
    Test, "test", |it| match it {
        Test::Welch | Test::MannWhitney | Test::PairedT | Test::Wilcoxon | Test::Bootstrap => true,
    };
    Correction, "correction", |_| true;
    Agreement, "agreement", |it| match it {
        Agreement::Report | Agreement::Require => true,
    };
    Labels, "labels", |it| match it {
        Labels::AcceptReject | Labels::GoNogo => true,
    };
    Order, "order", |_| true;
    Mode, "mode", |_| true;
    Process, "process", |_| true;
    LookMethod, "look method", |_| true;
    Spending, "spending function", |_| true;
    Then, "consequence", |_| true;
    Clock, "clock", |it| match it {
        Clock::Wall | Clock::ThreadCpu => true,
    };
}

/// The spellings that a file may use.
pub(crate) fn spellings<W: Word>() -> impl Iterator<Item = &'static str> {
    W::ALL.iter().filter(|it| it.available()).map(|it| it.as_str())
}
