//! Claims about several rows at once.

use crate::audit::claimed::{Claimed, ClaimedNumber, Limit};
use crate::audit::document::By;
use crate::audit::finding::{Computed, Finding};
use crate::audit::frame::Frame;
use crate::audit::range::Range;
use crate::audit::reach::Reach;
use crate::audit::verdict::{Verdict, of_limit, within};

pub(super) fn exponent(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "ln(y2 / y1) / ln(x2 / x1)";
    let (rows, at) = (frame.all("rows"), &frame.claim.at);
    let mut results = Vec::new();
    for (pair, at) in rows.windows(2).zip(at.windows(2)) {
        frame.next_row();
        let unit = frame.unit(pair[0]);
        let slots = (frame.mean(pair[0], unit), frame.mean(pair[1], unit));
        let (Some(first), Some(second)) = slots else { continue };
        let decades = (at[1] / at[0]).ln();
        let reach = frame.reach(|values| Some((second.of(values) / first.of(values)).ln() / decades));
        if let Some(reach) = reach {
            results.push(Computed { label: format!("{} to {}", at[0], at[1]), reach });
        }
    }
    if results.len() + 1 < rows.len() {
        return frame.cannot(NAME);
    }
    frame.all_judged(NAME, results)
}

pub(super) fn monotone(frame: &mut Frame<'_>) -> Finding {
    let Claimed::Word(word) = &frame.claim.claimed else { return frame.cannot("") };
    let limit = if word == "increasing" { Limit::Above } else { Limit::Below };
    let steps = if frame.claim.claims.is_empty() { steps_of_rows(frame) } else { steps_of_claims(frame) };
    let name = if frame.claim.claims.is_empty() {
        "step from row to row, in percent"
    } else {
        match frame.claim.by {
            By::Claimed => "step from claim to claim, as claimed",
            By::Recomputed => "step from claim to claim, recomputed",
        }
    };
    let Some(results) = steps else { return frame.cannot(name) };
    let verdict = Verdict::all(results.iter().map(|it| of_limit(limit, 0.0, it.reach)));
    Finding { results, ..Finding::new(name, verdict) }
}

fn steps_of_rows(frame: &mut Frame<'_>) -> Option<Vec<Computed>> {
    let mut steps = Vec::new();
    for pair in frame.all("rows").windows(2) {
        frame.next_row();
        let unit = frame.unit(pair[0]);
        let (first, second) = (frame.mean(pair[0], unit), frame.mean(pair[1], unit));
        let (first, second) = (first?, second?);
        let reach = frame.reach(|values| Some(100.0 * (second.of(values) / first.of(values) - 1.0)))?;
        let label = format!("{} to {}", frame.name(pair[0]), frame.name(pair[1]));
        steps.push(Computed { label, reach });
    }
    Some(steps)
}

fn steps_of_claims(frame: &mut Frame<'_>) -> Option<Vec<Computed>> {
    let mut steps = Vec::new();
    for pair in frame.claim.claims.windows(2) {
        let (first, second) = (size(frame, pair[0]), size(frame, pair[1]));
        let (first, second) = (first?, second?);
        let reach = Reach { at: second.at - first.at, range: second.range.minus(first.range) };
        let [from, to] = [pair[0], pair[1]].map(|it| frame.document.claims[it].id.as_str());
        steps.push(Computed { label: format!("{from} to {to}"), reach });
    }
    Some(steps)
}

/// The number of another claim, without its sign.
fn size(frame: &mut Frame<'_>, place: usize) -> Option<Reach> {
    let claim = &frame.document.claims[place];
    let found = match frame.claim.by {
        By::Claimed => claimed(&claim.claimed).map(|it| Reach::exact(it.printed.value())),
        By::Recomputed => recomputed(frame, place),
    };
    match found {
        Some(it) => Some(it.size()),
        None => frame.lacking(format!("claim {} has no single number", claim.id)),
    }
}

fn claimed(claimed: &Claimed) -> Option<&ClaimedNumber> {
    match claimed {
        Claimed::Number(it) => Some(it),
        Claimed::Limit(..) | Claimed::Range(..) | Claimed::Word(_) => None,
    }
}

fn recomputed(frame: &Frame<'_>, place: usize) -> Option<Reach> {
    match frame.rows.get(place)?.as_ref()?.finding.results.as_slice() {
        [only] => Some(only.reach),
        _ => None,
    }
}

pub(super) fn range(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "least and greatest of the sizes of other claims";
    let Claimed::Range(low, high) = &frame.claim.claimed else { return frame.cannot(NAME) };
    let accepted = Range { low: low.accepted().low, high: high.accepted().high };
    let places = &frame.claim.claims;
    let sizes: Vec<_> = places.iter().map(|it| size(frame, *it)).collect();
    let Some(sizes) = sizes.into_iter().collect::<Option<Vec<_>>>() else { return frame.cannot(NAME) };
    let verdict = Verdict::all(sizes.iter().map(|it| within(accepted, *it)));
    let mut finding = Finding::new(NAME, verdict);
    let order = |a: &&Reach, b: &&Reach| a.at.total_cmp(&b.at);
    if let (Some(least), Some(greatest)) = (sizes.iter().min_by(order), sizes.iter().max_by(order)) {
        finding.results = vec![
            Computed { label: "least".to_owned(), reach: *least },
            Computed { label: "greatest".to_owned(), reach: *greatest },
        ];
    }
    let shown: Vec<f64> = places
        .iter()
        .filter_map(|it| Some(claimed(&frame.document.claims[*it].claimed)?.printed.value().abs()))
        .collect();
    if let (Some(least), Some(greatest)) =
        (shown.iter().copied().reduce(f64::min), shown.iter().copied().reduce(f64::max))
    {
        finding.detail("least as claimed", least);
        finding.detail("greatest as claimed", greatest);
    }
    let bounds = low.printed.value()..=high.printed.value();
    let inside = sizes.iter().filter(|it| bounds.contains(&it.at)).count();
    finding.because(format!(
        "{inside} of {} lie within {} .. {}",
        sizes.len(),
        low.printed.text(),
        high.printed.text()
    ))
}
