use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "swapping", why: "a page that comes from the disk takes milliseconds", look };

fn look(it: &Patient) -> Finding {
    match it.after.swapped_since(&it.before) {
        None => Finding::hidden(),
        Some(0) => Finding::fit("none in the last second"),
        Some(pages) => Finding::unfit(
            format!("{pages} pages in the last second"),
            "free memory, or turn swap off while measuring: sudo swapoff -a",
        ),
    }
}
