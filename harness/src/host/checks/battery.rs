use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "power supply", why: "on battery, processors are kept slow", look };

const FOLDER: &str = "sys/class/power_supply";

fn look(it: &Patient) -> Finding {
    let file = |name: &str, file: &str| it.kernel.read(format!("{FOLDER}/{name}/{file}"));
    let discharging = it
        .kernel
        .names(FOLDER)
        .into_iter()
        .any(|name| file(&name, "status").is_some_and(|it| it == "Discharging"));
    if discharging {
        Finding::unfit("a battery that discharges", "plug it in")
    } else if it.kernel.names("sys/class").is_empty() {
        Finding::hidden()
    } else {
        Finding::fit("not a battery")
    }
}
