use super::{Kernel, Moment};

/// Whether something disturbs measurements on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// It does not.
    Fit,
    /// It does.
    Unfit,
    /// The kernel does not tell here.
    Hidden,
}

impl Fitness {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Unfit => "unfit",
            Self::Hidden => "hidden",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it disturbs.
    pub fitness: Fitness,
    /// What there is, in words.
    pub found: String,
    /// What to do about it; empty if nothing.
    pub advice: String,
}

impl Finding {
    pub(super) fn fit(found: impl Into<String>) -> Self {
        Self { fitness: Fitness::Fit, found: found.into(), advice: String::new() }
    }

    pub(super) fn unfit(found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { fitness: Fitness::Unfit, found: found.into(), advice: advice.into() }
    }

    pub(super) fn hidden() -> Self {
        Self {
            fitness: Fitness::Hidden,
            found: "cannot be read here".to_owned(),
            advice: "look on the machine that this one runs on, if it is a virtual one".to_owned(),
        }
    }
}

/// What checks look at: the files of the kernel, and its counters about a second apart.
#[derive(Clone, Debug)]
pub struct Patient {
    /// The files.
    pub kernel: Kernel,
    /// The earlier counters.
    pub before: Moment,
    /// The later ones.
    pub after: Moment,
    /// The smallest step between two different readings of the clock that times samples, in nanoseconds.
    pub clock_step: u64,
    /// What was missing when an event of the processor was to be counted; `Ok` if nothing was, `None` if nobody tried.
    pub counting: Option<Result<(), String>>,
}

/// One thing that can make a machine unfit.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Why it matters, in a few words.
    pub why: &'static str,
    pub(super) look: fn(&Patient) -> Finding,
}

impl Check {
    /// Looks.
    pub fn look(&self, patient: &Patient) -> Finding {
        (self.look)(patient)
    }
}

/// The smallest step between two different readings of the clock that times samples, in nanoseconds.
pub fn clock_step() -> u64 {
    let mut smallest = u64::MAX;
    for _ in 0..1_000 {
        let start = std::time::Instant::now();
        let step = loop {
            let step = start.elapsed().as_nanos();
            if step > 0 {
                break step;
            }
        };
        smallest = smallest.min(u64::try_from(step).unwrap_or(u64::MAX));
    }
    smallest
}
