use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check =
    Check { name: "virtualisation", why: "neighbors on the same machine cannot be seen from inside", look };

fn look(it: &Patient) -> Finding {
    let Some(cpu) = it.kernel.read("proc/cpuinfo") else { return Finding::hidden() };
    let flags = cpu.lines().find(|it| it.starts_with("flags") || it.starts_with("Features"));
    let kind = it.kernel.read("sys/hypervisor/type");
    let product = it.kernel.read("sys/class/dmi/id/product_name");
    match (flags, kind) {
        (_, Some(kind)) => unfit(&kind),
        (Some(flags), None) if flags.split_whitespace().any(|it| it == "hypervisor") => {
            unfit(product.as_deref().unwrap_or("a virtual machine"))
        }
        (Some(_), None) => Finding::fit("none"),
        (None, None) => Finding::hidden(),
    }
}

fn unfit(found: &str) -> Finding {
    Finding::unfit(found, "calibrate this host (harness calibrate), and replicate on another one")
}
