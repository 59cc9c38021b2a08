//! Claims about ranks and about families of p-values.

use crate::audit::claimed::Claimed;
use crate::audit::finding::{Computed, Finding};
use crate::audit::frame::Frame;
use crate::audit::reach::{Input, Reach};
use crate::audit::verdict::Verdict;
use crate::stats::dist::normal_sf;
use crate::stats::{Correction, PValue, mann_whitney_smallest_p};

/// A delta says how often one arm is above the other, and so gives U.
pub(super) fn cliffs_delta(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "p of the Mann-Whitney test at U = n m (1 - |delta|) / 2, continuity corrected";
    let (treatment, control) = (frame.one("treatment"), frame.one("control"));
    let (n, m) = (frame.n(treatment), frame.n(control));
    let (Some(n), Some(m), Claimed::Number(delta)) = (n, m, &frame.claim.claimed) else {
        return frame.cannot(NAME);
    };
    let delta = delta.printed.value();
    if delta.abs() > 1.0 {
        return Finding::new(NAME, Verdict::DoesNotFollow).because("a delta lies between -1 and 1");
    }
    let pairs = f64::from(n) * f64::from(m);
    let excess = (0.5 * pairs * delta.abs() - 0.5).max(0.0);
    let sigma = (pairs * (f64::from(n) + f64::from(m) + 1.0) / 12.0).sqrt();
    let p = (2.0 * normal_sf(excess / sigma).value).min(1.0);
    let verdict = if p < frame.claim.alpha { Verdict::Agrees } else { Verdict::DoesNotFollow };
    let mut finding = Finding::new(NAME, verdict);
    finding.results = vec![Computed { label: "p".to_owned(), reach: Reach::exact(p) }];
    finding.detail("U", 0.5 * pairs * (1.0 - delta.abs()));
    // The exact one takes as many steps as there are observations.
    if delta.abs() == 1.0
        && n.max(m) <= 100_000
        && let Ok(exact) = mann_whitney_smallest_p(n as usize, m as usize)
    {
        finding.detail("exact p", exact.value());
    }
    finding
}

pub(super) fn holm(frame: &mut Frame<'_>) -> Finding {
    const NAME: &str = "largest p after Holm's correction";
    let inputs: Vec<Input> =
        frame.claim.p.iter().map(|it| Input { value: it.value(), half: it.half() }).collect();
    let reach = Reach::of(&inputs, |values| {
        let family: Vec<PValue> =
            values.iter().map(|p| PValue::new(p.clamp(0.0, 1.0)).ok()).collect::<Option<_>>()?;
        Correction::Holm.adjust(&family).into_iter().map(PValue::value).reduce(f64::max)
    });
    frame.judged(NAME, "", reach)
}
