use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "other processes", why: "they take the processor and its caches", look };

/// Of one processor.
const MUCH: f64 = 0.05;

fn look(it: &Patient) -> Finding {
    let Some(busiest) = it.after.busiest_since(&it.before) else { return Finding::hidden() };
    let named: Vec<String> = busiest
        .iter()
        .filter(|(_, share)| *share >= MUCH)
        .take(4)
        .map(|(name, share)| format!("{name} {:.0} %", share * 100.0))
        .collect();
    if named.is_empty() {
        Finding::fit("none that takes 5 % of a processor")
    } else {
        Finding::unfit(named.join(", "), "end them or let them wait: kill -STOP, systemctl stop")
    }
}
