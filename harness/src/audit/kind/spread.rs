//! Claims about what a ± means.

use crate::audit::claimed::Claimed;
use crate::audit::finding::{Computed, Finding};
use crate::audit::frame::Frame;
use crate::audit::range::Range;
use crate::audit::verdict::{Verdict, within};

/// The printed ± by what it is claimed to be: 1 where it is that.
pub(super) fn check(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "printed ± by what it is claimed to be";
    let Claimed::Word(word) = &frame.claim.claimed else { return frame.cannot(NAME) };
    let mut finding = Finding::new(NAME, Verdict::CannotBeChecked);
    let (mut verdicts, mut readings) = (Vec::new(), Vec::new());
    let rows: Vec<_> = frame.all("of").iter().copied().zip(frame.all("against").iter().copied()).collect();
    for (printed, known) in &rows {
        frame.next_row();
        let unit = frame.unit(*printed);
        let slots = (frame.plus_minus(*printed, unit), frame.sd(*known, unit), frame.n(*known));
        let (Some(shown), Some(sd), Some(n)) = slots else { continue };
        let root = f64::from(n).sqrt();
        let by_sd = frame.reach(|values| Some(shown.of(values) / sd.of(values)));
        let by_se = frame.reach(|values| Some(shown.of(values) / (sd.of(values) / root)));
        let (Some(by_sd), Some(by_se)) = (by_sd, by_se) else { continue };
        let one = Range::point(1.0);
        let fits = |it| within(one, it) <= Verdict::WithinRounding;
        let claimed = if word == "sd" { by_sd } else { by_se };
        verdicts.push(within(one, claimed));
        finding.results.push(Computed { label: frame.name(*printed).to_owned(), reach: claimed });
        let reading = match (fits(by_sd), fits(by_se)) {
            (true, false) => "a standard deviation",
            (false, true) => "a standard error",
            (true, true) => "either",
            (false, false) => "neither standard deviation nor standard error",
        };
        readings.push(format!("{} prints {reading}", frame.name(*printed)));
        let known = frame.name(*known);
        if let Some(sd) = frame.at(|values| Some(sd.of(values))) {
            finding.detail(format!("SD of {known}"), sd);
            finding.detail(format!("SE of {known}"), sd / root);
        }
    }
    if verdicts.len() < rows.len() {
        return frame.cannot(NAME);
    }
    Finding { verdict: Verdict::all(verdicts), ..finding }.because(readings.join("; "))
}
