//! Samples that were measured elsewhere, from files of three forms.
//!
//! | form | looks like |
//! |---|---|
//! | JSON | `[1.5, 1.6]`, or `{"arm": "a", "metric": "time", "unit": "ms", "samples": [1.5, 1.6]}`, or a list of such objects |
//! | CSV | a header with `arm` and a column a metric, or `metric` and `value`; also `unit`, `cell`, `block` |
//! | plain | a number a line; `#` begins a comment |
//!
//! CSV is separated by commas, semicolons or tabs, whichever the header has. A unit is that of the column `unit`, or that
//! which ends the name of a metric's column (`open_ms`, `ms`). A sample is a finite number, and a time, an amount of
//! memory or a rate is none below zero. A file is read whole or refused with the place of what is wrong: nothing is
//! guessed, dropped or counted as zero.

mod csv;
mod json;
mod number;

pub use number::Decimal;

use crate::vocab::{Unit, UnitKind};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The longest file of samples, in bytes: some millions of them.
pub const LONGEST: u64 = 64 << 20;

/// The samples of one metric, cell and arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The arm; empty if the file names none.
    pub arm: String,
    /// The metric; empty if the file names none.
    pub metric: String,
    /// The cell; empty if the file names none.
    pub cell: String,
    /// The unit, if the file names one.
    pub unit: Option<Unit>,
    /// The samples, in the order of the file.
    pub values: Vec<f64>,
    /// The block of each sample; empty if the file names none.
    pub blocks: Vec<u32>,
}

/// Why a file of samples was refused.
#[derive(Debug)]
pub enum SamplesError {
    /// It cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What it says is not samples.
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where in it: `line 3`; empty if it is about the whole.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}

impl fmt::Display for SamplesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, .. } => write!(f, "failed to read `{}`", path.display()),
            Self::Invalid { path, place, problem } if place.is_empty() => {
                write!(f, "no samples in `{}`: {problem}", path.display())
            }
            Self::Invalid { path, place, problem } => {
                write!(f, "no samples in `{}`: {place}: {problem}", path.display())
            }
        }
    }
}

impl std::error::Error for SamplesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Invalid { .. } => None,
        }
    }
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    place: String,
    text: String,
}

impl Problem {
    fn at(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into() }
    }

    fn line(line: usize, text: impl Into<String>) -> Self {
        Self::at(format!("line {line}"), text)
    }
}

/// Reads the samples of a file; `unit` is that of numbers for which it names none.
///
/// # Errors
///
/// [`SamplesError`] for a file that cannot be read, and for the first thing in it that is not a sample.
pub fn read(path: &Path, decimal: Decimal, unit: Option<Unit>) -> Result<Vec<Series>, SamplesError> {
    let io = |source| SamplesError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    parse(&bytes, decimal, unit).map_err(|Problem { place, text: problem }| SamplesError::Invalid {
        path: path.to_owned(),
        place,
        problem,
    })
}

fn parse(bytes: &[u8], decimal: Decimal, unit: Option<Unit>) -> Result<Vec<Series>, Problem> {
    if bytes.len() as u64 > LONGEST {
        return Err(Problem::at("", format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|it| **it == b'\n').count();
    let text = std::str::from_utf8(bytes)
        .map_err(|it| Problem::line(line_of(it.valid_up_to()), "this is not UTF-8"))?;
    if let Some(offset) = text.find('\0') {
        return Err(Problem::line(line_of(offset), "a character U+0000 stands here"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut sorted = Sorted { unit, series: Vec::new() };
    if text.trim_start().starts_with(['[', '{']) {
        json::read(text, &mut sorted)?;
    } else {
        csv::read(text, decimal, &mut sorted)?;
    }
    if sorted.series.is_empty() {
        return Err(Problem::at("", "the file is empty"));
    }
    Ok(sorted.series)
}

/// One sample with all that is said of it.
struct Entry<'a> {
    arm: &'a str,
    metric: &'a str,
    cell: &'a str,
    unit: Option<Unit>,
    value: f64,
    block: Option<u32>,
}

/// Samples, sorted into series in the order in which these begin.
struct Sorted {
    /// The unit of numbers that have none.
    unit: Option<Unit>,
    series: Vec<Series>,
}

impl Sorted {
    /// Adds a sample; an error says what is wrong with it.
    fn push(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        let Entry { arm, metric, cell, block, .. } = *entry;
        let unit = entry.unit.or(self.unit);
        let kind = unit.map_or(UnitKind::Count, Unit::kind);
        if entry.value < 0.0 && kind != UnitKind::Count {
            let what = match kind {
                UnitKind::Time => "a duration",
                UnitKind::Bytes => "an amount of memory",
                _ => "a rate",
            };
            return Err(format!("{what} below zero: {}", entry.value));
        }
        let last = self.series.last().is_some_and(|it| it.is(arm, metric, cell));
        let found = if last {
            self.series.last_mut()
        } else {
            self.series.iter_mut().find(|it| it.is(arm, metric, cell))
        };
        let Some(series) = found else {
            for (what, name) in [("arm", arm), ("metric", metric), ("cell", cell)] {
                if let Some(bad) = name.chars().find(|it| it.is_control()) {
                    return Err(format!("a character U+{:04X} in the name of the {what}", bad as u32));
                }
            }
            self.series.push(Series {
                arm: arm.to_owned(),
                metric: metric.to_owned(),
                cell: cell.to_owned(),
                unit,
                values: vec![entry.value + 0.0],
                blocks: block.into_iter().collect(),
            });
            return Ok(());
        };
        let factor = match (unit, series.unit) {
            (unit, expected) if unit == expected => 1.0,
            (Some(unit), Some(expected)) if unit.kind() == expected.kind() => unit.scale() / expected.scale(),
            (Some(unit), Some(expected)) => {
                return Err(format!("`{unit}` among samples in `{expected}`"));
            }
            (Some(unit), None) => return Err(format!("`{unit}` among samples without a unit")),
            (None, _) => return Err("a sample without a unit among samples with one".to_owned()),
        };
        let known =
            |it: u32| series.blocks.last().is_some_and(|last| *last >= it) && series.blocks.contains(&it);
        if block.is_some_and(known) {
            return Err("the block is there already".to_owned());
        }
        // Zero has no sign.
        series.values.push(entry.value * factor + 0.0);
        series.blocks.extend(block);
        Ok(())
    }
}

impl Series {
    fn is(&self, arm: &str, metric: &str, cell: &str) -> bool {
        self.arm == arm && self.metric == metric && self.cell == cell
    }

    /// The same samples in another unit of the same kind.
    pub fn in_unit(mut self, unit: Unit) -> Self {
        if let Some(own) = self.unit.filter(|it| *it != unit && it.kind() == unit.kind()) {
            let factor = own.scale() / unit.scale();
            self.values.iter_mut().for_each(|it| *it *= factor);
        }
        self.unit = Some(unit);
        self
    }
}

#[cfg(test)]
mod tests;
