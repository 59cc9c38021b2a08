//! The criteria of a decision as ledger and terminal show them: a line each, or, where many claims are asked for the same,
//! a row for each claim and a column for each quantity.

use super::effects::Grid;
use super::markdown::{Align, Inline, Table};
use crate::decide::{Criterion, Decision, Kind};
use crate::prereg::Prereg;
use crate::vocab::Finding;
use std::fmt;

/// From this many on, the claims of a kind stand in a grid.
pub(super) const MANY: usize = 5;

/// What leads to a verdict, laid out for a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// A row for each hypothesis or guard, where there are many.
    pub grids: Vec<Grid>,
    /// All others, one by one.
    pub lines: Vec<Criterion>,
}

/// Lays out the criteria of `decision`.
pub fn criteria(prereg: &Prereg, decision: &Decision) -> Criteria {
    let mut laid = Criteria { grids: Vec::new(), lines: decision.table(prereg) };
    for (kind, title, judged) in
        [(Kind::Hypothesis, "hypothesis", &decision.hypotheses), (Kind::Guard, "guard", &decision.guards)]
    {
        if judged.len() < MANY {
            continue;
        }
        let of_kind = |it: &Criterion| it.subject.as_ref().is_some_and(|(that, _)| *that == kind);
        let (many, rest) = laid.lines.into_iter().partition(of_kind);
        laid.lines = rest;
        let findings: Vec<_> = judged.iter().map(|it| (it.name(), it.finding_word())).collect();
        laid.grids.push(grid(title, &many, &findings));
    }
    laid
}

/// The mark of a line in a table of criteria.
pub fn mark(finding: Finding) -> &'static str {
    match finding {
        Finding::Supported => "✓ pass",
        Finding::Refuted => "✗ fail",
        Finding::Undecided => "? open",
    }
}

fn subject(it: &Criterion) -> &str {
    it.subject.as_ref().map_or("", |(_, name)| name)
}

/// Different values in the order in which they come first.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Criteria of many subjects: a row for each of these, a column for each quantity. A threshold that is the same for all
/// stands in the head of its column. What was found of the subject may be less than its criteria say: blocks that depend on each other
/// leave it undecided.
fn grid(title: &str, criteria: &[Criterion], findings: &[(String, &str)]) -> Grid {
    let quantities = distinct(criteria.iter().map(|it| it.quantity.as_str()));
    let shared: Vec<Option<&str>> = quantities
        .iter()
        .map(|quantity| {
            let mut of =
                criteria.iter().filter(|it| it.quantity == *quantity).map(|it| it.threshold.as_str());
            let first = of.next()?;
            of.all(|it| it == first).then_some(first)
        })
        .collect();
    let mut columns = vec![title.to_owned(), "finding".to_owned()];
    columns.extend(quantities.iter().zip(&shared).map(|(quantity, shared)| match shared {
        Some(threshold) => format!("{quantity}, {threshold}"),
        None => (*quantity).to_owned(),
    }));
    let mut rows = Vec::new();
    for name in distinct(criteria.iter().map(subject)) {
        let word = findings.iter().find(|(subject, _)| subject == name).map_or("", |(_, word)| word);
        let mut row = vec![name.to_owned(), word.to_owned()];
        for (quantity, shared) in quantities.iter().zip(&shared) {
            let found = criteria.iter().find(|it| subject(it) == name && it.quantity == *quantity);
            row.push(found.map_or_else(String::new, |it| {
                let sign = mark(it.finding).split(' ').next().unwrap_or_default();
                match shared {
                    Some(_) => format!("{sign} {}", it.result),
                    None => format!("{sign} {}, asked {}", it.result, it.threshold),
                }
            }));
        }
        rows.push(row);
    }
    Grid { name: title.to_owned(), columns, rows }
}

impl fmt::Display for Criteria {
    /// The tables as they stand in a ledger.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for grid in &self.grids {
            writeln!(f, "{}", grid.table())?;
        }
        let mut table = Table::new([
            ("criterion", Align::Left),
            ("threshold", Align::Left),
            ("result", Align::Left),
            ("", Align::Left),
        ]);
        for it in &self.lines {
            table.row([
                it.name().into(),
                it.threshold.as_str().into(),
                it.result.as_str().into(),
                // On one line, however wide the others are.
                Inline::markdown(&mark(it.finding).replace(' ', "&nbsp;")),
            ]);
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_every_criterion_once() {
        let one = |subject: &str, quantity: &str, threshold: &str, result: &str, finding| Criterion {
            subject: Some((Kind::Hypothesis, subject.to_owned())),
            quantity: quantity.to_owned(),
            threshold: threshold.to_owned(),
            result: result.to_owned(),
            finding,
        };
        let criteria = [
            one("a", "gain", "> 0 %", "+2 %", Finding::Supported),
            one("a", "p", "< 0.05", "0.01", Finding::Supported),
            one("b", "gain", "> 5 %", "+3 %", Finding::Refuted),
            // A fact has no p.
            one("c", "gain", "> 0 %", "0 %", Finding::Undecided),
        ];
        let grid =
            grid("hypothesis", &criteria, &[("a".to_owned(), "undecided"), ("b".to_owned(), "refuted")]);
        assert_eq!(grid.columns, ["hypothesis", "finding", "gain", "p, < 0.05"]);
        assert_eq!(
            grid.rows,
            [
                ["a", "undecided", "✓ +2 %, asked > 0 %", "✓ 0.01"],
                ["b", "refuted", "✗ +3 %, asked > 5 %", ""],
                ["c", "", "? 0 %, asked > 0 %", ""],
            ]
        );
    }
}
