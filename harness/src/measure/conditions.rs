//! What the host did while a block was measured.

use crate::host::{Kernel, Moment};
use crate::prereg::Prereg;
use std::time::Duration;

/// What the host did while a block was measured; `None` is what the kernel does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The load average of the last minute, after the block.
    pub load: Option<f64>,
    /// The share of processor time, 0 to 1, that the hypervisor gave to others.
    pub steal: Option<f64>,
    /// The share of the block, 0 to 1, in which a task waited for a processor.
    pub pressure: Option<f64>,
    /// The mean frequency of the processors after the block, in MHz.
    pub frequency: Option<f64>,
    /// How often a worker had to give its processor away; only of workers that live through the block.
    pub switches: Option<f64>,
}

impl Conditions {
    /// The quantities with their names and units, in the order of the fields.
    pub fn named(&self) -> [(&'static str, &'static str, Option<f64>); 5] {
        [
            ("load", "", self.load),
            ("steal", "share", self.steal),
            ("pressure", "share", self.pressure),
            ("frequency", "MHz", self.frequency),
            ("involuntary switches", "", self.switches),
        ]
    }
}

/// Where nothing is decided by it, what the host does is read no more often than this: reading takes as long as a short sample.
const SELDOM: Duration = Duration::from_millis(100);

/// Reads the kernel before and after a block, a few files each, never during one.
#[derive(Debug, Default)]
pub struct Meter {
    kernel: Kernel,
    before: Option<Moment>,
    processes: Vec<(u32, Option<u64>)>,
    /// Whether every block is told by itself; else short ones are told together.
    each: bool,
    /// Whether a block was told already: the first one always is, so that every run has a reading.
    told: bool,
}

impl Meter {
    /// The one that a registration takes: with a rule about blocks, each is told by itself.
    pub fn of(prereg: &Prereg) -> Self {
        Self { each: prereg.environment.blocks.is_some(), ..Self::default() }
    }

    /// A meter of another root than `/`.
    pub fn at(kernel: Kernel) -> Self {
        Self { kernel, each: true, ..Self::default() }
    }

    /// Begins a block that these processes measure.
    pub fn start(&mut self, processes: impl Iterator<Item = u32>) {
        if self.before.is_some() {
            return;
        }
        self.processes = processes.map(|it| (it, self.kernel.switches(it))).collect();
        self.before = Some(Moment::now(&self.kernel));
    }

    /// What happened since the [`start`](Self::start) of the block, or of the first of those that are told together; nothing
    /// as long as they are too short to be told.
    pub fn stop(&mut self) -> Conditions {
        let Some(before) = self.before.take() else { return Conditions::default() };
        if !self.each && self.told && before.age() < SELDOM {
            self.before = Some(before);
            return Conditions::default();
        }
        self.told = true;
        let after = Moment::now(&self.kernel);
        let switches: Vec<u64> = self
            .processes
            .drain(..)
            .filter_map(|(id, before)| Some(self.kernel.switches(id)?.saturating_sub(before?)))
            .collect();
        Conditions {
            load: self.kernel.load(),
            steal: after.steal_since(&before),
            pressure: after.pressure_since(&before),
            frequency: self.kernel.frequency(),
            switches: (!switches.is_empty()).then(|| switches.iter().sum::<u64>() as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_are_told_together_unless_a_rule_asks_for_each() {
        let rounds = |mut meter: Meter| {
            let start = std::time::Instant::now();
            let (mut all, mut told) = (0, 0);
            while start.elapsed() < 3 * SELDOM {
                meter.start(std::iter::once(std::process::id()));
                std::thread::sleep(Duration::from_millis(1));
                all += 1;
                told += usize::from(meter.stop() != Conditions::default());
            }
            (all, told)
        };
        let (_, together) = rounds(Meter::default());
        assert!((1..=4).contains(&together), "{together}");
        let (all, each) = rounds(Meter::at(Kernel::default()));
        assert_eq!(all, each);
    }
}
