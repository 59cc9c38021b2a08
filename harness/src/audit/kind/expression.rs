//! Arithmetic of the claim's own, and words that are none.

use super::formula;
use crate::audit::finding::Finding;
use crate::audit::frame::Frame;
use crate::audit::verdict::Verdict;

pub(super) fn check(frame: &mut Frame<'_>) -> Finding {
    let text = text(frame);
    match formula::each(frame) {
        Some(results) => frame.all_judged(&text, results),
        None => frame.cannot(&text),
    }
}

pub(super) fn wording(frame: &mut Frame<'_>) -> Finding {
    let results = formula::each(frame).unwrap_or_default();
    let mut finding = Finding::new(&text(frame), Verdict::CannotBeChecked)
        .because("it is a matter of words, not of arithmetic");
    for it in results {
        finding.detail(if it.label.is_empty() { "beside it" } else { &it.label }, it.reach.at);
    }
    finding
}

fn text(frame: &Frame<'_>) -> String {
    match frame.claim.expressions.as_slice() {
        [] => "none".to_owned(),
        [(only, _)] => only.to_string(),
        _ => "each of several expressions".to_owned(),
    }
}
