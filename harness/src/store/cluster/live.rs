//! Which processes serve a data directory.
//!
//! A process id in `postmaster.pid` proves nothing: it may belong to somebody else by now, or to a zombie that
//! nobody has waited for. Every process of a server has the data directory as its working directory, and a
//! zombie has none.

use std::path::Path;

/// The processes that work in `data`.
#[cfg(target_os = "linux")]
pub(super) fn processes(data: &Path) -> Vec<i32> {
    let Ok(data) = data.canonicalize() else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| works_in(*pid, &data))
        .collect()
}

#[cfg(target_os = "linux")]
fn works_in(pid: i32, data: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data)
}

/// The process named by `postmaster.pid`, when there is one of that number.
#[cfg(not(target_os = "linux"))]
pub(super) fn processes(data: &Path) -> Vec<i32> {
    let alive = |pid: &i32| {
        rustix::process::Pid::from_raw(*pid).is_some_and(|it| rustix::process::test_kill_process(it).is_ok())
    };
    postmaster(data).filter(alive).into_iter().collect()
}

/// Those of `pids` that still work in `data`.
pub(super) fn remaining(pids: &[i32], data: &Path) -> Vec<i32> {
    #[cfg(target_os = "linux")]
    {
        let Ok(data) = data.canonicalize() else { return Vec::new() };
        pids.iter().copied().filter(|pid| works_in(*pid, &data)).collect()
    }
    #[cfg(not(target_os = "linux"))]
    {
        processes(data).into_iter().filter(|pid| pids.contains(pid)).collect()
    }
}

/// The process id in `postmaster.pid`, alive or not.
pub(super) fn postmaster(data: &Path) -> Option<i32> {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok().filter(|pid| *pid > 1)
}
