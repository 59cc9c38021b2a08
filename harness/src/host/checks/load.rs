use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "load", why: "what else runs takes turns with what is measured", look };

fn look(it: &Patient) -> Finding {
    let Some(load) = it.kernel.load() else { return Finding::hidden() };
    let cores = it.kernel.processors().len().max(1);
    let found = format!("{load:.2} on {cores} processors");
    // One processor is for the sample that is made.
    if load <= 0.5 * cores as f64 {
        Finding::fit(found)
    } else {
        Finding::unfit(
            found,
            "end what else is running; `[environment] max_load` refuses runs on a busy host",
        )
    }
}
