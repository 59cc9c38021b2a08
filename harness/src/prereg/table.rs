//! A reader of tables with places: it knows which keys a table may have and collects every problem.

use super::grammar::Grammar;
use super::problem::{Report, did_you_mean, list, quote};
use super::word::{Word, spellings};
use crate::vocab::Scalar;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use toml::de::{DeTable, DeValue};

/// A table of the file.
pub(crate) struct Table<'a> {
    pub(crate) report: &'a Report<'a>,
    /// Where it is, for messages: `in [design]`.
    place: String,
    /// Its offset.
    pub(crate) at: usize,
    /// Nothing when the file leaves the table out.
    entries: Option<&'a DeTable<'a>>,
}

/// A value of the file.
pub(crate) struct Item<'a> {
    pub(crate) report: &'a Report<'a>,
    /// What it is, for messages: `` `samples` in [design] ``.
    pub(crate) what: String,
    /// Offset of the value.
    pub(crate) at: usize,
    span: Range<usize>,
    value: &'a DeValue<'a>,
}

/// A key of a table whose keys are names, with its value.
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    /// Offset of the key.
    pub(crate) at: usize,
    pub(crate) item: Item<'a>,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub(crate) fn root(report: &'a Report<'a>, entries: &'a DeTable<'a>, keys: &[&str]) -> Self {
        let table = Self { report, place: "at the top level".to_owned(), at: 0, entries: Some(entries) };
        table.only(keys);
        table
    }

    /// Reports every key that is not one of `keys`.
    fn only(&self, keys: &[&str]) {
        for entry in self.entries() {
            if !keys.contains(&entry.name) {
                let hint =
                    did_you_mean(entry.name, keys).or_else(|| Some(format!("known keys are {}", list(keys))));
                self.report.help(entry.at, format!("unknown key {} {}", quote(entry.name), self.place), hint);
            }
        }
    }

    /// Keys and values in the order of the file.
    pub(crate) fn entries(&self) -> Vec<Entry<'a>> {
        let mut entries: Vec<_> = self
            .entries
            .into_iter()
            .flat_map(|it| it.iter())
            .map(|(key, value)| {
                let name = key.get_ref().as_ref();
                let what = format!("{} {}", quote(name), self.place);
                Entry { name, at: key.span().start, item: Item::new(self.report, what, value) }
            })
            .collect();
        entries.sort_by_key(|it| it.at);
        entries
    }

    /// The offset of a key; of the table if it is not there.
    pub(crate) fn at_key(&self, key: &str) -> usize {
        self.entries.and_then(|it| it.get_key_value(key)).map_or(self.at, |(key, _)| key.span().start)
    }

    /// The offset of a key of the table `[key]`; of that one if it is not there.
    pub(crate) fn at_within(&self, key: &str, inner: &str) -> usize {
        let entries = self.entries.and_then(|it| it.get(key)).and_then(|it| it.get_ref().as_table());
        let found = entries.and_then(|it| it.get_key_value(inner));
        found.map_or_else(|| self.at_key(key), |(inner, _)| inner.span().start)
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &str) -> Option<Item<'a>> {
        let value = self.entries?.get(key)?;
        Some(Item::new(self.report, format!("`{key}` {}", self.place), value))
    }

    /// The value of a key; a problem if it is not there.
    pub(crate) fn need(&self, key: &str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.report.add(self.at, format!("`{key}` is missing {}", self.place));
        }
        item
    }

    /// What `read` makes of a key, or `default` if it is not there. `None` is a reported problem.
    pub(crate) fn or<T>(&self, key: &str, default: T, read: impl FnOnce(Item<'a>) -> Option<T>) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }

    /// The same for a key without a default.
    pub(crate) fn maybe<T>(&self, key: &str, read: impl FnOnce(Item<'a>) -> Option<T>) -> Option<Option<T>> {
        self.get(key).map_or(Some(None), |it| read(it).map(Some))
    }

    /// Whether it has no key at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_none_or(DeTable::is_empty)
    }

    /// The table `[key]`; a problem if it is not there.
    pub(crate) fn need_section(&self, key: &str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.report.add(self.at, format!("[{key}] is missing"));
        }
        item
    }

    /// The same, with known keys.
    pub(crate) fn section(&self, key: &str, keys: &[&str]) -> Option<Self> {
        self.need_section(key)?.table(format!("in [{key}]"), Some(keys))
    }

    /// The table `[key]`, empty if it is not there; any key when `keys` is `None`.
    pub(crate) fn section_or_empty(&self, key: &str, keys: Option<&[&str]>) -> Option<Self> {
        match self.get(key) {
            Some(item) => item.table(format!("in [{key}]"), keys),
            None => {
                Some(Self { report: self.report, place: format!("in [{key}]"), at: self.at, entries: None })
            }
        }
    }
}

impl<'a> Item<'a> {
    fn new(report: &'a Report<'a>, what: String, value: &'a toml::Spanned<DeValue<'a>>) -> Self {
        let span = value.span();
        Self { report, what, at: span.start, span, value: value.get_ref() }
    }

    /// Reports that this is not what was expected.
    pub(crate) fn wrong<T>(&self, expected: impl Display) -> Option<T> {
        self.wrong_help(expected, None)
    }

    pub(crate) fn wrong_help<T>(&self, expected: impl Display, hint: Option<String>) -> Option<T> {
        let source = match self.value {
            DeValue::String(text) => text.as_ref(),
            _ => self.report.source(self.span.clone()),
        };
        let kind = match self.value {
            DeValue::String(_) => "text ",
            DeValue::Datetime(_) => "date ",
            DeValue::Array(_) => "list ",
            DeValue::Table(_) => "table ",
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => "",
        };
        let message = format!("{} is {kind}{}, expected {expected}", self.what, quote(source));
        self.report.help(self.at, message, hint);
        None
    }

    /// Reports a problem with this value.
    pub(crate) fn problem<T>(&self, message: impl Into<String>, hint: Option<String>) -> Option<T> {
        self.report.help(self.at, message, hint);
        None
    }

    /// Text of at most `longest` characters without control characters.
    pub(crate) fn text(&self, longest: usize) -> Option<String> {
        let DeValue::String(text) = self.value else {
            return self.wrong("text");
        };
        if let Some(control) = text.chars().find(|c| c.is_control()) {
            let hint = matches!(control, '\n' | '\r')
                .then(|| "end a line of `\"\"\"` with `\\` to go on without a line break".to_owned());
            let message = format!("{} has the control character `{}`", self.what, control.escape_default());
            return self.problem(message, hint);
        }
        let length = text.chars().count();
        if length > longest {
            let message = format!("{} has {length} characters, at most {longest} are allowed", self.what);
            return self.problem(message, None);
        }
        Some(text.as_ref().to_owned())
    }

    /// The same, and not empty.
    pub(crate) fn filled(&self, longest: usize) -> Option<String> {
        let text = self.text(longest)?;
        if text.trim().is_empty() {
            return self.problem(format!("{} is empty, expected text", self.what), None);
        }
        Some(text)
    }

    /// A name.
    pub(crate) fn name(&self, grammar: Grammar) -> Option<String> {
        let DeValue::String(text) = self.value else {
            return self.wrong("text");
        };
        if grammar.accepts(text) {
            return Some(text.as_ref().to_owned());
        }
        let hint = grammar.repair(text).map(|it| format!("did you mean {}?", quote(&it)));
        self.wrong_help(grammar.describe(), hint)
    }

    /// A member of a closed set that this version can carry out.
    pub(crate) fn word<W: Word>(&self) -> Option<W> {
        let expected = || format!("one of {}", list(spellings::<W>()));
        let DeValue::String(text) = self.value else {
            return self.wrong(expected());
        };
        match text.parse::<W>() {
            Ok(word) if word.available() => Some(word),
            Ok(word) => self.problem(
                format!("{} `{}` is not available yet", W::KIND, word.as_str()),
                Some(format!("available are {}", list(spellings::<W>()))),
            ),
            Err(_) => self.wrong_help(expected(), did_you_mean(text, spellings::<W>())),
        }
    }

    /// A whole number within bounds.
    pub(crate) fn whole(&self, bounds: RangeInclusive<i64>) -> Option<i64> {
        let expected = || match (*bounds.start(), *bounds.end()) {
            (i64::MIN, i64::MAX) => "a whole number of at most 64 bits".to_owned(),
            (least, most) if least == most => format!("`{least}`"),
            (least, most) => format!("a whole number from {least} to {most}"),
        };
        match self.integer() {
            Some(it) if bounds.contains(&it) => Some(it),
            _ => self.wrong(expected()),
        }
    }

    /// The whole number that this is, if it is one of 64 bits; never a problem.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self.value {
            DeValue::Integer(it) => i64::from_str_radix(it.as_str(), it.radix()).ok(),
            _ => None,
        }
    }

    /// A finite number, whole or not.
    pub(crate) fn number(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(_) => self.integer().map(|it| it as f64),
            DeValue::Float(it) => it.as_str().parse().ok(),
            _ => None,
        };
        match number {
            // Adding zero makes one zero of both.
            Some(it) if it.is_finite() => Some(it + 0.0),
            _ => self.wrong("a finite number"),
        }
    }

    /// A number with its digits as they stand in the file, or text.
    pub(crate) fn digits(&self) -> Option<&'a str> {
        match self.value {
            DeValue::String(text) => Some(text.as_ref()),
            DeValue::Integer(_) | DeValue::Float(_) => Some(self.report.source(self.span.clone())),
            _ => None,
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(it) => Some(*it),
            _ => self.wrong("`true` or `false`"),
        }
    }

    /// A value of a parameter.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self.value {
            DeValue::Boolean(it) => Some(Scalar::Bool(*it)),
            DeValue::Integer(_) => self.whole(i64::MIN..=i64::MAX).map(Scalar::Int),
            DeValue::Float(_) => self.number().map(Scalar::Float),
            DeValue::String(_) => self.text(1_000).map(Scalar::Text),
            _ => self.wrong("a number, text, `true` or `false`"),
        }
    }

    /// The members of a list; at most `most` of them.
    pub(crate) fn list(&self, most: usize) -> Option<Vec<Self>> {
        let DeValue::Array(members) = self.value else {
            let header = self.report.source(self.span.clone());
            let hint = (matches!(self.value, DeValue::Table(_)) && header.starts_with('['))
                .then(|| format!("write each of them under {}", quote(&format!("[{header}]"))));
            return self.wrong_help("a list", hint);
        };
        if members.len() > most {
            let message = format!("{} has {} members, at most {most} are allowed", self.what, members.len());
            return self.problem(message, None);
        }
        Some(
            members
                .iter()
                .map(|it| Self::new(self.report, format!("a member of {}", self.what), it))
                .collect(),
        )
    }

    /// The members of a list, or the value itself as the only one.
    pub(crate) fn one_or_more(self, most: usize) -> Option<Vec<Self>> {
        if matches!(self.value, DeValue::Array(_)) { self.list(most) } else { Some(vec![self]) }
    }

    /// Program and arguments.
    pub(crate) fn command(&self) -> Option<Vec<String>> {
        let members = self.list(1_000)?;
        if members.is_empty() {
            return self.wrong("a program and its arguments");
        }
        let texts: Vec<_> = members
            .iter()
            .enumerate()
            .map(|(i, it)| if i == 0 { it.filled(4_096) } else { it.text(4_096) })
            .collect();
        texts.into_iter().collect()
    }

    /// Whether the value is a list without members.
    pub(crate) fn is_empty_list(&self) -> bool {
        matches!(self.value, DeValue::Array(members) if members.is_empty())
    }

    /// Whether the value is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Whether the value is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Whether the value is a number.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.value, DeValue::Integer(_) | DeValue::Float(_))
    }

    /// A table; any key when `keys` is `None`.
    pub(crate) fn table(&self, place: String, keys: Option<&[&str]>) -> Option<Table<'a>> {
        let DeValue::Table(entries) = self.value else {
            return self.wrong("a table");
        };
        let table = Table { report: self.report, place, at: self.at, entries: Some(entries) };
        if let Some(keys) = keys {
            table.only(keys);
        }
        Some(table)
    }
}
