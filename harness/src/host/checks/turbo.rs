use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "turbo", why: "its frequency depends on heat and on what other cores do", look };

const INTEL: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const OTHERS: &str = "sys/devices/system/cpu/cpufreq/boost";

fn look(it: &Patient) -> Finding {
    let off = |path: &str, off: &str| Some((path.to_owned(), it.kernel.read(path)? == off));
    match off(INTEL, "1").or_else(|| off(OTHERS, "0")) {
        None => Finding::hidden(),
        Some((_, true)) => Finding::fit("off"),
        Some((path, false)) => {
            let value = if path == INTEL { 1 } else { 0 };
            Finding::unfit("on", format!("echo {value} | sudo tee /{path}"))
        }
    }
}
