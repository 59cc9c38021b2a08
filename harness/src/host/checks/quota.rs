use crate::host::doctor::{Check, Finding, Patient};

pub(super) const CHECK: Check = Check {
    name: "processor quota",
    why: "a group that has used up its share is stopped for the rest of the period",
    look,
};

fn look(it: &Patient) -> Finding {
    let advice = "run it in a group without a quota, or give it whole processors (cpuset)";
    let groups = it.kernel.read("proc/self/cgroup");
    let mut seen = false;
    for line in groups.iter().flat_map(|it| it.lines()) {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            seen = true;
            // The limits of all groups above hold as well; the root has none.
            let mut folder = path.trim_matches('/');
            loop {
                let text = it.kernel.read(format!("sys/fs/cgroup/{folder}/cpu.max"));
                if let Some(text) = text.filter(|it| !it.starts_with("max")) {
                    return Finding::unfit(format!("{text} µs (quota, period)"), advice);
                }
                match folder.rsplit_once('/') {
                    Some((above, _)) => folder = above,
                    None if folder.is_empty() => break,
                    None => folder = "",
                }
            }
        } else if controllers.split(',').any(|it| it == "cpu") {
            seen = true;
            let path = format!("sys/fs/cgroup/cpu/{}/cpu.cfs_quota_us", path.trim_matches('/'));
            if let Some(quota) = it.kernel.number(path).filter(|it| *it > 0.0) {
                return Finding::unfit(format!("{quota} µs in each period"), advice);
            }
        }
    }
    if seen { Finding::fit("none") } else { Finding::hidden() }
}
