//! Claims about Welch's t-test.

use crate::audit::finding::{Confidence, Finding};
use crate::audit::frame::{Frame, Pair};
use crate::stats::{TTest, welch_of_moments};

const NAME: &str = "Welch's t-test";

pub(super) fn t(frame: &mut Frame<'_>) -> Finding {
    let sign = if frame.claim.reversed { -1.0 } else { 1.0 };
    of(frame, move |it| sign * it.t)
}

pub(super) fn df(frame: &mut Frame<'_>) -> Finding {
    of(frame, |it| it.df)
}

pub(super) fn p(frame: &mut Frame<'_>) -> Finding {
    of(frame, |it| it.p.two_sided.value())
}

fn of(frame: &mut Frame<'_>, which: impl Fn(TTest) -> f64) -> Finding {
    let arms = (frame.one("treatment"), frame.one("control"));
    let Some(pair) = frame.pair(arms) else { return frame.cannot(NAME) };
    let reach = frame.reach(|values| test(pair, values).map(&which));
    let mut finding = frame.judged(NAME, "", reach);
    details(frame, pair, &mut finding, frame.claim.kind.id);
    finding
}

/// The test at these values.
pub(super) fn test(pair: Pair, values: &[f64]) -> Option<TTest> {
    let (treatment, control) = pair.moments(values)?;
    welch_of_moments(&treatment, &control).ok()?.test
}

/// What the test says at the printed values, but for what is asked for already.
pub(super) fn details(frame: &Frame<'_>, pair: Pair, finding: &mut Finding, asked: &str) {
    let Some(test) = frame.at(|values| test(pair, values)) else { return };
    for (kind, label, value) in
        [("welch-t", "t", test.t), ("welch-df", "df", test.df), ("welch-p", "p", test.p.two_sided.value())]
    {
        if kind != asked {
            finding.detail(label, value);
        }
    }
}

/// The interval of the difference of the means, treatment minus control.
pub(super) fn interval(frame: &Frame<'_>, pair: Pair) -> Option<Confidence> {
    let (treatment, control) = frame.at(|values| pair.moments(values))?;
    let level = frame.claim.level;
    let it = welch_of_moments(&treatment, &control).ok()?.interval(level).ok()??;
    Some(Confidence { low: it.lower, high: it.upper, level })
}
