use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "hardware counters", why: "instructions and cache misses tell why a time differs", look };

fn look(it: &Patient) -> Finding {
    match it.kernel.number("proc/sys/kernel/perf_event_paranoid") {
        None => Finding::hidden(),
        Some(level) if level > 2.0 => Finding::unfit(
            format!("not for users (perf_event_paranoid = {level})"),
            "sudo sysctl kernel.perf_event_paranoid=2",
        ),
        Some(level) => Finding::fit(format!("allowed (perf_event_paranoid = {level})")),
    }
}
