//! Substring searches side by side: the engine's index and those of others, over the same text and questions.

use engine::suffix::Layout;
use engine::{Position, SuffixIndex};
use general_sam::GeneralSam;
use harness::worker::{Error, Result};
use libsais::SuffixArrayConstruction;
use memchr::memmem;
use std::path::Path;

/// A text that can be searched.
pub(crate) trait Finder {
    fn contains(&self, pattern: &str) -> bool;

    /// Puts all places where `pattern` occurs into `out`, in bytes; false if the structure cannot tell them.
    fn positions(&self, pattern: &str, out: &mut Vec<u32>) -> bool;
}

/// All structures there are.
pub(crate) const STRUCTURES: [&str; 6] =
    ["native-fast", "native-compact", "suffix", "libsais", "general-sam", "memmem"];

/// Builds the structure of that name over a text; `folder` has room for its file.
pub(crate) fn build<'t>(structure: &str, text: &'t str, folder: &Path) -> Result<Box<dyn Finder + 't>> {
    Ok(match structure {
        "native-fast" => Box::new(Native::build(text, Layout::Fast, folder)?),
        "native-compact" => Box::new(Native::build(text, Layout::Compact, folder)?),
        "suffix" => Box::new(suffix::SuffixTable::new(text)),
        "libsais" => Box::new(Array { text: text.as_bytes(), array: libsais_array(text.as_bytes())? }),
        "general-sam" => Box::new(Automaton(GeneralSam::from_bytes(text))),
        "memmem" => Box::new(Scan(text.as_bytes())),
        other => {
            let known = STRUCTURES.join(", ");
            return Err(Error::new(format!("structure `{other}` is unknown, known are {known}")));
        }
    })
}

/// The suffix array by the C library, in one thread.
pub(crate) fn libsais_array(text: &[u8]) -> Result<Vec<i32>> {
    SuffixArrayConstruction::for_text(text)
        .in_owned_buffer32()
        .single_threaded()
        .run()
        .map(libsais::suffix_array::SuffixArrayWithText::into_vec)
        .map_err(|refused| Error::new(format!("libsais failed to sort {} bytes: {refused:?}", text.len())))
}

/// The engine's index, opened from its file.
struct Native(std::sync::Arc<engine::suffix::Snapshot<u8>>);

impl Native {
    fn build(text: &str, layout: Layout, folder: &Path) -> Result<Self> {
        let failed = || Error::context("failed to build the index");
        let path = folder.join(format!("{layout:?}.suffix"));
        let index = SuffixIndex::<u8>::from_texts([text.as_bytes()]).map_err(failed())?;
        index.checkpoint(&path, layout).map_err(failed())?;
        let opened = SuffixIndex::<u8>::open(&path, engine::Verify::Header).map_err(failed())?;
        Ok(Self(opened.snapshot()))
    }
}

impl Finder for Native {
    fn contains(&self, pattern: &str) -> bool {
        self.0.contains(pattern.as_bytes())
    }

    fn positions(&self, pattern: &str, out: &mut Vec<u32>) -> bool {
        out.clear();
        self.0.occurrences(pattern.as_bytes()).for_each(|Position { offset, .. }| out.push(offset));
        true
    }
}

impl Finder for suffix::SuffixTable<'_, '_> {
    fn contains(&self, pattern: &str) -> bool {
        suffix::SuffixTable::contains(self, pattern)
    }

    fn positions(&self, pattern: &str, out: &mut Vec<u32>) -> bool {
        out.clear();
        out.extend_from_slice(suffix::SuffixTable::positions(self, pattern));
        true
    }
}

/// A plain suffix array that is searched by halves.
struct Array<'t> {
    text: &'t [u8],
    array: Vec<i32>,
}

impl Array<'_> {
    fn find(&self, pattern: &[u8]) -> &[i32] {
        let prefix = |at: i32| {
            let suffix = &self.text[at as usize..];
            &suffix[..suffix.len().min(pattern.len())]
        };
        let start = self.array.partition_point(|&at| prefix(at) < pattern);
        let rest = &self.array[start..];
        &rest[..rest.partition_point(|&at| prefix(at) == pattern)]
    }
}

impl Finder for Array<'_> {
    fn contains(&self, pattern: &str) -> bool {
        !self.find(pattern.as_bytes()).is_empty()
    }

    fn positions(&self, pattern: &str, out: &mut Vec<u32>) -> bool {
        out.clear();
        out.extend(self.find(pattern.as_bytes()).iter().map(|&at| at as u32));
        true
    }
}

struct Automaton(GeneralSam<general_sam::BTreeTransTable<u8>>);

impl Finder for Automaton {
    fn contains(&self, pattern: &str) -> bool {
        !self.0.get_root_state().feed_bytes(pattern).is_nil()
    }

    fn positions(&self, _: &str, _: &mut Vec<u32>) -> bool {
        false
    }
}

/// No index at all.
struct Scan<'t>(&'t [u8]);

impl Finder for Scan<'_> {
    fn contains(&self, pattern: &str) -> bool {
        memmem::find(self.0, pattern.as_bytes()).is_some()
    }

    fn positions(&self, pattern: &str, out: &mut Vec<u32>) -> bool {
        let finder = memmem::Finder::new(pattern.as_bytes());
        out.clear();
        let mut from = 0;
        while let Some(at) = finder.find(&self.0[from..]) {
            out.push((from + at) as u32);
            from += at + 1;
        }
        true
    }
}

/// The text of the sources and documents below the current folder, one behind the other, up to `most` bytes.
pub(crate) fn sources(most: usize) -> Result<String> {
    let mut files = Vec::new();
    for folder in ["engine", "experiments", "harness", "ledgers", "schemas"] {
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut text = String::new();
    for file in &files {
        let read = std::fs::read_to_string(file);
        text += &read.map_err(Error::context(format!("failed to read `{}`", file.display())))?;
    }
    if text.is_empty() {
        return Err(Error::new(
            "there are no sources below the current folder, run from the root of the project",
        ));
    }
    let mut cut = text.len().min(most);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    text.truncate(cut);
    Ok(text)
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) -> Result<()> {
    let failed = || Error::context(format!("failed to list `{}`", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        let known = |kind: &std::ffi::OsStr| ["rs", "md", "sql"].iter().any(|it| kind == *it);
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files)?;
        } else if path.extension().is_some_and(known) {
            files.push(path);
        }
    }
    Ok(())
}

/// Parts of 12 chars from all over the text; every second one with a char of another place in it, so that it is nowhere,
/// or nearly always.
pub(crate) fn questions(text: &str, count: u64) -> Vec<String> {
    let place = |number: u64| {
        let mut at = crate::suffix_workload::mix64(number) as usize % text.len();
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        &text[at..]
    };
    (0..count)
        .map(|i| {
            let mut part: Vec<char> = place(i).chars().take(12).collect();
            if i % 2 == 1 {
                let changed = crate::suffix_workload::mix64(count + i) as usize % part.len();
                part[changed] = place(2 * count + i).chars().next().unwrap_or(' ');
            }
            part.into_iter().collect()
        })
        .collect()
}
