//! Claims about the relative gain, settled by its confidence interval.

use super::welch;
use crate::audit::claimed::{Claimed, Limit};
use crate::audit::finding::{Computed, Confidence, Finding};
use crate::audit::frame::{Frame, Pair};
use crate::audit::reach::Reach;
use crate::audit::verdict::{Verdict, of_limit, within};
use crate::vocab::Direction;

const NAME: &str = "relative gain in percent, Fieller's interval";

/// The ends of the gain's interval, in percent.
fn ends(pair: Pair, better: Direction, values: &[f64], level: f64) -> Option<(f64, f64)> {
    let (low, high) = pair.change(values, level)?;
    let (a, b) = (100.0 * better.gain(low), 100.0 * better.gain(high));
    Some((a.min(b), a.max(b)))
}

fn both_ends(frame: &Frame<'_>, pair: Pair, better: Direction, level: f64) -> Option<(Reach, Reach)> {
    let low = frame.reach(|values| Some(ends(pair, better, values, level)?.0))?;
    let high = frame.reach(|values| Some(ends(pair, better, values, level)?.1))?;
    Some((low, high))
}

pub(super) fn interval(frame: &mut Frame<'_>) -> Finding {
    let arms = (frame.one("treatment"), frame.one("control"));
    let (better, level) = (frame.better(arms.1), frame.claim.level);
    let Some(pair) = frame.pair(arms) else { return frame.cannot(NAME) };
    let (Some((low, high)), Claimed::Range(claimed_low, claimed_high)) =
        (both_ends(frame, pair, better, level), &frame.claim.claimed)
    else {
        return frame.cannot(NAME);
    };
    let verdict = Verdict::all([within(claimed_low.accepted(), low), within(claimed_high.accepted(), high)]);
    let mut finding = Finding::new(NAME, verdict);
    let claimed = claimed_high.printed.value() - claimed_low.printed.value();
    let times = claimed / (high.at - low.at);
    if verdict == Verdict::DoesNotFollow && !(0.5..=2.0).contains(&times) {
        let (factor, word) = if times > 1.0 { (times, "wide") } else { (times.recip(), "narrow") };
        finding.reason = format!("the claimed interval is {factor:.1} times too {word}");
    }
    finding.results = vec![
        Computed { label: "lower".to_owned(), reach: low },
        Computed { label: "upper".to_owned(), reach: high },
    ];
    if let Some(change) = frame.at(|values| Some(pair.ratio(values)?.change)) {
        finding.detail("gain", 100.0 * better.gain(change));
    }
    finding
}

pub(super) fn limit(frame: &mut Frame<'_>) -> Finding {
    let arms = (frame.one("treatment"), frame.one("control"));
    let (better, level) = (frame.better(arms.1), frame.claim.level);
    let Some(pair) = frame.pair(arms) else { return frame.cannot(NAME) };
    let point = frame.reach(|values| Some(100.0 * better.gain(pair.ratio(values)?.change)));
    let (Some(point), Some((low, high)), Claimed::Limit(limit, value)) =
        (point, both_ends(frame, pair, better, level), &frame.claim.claimed)
    else {
        return frame.cannot(NAME);
    };
    let value = value.printed.value();
    let verdict = Verdict::all([of_limit(*limit, value, low), of_limit(*limit, value, high)]);
    let mut finding = Finding {
        results: vec![Computed { label: String::new(), reach: point }],
        interval: Some(Confidence { low: low.at, high: high.at, level }),
        ..Finding::new(NAME, verdict)
    };
    if verdict == Verdict::DoesNotFollow && limit.holds(point.at, value) {
        finding.reason = "the estimate keeps the limit, its interval does not: not established".to_owned();
    }
    welch::details(frame, pair, &mut finding, "");
    finding
}

pub(super) fn no_regression(frame: &mut Frame<'_>) -> Finding {
    let Some(margin) = frame.claim.margin else {
        let _: Option<()> = frame.lacking("there is no margin up to which a loss does not matter".to_owned());
        return frame.cannot("non-inferiority within a margin");
    };
    let name = format!("lower limit of the gain in percent, not below -{margin}");
    // One-sided at alpha.
    let level = 1.0 - 2.0 * frame.claim.alpha;
    let mut results = Vec::new();
    for arms in frame.pairs() {
        frame.next_row();
        let better = frame.better(arms.1);
        if let Some(pair) = frame.pair(arms)
            && let Some((low, _)) = both_ends(frame, pair, better, level)
        {
            results.push(Computed { label: frame.name(arms.0).to_owned(), reach: low });
        }
    }
    if results.len() < frame.pairs().len() {
        return frame.cannot(&name);
    }
    let verdict = Verdict::all(results.iter().map(|it| of_limit(Limit::Above, -margin, it.reach)));
    Finding { results, ..Finding::new(&name, verdict) }
}
