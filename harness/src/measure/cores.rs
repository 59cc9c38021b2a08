//! Two cores for two arms that run at once.

use std::io;

/// Two processors that this process may use, of different cores if there are such; `None` where there are fewer than two, or
/// where processes cannot be bound to any.
#[cfg(target_os = "linux")]
pub fn two_cores() -> Option<[usize; 2]> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let allowed = sched_getaffinity(None).ok()?;
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|it| allowed.is_set(*it)).collect();
    let [first, rest @ ..] = allowed.as_slice() else { return None };
    let siblings = siblings(*first);
    let other = rest.iter().find(|it| !siblings.contains(it)).or(rest.first());
    Some([*first, *other?])
}

/// Processors that are one core with this one, as far as the kernel says.
#[cfg(target_os = "linux")]
fn siblings(processor: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let ranges = text.trim().split(',').filter_map(|it| {
        let (from, to) = it.split_once('-').unwrap_or((it, it));
        Some(from.parse::<usize>().ok()?..=to.parse::<usize>().ok()?)
    });
    ranges.flatten().collect()
}

/// Binds every thread that a process has now, and so all that they start, to one processor.
#[cfg(target_os = "linux")]
pub(super) fn bind(process: u32, processor: usize) -> io::Result<()> {
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    set.set(processor);
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let id = task?.file_name().to_str().and_then(|it| it.parse().ok()).and_then(Pid::from_raw);
        match sched_setaffinity(id, &set) {
            // A thread that has ended since needs no processor.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn two_cores() -> Option<[usize; 2]> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bind(_: u32, _: usize) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_bound_to_the_processor_that_was_asked_for() {
        let Some(cores) = two_cores() else { return };
        assert_ne!(cores[0], cores[1]);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        for core in cores {
            bind(child.id(), core).unwrap();
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            assert!(status.contains(&format!("Cpus_allowed_list:\t{core}\n")), "{status}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
