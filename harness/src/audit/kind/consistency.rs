//! Claims of a d and a p that must come from the same two samples.

use crate::audit::finding::{Computed, Finding};
use crate::audit::frame::Frame;
use crate::audit::range::Range;
use crate::audit::reach::{Input, Reach};
use crate::audit::verdict::{Verdict, within};
use crate::stats::dist::student_t_sf;

const NAME: &str = "degrees of freedom that d and p imply, which n bounds";

/// At equal n, `|t| = |d| sqrt(n / 2)`; then p implies the degrees of freedom, and these the ratio of the variances,
/// which must lie between 0 and 1: degrees of freedom from n - 1 to 2 n - 2.
pub(super) fn check(frame: &mut Frame<'_>) -> Finding {
    let (treatment, control) = (frame.one("treatment"), frame.one("control"));
    let (first, second) = (frame.n(treatment), frame.n(control));
    let (Some(first), Some(second)) = (first, second) else { return frame.cannot(NAME) };
    let (Some(d), Some(p)) = (&frame.claim.d, frame.claim.p.first()) else { return frame.cannot(NAME) };
    if first != second || first < 2 {
        let _: Option<()> =
            frame.lacking("t follows from d only where both n are the same, and 2 or more".to_owned());
        return frame.cannot(NAME);
    }
    let n = f64::from(first);
    let bounds = Range { low: n - 1.0, high: 2.0 * n - 2.0 };
    let t_of = move |d: f64| d.abs() * (0.5 * n).sqrt();
    let inputs = [Input { value: d.value(), half: d.half() }, Input { value: p.value(), half: p.half() }];
    let Some(df) = Reach::of(&inputs, |it| degrees(t_of(it[0]), it[1], bounds)) else {
        return frame.cannot(NAME);
    };
    // Beyond the bounds the search stops just outside of them.
    let slack = Range { low: bounds.low - 0.5 * OUTSIDE, high: bounds.high + 0.5 * OUTSIDE };
    let verdict = within(slack, df);
    let mut finding = Finding {
        results: vec![Computed { label: "df".to_owned(), reach: df }],
        ..Finding::new(NAME, verdict)
    };
    finding.detail("|t|", t_of(d.value()));
    let unit = frame.unit(control);
    let means = (frame.mean(treatment, unit), frame.mean(control, unit));
    if let (Some(a), Some(b), true) = (means.0, means.1, verdict == Verdict::Agrees)
        && let Some(difference) = frame.at(|values| Some(a.of(values) - b.of(values)))
    {
        let (noisier, other) = deviations(difference / d.value(), df.at / (n - 1.0) - 1.0);
        finding.detail("SD of the noisier arm", noisier);
        finding.detail("SD of the other arm", other);
    }
    let reason = format!("{} to {} degrees of freedom are possible", bounds.low, bounds.high);
    finding.because(reason)
}

/// How far outside of the possible degrees of freedom the search still looks.
const OUTSIDE: f64 = 1e-6;

/// The degrees of freedom at which `t` has the two-sided `p`; just outside of `bounds` when there are none within.
fn degrees(t: f64, p: f64, bounds: Range) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let excess = |df: f64| Some(student_t_sf(t, df).ok()?.ln + std::f64::consts::LN_2 - p.ln());
    let (mut low, mut high) = (bounds.low - OUTSIDE, bounds.high + OUTSIDE);
    // The tail thins out with the degrees of freedom.
    if excess(low)? < 0.0 {
        return Some(low);
    }
    if excess(high)? > 0.0 {
        return Some(high);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if excess(middle)? > 0.0 { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

/// The deviations of two arms, from the pooled one and from `2 r / (1 + r^2)` of the ratio r of their variances.
fn deviations(pooled: f64, k: f64) -> (f64, f64) {
    let k = k.clamp(0.0, 1.0);
    // (1 - sqrt(1 - k^2)) / k without the cancellation.
    let ratio = k / (1.0 + (1.0 - k * k).sqrt());
    let noisier = pooled.abs() * (2.0 / (1.0 + ratio)).sqrt();
    (noisier, noisier * ratio.sqrt())
}
