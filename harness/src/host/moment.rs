use super::Kernel;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Counters of the kernel at one time; two of them tell what happened between.
#[derive(Clone, Debug)]
pub struct Moment {
    at: Instant,
    ticks: Option<Ticks>,
    /// Ticks that each process was on a processor, with its name.
    processes: BTreeMap<u32, (String, u64)>,
    swapped: Option<u64>,
    throttled: Option<u64>,
    /// Microseconds in which some task waited for a processor, since the machine began.
    waited: Option<u64>,
}

/// Ticks of all processors together since the machine began.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl Moment {
    /// The cheap counters.
    pub fn now(kernel: &Kernel) -> Self {
        Self {
            at: Instant::now(),
            ticks: ticks(kernel),
            processes: BTreeMap::new(),
            swapped: None,
            throttled: None,
            waited: kernel.waited(),
        }
    }

    /// All counters, those of every process too.
    pub fn thorough(kernel: &Kernel) -> Self {
        let swapped = kernel.vmstat("pswpin").zip(kernel.vmstat("pswpout"));
        Self {
            processes: processes(kernel),
            swapped: swapped.map(|(i, o)| i.saturating_add(o)),
            throttled: throttled(kernel),
            ..Self::now(kernel)
        }
    }

    /// How long ago it was.
    pub fn age(&self) -> Duration {
        self.at.elapsed()
    }

    /// Seconds since an earlier moment.
    pub fn seconds_since(&self, earlier: &Self) -> f64 {
        self.at.saturating_duration_since(earlier.at).as_secs_f64()
    }

    /// The share of processor time, 0 to 1, that the hypervisor gave to others since an earlier moment; `None` if no tick
    /// has passed.
    pub fn steal_since(&self, earlier: &Self) -> Option<f64> {
        self.share(earlier, |it| it.steal)
    }

    /// The share of processor time, 0 to 1, in which processors were busy.
    pub fn busy_since(&self, earlier: &Self) -> Option<f64> {
        self.share(earlier, |it| it.idle).map(|it| 1.0 - it)
    }

    /// The share of the time, 0 to 1, in which some task waited for a processor.
    pub fn pressure_since(&self, earlier: &Self) -> Option<f64> {
        let waited = self.waited?.saturating_sub(earlier.waited?) as f64 / 1e6;
        let passed = self.seconds_since(earlier);
        (passed > 0.0).then(|| (waited / passed).min(1.0))
    }

    /// Pages that went to or came from swap.
    pub fn swapped_since(&self, earlier: &Self) -> Option<u64> {
        Some(self.swapped?.saturating_sub(earlier.swapped?))
    }

    /// How often processors were slowed down because of heat.
    pub fn throttled_since(&self, earlier: &Self) -> Option<u64> {
        Some(self.throttled?.saturating_sub(earlier.throttled?))
    }

    /// Processes with the share of one processor that each took, the greatest first; `None` if the kernel shows none.
    pub fn busiest_since(&self, earlier: &Self) -> Option<Vec<(String, f64)>> {
        if self.processes.is_empty() {
            return None;
        }
        let passed = self.ticks?.all.saturating_sub(earlier.ticks?.all) as f64;
        let cores = self.ticks.map_or(1.0, |_| self.cores(earlier));
        let mut busy: Vec<(String, f64)> = self
            .processes
            .iter()
            .filter_map(|(id, (name, ticks))| {
                let before = earlier.processes.get(id).map_or(0, |(_, it)| *it);
                let own = ticks.saturating_sub(before) as f64;
                (passed > 0.0 && own > 0.0).then(|| (name.clone(), own / passed * cores))
            })
            .collect();
        busy.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Some(busy)
    }

    /// How many processors tick: the ticks of a second are 100 each on every Linux.
    fn cores(&self, earlier: &Self) -> f64 {
        let passed =
            self.ticks.zip(earlier.ticks).map_or(0, |(it, before)| it.all.saturating_sub(before.all));
        let one = (self.seconds_since(earlier) * 100.0).max(1.0);
        (passed as f64 / one).round().max(1.0)
    }

    fn share(&self, earlier: &Self, part: impl Fn(&Ticks) -> u64) -> Option<f64> {
        let (now, before) = (self.ticks?, earlier.ticks?);
        let all = now.all.saturating_sub(before.all);
        (all > 0).then(|| (part(&now).saturating_sub(part(&before)) as f64 / all as f64).min(1.0))
    }
}

/// user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already (proc(5)).
fn ticks(kernel: &Kernel) -> Option<Ticks> {
    let text = kernel.read("proc/stat")?;
    let line = text.lines().find_map(|it| it.strip_prefix("cpu "))?;
    let numbers: Vec<u64> = line.split_whitespace().take(8).map_while(|it| it.parse().ok()).collect();
    let at = |i: usize| numbers.get(i).copied();
    let idle = at(3)?.saturating_add(at(4).unwrap_or(0));
    Some(Ticks { all: numbers.iter().fold(0_u64, |sum, it| sum.saturating_add(*it)), idle, steal: at(7)? })
}

/// This process and its threads are not looked for.
fn processes(kernel: &Kernel) -> BTreeMap<u32, (String, u64)> {
    let ids = kernel.names("proc").into_iter().filter_map(|it| it.parse::<u32>().ok());
    ids.filter(|it| *it != std::process::id())
        .filter_map(|id| {
            // The name stands in parentheses and may itself hold some.
            let text = kernel.read(format!("proc/{id}/stat"))?;
            let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
            let mut words = rest.split_whitespace().skip(11);
            let (user, system) = (words.next()?.parse::<u64>().ok()?, words.next()?.parse::<u64>().ok()?);
            Some((id, (name.to_owned(), user.saturating_add(system))))
        })
        .collect()
}

fn throttled(kernel: &Kernel) -> Option<u64> {
    let count = |cpu: &String| {
        let path = format!("sys/devices/system/cpu/{cpu}/thermal_throttle/core_throttle_count");
        kernel.read(path)?.parse::<u64>().ok()
    };
    let all: Vec<u64> = kernel.processors().iter().filter_map(count).collect();
    (!all.is_empty()).then(|| all.iter().fold(0_u64, |sum, it| sum.saturating_add(*it)))
}
