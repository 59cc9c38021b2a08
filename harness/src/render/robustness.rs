use super::markdown::{Align, Table, escape};
use super::tables::{between, p, percent};
use crate::decide::Judged;
use crate::stats::PanelAnswer;
use crate::stats::panel::Meaning;
use crate::vocab::{Unit, minus, significant, with_interval};
use std::fmt::{self, Write};

/// What the methods of the panel say of one hypothesis, and how many agree.
pub(super) fn write(page: &mut String, judged: &Judged) -> fmt::Result {
    let Some((robustness, panel)) = judged.robustness.as_ref().and_then(|it| Some((it, it.panel()?))) else {
        return Ok(());
    };
    let (agree, of) = robustness.agreement();
    let options = &panel.options;
    writeln!(
        page,
        "Robustness: **{agree} of {of} methods agree** with \u{201c}{}\u{201d}, each on its own at {}; {} resamples, seed {}.\n",
        escape(&robustness.claimed()),
        robustness.level(),
        options.resamples,
        options.seed,
    )?;
    let interval = format!("{} % interval", percent(1.0 - options.alpha));
    let mut table = Table::new([
        ("method", Align::Left),
        ("estimate", Align::Right),
        (interval.as_str(), Align::Left),
        ("p", Align::Right),
        ("answer", Align::Left),
    ]);
    for (it, vote) in robustness.votes() {
        let [estimate, interval] = numbers(it, judged.comparison.unit);
        table.row([
            it.label.into(),
            estimate.into(),
            interval.into(),
            it.p.map(p).unwrap_or_default().into(),
            robustness.word(vote).into(),
        ]);
    }
    // Eleven rows for each claim.
    writeln!(page, "{table:#}")
}

/// The estimate and its interval; empty where there is none.
fn numbers(it: &PanelAnswer, unit: Unit) -> [String; 2] {
    let Some(estimate) = it.estimate else { return [String::new(), String::new()] };
    let (factor, name) = match it.meaning {
        Meaning::Difference => {
            let interval = it.interval.map(|it| minus(between(unit, it.lower, it.upper)));
            return [minus(unit.show(estimate)), interval.unwrap_or_default()];
        }
        Meaning::RelativeChange => (100.0, " %"),
        Meaning::Superiority => (1.0, ""),
    };
    match it.interval {
        Some(it) => {
            let [value, low, high] = match name {
                "" => [estimate, it.lower, it.upper].map(|it| minus(format!("{it:.3}"))),
                _ => with_interval(estimate * factor, it.lower * factor, it.upper * factor),
            };
            [format!("{value}{name}"), format!("{low} to {high}{name}")]
        }
        None => [minus(format!("{}{name}", significant(estimate * factor, 3))), String::new()],
    }
}
