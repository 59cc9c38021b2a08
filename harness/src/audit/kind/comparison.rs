//! Claims that treatments are better, worse, different, or not better than a control.

use super::welch;
use crate::audit::claimed::{Claimed, Limit};
use crate::audit::finding::{Computed, Finding};
use crate::audit::frame::Frame;
use crate::audit::verdict::{Verdict, of_limit};
use crate::stats::effect_size_of_moments;

pub(super) const WORDS: &[&str] = &["better", "worse", "different", "not better"];

pub(super) fn check(frame: &mut Frame<'_>) -> Finding {
    let Claimed::Word(word) = &frame.claim.claimed else { return frame.cannot("") };
    if word == "not better" { not_better(frame) } else { by_test(frame, word) }
}

/// By the means: a test that finds no difference does not show that there is none.
fn not_better(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "gain of the means in percent, at most 0";
    let mut results = Vec::new();
    let mut finding = Finding::new(NAME, Verdict::CannotBeChecked);
    for (treatment, control) in frame.pairs() {
        frame.next_row();
        let better = frame.better(control);
        let unit = frame.unit(control);
        let slots = (frame.mean(treatment, unit), frame.mean(control, unit));
        if let (Some(a), Some(b)) = slots
            && let Some(reach) =
                frame.reach(|values| Some(100.0 * better.gain(a.of(values) / b.of(values) - 1.0)))
        {
            results.push(Computed { label: frame.name(treatment).to_owned(), reach });
        }
        if frame.has_moments((treatment, control))
            && let Some(pair) = frame.pair((treatment, control))
        {
            let name = frame.name(treatment);
            if let Some(test) = frame.at(|values| welch::test(pair, values)) {
                finding.detail(format!("t of {name}"), test.t);
                finding.detail(format!("p of {name}"), test.p.two_sided.value());
            }
            if let Some(it) = welch::interval(frame, pair) {
                finding.detail(format!("difference of {name}, lower limit"), it.low);
                finding.detail(format!("difference of {name}, upper limit"), it.high);
            }
        }
    }
    if results.len() < frame.pairs().len() {
        return frame.cannot(NAME);
    }
    let verdict = Verdict::all(results.iter().map(|it| of_limit(Limit::AtMost, 0.0, it.reach)));
    let reason = "by the means alone; that they are equal would need a margin";
    Finding { results, verdict, ..finding.because(reason) }
}

fn by_test(frame: &mut Frame<'_>, word: &str) -> Finding {
    const NAME: &str = "Welch's t-test, two-sided";
    let alpha = frame.claim.alpha;
    let mut finding = Finding::new(NAME, Verdict::CannotBeChecked);
    let mut verdicts = Vec::new();
    for arms in frame.pairs() {
        frame.next_row();
        let better = frame.better(arms.1);
        let Some(pair) = frame.pair(arms) else { continue };
        let p = frame.reach(|values| Some(welch::test(pair, values)?.p.two_sided.value()));
        let gain = frame.reach(|values| {
            let (treatment, control) = pair.moments(values)?;
            Some(better.gain(treatment.difference(&control)))
        });
        let (Some(p), Some(gain)) = (p, gain) else { continue };
        let side = match word {
            "better" => of_limit(Limit::Above, 0.0, gain),
            "worse" => of_limit(Limit::Below, 0.0, gain),
            _ => Verdict::Agrees,
        };
        verdicts.push(Verdict::all([side, of_limit(Limit::Below, alpha, p)]));
        let label = format!("p of {}", frame.name(arms.0));
        finding.results.push(Computed { label, reach: p });
        welch::details(frame, pair, &mut finding, "welch-p");
        let d = frame.at(|values| {
            let (treatment, control) = pair.moments(values)?;
            Some(effect_size_of_moments(&treatment, &control).standardized?.cohens_d)
        });
        if let Some(d) = d {
            finding.detail("d", d);
        }
    }
    if verdicts.len() < frame.pairs().len() {
        return frame.cannot(NAME);
    }
    Finding { verdict: Verdict::all(verdicts), ..finding }
}
