//! The section of a factorial: its means, its effects, and whether they add up.

use super::effects::{adds_up, cell_means, effects};
use super::experiment::RecordedRun;
use super::figures::{Figure, claimed_first};
use super::markdown::{escape, image, prose};
use crate::decide::Effects;
use crate::prereg::{Factorial, Prereg};
use std::fmt::{self, Write};

/// Writes the section; nothing without factors.
pub(super) fn write(
    page: &mut String,
    prereg: &Prereg,
    run: &RecordedRun,
    figures: &[Figure],
) -> fmt::Result {
    let Some(factorial) = &prereg.factors else { return Ok(()) };
    writeln!(page, "### Factorial\n")?;
    writeln!(
        page,
        "Effects are differences of means, made block by block of the arms on each side and compared by Welch's t; shares \
         have intervals by Fieller's method. p-values and intervals of main effects and interactions are corrected as one \
         family for each metric and cell, whatever is registered of them. A gain is positive where it is better; an interaction \
         is what its factors give beyond what fewer of them add up to.\n"
    )?;
    let metrics = claimed_first(prereg);
    let (shown, folded) = metrics.split_at(metrics.len().min(1));
    for metric in shown {
        of_metric(page, factorial, run, figures, &metric.name)?;
    }
    if !folded.is_empty() {
        writeln!(page, "<details><summary>Factorial of the other metrics</summary>\n")?;
        for metric in folded {
            of_metric(page, factorial, run, figures, &metric.name)?;
        }
        writeln!(page, "</details>\n")?;
    }
    Ok(())
}

fn of_metric(
    page: &mut String,
    factorial: &Factorial,
    run: &RecordedRun,
    figures: &[Figure],
    metric: &str,
) -> fmt::Result {
    let file = format!("/interaction-{}.svg", super::markdown::safe_file_name(metric));
    for figure in figures.iter().filter(|it| it.path.ends_with(&file)) {
        writeln!(page, "{}\n", image(&figure.alternative, &format!("../plots/{}", figure.path)))?;
    }
    for it in run.decision.effects.iter().filter(|it| it.metric == metric) {
        of_cell(page, factorial, run, it)?;
    }
    Ok(())
}

fn of_cell(page: &mut String, factorial: &Factorial, run: &RecordedRun, it: &Effects) -> fmt::Result {
    let means = cell_means(factorial, &run.analysis, it);
    writeln!(page, "#### {}\n\n{}", escape(&means.name), means.table())?;
    writeln!(page, "{}", effects(it).table())?;
    match adds_up(it) {
        Some(sentence) => writeln!(page, "{}\n", prose(&sentence)),
        None => Ok(()),
    }
}
