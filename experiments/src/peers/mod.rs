//! Dictionaries side by side: the engine's images and those of others, over the same keys and questions.

mod ours;
mod theirs;
mod workload;

use crate::questions::Questions;
use harness::worker::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) use workload::Workload;

/// A dictionary in a file, opened.
pub(crate) trait Dictionary {
    /// The value of a key: its rank, but for structures that give keys numbers of their own.
    fn get(&self, key: &str) -> Option<u64>;

    /// Asks everything once and tells how many keys were found, and the sum of their values.
    ///
    /// Every dictionary has a copy of this loop with its own `get` in it.
    fn pass(&self, questions: &Questions) -> (u64, u64) {
        questions.iter().fold((0, 0), |(found, sum), key| match self.get(key) {
            Some(value) => (found + 1, sum + value),
            None => (found, sum),
        })
    }
}

/// The extension of what says how long a file took to build, in nanoseconds.
pub(crate) const BUILD_TIME: &str = "build-ns";

/// A kind of dictionary.
pub(crate) struct Structure {
    /// Its name in `params.structure`.
    pub(crate) name: &'static str,
    /// The file that it shares with others of its kind.
    file: &'static str,
    /// Whether it is the engine's own.
    ours: bool,
    /// Whether its values are ranks.
    ranks: bool,
    build: fn(&Path, &[String]) -> Result<()>,
    open: fn(&Path) -> Result<Box<dyn Dictionary>>,
}

/// All there are.
pub(crate) static STRUCTURES: [&Structure; 15] = [
    &ours::TRIE,
    &ours::TRIE_MANY,
    &ours::TRIE_VERIFIED,
    &ours::RANKS,
    &ours::COMPACT,
    &ours::POINT,
    &ours::POINT_MANY,
    &ours::EAGER,
    &theirs::FST,
    &theirs::YADA,
    &theirs::MARISA,
    &theirs::REDB,
    &theirs::LMDB,
    &theirs::RKYV,
    &theirs::SORTED,
];

impl Structure {
    pub(crate) fn named(name: &str) -> Result<&'static Self> {
        STRUCTURES.iter().copied().find(|it| it.name == name).ok_or_else(|| {
            let known: Vec<&str> = STRUCTURES.iter().map(|it| it.name).collect();
            Error::new(format!("structure `{name}` is unknown, known are {}", known.join(", ")))
        })
    }

    /// Where its file is in a folder of [`Workload::folder`].
    pub(crate) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.file)
    }

    /// Makes sure that its file is there: one of the engine is built anew, since its format and its writer change;
    /// others are kept from earlier runs, since some take minutes.
    pub(crate) fn ready(&self, folder: &Path, keys: &[String]) -> Result<PathBuf> {
        let path = self.path(folder);
        if self.ours || !path.exists() {
            std::fs::create_dir_all(folder)
                .map_err(Error::context(format!("failed to create `{}`", folder.display())))?;
            // Under another name first, so that a half-built file is never taken for one, and a mapped one stays.
            let unfinished = folder.join(format!("{}.unfinished-{}", self.file, std::process::id()));
            let _ = std::fs::remove_file(&unfinished);
            let start = Instant::now();
            self.build(&unfinished, keys)?;
            // Beside what is kept: some take minutes to build again.
            let took = start.elapsed().as_nanos().to_string();
            std::fs::write(path.with_extension(BUILD_TIME), took)
                .map_err(Error::context(format!("failed to note how long `{}` took", self.name)))?;
            std::fs::rename(&unfinished, &path)
                .map_err(Error::context(format!("failed to name `{}`", path.display())))?;
        }
        Ok(path)
    }

    pub(crate) fn build(&self, path: &Path, keys: &[String]) -> Result<()> {
        (self.build)(path, keys)
    }

    pub(crate) fn open(&self, path: &Path) -> Result<Box<dyn Dictionary>> {
        (self.open)(path)
    }

    /// Asks for some keys and refuses wrong answers.
    pub(crate) fn check(&self, dictionary: &dyn Dictionary, keys: &[String]) -> Result<()> {
        for (rank, key) in keys.iter().enumerate().step_by(keys.len() / 1_000 + 1) {
            let found = dictionary.get(key);
            if found.is_none() || self.ranks && found != Some(rank as u64) {
                let name = self.name;
                return Err(Error::new(format!(
                    "`{name}` has {found:?} for key {rank}, `{key}`; if its file in target/bench-scratch/peers is of other \
                     keys, remove it"
                )));
            }
        }
        Ok(())
    }
}
