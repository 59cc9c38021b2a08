//! Claims that are plain arithmetic over the quantities they name.

use crate::audit::document::{Reference, Value};
use crate::audit::expr::Expr;
use crate::audit::finding::{Computed, Confidence, Finding};
use crate::audit::frame::{Frame, Operand};
use crate::audit::range::Range;
use crate::audit::reach::Reach;
use crate::stats::welch_of_moments;
use crate::vocab::{Direction, Unit};

pub(super) fn check(frame: &mut Frame<'_>) -> Finding {
    let kind = frame.claim.kind;
    let base = kind.one.last().map_or(0, |key| frame.one(key));
    let text = match frame.better(base) {
        Direction::Lower => kind.formula[0],
        Direction::Higher => kind.formula[1],
    };
    let Ok(expr) = Expr::parse(text) else { return frame.cannot(text) };
    let reference = |name: &String| {
        let (key, value) = Value::split(name)?;
        Some(Reference { quantity: frame.one(key), value })
    };
    let Some(references) = expr.names().iter().map(reference).collect::<Option<Vec<_>>>() else {
        return frame.cannot(text);
    };
    let unit = frame.unit(base);
    let reach = reach(frame, &expr, &references, unit);
    let mut finding = frame.judged(text, "", reach);
    finding.interval = interval(frame);
    finding
}

/// The value of an expression; without bounds where a name may make it undefined.
pub(super) fn reach(
    frame: &mut Frame<'_>,
    expr: &Expr,
    references: &[Reference],
    unit: Option<Unit>,
) -> Option<Reach> {
    let operands: Vec<_> = references.iter().map(|it| frame.value(*it, unit)).collect();
    let operands = operands.into_iter().collect::<Option<Vec<_>>>()?;
    let ranges: Vec<_> = operands
        .iter()
        .map(|it| match it {
            Operand::Slot(slot) => {
                let input = frame.input(*slot);
                Range::around(input.value, input.half)
            }
            Operand::Exact(it) => Range::point(*it),
        })
        .collect();
    let mut reach = frame.reach(|values| {
        let values: Vec<_> = operands.iter().map(|it| it.of(values)).collect();
        Some(expr.at(&values))
    })?;
    // Between the points that were tried there may be a pole.
    if !expr.within(&ranges).is_bounded() {
        reach.range = Range::ANY;
    }
    Some(reach)
}

/// The confidence interval of what two arms give, where spreads and n are printed.
fn interval(frame: &mut Frame<'_>) -> Option<Confidence> {
    let arms = (*frame.all("treatment").first()?, *frame.all("control").first()?);
    if !frame.has_moments(arms) {
        return None;
    }
    let level = frame.claim.level;
    let lower = frame.better(arms.1) == Direction::Lower;
    let pair = frame.pair(arms)?;
    if frame.claim.kind.id == "difference" {
        let (treatment, control) = frame.at(|values| pair.moments(values))?;
        let it = welch_of_moments(&treatment, &control).ok()?.interval(level).ok()??;
        return Some(Confidence { low: it.lower, high: it.upper, level });
    }
    // Each is a function of the relative change that goes one way.
    let of_change: fn(f64) -> f64 = match frame.claim.kind.id {
        "percent-change" => |it| 100.0 * it,
        "percent-reduction" => |it| -100.0 * it,
        "ratio" => |it| 1.0 + it,
        "speedup" if lower => |it| (1.0 + it).recip(),
        "speedup" => |it| 1.0 + it,
        "rate-gain" if lower => |it| 100.0 * ((1.0 + it).recip() - 1.0),
        "rate-gain" => |it| 100.0 * it,
        _ => return None,
    };
    let (a, b) = frame.at(|values| pair.change(values, level))?;
    if a <= -1.0 {
        return None;
    }
    let (a, b) = (of_change(a), of_change(b));
    Some(Confidence { low: a.min(b), high: a.max(b), level })
}

/// Results of several expressions, each with its text.
pub(super) fn each(frame: &mut Frame<'_>) -> Option<Vec<Computed>> {
    let mut results = Vec::new();
    let alone = frame.claim.expressions.len() == 1;
    let mut whole = true;
    for (expr, references) in &frame.claim.expressions {
        frame.next_row();
        match reach(frame, expr, references, None) {
            Some(reach) => {
                let label = if alone { String::new() } else { expr.to_string() };
                results.push(Computed { label, reach });
            }
            None => whole = false,
        }
    }
    whole.then_some(results)
}
