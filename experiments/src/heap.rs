//! The engine's heap, and other allocators, under loops that allocate and free.
//!
//! | parameter | meaning |
//! |---|---|
//! | `allocator` | which one: see below |
//! | `inline` | hot classes with inline slots, as in `c5,c6`, or `none`: must be what `ENGINE_HEAP_INLINE` says |
//! | `workload` | `mixed`, `replace`, `phased`, `threads`, `ring`, `batch-256`, `batch-4096`, `growth`, `trace` |
//! | `slots` | working set of the first four; 400 when left out |
//! | `ops` | operations of a sample; rounds of `growth` and `trace` |
//!
//! | allocator | what |
//! |---|---|
//! | `engine` | the heap with its gates, inlined |
//! | `engine-ungated` | the gates compiled out |
//! | `engine-chained` | the gates as a chain of tests for C6 and C5 |
//! | `engine-observed` | `engine` with counters: not for timing |
//! | `engine-called`, `engine-c` | through a call: with the size at hand, and in the shapes of C |
//! | `null` | none: the loop alone, for `mixed`, `replace`, `phased` |
//! | `floor`, `floor-sized` | the least that an allocator does, for the same: one list of free blocks, or one for every 16 bytes |
//! | `glibc` | the system's |
//! | `mimalloc`, `mimalloc-c`, `jemalloc`, `snmalloc`, `rpmalloc` | peers, in a build with the feature `peer-allocators` |
//!
//! | metric | meaning |
//! |---|---|
//! | `throughput` | operations a second |
//! | `slice_time` | time of `ops` operations |
//! | `peak` | most resident memory of a fresh process that is no file's, looked at twenty times, above what it had before the workload |
//! | `c0_share` ... `c7_share` | of `engine-observed`: share of a hot class in all allocations |
//! | `c0_inline` ... `c7_inline` | of `engine-observed`: share of its allocations that the inline slots served |
//! | `cache_hits` | of `engine-observed`: share of all allocations that cache or inline slots served |

use std::alloc::GlobalAlloc;

use engine::heap::{Configuration, HOT_CLASSES, Statistics, statistics};
use harness::worker::{Error, Prepared, Result, Sample, Setup, System, in_fresh_process};

use crate::heap_allocators::{self as allocators, Visitor};
use crate::heap_crew::Crew;
use crate::heap_growth::grow;
use crate::heap_trace::{Blocks, Trace};
use crate::heap_workloads::{Shape, Slots};
use crate::memory::{anonymous, most_anonymous};

/// The system `heap`.
pub(crate) struct Heap;

/// What `heap` has measured of resident memory, in a process of its own: not named in registrations.
pub(crate) struct HeapMemory;

/// The building of a trie of 1,000 terms; `examples/record_trace.rs` made it.
static TRACE: &[u8] = include_bytes!("../traces/trie-build.trace");

impl System for Heap {
    fn name(&self) -> &'static str {
        "heap"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let running = prepare(setup)?;
        Ok(Box::new(Measuring { running, ops: ops(setup)?, setup: setup.clone() }))
    }
}

impl System for HeapMemory {
    fn name(&self) -> &'static str {
        "heap-memory"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(Peak(setup.clone())))
    }
}

fn ops(setup: &Setup) -> Result<u64> {
    match setup.params.get("ops")? {
        0 => Err(Error::new("`ops` is 0, expected at least 1")),
        ops => Ok(ops),
    }
}

/// A workload on an allocator, ready to run: so many operations give a sum that is the same on every allocator.
trait Running {
    fn run(&mut self, ops: u64) -> Result<u64>;
    /// Whether all blocks hold what was written to them.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

fn prepare(setup: &Setup) -> Result<Box<dyn Running>> {
    let name: String = setup.params.get("allocator")?;
    let inline: String = setup.params.get_or("inline", "none".to_owned())?;
    let configuration = Configuration::get();
    if configuration.to_string() != format!("inline={inline} debug=off") {
        return Err(Error::new(format!(
            "the heap runs with `{configuration}`, the arm is registered with `inline={inline}`; \
             set ENGINE_HEAP_INLINE in its env"
        )));
    }
    let slots = setup.params.get_or("slots", 400u64)?;
    let workload: String = setup.params.get("workload")?;
    if slots == 0 || slots > 100_000_000 {
        return Err(Error::new(format!("`slots` is {slots}, expected 1 to 100,000,000")));
    }
    let visitor = Preparing { name: &name, workload, slots: slots as usize, seed: setup.seed as u32 };
    allocators::visit(&name, visitor).ok_or_else(|| {
        Error::new(format!(
            "allocator `{name}` is not in this build, known are {}; peers need `--features peer-allocators`",
            allocators::NAMES.join(", ")
        ))
    })?
}

struct Preparing<'a> {
    name: &'a str,
    workload: String,
    slots: usize,
    seed: u32,
}

impl Visitor for Preparing<'_> {
    type Output = Result<Box<dyn Running>>;

    fn visit<A: GlobalAlloc + Copy + Send + Sync + 'static>(self, a: A) -> Self::Output {
        let real = self.name != "null";
        let shaped = |shape| -> Box<dyn Running> {
            Box::new(Shaped { slots: Slots::new(a, self.slots, self.seed, shape), shape, real })
        };
        Ok(match self.workload.as_str() {
            "mixed" => shaped(Shape::Mixed),
            "replace" => shaped(Shape::Replace),
            "phased" => shaped(Shape::Phased),
            other if allocators::BOUNDS.contains(&self.name) => {
                return Err(Error::new(format!(
                    "workload `{other}` needs an allocator, not `{}`",
                    self.name
                )));
            }
            "threads" => Box::new(Crew::independent(a, self.slots, self.seed)),
            "ring" => Box::new(Crew::ring(a, self.seed)),
            "batch-256" => Box::new(Crew::batches(a, 256, self.seed)),
            "batch-4096" => Box::new(Crew::batches(a, 4096, self.seed)),
            "growth" => Box::new(Growing(a)),
            "trace" => {
                let trace = Trace::parse(TRACE).map_err(Error::context("failed to read the trace"))?;
                Box::new(Replaying { allocator: a, blocks: trace.room(), trace })
            }
            other => return Err(Error::new(format!("workload `{other}` is unknown"))),
        })
    }
}

struct Shaped<A: GlobalAlloc> {
    slots: Slots<A>,
    shape: Shape,
    real: bool,
}

impl<A: GlobalAlloc> Running for Shaped<A> {
    fn run(&mut self, ops: u64) -> Result<u64> {
        Ok(self.slots.run(self.shape, ops))
    }

    fn check(&self) -> Result<()> {
        // Without an allocator there is one block for all.
        if self.real { self.slots.check().map(drop).map_err(Error::new) } else { Ok(()) }
    }
}

impl Running for Crew {
    fn run(&mut self, ops: u64) -> Result<u64> {
        let sums = Self::run(self, ops).map_err(Error::new)?;
        Ok(sums.into_iter().fold(0, |all, it| all.rotate_left(17) ^ it))
    }
}

struct Growing<A>(A);

impl<A: GlobalAlloc + Copy> Running for Growing<A> {
    fn run(&mut self, ops: u64) -> Result<u64> {
        Ok(grow(self.0, ops))
    }
}

struct Replaying<A> {
    allocator: A,
    trace: Trace,
    blocks: Blocks,
}

impl<A: GlobalAlloc> Running for Replaying<A> {
    fn run(&mut self, ops: u64) -> Result<u64> {
        Ok((0..ops).map(|_| self.trace.replay(&self.allocator, &mut self.blocks)).sum())
    }
}

struct Measuring {
    running: Box<dyn Running>,
    ops: u64,
    setup: Setup,
}

impl Prepared for Measuring {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let Self { running, ops, setup } = self;
        let before = statistics();
        let sum = sample.rate("throughput", "slice_time", *ops, || running.run(*ops))?;
        observe(sample, &before, &statistics())?;
        running.check()?;
        // The stream of operations goes on from sample to sample, so that its sum is no constant of the cell: what a block
        // must keep is checked above.
        std::hint::black_box(sum);
        sample.answer(ops);
        if sample.wants("peak") {
            let (value, _) = in_fresh_process("heap-memory", setup, "peak")?;
            sample.value("peak", value);
        }
        Ok(())
    }
}

/// Shares of the classes in what happened between two readings of the counters.
fn observe(sample: &mut Sample, before: &Statistics, after: &Statistics) -> Result<()> {
    if !sample.wants("cache_hits") && !(0..HOT_CLASSES).any(|it| sample.wants(&format!("c{it}_share"))) {
        return Ok(());
    }
    let (mut all, mut cached) = (0, 0);
    let (mut of, mut inline) = ([0; HOT_CLASSES], [0; HOT_CLASSES]);
    for (old, new) in before.classes.iter().zip(&after.classes) {
        let allocations = new.allocations() - old.allocations();
        all += allocations;
        cached += allocations - (new.refills - old.refills);
        if let Some(hot) = new.hot {
            of[hot] += allocations;
            inline[hot] += new.inline_hits - old.inline_hits;
        }
    }
    if all == 0 {
        return Err(Error::new("nothing was counted: only allocator `engine-observed` counts"));
    }
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    for hot in 0..HOT_CLASSES {
        sample.value(&format!("c{hot}_share"), share(of[hot], all));
        sample.value(&format!("c{hot}_inline"), share(inline[hot], of[hot]));
    }
    sample.value("cache_hits", share(cached, all));
    Ok(())
}

struct Peak(Setup);

impl Prepared for Peak {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let before = anonymous()?;
        let mut running = prepare(&self.0)?;
        let (most, sum) = most_anonymous(ops(&self.0)?, |ops| running.run(ops))?;
        sample.bytes("peak", most.saturating_sub(before));
        sample.answer(&sum);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::vocab::Scalar;
    use harness::worker::Params;
    use std::collections::BTreeSet;

    const WORKLOADS: &[&str] =
        &["mixed", "replace", "phased", "threads", "ring", "batch-256", "batch-4096", "growth", "trace"];

    fn running(allocator: &str, workload: &str) -> Result<Box<dyn Running>> {
        let visitor = Preparing { name: allocator, workload: workload.to_owned(), slots: 50, seed: 1 };
        allocators::visit(allocator, visitor).unwrap()
    }

    #[test]
    fn every_allocator_gives_the_same_sum() {
        for workload in WORKLOADS {
            let mut sums = BTreeSet::new();
            for allocator in allocators::NAMES {
                match running(allocator, workload) {
                    Ok(mut it) => {
                        sums.insert((it.run(3).unwrap(), it.run(3).unwrap()));
                        it.check().unwrap();
                    }
                    Err(error) => assert!(allocators::BOUNDS.contains(allocator), "{error}"),
                }
            }
            assert_eq!(sums.len(), 1, "{workload}: {sums:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let refusal = |pairs: &[(&str, &str)]| {
            let text = |it: &str| Scalar::Text(it.to_owned());
            let params = pairs.iter().map(|(name, value)| ((*name).to_owned(), text(value)));
            let setup = Setup {
                system: "heap".into(),
                params: Params::new(params),
                seed: 1,
                scratch: "unused".into(),
                clock: "wall".parse().unwrap(),
                metrics: Vec::new(),
            };
            prepare(&setup).err().unwrap().to_string()
        };
        let refused = refusal(&[("allocator", "engine"), ("inline", "c5,c6"), ("workload", "mixed")]);
        assert_eq!(
            refused,
            "the heap runs with `inline=none debug=off`, the arm is registered with `inline=c5,c6`; \
             set ENGINE_HEAP_INLINE in its env"
        );
        assert!(
            refusal(&[("allocator", "hoard"), ("workload", "mixed")]).starts_with("allocator `hoard` is not")
        );
        assert_eq!(refusal(&[("allocator", "engine"), ("workload", "x")]), "workload `x` is unknown");
    }
}
