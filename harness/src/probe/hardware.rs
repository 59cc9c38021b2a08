//! Events that the processor counts, through the kernel's perf events (perf_event_open(2)).

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};
use std::fmt;
use std::io;

/// Something that processors count.
pub struct HardwareEvent {
    /// Its name in a pre-registration.
    pub name: &'static str,
    event: Hardware,
}

/// Every event that can be registered.
pub const HARDWARE_EVENTS: &[HardwareEvent] = &[
    HardwareEvent { name: "cycles", event: Hardware::CPU_CYCLES },
    HardwareEvent { name: "retired-instructions", event: Hardware::INSTRUCTIONS },
    HardwareEvent { name: "branch-misses", event: Hardware::BRANCH_MISSES },
    HardwareEvent { name: "cache-misses", event: Hardware::CACHE_MISSES },
];

impl HardwareEvent {
    /// The event of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        HARDWARE_EVENTS.iter().find(|it| it.name == name)
    }

    /// Counts the event in what this thread starts from now on, in user mode, from the moment a child becomes another program.
    ///
    /// # Errors
    /// That the kernel or the processor does not count it here; in words that say why.
    pub fn count(&'static self) -> Result<Counting, String> {
        match inherited(self.event) {
            Ok(counter) => Ok(Counting { name: self.name, counter }),
            Err(error) => Err(self.reason(&error)),
        }
    }

    fn reason(&self, error: &io::Error) -> String {
        let name = self.name;
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
                format!("a processor that shows its counter of {name}, which virtual machines often do not")
            }
            Some(libc::EACCES | libc::EPERM) => {
                let file = "/proc/sys/kernel/perf_event_paranoid";
                let level = std::fs::read_to_string(file).unwrap_or_default();
                format!(
                    "the right to count events, which kernel.perf_event_paranoid = {} or a container denies: sudo sysctl \
                     kernel.perf_event_paranoid=2",
                    level.trim()
                )
            }
            Some(libc::ENOSYS) => "a kernel with perf events".to_owned(),
            _ => format!("perf events, which failed: {error}"),
        }
    }
}

/// A counter of this thread, whose children inherit it and wake it when they become another program. This thread never does, so
/// what is read is theirs alone, and of each once it has ended.
fn inherited(event: impl Event) -> io::Result<Counter> {
    Builder::new(event).inherit(true).enable_on_exec(true).build()
}

/// An event that is being counted.
pub struct Counting {
    name: &'static str,
    counter: Counter,
}

impl Counting {
    /// The name of the event.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How often it happened in children that have ended, or why that is not known.
    ///
    /// # Errors
    /// More counters are asked for than the processor has, so that this one was off for a part of the time.
    pub fn total(&mut self) -> Result<u64, String> {
        let name = self.name;
        let read = self.counter.read_count_and_time().map_err(|it| format!("{name} cannot be read: {it}"))?;
        if read.time_running < read.time_enabled {
            let share = read.time_running as f64 / read.time_enabled as f64;
            return Err(format!(
                "{name} were counted for {:.0} % of the time, since the processor has too few counters: measure fewer of them at once",
                share * 100.0
            ));
        }
        Ok(read.count)
    }
}

impl PartialEq for HardwareEvent {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for HardwareEvent {}

impl fmt::Debug for HardwareEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_event::events::Software;
    use std::process::Command;

    /// Page faults, which every kernel counts: what is counted is the same for every event.
    #[test]
    fn children_are_counted_from_their_first_instruction_to_their_last_and_nothing_else_is() {
        let count = |commands: &[&str]| {
            let counter = inherited(Software::PAGE_FAULTS).ok()?;
            let mut counting = Counting { name: "page faults", counter };
            // Pages of this process, which do not count.
            std::hint::black_box(vec![1_u8; 8 << 20]);
            for script in commands {
                assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
            }
            Some(counting.total().unwrap())
        };
        // A system that denies perf events says why.
        let Some(none) = count(&[]) else {
            let error = HARDWARE_EVENTS[0].count().map(|it| it.name()).unwrap_err();
            assert!(error.contains("perf events") || error.contains("perf_event_paranoid"), "{error}");
            return;
        };
        let (one, two) = (count(&["true"]).unwrap(), count(&["sh -c true; true"]).unwrap());
        assert_eq!(none, 0);
        assert!((20..2_000).contains(&one), "{one}");
        // A child of the child counts as well.
        assert!(two * 2 > one * 3, "{one} {two}");
    }

    #[test]
    fn an_event_that_cannot_be_counted_says_what_it_takes() {
        for event in HARDWARE_EVENTS {
            match event.count() {
                Ok(mut counting) => {
                    assert!(Command::new("true").status().unwrap().success());
                    // Cycles and instructions happen in every program.
                    let total = counting.total().unwrap();
                    assert!(total > 1_000 || event.name.ends_with("misses"), "{event:?} {total}");
                }
                Err(reason) => assert!(
                    reason.contains("counter of")
                        || reason.contains("right to")
                        || reason.contains("perf events"),
                    "{reason}"
                ),
            }
        }
        let reason = |code| HARDWARE_EVENTS[0].reason(&io::Error::from_raw_os_error(code));
        assert!(reason(libc::ENOENT).contains("counter of cycles"));
        assert!(reason(libc::EACCES).contains("perf_event_paranoid"));
        assert_eq!(reason(libc::ENOSYS), "a kernel with perf events");
    }
}
