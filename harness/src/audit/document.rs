//! A published table and its claims, read and checked.

use super::claimed::Claimed;
use super::expr::Expr;
use super::kind::Kind;
use super::printed::Printed;
use super::reach::Input;
use crate::vocab::{Direction, Unit};

/// A published table of summary statistics, and the claims that were made from it.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it was published.
    pub source: Source,
    /// What the table holds, in the order of the file.
    pub quantities: Vec<Quantity>,
    /// What is claimed, in the order of the file.
    pub claims: Vec<Claim>,
}

/// Where a table was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its title.
    pub title: String,
    /// When. Empty when it is not known.
    pub date: String,
    /// Where it is found, in words. May be empty.
    pub citation: String,
}

/// A value of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name.
    pub id: String,
    /// A mean, a count or another single number. `None` when it is named but not printed.
    pub mean: Option<Figure>,
    /// How it varies.
    pub spread: Option<Spread>,
    /// From how many observations.
    pub n: Option<u32>,
    /// Its unit.
    pub unit: Option<Unit>,
    /// Which way it improves.
    pub better: Option<Direction>,
}

/// A printed number of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// As printed.
    pub printed: Printed,
    /// Whether it is no rounded measurement but a count.
    pub exact: bool,
}

/// How a quantity varies, and what the printed number means.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// What it means.
    pub kind: SpreadKind,
    /// The number.
    pub figure: Figure,
}

/// What a number behind `±` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadKind {
    /// Standard deviation of the observations.
    Sd,
    /// Standard error of the mean.
    Se,
    /// Half the width of a 95 % confidence interval of the mean.
    Ci95,
    /// The table does not say, or says it wrongly.
    Unknown,
}

impl SpreadKind {
    /// The key of the file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Sd => "sd",
            Self::Se => "se",
            Self::Ci95 => "ci95",
            Self::Unknown => "plus_minus",
        }
    }
}

impl Figure {
    /// The number and how far rounding may have moved it.
    pub fn input(&self) -> Input {
        Input { value: self.printed.value(), half: if self.exact { 0.0 } else { self.printed.half() } }
    }
}

/// A claim, and what it is recomputed from.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// How it is recomputed.
    pub kind: &'static Kind,
    /// Where it stands.
    pub place: String,
    /// Its words, few of them. May be empty.
    pub quote: String,
    /// What is claimed.
    pub claimed: Claimed,
    /// In which unit, for the reader.
    pub unit: String,
    /// What else there is to say.
    pub note: String,
    /// Parts of the table with which the source computed as they are printed, so that rounding is no excuse.
    pub exact: Vec<Part>,
    pub(super) operands: Vec<(&'static str, Vec<usize>)>,
    pub(super) claims: Vec<usize>,
    pub(super) expressions: Vec<(Expr, Vec<Reference>)>,
    pub(super) p: Vec<Printed>,
    pub(super) d: Option<Printed>,
    pub(super) at: Vec<f64>,
    pub(super) level: f64,
    pub(super) alpha: f64,
    pub(super) margin: Option<f64>,
    pub(super) reversed: bool,
    pub(super) by: By,
}

/// A part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The means.
    Mean,
    /// The spreads.
    Spread,
}

/// Which numbers of other claims are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum By {
    /// What their inputs give.
    #[default]
    Recomputed,
    /// What they say.
    Claimed,
}

/// What a name in an expression stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// Which quantity, by its place.
    pub(super) quantity: usize,
    pub(super) value: Value,
}

/// Which number of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Mean,
    Sd,
    Se,
    N,
}

impl Value {
    /// The quantity's name and its part, from `name`, `name.sd`, `name.se` or `name.n`.
    pub(super) fn split(text: &str) -> Option<(&str, Self)> {
        Some(match text.split_once('.') {
            None => (text, Self::Mean),
            Some((name, "sd")) => (name, Self::Sd),
            Some((name, "se")) => (name, Self::Se),
            Some((name, "n")) => (name, Self::N),
            Some(_) => return None,
        })
    }
}
