use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "pressure", why: "tasks wait for a processor, for memory or for the disk", look };

fn look(it: &Patient) -> Finding {
    let all = ["cpu", "memory", "io"].map(|name| Some((name, it.kernel.pressure(name)?)));
    let known: Vec<(&str, f64)> = all.into_iter().flatten().collect();
    if known.is_empty() {
        return Finding::hidden();
    }
    let shown: Vec<String> =
        known.iter().map(|(name, share)| format!("{name} {:.1} %", share * 100.0)).collect();
    let found = format!("{} of the last 10 s", shown.join(", "));
    if known.iter().all(|(_, share)| *share < 0.05) {
        Finding::fit(found)
    } else {
        Finding::unfit(found, "end what competes; `[environment] max_pressure` refuses runs under pressure")
    }
}
