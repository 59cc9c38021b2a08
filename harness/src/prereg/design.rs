use crate::vocab::{Clock, LookMethod, Mode, Order, Process, Replicate, Spending};

/// How an experiment is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Blocks made and stored before the measured ones of each process, never analysed.
    pub warmups: u32,
    /// Samples of each arm in each cell = number of blocks. At least 2.
    pub samples: u32,
    /// Order of the arms within a block.
    pub order: Order,
    /// Whether arms are measured one at a time.
    pub mode: Mode,
    /// How long a worker process lives.
    pub process: Process,
    /// By which clock workers time.
    pub clock: Clock,
    /// Of the order and of the workers' inputs.
    pub seed: u64,
    /// How many answers of a worker a sample is the mean of. At least 1.
    pub slices: u32,
    /// How many processes of each arm the blocks of a cell are divided among. At least 1, and a divisor of `samples`; above 1
    /// the process is the unit of replication.
    pub processes: u32,
    /// How many builds of each arm there are, each with an order of linking of its own; above 1 each process is of another
    /// one, [`processes`](Self::processes) equals this, and the build is the unit of replication.
    pub builds: u32,
    /// The largest padding of a process's environment, in bytes; each process has one of its own, the same in all arms.
    pub padding: u32,
    /// When it may stop early. `None`: never, n is fixed.
    pub looks: Option<Looks>,
}

/// When a cell is looked at before its end, and what keeps the error rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    /// After how many blocks.
    pub schedule: Schedule,
    /// By what it may stop.
    pub stopping: Stopping,
}

/// After how many blocks a cell is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// After these, ascending; the last one is the number of samples.
    At(Vec<u32>),
    /// After every so many, and after the last one.
    Every(u32),
}

/// What keeps the error rates over the looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// Boundaries that spend alpha.
    GroupSequential(Spending),
    /// Evidence that may be looked at at any time.
    SignEProcess,
}

impl Stopping {
    /// Its word.
    pub fn method(self) -> LookMethod {
        match self {
            Self::GroupSequential(_) => LookMethod::GroupSequential,
            Self::SignEProcess => LookMethod::SignEProcess,
        }
    }
}

impl Design {
    /// How many measured blocks one process of an arm makes.
    pub fn blocks_a_process(&self) -> u32 {
        (self.samples / self.processes.max(1)).max(1)
    }

    /// Which of the processes of an arm makes a block, counted from 0; warm-ups are counted apart from measured blocks.
    pub fn process_of(&self, block: u32, warmup: bool) -> u32 {
        if self.process == Process::PerBlock {
            return block;
        }
        let each = if warmup { self.warmups.max(1) } else { self.blocks_a_process() };
        block / each
    }

    /// What is replicated: the measured block, or the process or build that makes several.
    pub fn unit(&self) -> Replicate {
        match (self.builds, self.processes) {
            (2.., _) => Replicate::Build,
            (_, 2..) => Replicate::Process,
            _ => Replicate::Block,
        }
    }

    /// Which of the builds of an arm makes a block, counted from 0.
    pub fn build_of(&self, block: u32, warmup: bool) -> u32 {
        if self.builds > 1 { self.process_of(block, warmup) } else { 0 }
    }

    /// How many units of replication each arm has in a cell: n of everything that is decided.
    pub fn units(&self) -> u32 {
        match self.unit() {
            Replicate::Block => self.samples,
            Replicate::Process | Replicate::Build => self.processes,
        }
    }

    /// The unit of replication that a measured block belongs to.
    pub fn unit_of(&self, block: u32) -> u32 {
        match self.unit() {
            Replicate::Block => block,
            Replicate::Process | Replicate::Build => self.process_of(block, false),
        }
    }

    /// The numbers of blocks after which a cell may stop, ascending; the last one is [`Design::samples`], and the only one
    /// without looks.
    pub fn stops(&self) -> Vec<u32> {
        match self.looks.as_ref().map(|it| &it.schedule) {
            None => vec![self.samples],
            Some(Schedule::At(blocks)) => blocks.clone(),
            Some(Schedule::Every(every)) => {
                let step = usize::try_from(*every).unwrap_or(usize::MAX).max(1);
                (*every..self.samples).step_by(step).chain([self.samples]).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(samples: u32, processes: u32) -> Design {
        Design {
            warmups: 2,
            samples,
            order: Order::RandomBlocks,
            mode: Mode::Turns,
            process: Process::PerArm,
            clock: Clock::Wall,
            seed: 1,
            slices: 1,
            processes,
            builds: 1,
            padding: 0,
            looks: None,
        }
    }

    #[test]
    fn the_block_is_the_unit_unless_several_processes_share_the_blocks() {
        let blocks = design(12, 1);
        assert_eq!((blocks.unit(), blocks.units()), (Replicate::Block, 12));
        assert_eq!((0..12).map(|it| blocks.unit_of(it)).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
        let processes = design(12, 3);
        assert_eq!((processes.unit(), processes.units()), (Replicate::Process, 3));
        let units: Vec<_> = (0..12).map(|it| processes.unit_of(it)).collect();
        assert_eq!(units, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!((0..6).map(|it| processes.process_of(it, true)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
        let builds = Design { builds: 3, ..processes };
        assert_eq!((builds.unit(), builds.units()), (Replicate::Build, 3));
        assert_eq!((0..12).map(|it| builds.build_of(it, false)).collect::<Vec<_>>(), units);
        assert_eq!((builds.unit_of(11), blocks.build_of(11, false)), (2, 0));
    }
}
