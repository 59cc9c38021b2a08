use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check = Check {
    name: "address layout",
    why: "where code and stack lie differs from process to process, and timings with it",
    look,
};

fn look(it: &Patient) -> Finding {
    match it.kernel.read("proc/sys/kernel/randomize_va_space").as_deref() {
        None => Finding::hidden(),
        // Fixed addresses would turn the luck of one layout into a difference between arms.
        Some("0") => Finding::unfit(
            "fixed: every process has the same luck",
            "sudo sysctl kernel.randomize_va_space=2, and `process = \"per-block\"` to average over layouts",
        ),
        Some(_) => Finding::fit("random; `process = \"per-block\"` averages over layouts"),
    }
}
