use std::time::{Duration, Instant};

/// The load average of the last minute; `None` where the system does not keep one.
pub fn load_average() -> Option<f64> {
    sysinfo::System::load_average().ok().map(|it| it.one)
}

/// Waits until the load average is at most `max`, and returns the last one seen.
///
/// Looks every five seconds, with `pause` in between; gives up after `limit`, or as soon as `pause` says `false`.
pub fn wait_until_quiet(max: f64, limit: Duration, mut pause: impl FnMut(Duration) -> bool) -> Option<f64> {
    let start = Instant::now();
    loop {
        let load = load_average()?;
        if load <= max || start.elapsed() >= limit || !pause(Duration::from_secs(5)) {
            return Some(load);
        }
    }
}
