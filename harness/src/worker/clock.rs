use crate::vocab::Clock;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Processor time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at 0 with the thread, so neither part is negative.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// All that is timed, in a function of its own, by whose name Callgrind finds it.
#[inline(never)]
fn timed<T, W: FnOnce() -> T>(work: W) -> T {
    work()
}

/// Runs `work` and returns what it took by `clock`.
pub(super) fn time<T>(clock: Clock, work: impl FnOnce() -> T) -> (Duration, T) {
    match clock {
        Clock::Wall => {
            let start = Instant::now();
            let result = timed(work);
            (start.elapsed(), result)
        }
        Clock::ThreadCpu => {
            let start = thread_cpu();
            let result = timed(work);
            (thread_cpu().saturating_sub(start), result)
        }
    }
}

#[cfg(test)]
mod tests {
    /// The driver looks for it by this name.
    #[test]
    fn what_is_timed_keeps_its_name() {
        let name = std::any::type_name_of_val(&super::timed::<(), fn()>);
        assert!(name.contains("worker::clock::timed"), "{name}");
    }
}
