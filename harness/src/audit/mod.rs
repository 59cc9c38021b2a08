//! Published tables of summary statistics, and whether what was claimed follows from them.
//!
//! A [`Document`] holds the numbers of a table *as they were printed* and the claims that were made from them. An
//! [`Audit`] recomputes every claim from the other printed numbers. [`page`](page()) makes a ledger page of it.
//!
//! # Format 1
//!
//! ```toml
//! [source]
//! title = "Loading experiments"
//! date = "2026-01-10"             # may be left out, as may `citation`
//!
//! [quantities]                    # the digits say how exact a number is: write them as they are printed
//! eager = { mean = "8,349.5", se = "27.1", n = 30, unit = "ms", better = "lower" }
//! lazy  = { mean = "169.6", se = "0.85", n = 30, unit = "ms", better = "lower" }
//!
//! [[claims]]
//! id = "open"
//! where = "summary"
//! kind = "percent-change"
//! treatment = "lazy"
//! control = "eager"
//! claimed = "-98.0"
//! unit = "%"
//! ```
//!
//! A quantity has any of `mean`, `n`, `unit`, `better` and one spread by what it is: `sd`, `se`, `ci95` (half the
//! width of the interval), or `plus_minus` where the table does not say. A bare ± does not exist. `exact = true`
//! is a count; `decimals = -1` says that a number is rounded to tens. A quantity that is named but not printed has
//! no `mean`.
//!
//! A claim has an `id`, a `kind`, what is `claimed` (a number, a limit `"> 10"`, two numbers, or a word, by kind) and
//! the keys of its [kind](kind::ALL); quantities of different units of one kind are converted into the unit of the
//! control. `tolerance` replaces half a unit of the last digit; `rounding = "truncated"` says that digits were cut
//! off; `exact = ["mean", "spread"]` says that the source computed with the printed numbers, so that their rounding
//! is no excuse; `reversed = true` is control minus treatment; `level` (0.95) and `alpha` (0.05) have their usual
//! meaning. `schemas/audit.schema.json` describes the file to editors.
//!
//! # Verdicts
//!
//! | verdict | when |
//! |---|---|
//! | *agrees* | the result at the printed values is the claim, to the claim's own digits |
//! | *within rounding* | it is for some inputs within half a unit of their last digit |
//! | *does not follow* | it is for none |
//! | *cannot be checked* | a value, a spread, n or a margin is missing, or the claim is a matter of words |
//!
//! Of a claim about several rows, the worst row counts. The reference recomputation of four published ledgers
//! (`harness/tests/audit/expected.json`) has ten words, which mean these:
//!
//! | reference | here | because |
//! |---|---|---|
//! | agrees, consistent, supported | *agrees* | three words for one thing: of a number, of several that belong together, of a conclusion |
//! | approximately | *agrees* | the claim declares a `tolerance` and keeps it |
//! | agrees within rounding of the printed inputs | *within rounding* | |
//! | DISAGREES, INCONSISTENT | *does not follow* | of a number, of several that should be the same |
//! | NOT ESTABLISHED | *does not follow* | the claim needs the whole interval, and the interval reaches past the limit |
//! | NOT VERIFIABLE, WORDING | *cannot be checked* | something is missing; there is nothing to compute |

mod claimed;
mod document;
mod expr;
mod finding;
mod frame;
pub mod kind;
mod page;
mod parse;
mod printed;
mod range;
mod reach;
mod row;
mod show;
mod verdict;

pub use claimed::{Claimed, ClaimedNumber, Limit, Rounding};
pub use document::{Claim, Document, Figure, Part, Quantity, Source, Spread, SpreadKind};
pub use expr::{Expr, ExprError};
pub use finding::{Computed, Confidence, Detail, Finding};
pub use page::page;
pub use parse::FORMAT;
pub use printed::Printed;
pub use range::Range;
pub use reach::{Input, Reach};
pub use row::{Audit, Row};
pub use show::Shown;
pub use verdict::Verdict;
