//! Opening a persistent character trie: what it costs to open it, to ask it first, to ask it much, and to hold it.
//!
//! | parameter | meaning |
//! |---|---|
//! | `terms` | number of terms |
//! | `lookups` | number of queries of a pass |
//! | `misses` | share of them that is not in the trie |
//! | `passes` | number of passes that `bulk_lookup` is the mean of |
//! | `random` | number of queries of `random_hit` and of `near_miss`; none when left out |
//! | `strategy` | `eager`, `lazy`, `mapped`, `depth-N` (N levels at once) or `parallel-N` (N threads; 0: one a processor) |
//! | `cache` | `warm`: the file is in the page cache; `dropped`: it is dropped from it before each opening |
//!
//! | metric | meaning |
//! |---|---|
//! | `open_time` | opening the file |
//! | `first_pass` | all queries once, on the trie just opened |
//! | `bulk_lookup` | all queries again: the mean of some more passes |
//! | `random_hit` | terms uniformly at random, once |
//! | `near_miss` | terms of which one char was replaced at random, and which are not there, once |
//! | `first_lookup` | opening the file and looking up the term in the middle |
//! | `memory` | growth of resident memory of a fresh process by opening the file and one pass |

use crate::memory::resident;
use crate::queries::queries;
use crate::questions::Questions;
use crate::terms::terms;
use engine::format::NEWEST_VERSION;
use engine::{CharTrie, LoadStrategy};
use harness::worker::{Error, Prepared, Result, Sample, Setup, System, in_fresh_process};
use rustix::fs::{Advice, fadvise};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The system `loading`.
pub(crate) struct Loading;

/// What `loading` has measured of resident memory, in a process of its own: not named in registrations.
pub(crate) struct LoadingMemory;

/// The trie's file and how it is opened.
struct Source {
    path: PathBuf,
    strategy: LoadStrategy,
    drop_cache: bool,
}

impl Source {
    fn of(setup: &Setup) -> Result<Self> {
        let strategy: String = setup.params.get("strategy")?;
        let cache: String = setup.params.get_or("cache", "warm".to_owned())?;
        Ok(Self {
            // A scratch folder that a run left behind may have a file of an older format in it.
            path: setup.scratch.join(format!("terms-{NEWEST_VERSION}.trie")),
            strategy: named(&strategy)?,
            drop_cache: match cache.as_str() {
                "warm" => false,
                "dropped" => true,
                other => {
                    return Err(Error::new(format!("cache `{other}` is unknown, known are warm, dropped")));
                }
            },
        })
    }

    /// Brings the page cache into the registered state. A file just read or written is in it.
    fn ready(&self) -> Result<()> {
        if self.drop_cache {
            let file = File::open(&self.path).map_err(Error::context("failed to open the trie's file"))?;
            fadvise(&file, 0, None, Advice::DontNeed)
                .map_err(Error::context("failed to drop the trie's file from the page cache"))?;
        }
        Ok(())
    }

    fn open(&self) -> engine::Result<CharTrie<u64>> {
        CharTrie::open(&self.path, self.strategy)
    }
}

/// The strategy that a parameter names.
fn named(strategy: &str) -> Result<LoadStrategy> {
    let number = |prefix: &str| strategy.strip_prefix(prefix).and_then(|number| number.parse().ok());
    match strategy {
        "eager" => Ok(LoadStrategy::Eager),
        "lazy" => Ok(LoadStrategy::Lazy),
        "mapped" => Ok(LoadStrategy::Mapped),
        _ => match (number("depth-"), number("parallel-")) {
            (Some(depth), _) => Ok(LoadStrategy::Depth(depth)),
            (_, Some(threads)) => Ok(LoadStrategy::Parallel(threads)),
            _ => Err(Error::new(format!(
                "strategy `{strategy}` is unknown, known are eager, lazy, mapped, depth-N, parallel-N"
            ))),
        },
    }
}

/// The queries as they are asked.
fn words(queries: &[String]) -> impl Iterator<Item = &str> {
    queries.iter().map(String::as_str)
}

/// One pass over the queries; what it returns depends on every answer and on their order.
fn pass<'q>(trie: &CharTrie<u64>, queries: impl IntoIterator<Item = &'q str>) -> engine::Result<u64> {
    let mut folded = 0u64;
    for query in queries {
        let answer = trie.get(query)?.map_or(u64::MAX, |rank| rank);
        folded = folded.rotate_left(7) ^ answer;
    }
    Ok(folded)
}

impl System for Loading {
    fn name(&self) -> &'static str {
        "loading"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let source = Source::of(setup)?;
        let count: u64 = setup.params.get("terms")?;
        let (lookups, misses): (u64, f64) =
            (setup.params.get("lookups")?, setup.params.get_or("misses", 0.5)?);
        let passes: u32 = setup.params.get_or("passes", 1)?;
        if passes == 0 {
            return Err(Error::new("`passes` is 0, expected at least 1"));
        }
        if count == 0 || !(0.0..=1.0).contains(&misses) {
            return Err(Error::new(format!(
                "{count} terms and a share of {misses} misses: expected at least 1, and 0 to 1"
            )));
        }
        let terms = terms(count);
        let queries = queries(&terms, lookups, misses);
        build(&source.path, &terms)?;
        write_queries(&setup.scratch, &queries)?;
        let random: u64 = setup.params.get_or("random", 0)?;
        let (hits, misses) =
            (Questions::hits(&terms, random as usize), Questions::near_misses(&terms, random as usize));
        let middle = terms[terms.len() / 2].clone();
        Ok(Box::new(Opening { source, queries, passes, hits, misses, middle, setup: setup.clone() }))
    }
}

/// Builds the trie's file, unless another arm of the cell did.
fn build(path: &Path, terms: &[String]) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut trie = CharTrie::<u64>::new();
    for (term, rank) in terms.iter().zip(0..) {
        trie.insert(term, rank).map_err(Error::context("failed to insert a term"))?;
    }
    trie.checkpoint(path)
        .map_err(Error::context(format!("failed to build the trie of {} terms", terms.len())))
}

fn queries_file(scratch: &Path) -> PathBuf {
    scratch.join("queries.txt")
}

/// Leaves the queries for fresh processes, which have no room for the terms.
fn write_queries(scratch: &Path, queries: &[String]) -> Result<()> {
    let path = queries_file(scratch);
    fs::write(&path, queries.join("\n"))
        .map_err(Error::context(format!("failed to write `{}`", path.display())))
}

struct Opening {
    source: Source,
    queries: Vec<String>,
    passes: u32,
    hits: Questions,
    misses: Questions,
    middle: String,
    setup: Setup,
}

impl Prepared for Opening {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let Self { source, queries, passes, hits, misses, middle, setup } = self;
        let failed = || Error::context("failed to ask the trie");
        source.ready()?;
        let trie = sample.time("open_time", || source.open()).map_err(failed())?;
        let first = sample.time("first_pass", || pass(&trie, words(queries))).map_err(failed())?;
        let again =
            sample.mean_time("bulk_lookup", *passes, || pass(&trie, words(queries))).map_err(failed())?;
        sample.answer(&(first, again, trie.len()));
        for (metric, questions) in [("random_hit", hits), ("near_miss", misses)] {
            if sample.wants(metric) {
                let answers = sample.time(metric, || pass(&trie, questions.iter())).map_err(failed())?;
                sample.answer(&answers);
            }
        }
        drop(trie);
        source.ready()?;
        let reopened = sample.time("first_lookup", || {
            let trie = source.open()?;
            let found = trie.get(middle.as_str())?;
            // Dropping the trie is no part of the lookup.
            Ok((trie, found))
        });
        let (_, found) = reopened.map_err(failed())?;
        sample.answer(&found);
        if sample.wants("memory") {
            let (value, digest) = in_fresh_process("loading-memory", setup, "memory")?;
            sample.value("memory", value);
            sample.answer(&digest);
        }
        Ok(())
    }
}

impl System for LoadingMemory {
    fn name(&self) -> &'static str {
        "loading-memory"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let path = queries_file(&setup.scratch);
        let text = fs::read_to_string(&path)
            .map_err(Error::context(format!("failed to read `{}`", path.display())))?;
        let queries = text.split('\n').map(str::to_owned).collect();
        Ok(Box::new(Holding { source: Source::of(setup)?, queries }))
    }
}

struct Holding {
    source: Source,
    queries: Vec<String>,
}

impl Prepared for Holding {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        self.source.ready()?;
        let before = resident()?;
        let trie = self.source.open().map_err(Error::context("failed to open the trie"))?;
        let answers = pass(&trie, words(&self.queries)).map_err(Error::context("failed to ask the trie"))?;
        let after = resident()?;
        sample.bytes("memory", after.saturating_sub(before));
        sample.answer(&(answers, trie.len()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_known_by_name() {
        let strategies = ["eager", "lazy", "mapped", "depth-20", "parallel-0"].map(|name| named(name).ok());
        let expected = [
            LoadStrategy::Eager,
            LoadStrategy::Lazy,
            LoadStrategy::Mapped,
            LoadStrategy::Depth(20),
            LoadStrategy::Parallel(0),
        ];
        assert_eq!(strategies, expected.map(Some));
        for unknown in ["", "Eager", "depth-", "depth--1", "parallel-x", "depth-99999999999999999999"] {
            assert!(named(unknown).is_err(), "{unknown}");
        }
    }
}
