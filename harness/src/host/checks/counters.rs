use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "hardware counters", why: "instructions and cache misses tell why a time differs", look };

/// What the kernel permits is not yet what the processor has, so that only counting tells.
fn look(it: &Patient) -> Finding {
    match &it.counting {
        None => Finding::hidden(),
        Some(Ok(())) => Finding::fit("count"),
        Some(Err(missing)) => Finding::unfit(
            format!("do not count: what is missing is {missing}"),
            "without them, `probe = \"instructions\"` counts by Callgrind",
        ),
    }
}
