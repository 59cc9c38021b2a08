//! What is wrong with a file, each with its place.

use std::cell::RefCell;
use std::fmt;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found, where, and what was expected.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Everything that is wrong with a file, in the order of its lines. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    file: String,
    all: Vec<Problem>,
}

impl Problems {
    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Every problem, in the order of the lines.
    pub fn all(&self) -> &[Problem] {
        &self.all
    }

    /// `{"file": .., "problems": [{"line": .., "column": .., "message": .., "hint": ..}]}`; `hint` may be null.
    pub fn to_json(&self) -> serde_json::Value {
        let problems: Vec<_> = self
            .all
            .iter()
            .map(|it| {
                serde_json::json!({
                    "line": it.line, "column": it.column, "message": it.message, "hint": it.hint,
                })
            })
            .collect();
        serde_json::json!({ "file": self.file, "problems": problems })
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, it) in self.all.iter().enumerate() {
            let start = if i > 0 { "\n" } else { "" };
            write!(f, "{start}{}:{}:{}: {}", self.file, it.line, it.column, it.message)?;
            if let Some(hint) = &it.hint {
                write!(f, "\n    help: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Collects problems by their offset while a file is read.
pub(crate) struct Report<'a> {
    text: &'a str,
    found: RefCell<Vec<Found>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    at: usize,
    message: String,
    hint: Option<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, found: RefCell::default() }
    }

    /// The text of a span; empty when there is none.
    pub(crate) fn source(&self, span: std::ops::Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// Adds a problem at a byte offset.
    pub(crate) fn add(&self, at: usize, message: impl Into<String>) {
        self.help(at, message, None);
    }

    /// Adds a problem with what to do about it.
    pub(crate) fn help(&self, at: usize, message: impl Into<String>, hint: Option<String>) {
        self.found.borrow_mut().push(Found { at, message: message.into(), hint });
    }

    /// Keeps the first problem of each line: what the grammar says after it is a consequence.
    pub(crate) fn first_of_each_line(&self) {
        let mut found = self.found.borrow_mut();
        found.sort();
        let mut line_end = None;
        found.retain(|it| {
            let fresh = line_end.is_none_or(|end| it.at > end);
            if fresh {
                let rest = self.text.as_bytes().get(it.at..).unwrap_or_default();
                line_end = Some(it.at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()));
            }
            fresh
        });
    }

    /// `value` if there was no problem.
    pub(crate) fn finish<T>(self, file: &str, value: Option<T>) -> Result<T, Problems> {
        let mut found = self.found.into_inner();
        if let (true, Some(value)) = (found.is_empty(), value) {
            return Ok(value);
        }
        found.sort();
        found.dedup();
        let mut place = Place { text: self.text, at: 0, line: 1, column: 1 };
        let all = found
            .into_iter()
            .map(|Found { at, message, hint }| {
                place.advance(at);
                Problem { line: place.line, column: place.column, message, hint }
            })
            .collect();
        Err(Problems { file: file.to_owned(), all })
    }
}

/// A cursor that counts lines and columns; moved forward only.
struct Place<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl Place<'_> {
    fn advance(&mut self, to: usize) {
        let to = self.text.floor_char_boundary(to);
        for c in self.text.get(self.at..to).unwrap_or_default().chars() {
            match c {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                '\u{feff}' if self.at == 0 && self.line == 1 && self.column == 1 => {}
                _ => self.column += 1,
            }
        }
        self.at = to.max(self.at);
    }
}

/// `text` in backticks, short, on one line and without what a terminal would obey.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut quoted = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            quoted.push('…');
            break;
        }
        if c.is_control() { quoted.extend(c.escape_default()) } else { quoted.push(c) }
    }
    quoted.push('`');
    quoted
}

/// Names in backticks, with commas; the first few of many.
pub(crate) fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const MOST: usize = 24;
    let quoted: Vec<_> = names.into_iter().map(|it| quote(it.as_ref())).collect();
    let more = if quoted.len() > MOST { ", .." } else { "" };
    quoted[..quoted.len().min(MOST)].join(", ") + more
}

/// ``did you mean `x`?`` with the candidate that is nearest to `found`, if one is near.
pub(crate) fn did_you_mean<S: AsRef<str>>(
    found: &str,
    candidates: impl IntoIterator<Item = S>,
) -> Option<String> {
    let length = found.chars().count();
    if length > 100 {
        return None;
    }
    let found = found.to_lowercase();
    let near = length.div_ceil(3);
    candidates
        .into_iter()
        .filter_map(|it| {
            let name = it.as_ref().to_lowercase();
            let distance = strsim::damerau_levenshtein(&found, &name);
            let part = length >= 3 && name.contains(&found);
            (part || (distance <= near && distance < name.chars().count())).then_some((distance, it))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| format!("did you mean {}?", quote(it.as_ref())))
}
