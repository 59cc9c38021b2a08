use super::{Decision, Judged};
use crate::prereg::{Prereg, Thresholds};
use crate::vocab::{Claim, Finding, Labels, Margin, Verdict};

/// How the experiment spells a verdict, without what led to it: a STRONG GO is a GO, and what is NEUTRAL is a NO-GO or
/// INCONCLUSIVE.
pub fn spelling(prereg: &Prereg, verdict: Verdict) -> &'static str {
    match (prereg.decision.labels, verdict) {
        (Labels::AcceptReject, Verdict::Accept) => "ACCEPT",
        (Labels::AcceptReject, Verdict::Reject) => "REJECT",
        (Labels::GoNogo, Verdict::Accept) => "GO",
        (Labels::GoNogo, Verdict::Reject) => "NO-GO",
        (_, Verdict::Inconclusive) => "INCONCLUSIVE",
        (_, Verdict::Invalid) => "INVALID",
        (_, Verdict::Recorded) => "RECORDED",
    }
}

/// The label of a decision: the spelling of its verdict, or STRONG GO or NEUTRAL.
///
/// | label | when |
/// |---|---|
/// | STRONG GO | ACCEPT, and the interval of the gain of every superiority claim lies above `strong_go` |
/// | GO | any other ACCEPT |
/// | NEUTRAL | REJECT or INCONCLUSIVE, every guard held and every other claim supported, and the whole interval of each superiority claim that is not supported lies within `neutral` of zero |
/// | NO-GO | any other REJECT |
/// | INCONCLUSIVE | otherwise |
///
/// Only relative gains of a control count for STRONG GO and NEUTRAL; what is not shown to be small is not NEUTRAL.
pub fn label(prereg: &Prereg, decision: &Decision) -> &'static str {
    let spelled = spelling(prereg, decision.verdict);
    let Some(thresholds) = prereg.decision.thresholds else { return spelled };
    match decision.verdict {
        Verdict::Accept if is_strong(decision, &thresholds) => "STRONG GO",
        Verdict::Reject | Verdict::Inconclusive if is_neutral(decision, &thresholds) => "NEUTRAL",
        _ => spelled,
    }
}

fn is_strong(decision: &Decision, thresholds: &Thresholds) -> bool {
    let mut claims = decision.hypotheses.iter().filter(|it| it.claim == Claim::Superior).peekable();
    claims.peek().is_some() && claims.all(|it| strong(it, thresholds) == Some(Finding::Supported))
}

fn is_neutral(decision: &Decision, thresholds: &Thresholds) -> bool {
    let small =
        |it: &Judged| it.finding == Finding::Supported || neutral(it, thresholds) == Some(Finding::Supported);
    decision.guards.iter().all(|it| it.finding == Finding::Supported) && decision.hypotheses.iter().all(small)
}

/// Whether the gain is one for STRONG GO; `None` of what does not count.
pub(super) fn strong(judged: &Judged, thresholds: &Thresholds) -> Option<Finding> {
    let interval = share(judged)?;
    Some(if interval[0] > thresholds.strong_go {
        Finding::Supported
    } else if interval[1] < thresholds.strong_go {
        Finding::Refuted
    } else {
        Finding::Undecided
    })
}

/// Whether the gain is too small to matter either way; `None` of what does not count.
pub(super) fn neutral(judged: &Judged, thresholds: &Thresholds) -> Option<Finding> {
    let ([low, high], band) = (share(judged)?, thresholds.neutral);
    Some(if low >= -band && high <= band {
        Finding::Supported
    } else if low > band || high < -band {
        Finding::Refuted
    } else {
        Finding::Undecided
    })
}

/// The interval of a claimed gain that is a share of the control.
fn share(judged: &Judged) -> Option<[f64; 2]> {
    let counts = judged.claim == Claim::Superior
        && matches!(judged.counted, Margin::Relative(_))
        && judged.comparison.additivity.is_none();
    let gain = judged.gain.as_ref().ok().filter(|_| counts)?;
    Some([gain.interval.lower, gain.interval.upper])
}
