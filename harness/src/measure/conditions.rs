//! What the host did while a block was measured.

use crate::host::{Kernel, Moment};

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

/// Reads the kernel before and after a block, a few files each, never during one.
#[derive(Debug, Default)]
pub struct Meter {
    kernel: Kernel,
    before: Option<Moment>,
    processes: Vec<(u32, Option<u64>)>,
}

impl Meter {
    /// A meter of another root than `/`.
    pub fn at(kernel: Kernel) -> Self {
        Self { kernel, ..Self::default() }
    }

    /// Begins a block that these processes measure.
    pub fn start(&mut self, processes: impl Iterator<Item = u32>) {
        self.processes = processes.map(|it| (it, self.kernel.switches(it))).collect();
        self.before = Some(Moment::now(&self.kernel));
    }

    /// What happened since [`start`](Self::start).
    pub fn stop(&mut self) -> Conditions {
        let Some(before) = self.before.take() else { return Conditions::default() };
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
