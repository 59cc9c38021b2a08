use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "governor", why: "the frequency follows the load, and samples with it", look };

fn look(it: &Patient) -> Finding {
    let Some(governors) = crate::host::governors(&it.kernel) else { return Finding::hidden() };
    let found = governors.join(", ");
    if governors == ["performance"] {
        Finding::fit(found)
    } else {
        Finding::unfit(found, "sudo cpupower frequency-set --governor performance")
    }
}
