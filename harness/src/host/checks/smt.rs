use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "hyper-threads", why: "two threads on one core slow each other down", look };

fn look(it: &Patient) -> Finding {
    match it.kernel.read("sys/devices/system/cpu/smt/active").as_deref() {
        Some("0") => Finding::fit("not active"),
        Some(_) => Finding::unfit(
            "active",
            "leave one thread of each core free (`[environment] pin`), or: echo off | sudo tee \
             /sys/devices/system/cpu/smt/control",
        ),
        None => Finding::hidden(),
    }
}
