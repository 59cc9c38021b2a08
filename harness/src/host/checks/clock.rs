use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "clock", why: "what it cannot tell apart is no difference", look };

/// Nanoseconds.
const COARSE: u64 = 1_000;

fn look(it: &Patient) -> Finding {
    let source = it.kernel.read("sys/devices/system/clocksource/clocksource0/current_clocksource");
    let found =
        format!("{}, steps of {} ns", source.as_deref().unwrap_or("of unknown source"), it.clock_step);
    match source.as_deref() {
        _ if it.clock_step > COARSE => {
            Finding::unfit(found, "let a sample repeat its work until it takes 1,000 steps")
        }
        // They are read through slow ports or the hypervisor.
        Some("hpet" | "acpi_pm" | "jiffies" | "refined-jiffies") => Finding::unfit(
            found,
            "boot with clocksource=tsc if the processor's counter is stable (dmesg tells)",
        ),
        Some(_) => Finding::fit(found),
        None => Finding { found, ..Finding::hidden() },
    }
}
