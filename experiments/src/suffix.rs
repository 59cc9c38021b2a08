//! Suffix indexes: asking them, asking them while one thread adds texts, and what a checkpoint takes.
//!
//! | parameter | meaning |
//! |---|---|
//! | `family` | `automaton`, `tree` or `scdawg` |
//! | `symbols` | `byte` or `char` |
//! | `index` | `encoded`: every suffix a term of a trie; `native`: the suffix index |
//! | `texts`, `length` | number of texts to look up in, and their symbols |
//! | `queries`, `passes` | number of queries, and passes over them that `lookup` is the mean of |
//! | `readers`, `reads`, `inserts` | threads that read, reads of each, and texts that are added meanwhile |
//! | `kept` | number of texts in a checkpoint |
//!
//! | metric | meaning |
//! |---|---|
//! | `read_while_writing` | time until all readers have read and the writer has inserted, for each read |
//! | `completed_inserts` | inserts that were complete by then |
//! | `insert_time` | time of the writer for each insert, beside the readers |
//! | `read_p99` | 99th percentile of single reads, in a round of its own |
//! | `lookup` | one query: all positions where it occurs, into a reused buffer |
//! | `checkpoint_size` | bytes of the folder after a checkpoint, index included |

use crate::suffix_workload::{Alphabet, Span, queries, texts};
use engine::suffix::{EncodedIndex, Layout};
use engine::{Position, Scdawg, SuffixAutomaton, SuffixIndex, SuffixTree, Verify};
use harness::worker::{Error, Prepared, Result, Sample, Setup, System};
use std::borrow::Borrow;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Barrier, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The system `suffix`.
pub(crate) struct Suffix;

/// Where texts of other samples start from.
const SEED: u64 = 0x5F00_0000;

/// An index as the experiment uses it.
trait Index<K: Alphabet>: Default + Sync + 'static {
    /// What one thread asks.
    type Asker<'i>;

    fn push(&self, text: &K::Key) -> engine::Result<()>;
    fn asker(&self) -> Self::Asker<'_>;
    fn ask(asker: &mut Self::Asker<'_>, pattern: &K::Key, out: &mut Vec<Position>) -> engine::Result<()>;
    fn settle(&self) -> engine::Result<()>;
    fn checkpoint(&self, path: &Path) -> engine::Result<()>;
    fn open(path: &Path) -> engine::Result<Self>;
}

/// The control: readers and the writer take turns.
struct Encoded<K>(RwLock<EncodedIndex<K>>);

impl<K: Alphabet> Default for Encoded<K> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Alphabet> Index<K> for Encoded<K> {
    type Asker<'i> = &'i RwLock<EncodedIndex<K>>;

    fn push(&self, text: &K::Key) -> engine::Result<()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(text).map(drop)
    }

    fn asker(&self) -> Self::Asker<'_> {
        &self.0
    }

    fn ask(asker: &mut Self::Asker<'_>, pattern: &K::Key, out: &mut Vec<Position>) -> engine::Result<()> {
        asker.read().unwrap_or_else(PoisonError::into_inner).positions_into(pattern, out)
    }

    fn settle(&self) -> engine::Result<()> {
        Ok(())
    }

    fn checkpoint(&self, path: &Path) -> engine::Result<()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).checkpoint(path)
    }

    fn open(path: &Path) -> engine::Result<Self> {
        EncodedIndex::open(path).map(|index| Self(RwLock::new(index)))
    }
}

/// A face of the suffix index.
struct Native<F>(F);

impl<F: Default> Default for Native<F> {
    fn default() -> Self {
        Self(F::default())
    }
}

impl<K, F> Index<K> for Native<F>
where
    K: Alphabet,
    F: Deref<Target = SuffixIndex<K>> + From<SuffixIndex<K>> + Default + Sync + 'static,
{
    type Asker<'i> = engine::suffix::Reader<'i, K>;

    fn push(&self, text: &K::Key) -> engine::Result<()> {
        self.0.push(text).map(drop)
    }

    fn asker(&self) -> Self::Asker<'_> {
        self.0.reader()
    }

    fn ask(asker: &mut Self::Asker<'_>, pattern: &K::Key, out: &mut Vec<Position>) -> engine::Result<()> {
        asker.snapshot().positions_into(pattern, out);
        Ok(())
    }

    fn settle(&self) -> engine::Result<()> {
        self.0.merge()
    }

    fn checkpoint(&self, path: &Path) -> engine::Result<()> {
        self.0.checkpoint(path, Layout::Compact)
    }

    fn open(path: &Path) -> engine::Result<Self> {
        SuffixIndex::open(path, Verify::Header).map(|index| Self(F::from(index)))
    }
}

/// The numbers of a registration.
#[derive(Clone)]
struct Sizes {
    texts: u64,
    length: u64,
    queries: usize,
    passes: u32,
    readers: usize,
    reads: usize,
    inserts: usize,
    kept: u64,
}

impl System for Suffix {
    fn name(&self) -> &'static str {
        "suffix"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let params = &setup.params;
        let sizes = Sizes {
            texts: params.get("texts")?,
            length: params.get("length")?,
            queries: params.get("queries")?,
            passes: params.get_or("passes", 1)?,
            readers: params.get("readers")?,
            reads: params.get("reads")?,
            inserts: params.get("inserts")?,
            kept: params.get("kept")?,
        };
        if sizes.length < 12 || sizes.texts == 0 || sizes.inserts as u64 >= sizes.texts {
            return Err(Error::new(format!(
                "{} texts of {} symbols and {} inserts: expected at least 1 text more than inserts, and 12 symbols",
                sizes.texts, sizes.length, sizes.inserts
            )));
        }
        if sizes.passes == 0 || sizes.queries == 0 || sizes.readers == 0 || sizes.reads == 0 {
            return Err(Error::new("`passes`, `queries`, `readers` or `reads` is 0, expected at least 1"));
        }
        let (family, symbols): (String, String) = (params.get("family")?, params.get("symbols")?);
        let index: String = params.get("index")?;
        let folder = &setup.scratch;
        Ok(match (family.as_str(), symbols.as_str(), index.as_str()) {
            ("automaton", "byte", "native") => {
                Asking::<u8, Native<SuffixAutomaton<u8>>>::boxed(sizes, folder)?
            }
            ("automaton", "char", "native") => {
                Asking::<char, Native<SuffixAutomaton<char>>>::boxed(sizes, folder)?
            }
            ("tree", "byte", "native") => Asking::<u8, Native<SuffixTree<u8>>>::boxed(sizes, folder)?,
            ("tree", "char", "native") => Asking::<char, Native<SuffixTree<char>>>::boxed(sizes, folder)?,
            ("scdawg", "byte", "native") => Asking::<u8, Native<Scdawg<u8>>>::boxed(sizes, folder)?,
            ("scdawg", "char", "native") => Asking::<char, Native<Scdawg<char>>>::boxed(sizes, folder)?,
            ("automaton" | "tree" | "scdawg", "byte", "encoded") => {
                Asking::<u8, Encoded<u8>>::boxed(sizes, folder)?
            }
            ("automaton" | "tree" | "scdawg", "char", "encoded") => {
                Asking::<char, Encoded<char>>::boxed(sizes, folder)?
            }
            _ => {
                return Err(Error::new(format!(
                    "family `{family}` over `{symbols}` as `{index}` is unknown, known are automaton, tree, scdawg \
                     over byte, char as encoded, native"
                )));
            }
        })
    }
}

struct Asking<K: Alphabet, I> {
    sizes: Sizes,
    folder: PathBuf,
    texts: Vec<K::Owned>,
    queries: Vec<K::Owned>,
    /// Has all texts.
    index: I,
}

/// A number for an answer that does not depend on the order of its positions.
fn folded(positions: &[Position]) -> u64 {
    let one =
        |at: &Position| crate::suffix_workload::mix64(u64::from(at.document) << 32 | u64::from(at.offset));
    positions.iter().fold(positions.len() as u64, |sum, at| sum.wrapping_add(one(at)))
}

fn failed(what: &str) -> impl FnOnce(engine::Error) -> Error + '_ {
    Error::context(format!("failed to {what}"))
}

impl<K: Alphabet, I: Index<K>> Asking<K, I>
where
    K::Owned: Sync + Send,
{
    fn boxed(sizes: Sizes, folder: &Path) -> Result<Box<dyn Prepared>> {
        let symbols = texts::<K>(SEED, sizes.texts, sizes.length);
        let texts: Vec<K::Owned> = symbols.iter().map(|text| K::spell(text)).collect();
        let index = I::default();
        fill(&index, &texts)?;
        let queries = queries(&symbols, sizes.queries);
        Ok(Box::new(Self { sizes, folder: folder.to_owned(), texts, queries, index }))
    }

    fn lookup(&self, sample: &mut Sample) -> Result<()> {
        let (mut asker, mut out, mut next, mut sum) = (self.index.asker(), Vec::new(), 0, 0_u64);
        // One call a query, so that the mean is that of a query.
        let calls = self.sizes.passes * self.queries.len() as u32;
        sample
            .mean_time("lookup", calls, || {
                I::ask(&mut asker, self.queries[next].borrow(), &mut out)?;
                sum = sum.wrapping_add(folded(&out));
                next = if next + 1 == self.queries.len() { 0 } else { next + 1 };
                Ok::<_, engine::Error>(())
            })
            .map_err(failed("ask the index"))?;
        sample.answer(&sum);
        Ok(())
    }

    /// Reads and inserts at the same time, on an index of the other texts. The results are the time from the first of
    /// them to the last, that of the writer, and that of each read if it is `timed`.
    fn contend(&self, index: &I, timed: bool) -> Result<(Duration, Duration, Vec<u32>)> {
        let Sizes { readers, reads, inserts, .. } = self.sizes;
        let added = &self.texts[self.texts.len() - inserts..];
        let barrier = Barrier::new(readers + 1);
        std::thread::scope(|scope| {
            let barrier = &barrier;
            let readers: Vec<_> = (0..readers)
                .map(|reader| {
                    scope.spawn(move || {
                        let (mut asker, mut out) = (index.asker(), Vec::new());
                        let mut times = Vec::with_capacity(if timed { reads } else { 0 });
                        barrier.wait();
                        let start = Instant::now();
                        for read in 0..reads {
                            let query = read.wrapping_mul(2_654_435_761).wrapping_add(17 * reader);
                            let started = timed.then(Instant::now);
                            I::ask(&mut asker, self.queries[query % self.queries.len()].borrow(), &mut out)?;
                            std::hint::black_box(&out);
                            times.extend(started.map(|started| started.elapsed().as_nanos() as u32));
                        }
                        Ok((Span::since(start), times))
                    })
                })
                .collect();
            let writer = scope.spawn(move || {
                barrier.wait();
                let start = Instant::now();
                for text in added {
                    index.push(text.borrow())?;
                }
                Ok(Span::since(start))
            });
            let mut all = Vec::new();
            let mut reading: Option<Span> = None;
            for reader in readers {
                let (span, times) = reader
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    .map_err(failed("read"))?;
                reading = Some(reading.map_or(span, |it| it.with(span)));
                all.extend(times);
            }
            let writing = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let writing = writing.map_err(failed("insert"))?;
            let together = reading.map_or(writing, |it| it.with(writing));
            Ok((together.length(), writing.length(), all))
        })
    }

    /// An index of the texts that are there before any is inserted.
    fn half(&self) -> Result<I> {
        let index = I::default();
        fill(&index, &self.texts[..self.texts.len() - self.sizes.inserts])?;
        Ok(index)
    }

    fn read_while_writing(&self, sample: &mut Sample) -> Result<()> {
        let index = self.half()?;
        let (elapsed, writing, _) = self.contend(&index, false)?;
        let reads = (self.sizes.readers * self.sizes.reads) as f64;
        // Registered in ns: a duration has whole nanoseconds, and there are few a read.
        sample.value("read_while_writing", elapsed.as_nanos() as f64 / reads);
        sample.duration("insert_time", writing / self.sizes.inserts.max(1) as u32);
        let mut out = Vec::new();
        // What was inserted is there, each with all its occurrences.
        let found = self.texts[self.texts.len() - self.sizes.inserts..].iter().filter(|text| {
            let asked = I::ask(&mut index.asker(), Borrow::borrow(*text), &mut out);
            asked.is_ok() && out.iter().any(|at| at.offset == 0)
        });
        sample.value("completed_inserts", found.count() as f64);
        let mut sum = 0_u64;
        for query in &self.queries {
            I::ask(&mut index.asker(), query.borrow(), &mut out).map_err(failed("ask the index"))?;
            sum = sum.wrapping_add(folded(&out));
        }
        sample.answer(&sum);
        if sample.wants("read_p99") {
            let (_, _, mut times) = self.contend(&self.half()?, true)?;
            times.sort_unstable();
            let at = (times.len() * 99).div_ceil(100) - 1;
            sample.value("read_p99", f64::from(times[at]));
        }
        Ok(())
    }

    fn checkpoint(&self, sample: &mut Sample) -> Result<()> {
        // Texts of their own for every block, the same for all arms.
        let seed = SEED ^ u64::from(sample.block) ^ u64::from(sample.warmup) << 20;
        let symbols = texts::<K>(seed, self.sizes.kept, self.sizes.length);
        let texts: Vec<K::Owned> = symbols.iter().map(|text| K::spell(text)).collect();
        let folder = self.folder.join("checkpoint");
        let io = || Error::context(format!("failed to use `{}`", folder.display()));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(io())?;
        }
        std::fs::create_dir_all(&folder).map_err(io())?;
        let index = I::default();
        fill(&index, &texts)?;
        let path = folder.join("index");
        index.checkpoint(&path).map_err(failed("write a checkpoint"))?;
        let mut size = 0;
        for file in std::fs::read_dir(&folder).map_err(io())? {
            size += file.and_then(|file| file.metadata()).map_err(io())?.len();
        }
        sample.bytes("checkpoint_size", size);
        let opened = I::open(&path).map_err(failed("open a checkpoint"))?;
        // Texts differ from block to block, so the answers are checked here.
        let mut out = Vec::new();
        for query in queries(&symbols, 256) {
            I::ask(&mut opened.asker(), query.borrow(), &mut out).map_err(failed("ask a checkpoint"))?;
            let bytes = K::bytes(query.borrow());
            let windows = |text: &K::Owned| {
                K::bytes(text.borrow()).windows(bytes.len()).filter(|part| *part == bytes).count()
            };
            let expected: usize = texts.iter().map(windows).sum();
            if out.len() != expected {
                return Err(Error::new(format!(
                    "a query occurs {} times in a checkpoint, expected {expected}",
                    out.len()
                )));
            }
        }
        Ok(())
    }
}

fn fill<K: Alphabet, I: Index<K>>(index: &I, texts: &[K::Owned]) -> Result<()> {
    for text in texts {
        index.push(text.borrow()).map_err(failed("add a text"))?;
    }
    index.settle().map_err(failed("merge the index"))
}

impl<K: Alphabet, I: Index<K>> Prepared for Asking<K, I>
where
    K::Owned: Sync + Send,
{
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        self.read_while_writing(sample)?;
        self.lookup(sample)?;
        self.checkpoint(sample)
    }
}
