//! Dictionaries beside each other: what one costs to open, to ask first, to ask much, and to hold.
//!
//! | parameter | meaning |
//! |---|---|
//! | `structure` | `trie` (values of 8 bytes, ordered), `trie-many` (asked 16 at a time), `trie-verified` (all checksums), `trie-ranks`, `trie-compact`, `point` (with point index), `point-many`, `trie-eager` (heap nodes); `fst`, `yada`, `marisa`, `redb`, `lmdb`, `rkyv-hash`, `sorted` |
//! | `keys` | `ledger`, `words`, `urls` or `hex` |
//! | `terms` | number of keys to make |
//! | `words` | path of the list of words, if it is not where Debian has it |
//! | `lookups` | number of random hits, and of near misses, of a pass |
//! | `passes` | number of passes that `bulk` is the mean of |
//!
//! | metric | meaning |
//! |---|---|
//! | `open` | opening the file |
//! | `first_lookup` | opening the file and looking up the key in the middle |
//! | `bulk` | the ledger's 10,000 questions: the mean of some passes after the first |
//! | `random_hit` | keys that exist, uniformly at random: one pass |
//! | `near_miss` | keys of which one char was replaced: one pass |
//! | `file_bytes` | bytes of the file |
//! | `anonymous_memory` | growth of the own memory of a fresh process, mapped files not counted, by opening the file and one bulk pass |
//! | `build` | building the file anew from sorted keys, with what it does for durability |

use crate::memory::anonymous;
use crate::peers::{Structure, Workload};
use crate::queries::queries;
use crate::questions::Questions;
use harness::worker::{Error, Prepared, Result, Sample, Setup, System, in_fresh_process};
use std::fs;
use std::path::{Path, PathBuf};

/// The system `peers`.
pub(crate) struct Peers;

/// What `peers` has measured of memory, in a process of its own: not named in registrations.
pub(crate) struct PeersMemory;

struct Asking {
    setup: Setup,
    structure: &'static Structure,
    folder: PathBuf,
    path: PathBuf,
    keys: Vec<String>,
    passes: u32,
    bulk: Questions,
    hits: Questions,
    misses: Questions,
}

impl System for Peers {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn check(&self, setup: &Setup) -> Result<()> {
        let (keys, words): (String, String) =
            (setup.params.get("keys")?, setup.params.get_or("words", String::new())?);
        Workload::named(&keys)?.check(path_of(&words))
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let (structure, workload): (String, String) =
            (setup.params.get("structure")?, setup.params.get("keys")?);
        let (structure, workload) = (Structure::named(&structure)?, Workload::named(&workload)?);
        let (terms, lookups): (u64, u64) =
            (setup.params.get("terms")?, setup.params.get_or("lookups", 300_000)?);
        let passes: u32 = setup.params.get_or("passes", 20)?;
        let words: String = setup.params.get_or("words", String::new())?;
        if terms == 0 || passes == 0 {
            return Err(Error::new(format!(
                "{terms} terms and {passes} passes: expected at least 1 of each"
            )));
        }
        let keys = workload.keys(terms, path_of(&words))?;
        let folder = workload.folder(terms);
        let path = structure.ready(&folder, &keys)?;
        let lookups = lookups as usize;
        let bulk: Questions = queries(&keys, 10_000, 0.5).iter().map(String::as_str).collect();
        // For fresh processes, which have no room for the keys.
        let lines: Vec<&str> = bulk.iter().collect();
        fs::write(questions_file(&setup.scratch), lines.join("\n"))
            .map_err(Error::context("failed to leave the questions in a file"))?;
        Ok(Box::new(Asking {
            setup: setup.clone(),
            structure,
            folder,
            path,
            passes,
            bulk,
            hits: Questions::hits(&keys, lookups),
            misses: Questions::near_misses(&keys, lookups),
            keys,
        }))
    }
}

/// The path of the words that was registered, if one was.
fn path_of(words: &str) -> Option<&str> {
    (!words.is_empty()).then_some(words)
}

impl Prepared for Asking {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let Self { structure, path, .. } = self;
        let dictionary = sample.time("open", || structure.open(path))?;
        // The first pass brings everything that the later ones need; values differ between structures, hits do not.
        let (found, _) = dictionary.pass(&self.bulk);
        let again = sample.mean_time("bulk", self.passes, || {
            Ok::<_, Error>(std::hint::black_box(dictionary.pass(&self.bulk)).0)
        })?;
        let hits = sample.time("random_hit", || std::hint::black_box(dictionary.pass(&self.hits)));
        let misses = sample.time("near_miss", || std::hint::black_box(dictionary.pass(&self.misses)));
        structure.check(dictionary.as_ref(), &self.keys)?;
        drop(dictionary);
        let middle = &self.keys[self.keys.len() / 2];
        let (reopened, first) = sample.time("first_lookup", || -> Result<_> {
            let dictionary = structure.open(path)?;
            let found = dictionary.get(middle);
            // Dropping it is no part of the lookup.
            Ok((dictionary, found))
        })?;
        drop(reopened);
        sample.answer(&(found, again, hits.0, misses.0, first.is_some()));
        let len = path.metadata().map_err(Error::context("failed to ask for the length of the file"))?.len();
        sample.bytes("file_bytes", len);
        if sample.wants("anonymous_memory") {
            let (value, digest) = in_fresh_process("peers-memory", &self.setup, "anonymous_memory")?;
            sample.value("anonymous_memory", value);
            sample.answer(&digest);
        }
        if sample.wants("build") {
            let anew = self.folder.join(format!("{}.anew-{}", structure.name, std::process::id()));
            let _ = fs::remove_file(&anew);
            sample.time("build", || structure.build(&anew, &self.keys))?;
            fs::remove_file(&anew).map_err(Error::context("failed to remove a file that was built"))?;
        }
        Ok(())
    }
}

fn questions_file(folder: &Path) -> PathBuf {
    folder.join("bulk.txt")
}

impl System for PeersMemory {
    fn name(&self) -> &'static str {
        "peers-memory"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>> {
        let (structure, workload): (String, String) =
            (setup.params.get("structure")?, setup.params.get("keys")?);
        let (structure, workload) = (Structure::named(&structure)?, Workload::named(&workload)?);
        let text = fs::read_to_string(questions_file(&setup.scratch))
            .map_err(Error::context("failed to read the questions"))?;
        let path = structure.path(&workload.folder(setup.params.get("terms")?));
        // No key has a line end in it.
        Ok(Box::new(Holding { structure, path, bulk: text.split('\n').collect() }))
    }
}

struct Holding {
    structure: &'static Structure,
    path: PathBuf,
    bulk: Questions,
}

impl Prepared for Holding {
    fn sample(&mut self, sample: &mut Sample) -> Result<()> {
        let before = anonymous()?;
        let dictionary = self.structure.open(&self.path)?;
        let (found, _) = dictionary.pass(&self.bulk);
        let after = anonymous()?;
        sample.bytes("anonymous_memory", after.saturating_sub(before));
        sample.answer(&found);
        Ok(())
    }
}
