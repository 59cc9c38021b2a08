//! From text to a checked document, every problem at once.

mod claims;
mod keys;
mod quantities;

use super::document::{Document, Source};
use crate::prereg::problem::{Problems, Report};
use crate::prereg::table::{Item, Table};
use crate::prereg::{LoadError, document, read_text};
use std::path::Path;
use toml::de::DeTable;

/// The newest format of an audit that this version reads.
pub const FORMAT: i64 = 1;

impl Document {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is too long, is not text, or has problems.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        Self::parse(&read_text(path)?, &path.display().to_string()).map_err(LoadError::Invalid)
    }

    /// Reads and checks a text; `file` is its name for messages.
    ///
    /// # Errors
    /// Every problem of the text, each with line and column.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        document(text, file, read)
    }
}

fn read<'a>(report: &'a Report<'a>, entries: &'a DeTable<'a>) -> Option<Document> {
    let root = Table::root(report, entries, keys::ROOT);
    let format = root.or("format", FORMAT, |it| it.whole(1..=FORMAT));
    let source = source(&root);
    let quantities = quantities::read(&root);
    let claims = claims::read(&root, quantities.as_deref());
    let _: i64 = format?;
    let quantities = quantities?.into_iter().map(|it| it.quantity).collect::<Option<_>>()?;
    Some(Document { source: source?, quantities, claims: claims? })
}

fn source(root: &Table<'_>) -> Option<Source> {
    let table = root.section("source", keys::SOURCE)?;
    let title = table.need("title").and_then(|it| it.filled(200));
    let date = table.or("date", String::new(), |it| it.text(40));
    let citation = table.or("citation", String::new(), |it| it.text(1_000));
    Some(Source { title: title?, date: date?, citation: citation? })
}

/// `1 to 100 letters, digits, ...`: names that other people gave.
fn name(item: &Item<'_>) -> Option<String> {
    let text = item.filled(100)?;
    let sound = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    if text.chars().all(sound) { Some(text) } else { item.wrong("letters, digits, `.`, `_` and `-`") }
}
