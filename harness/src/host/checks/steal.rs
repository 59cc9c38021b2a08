use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "steal time", why: "the hypervisor gives the processor to other machines", look };

fn look(it: &Patient) -> Finding {
    let Some(share) = it.after.steal_since(&it.before) else { return Finding::hidden() };
    let found = format!("{:.1} % of the last second", share * 100.0);
    if share < 0.01 {
        Finding::fit(found)
    } else {
        Finding::unfit(
            found,
            "take a machine with processors of its own; `[environment.blocks] max_steal` guards each block",
        )
    }
}
