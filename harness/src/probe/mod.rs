//! What is read around a command: a registry of gauges, each one quantity that the kernel accounts to a process,
//! and the other places that a number can be read from.
//!
//! Every gauge comes from the wait for that very child, so nothing of the harness or of an earlier sample is in it:
//!
//! | gauge | base unit | meaning |
//! |---|---|---|
//! | `wall` | ns | from before the start of the process until its end is known |
//! | `user`, `system`, `cpu` | ns | processor time in user mode, in the kernel, and both; children it waited for included |
//! | `peak-rss` | B | the largest resident set; started by a small process, whose own pages are told from those of the command |
//! | `minor-faults`, `major-faults` | 1 | page faults without and with reading from a disk |
//! | `voluntary-switches`, `involuntary-switches` | 1 | how often it waited, and how often it was made to |
//! | `cycles`, `retired-instructions`, `branch-misses`, `cache-misses` | 1 | counted by the processor in user mode, children that have ended included; where the kernel gives them, see [`HardwareEvent`] |
//! | `instructions` | 1 | no gauge, but named as one: executed by it and its children, counted by Callgrind in a second, untimed run; of a worker where it times its work |

mod hardware;
mod reap;

pub use hardware::{Counting, HARDWARE_EVENTS, HardwareEvent};
pub use reap::reap;

use crate::vocab::UnitKind;
use std::fmt;

/// What the kernel accounted to one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
    /// Processor time in user mode, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub system_us: u64,
    /// The largest resident set, in bytes.
    pub peak_rss: u64,
    /// Page faults without reading from a disk.
    pub minor_faults: u64,
    /// Page faults with reading from a disk.
    pub major_faults: u64,
    /// How often it gave the processor up.
    pub voluntary_switches: u64,
    /// How often the processor was taken from it.
    pub involuntary_switches: u64,
}

/// One quantity of a [`Usage`].
pub struct Gauge {
    /// Its name in a pre-registration.
    pub name: &'static str,
    /// What it measures, and so the units that go with it.
    pub kind: UnitKind,
    /// Reads it, in base units.
    pub read: fn(&Usage) -> f64,
}

/// Every gauge.
pub const GAUGES: &[Gauge] = &[
    Gauge { name: "wall", kind: UnitKind::Time, read: |it| it.wall_ns as f64 },
    Gauge { name: "user", kind: UnitKind::Time, read: |it| it.user_us as f64 * 1e3 },
    Gauge { name: "system", kind: UnitKind::Time, read: |it| it.system_us as f64 * 1e3 },
    Gauge { name: "cpu", kind: UnitKind::Time, read: |it| (it.user_us + it.system_us) as f64 * 1e3 },
    Gauge { name: PEAK_RSS, kind: UnitKind::Bytes, read: |it| it.peak_rss as f64 },
    Gauge { name: "minor-faults", kind: UnitKind::Count, read: |it| it.minor_faults as f64 },
    Gauge { name: "major-faults", kind: UnitKind::Count, read: |it| it.major_faults as f64 },
    Gauge { name: "voluntary-switches", kind: UnitKind::Count, read: |it| it.voluntary_switches as f64 },
    Gauge { name: "involuntary-switches", kind: UnitKind::Count, read: |it| it.involuntary_switches as f64 },
];

const PEAK_RSS: &str = "peak-rss";

impl Gauge {
    /// The gauge of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        GAUGES.iter().find(|it| it.name == name)
    }

    /// Whether it reads the largest resident set, in which the kernel counts that of the process that started it.
    pub fn is_peak_rss(&self) -> bool {
        self.name == PEAK_RSS
    }
}

impl PartialEq for Gauge {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Gauge {}

impl fmt::Debug for Gauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where the value of a metric is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// What the kernel accounted to the command.
    Gauge(&'static Gauge),
    /// What the processor counted in it.
    Hardware(&'static HardwareEvent),
    /// Instructions, counted by Callgrind in a pass of its own.
    Instructions,
    /// The sizes of these files together, after the command has ended.
    Bytes(Vec<String>),
    /// A number in the standard output: the group of a regular expression that has one.
    Pattern(String),
    /// A number in a standard output that is JSON: a pointer (RFC 6901).
    Pointer(String),
}

impl Probe {
    /// The name of [`Probe::Instructions`].
    pub const INSTRUCTIONS: &'static str = "instructions";

    /// The names of every probe that is not a table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let events = HARDWARE_EVENTS.iter().map(|it| it.name);
        GAUGES.iter().map(|it| it.name).chain(events).chain([Self::INSTRUCTIONS])
    }

    /// Whether it reads the standard output.
    pub fn reads_output(&self) -> bool {
        matches!(self, Self::Pattern(_) | Self::Pointer(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gauge_reads_a_field_of_its_own_in_base_units() {
        let usage = Usage {
            wall_ns: 1,
            user_us: 2,
            system_us: 3,
            peak_rss: 4,
            minor_faults: 5,
            major_faults: 6,
            voluntary_switches: 7,
            involuntary_switches: 8,
        };
        let read: Vec<_> = GAUGES.iter().map(|it| (it.read)(&usage)).collect();
        assert_eq!(read, [1.0, 2e3, 3e3, 5e3, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert!(GAUGES.iter().all(|it| Gauge::named(it.name) == Some(it)));
    }
}
