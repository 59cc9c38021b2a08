use super::criteria::mark;
use super::markdown::{Align, Table, escape};
use super::tables::p;
use crate::decide::{CellLooks, Decision, Judged};
use crate::prereg::{Looks, Prereg, Stopping};
use crate::vocab::{Spending, minus};
use std::fmt::{self, Write};

/// The looks at each cell: boundary and observed statistic of all that is claimed, and where it stopped.
pub(super) fn write(page: &mut String, prereg: &Prereg, decision: &Decision) -> fmt::Result {
    let Some(looks) = &prereg.design.looks else { return Ok(()) };
    writeln!(page, "### Looks\n\n{}\n", explanation(looks))?;
    for cell in &decision.looks {
        let place = if cell.cell.is_empty() { String::new() } else { format!(" at {}", escape(&cell.cell)) };
        let planned: Vec<_> = cell.planned.iter().map(u32::to_string).collect();
        let planned = match planned.as_slice() {
            [first, second, .., last] if planned.len() > 20 => format!("{first}, {second}, … {last}"),
            all => all.join(", "),
        };
        let sentence = cell.sentence();
        writeln!(
            page,
            "Planned{place} after {planned} blocks; {sentence}.\n\n{}",
            table(cell, looks.stopping)
        )?;
    }
    Ok(())
}

/// What is registered, in a sentence of the design.
pub(super) fn registered(looks: &Looks) -> &'static str {
    match looks.stopping {
        Stopping::GroupSequential(Spending::OBrienFleming) => {
            "group-sequential, alpha spent like O'Brien and Fleming"
        }
        Stopping::GroupSequential(Spending::Pocock) => "group-sequential, alpha spent like Pocock",
        Stopping::SignEProcess => "by the sign e-process",
    }
}

fn explanation(looks: &Looks) -> String {
    let how = registered(looks);
    let rest = match looks.stopping {
        Stopping::GroupSequential(_) => {
            "z is that of Welch's t against the margin; beyond the boundary it supports, below its negative it refutes. \
             Intervals are repeated confidence intervals, p-values repeated p-values: valid over all looks together."
        }
        Stopping::SignEProcess => {
            "Evidence is the decimal logarithm of the e-value that the gain within blocks is mostly beyond the margin, or, \
             below zero, mostly short of it. Gains are medians within blocks; intervals and p-values are valid at any time."
        }
    };
    format!(
        "Looked at as registered, {how}. A cell stops when each of its hypotheses and guards is supported or one is \
         refuted. {rest} Gains that stopped a cell early are larger on average than the truth; the intervals allow for it."
    )
}

fn table(cell: &CellLooks, stopping: Stopping) -> Table {
    let (observed, boundary) = match stopping {
        Stopping::GroupSequential(_) => ("z", "boundary"),
        Stopping::SignEProcess => ("evidence", "boundary"),
    };
    let mut table = Table::new([
        ("look", Align::Right),
        ("blocks", Align::Right),
        ("claim", Align::Left),
        (observed, Align::Right),
        (boundary, Align::Right),
        ("gain", Align::Left),
        ("p", Align::Right),
        ("", Align::Left),
    ]);
    // Of a look after every block, the ends tell the story; the plot has all of it.
    let all = cell.looks.len();
    let shown = |index: usize| all <= 20 || index < 2 || index + 5 >= all;
    for (index, look) in cell.looks.iter().enumerate().filter(|(index, _)| shown(*index)) {
        for judged in &look.judged {
            table.row([
                (index + 1).to_string().into(),
                look.blocks.to_string().into(),
                claim(judged).into(),
                number(judged.position.and_then(|it| it.observed)).into(),
                number(judged.position.and_then(|it| it.boundary)).into(),
                judged.gain_text().into(),
                judged.p_adjusted.as_ref().map_or_else(|_| String::new(), |it| p(*it)).into(),
                mark(judged.finding).into(),
            ]);
        }
    }
    table
}

/// The name without the cell, which stands above the table.
fn claim(judged: &Judged) -> String {
    let name = judged.name();
    let cell = format!(" at {}", judged.comparison.cell);
    name.strip_suffix(&cell).map_or(name.clone(), str::to_owned)
}

fn number(it: Option<f64>) -> String {
    it.map_or_else(|| "–".to_owned(), |it| minus(format!("{it:.2}")))
}
