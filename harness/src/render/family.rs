//! The section of a family of hypotheses: what chance alone would do to it, and what it comes to on the whole.

use super::experiment::RecordedRun;
use super::markdown::{Align, Table, code, prose};
use super::tables::percent;
use crate::decide::{Family, gain_text};
use crate::prereg::Prereg;
use crate::vocab::{Correction, Margin, significant};
use std::fmt::{self, Write};

/// Writes the section; nothing of a single hypothesis.
pub(super) fn write(page: &mut String, prereg: &Prereg, run: &RecordedRun) -> fmt::Result {
    let Some(family) = &run.decision.family else { return Ok(()) };
    writeln!(page, "### Family\n\n{}\n", prose(&by_chance(family)))?;
    if run.decision.overall.is_empty() {
        return Ok(());
    }
    let level = percent(1.0 - prereg.decision.alpha);
    writeln!(
        page,
        "{}\n",
        prose(&format!(
            "On the whole: the geometric mean of the ratios treatment : control over all cells with a hypothesis, each with \
             the same weight, with {level} % intervals over the blocks. Exploratory: nothing is decided by it."
        ))
    )?;
    let mut table = Table::new([
        ("metric", Align::Left),
        ("arms", Align::Left),
        ("cells", Align::Right),
        ("geometric mean of the gain", Align::Left),
    ]);
    for it in &run.decision.overall {
        let gain = match &it.gain {
            // A share has no unit.
            Ok(gain) => match prereg.metric(&it.metric) {
                Some(metric) => gain_text(gain, Margin::Relative(0.0), metric.unit),
                None => String::new(),
            },
            Err(undefined) => undefined.to_string(),
        };
        table.row([
            code(&it.metric),
            format!("{} against {}", it.treatment, it.control).into(),
            it.cells.to_string().into(),
            gain.into(),
        ]);
    }
    writeln!(page, "{table}")
}

fn by_chance(it: &Family) -> String {
    let Family { size, alpha, .. } = it;
    let share = percent(*alpha);
    let corrected = match it.correction {
        Correction::None => "No correction is registered.".to_owned(),
        Correction::Holm => format!(
            "Correction after Holm, as registered, leaves {}; the chance that a single one of them is false is at most {share} %.",
            it.corrected
        ),
        Correction::BenjaminiHochberg => String::new(),
    };
    let registered = if it.correction == Correction::BenjaminiHochberg { ", as registered" } else { "" };
    let sentences = [
        format!(
            "Taken by itself, p < {alpha} holds for {} of {size} hypotheses; if nothing differed anywhere, it would for up to {} by \
             chance ({size} × {alpha}).",
            it.alone,
            significant(it.by_chance(), 2),
        ),
        corrected,
        format!(
            "A false discovery rate of {share} % (Benjamini and Hochberg{registered}) leaves {}, of which up to {} are to be expected \
             to be false.",
            it.discoveries,
            significant(it.false_discoveries(), 2),
        ),
    ];
    sentences.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}
