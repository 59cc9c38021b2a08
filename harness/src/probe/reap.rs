use super::Usage;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Waits for the end of the child `pid` and takes what the kernel accounted to it; [`Usage::wall_ns`] is left 0.
///
/// # Errors
/// Those of `wait4`: foremost that it is no child of this process, or was waited for already.
pub fn reap(pid: u32) -> io::Result<(ExitStatus, Usage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: `rusage` is a structure of integers, of which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to locals of the types that `wait4` fills, and outlive the call. A wrong size or
        // layout would be seen by `the_usage_is_that_of_this_child`.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let count = |it: libc::c_long| u64::try_from(it).unwrap_or(0);
    let micros = |it: libc::timeval| {
        let seconds = u64::try_from(it.tv_sec).unwrap_or(0);
        seconds * 1_000_000 + u64::try_from(it.tv_usec).unwrap_or(0)
    };
    // Linux counts in KiB, the BSDs and macOS in bytes.
    let rss_unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let usage = Usage {
        wall_ns: 0,
        user_us: micros(usage.ru_utime),
        system_us: micros(usage.ru_stime),
        peak_rss: count(usage.ru_maxrss) * rss_unit,
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
    };
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    #[expect(clippy::zombie_processes, reason = "`reap` is what waits for them")]
    fn the_usage_is_that_of_this_child() {
        // A busy child first: nothing of it may be in what is read of the idle one.
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 7";
        let busy = Command::new("sh").args(["-c", spin]).spawn().unwrap();
        let (status, busy) = reap(busy.id()).unwrap();
        assert_eq!(status.code(), Some(7));
        let idle = Command::new("sleep").arg("0.05").spawn().unwrap();
        let (status, idle) = reap(idle.id()).unwrap();
        assert!(status.success());
        assert!(busy.user_us > 10 * idle.user_us, "{busy:?} {idle:?}");
        assert!(
            idle.voluntary_switches >= 1 && idle.minor_faults >= 10 && idle.major_faults < 1000,
            "{idle:?}"
        );
        assert!((100 << 10..4 << 30).contains(&idle.peak_rss), "{idle:?}");
    }

    #[test]
    fn a_process_that_is_no_child_is_an_error() {
        assert_eq!(reap(1).unwrap_err().raw_os_error(), Some(libc::ECHILD));
        assert!(reap(u32::MAX).is_err());
    }
}
