//! How claims are recomputed: an open set.
//!
//! To add a kind: a function in a file here, and its entry in [`ALL`]. A kind that is plain arithmetic needs no
//! function but its [formula](Kind::formula).

mod comparison;
mod consistency;
mod effect;
mod expression;
mod family;
mod formula;
mod gain;
mod rows;
mod spread;
mod welch;

use super::finding::Finding;
use super::frame::Frame;
use std::fmt;

/// A way to recompute a claim.
pub struct Kind {
    /// Its name in a file.
    pub id: &'static str,
    /// What it recomputes, for the reader of a page.
    pub about: &'static str,
    /// Arithmetic over the keys of the claim: for quantities that improve downwards, and upwards.
    pub formula: [&'static str; 2],
    /// Keys that each name a quantity.
    pub(super) one: &'static [&'static str],
    /// Keys that each name a quantity or several.
    pub(super) many: &'static [&'static str],
    /// Other keys that must be there.
    pub(super) needed: &'static [&'static str],
    /// Other keys that may be there.
    pub(super) optional: &'static [&'static str],
    /// Whether the quantities must say which way they improve.
    pub(super) directed: bool,
    /// What can be claimed.
    pub(super) form: Form,
    /// The recomputation.
    pub(super) check: fn(&mut Frame<'_>) -> Finding,
}

/// What can be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number, or a limit such as `> 10`.
    Number,
    /// A limit.
    Limit,
    /// Two numbers.
    Range,
    /// One of these words.
    Words(&'static [&'static str]),
    /// Any words.
    Any,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// What most kinds have in common.
const PLAIN: Kind = Kind {
    id: "",
    about: "",
    formula: ["", ""],
    one: &[],
    many: &[],
    needed: &[],
    optional: &[],
    directed: false,
    form: Form::Number,
    check: formula::check,
};

const ARMS: &[&str] = &["treatment", "control"];
const FACTORIAL: &[&str] = &["none", "first", "second", "both"];

/// Every kind there is, in the order of the documentation.
pub static ALL: &[Kind] = &[
    Kind {
        id: "percent-change",
        about: "how much more or less the treatment has than the control, in percent",
        formula: ["100 * (treatment / control - 1)"; 2],
        one: ARMS,
        ..PLAIN
    },
    Kind {
        id: "percent-reduction",
        about: "how much less the treatment has than the control, in percent",
        formula: ["100 * (1 - treatment / control)"; 2],
        one: ARMS,
        ..PLAIN
    },
    Kind {
        id: "ratio",
        about: "how many times as much the treatment has as the control",
        formula: ["treatment / control"; 2],
        one: ARMS,
        ..PLAIN
    },
    Kind {
        id: "speedup",
        about: "how many times as good the treatment is as the control",
        formula: ["control / treatment", "treatment / control"],
        one: ARMS,
        directed: true,
        ..PLAIN
    },
    Kind {
        id: "rate-gain",
        about: "how much more gets done in the same time, in percent; not the time that is saved",
        formula: ["100 * (control / treatment - 1)", "100 * (treatment / control - 1)"],
        one: ARMS,
        directed: true,
        ..PLAIN
    },
    Kind {
        id: "difference",
        about: "treatment minus control, in the unit of the control",
        formula: ["treatment - control"; 2],
        one: ARMS,
        ..PLAIN
    },
    Kind {
        id: "additive-expectation",
        about: "what both switches give together if they do not touch each other",
        formula: ["first + second - none"; 2],
        one: &["none", "first", "second"],
        ..PLAIN
    },
    Kind {
        id: "sub-additivity",
        about: "what is missing of the additive expectation, in percent of the whole",
        formula: ["100 * (first + second - none - both) / (first + second - none)"; 2],
        one: FACTORIAL,
        ..PLAIN
    },
    Kind {
        id: "gain-shortfall",
        about: "what is missing of the additive expectation, in percent of the expected gain",
        formula: ["100 * (first + second - none - both) / (first + second - 2 * none)"; 2],
        one: FACTORIAL,
        ..PLAIN
    },
    Kind {
        id: "sd-from-se",
        about: "the standard deviation that belongs to a standard error",
        formula: ["of.se * sqrt(of.n)"; 2],
        one: &["of"],
        ..PLAIN
    },
    Kind {
        id: "pooled-sd",
        about: "the root of the variances, pooled by their degrees of freedom",
        one: ARMS,
        check: effect::pooled_sd,
        ..PLAIN
    },
    Kind {
        id: "cohens-d",
        about: "the difference of the means by the pooled standard deviation; its interval is Bonett's",
        one: ARMS,
        optional: &["reversed"],
        check: effect::cohens_d,
        ..PLAIN
    },
    Kind {
        id: "welch-t",
        about: "Welch's t of the two means, treatment minus control",
        one: ARMS,
        optional: &["reversed"],
        check: welch::t,
        ..PLAIN
    },
    Kind {
        id: "welch-df",
        about: "the degrees of freedom of Welch's t, after Satterthwaite",
        one: ARMS,
        check: welch::df,
        ..PLAIN
    },
    Kind { id: "welch-p", about: "the two-sided p of Welch's t", one: ARMS, check: welch::p, ..PLAIN },
    Kind {
        id: "gain-interval",
        about: "the confidence interval of the relative gain, in percent, by Fieller's method",
        one: ARMS,
        optional: &["level"],
        directed: true,
        form: Form::Range,
        check: gain::interval,
        ..PLAIN
    },
    Kind {
        id: "gain-limit",
        about: "whether the relative gain, in percent, keeps a limit: the whole of its confidence interval must",
        one: ARMS,
        optional: &["level"],
        directed: true,
        form: Form::Limit,
        check: gain::limit,
        ..PLAIN
    },
    Kind {
        id: "no-regression",
        about: "whether no treatment is worse than its control by the margin or more, at alpha",
        many: ARMS,
        optional: &["margin", "alpha"],
        directed: true,
        form: Form::Words(&["no regression"]),
        check: gain::no_regression,
        ..PLAIN
    },
    Kind {
        id: "comparison",
        about: "how treatments compare with their control: by Welch's t at alpha; `not better` by the means alone",
        many: ARMS,
        optional: &["alpha"],
        directed: true,
        form: Form::Words(comparison::WORDS),
        check: comparison::check,
        ..PLAIN
    },
    Kind {
        id: "spread-kind",
        about: "what a ± means, given the deviation that belongs to the same mean",
        many: &["of", "against"],
        form: Form::Words(&["sd", "se"]),
        check: spread::check,
        ..PLAIN
    },
    Kind {
        id: "exponent",
        about: "the slope between neighboring rows when both axes are logarithmic; every one of them",
        many: &["rows"],
        needed: &["at"],
        check: rows::exponent,
        ..PLAIN
    },
    Kind {
        id: "monotone",
        about: "whether rows, or the sizes of other claims, go one way only",
        optional: &["rows", "claims", "by"],
        form: Form::Words(&["increasing", "decreasing"]),
        check: rows::monotone,
        ..PLAIN
    },
    Kind {
        id: "range",
        about: "whether the sizes of other claims, recomputed, all lie within two numbers",
        needed: &["claims"],
        form: Form::Range,
        check: rows::range,
        ..PLAIN
    },
    Kind {
        id: "consistency",
        about: "whether some standard deviations give the printed d and p of Welch's t at this n",
        one: ARMS,
        needed: &["d", "p"],
        form: Form::Words(&["consistent"]),
        check: consistency::check,
        ..PLAIN
    },
    Kind {
        id: "cliffs-delta",
        about: "whether ranks reject at alpha where Cliff's delta is this",
        one: ARMS,
        optional: &["alpha"],
        check: family::cliffs_delta,
        ..PLAIN
    },
    Kind {
        id: "holm",
        about: "the largest p of a family after Holm's correction",
        needed: &["p"],
        check: family::holm,
        ..PLAIN
    },
    Kind {
        id: "expression",
        about: "arithmetic of one's own; of several expressions each must give what is claimed",
        needed: &["expr"],
        check: expression::check,
        ..PLAIN
    },
    Kind {
        id: "value",
        about: "a printed value that is repeated elsewhere",
        formula: ["of"; 2],
        one: &["of"],
        ..PLAIN
    },
    Kind {
        id: "wording",
        about: "words that no arithmetic decides; an expression may stand beside them",
        optional: &["expr"],
        form: Form::Any,
        check: expression::wording,
        ..PLAIN
    },
];

/// The kind of this name.
pub fn by_id(id: &str) -> Option<&'static Kind> {
    ALL.iter().find(|it| it.id == id)
}
