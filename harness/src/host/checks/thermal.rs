use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "heat", why: "a processor that is too hot is slowed down", look };

fn look(it: &Patient) -> Finding {
    match it.after.throttled_since(&it.before) {
        None => Finding::hidden(),
        Some(0) => Finding::fit("not slowed down in the last second"),
        Some(times) => Finding::unfit(
            format!("slowed down {times} times in the last second"),
            "let it cool down, or lower its frequency: sudo cpupower frequency-set --max",
        ),
    }
}
