//! Markdown for a code host, from any text at all.
//!
//! Names come from users: they hold pipes, line breaks, tags and worse. Whatever goes through here reads as it
//! was given and cannot end a cell, open a tag or leave a folder.
//!
//! ```
//! use harness::render::markdown::{Align, Table, code};
//!
//! let mut table = Table::new([("arm", Align::Left), ("n", Align::Right)]);
//! table.row([code("a|b").into(), "30".into()]);
//! assert_eq!(table.to_string(), "| arm               |   n |\n| ----------------- | --: |\n| <code>a\\|b</code> |  30 |\n");
//! ```

use crate::vocab::Digest;
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// On which side the cells of a column line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
    /// Marks.
    Center,
}

/// Markdown that stays within a cell, a line or a sentence. From plain text by [`From`], which escapes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inline(String);

impl Inline {
    /// What is markdown already; line breaks become blanks, and pipes that are not escaped are.
    pub fn markdown(text: &str) -> Self {
        let mut safe = String::with_capacity(text.len());
        let mut escaped = false;
        for c in text.chars() {
            match c {
                '\n' | '\r' => safe.push(' '),
                '|' if !escaped => safe.push_str("\\|"),
                _ => safe.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        Self(safe)
    }

    /// The markdown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Inline {
    fn from(text: &str) -> Self {
        Self(escape(text))
    }
}

impl From<String> for Inline {
    fn from(text: String) -> Self {
        Self(escape(&text))
    }
}

impl fmt::Display for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A table that reads well as source too: its columns line up, wide letters counted as two.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(Inline, Align)>,
    rows: Vec<Vec<Inline>>,
}

/// Cells wider than this do not widen the cells above and below them.
const WIDEST: usize = 60;

impl Table {
    /// A table without rows; `columns` are plain texts.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.into(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Appends a row. It gets a cell for every column: those that are missing are empty, others left out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Inline>) -> &mut Self {
        let mut row: Vec<Inline> = cells.into_iter().take(self.columns.len()).collect();
        row.resize(self.columns.len(), Inline::default());
        self.rows.push(row);
        self
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    /// The table, each row on a line of its own, with a line break at the end. `{:#}` leaves out what makes columns line up: a
    /// third of the bytes of a long page, which code hosts cut off where it gets too long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = if f.alternate() { 0 } else { WIDEST };
        let cells = |i: usize| self.rows.iter().map(move |row| &row[i]);
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (name, _))| {
                let cells = cells(i).map(|it| it.0.width()).filter(|it| *it <= widest);
                let name = if f.alternate() { 0 } else { name.0.width() };
                cells.chain([name, 3]).max().unwrap_or(3)
            })
            .collect();
        let mut line = |row: Vec<&Inline>| {
            for ((cell, (_, align)), width) in row.into_iter().zip(&self.columns).zip(&widths) {
                let room = width.saturating_sub(cell.0.width());
                let before = match align {
                    Align::Left => 0,
                    Align::Right => room,
                    Align::Center => room / 2,
                };
                write!(f, "| {}{cell}{} ", " ".repeat(before), " ".repeat(room - before))?;
            }
            f.write_str("|\n")
        };
        line(self.columns.iter().map(|(name, _)| name).collect())?;
        let rules: Vec<Inline> = self
            .columns
            .iter()
            .zip(&widths)
            .map(|((_, align), width)| {
                Inline(match align {
                    Align::Left => "-".repeat(*width),
                    Align::Right => format!("{}:", "-".repeat(width - 1)),
                    Align::Center => format!(":{}:", "-".repeat(width - 2)),
                })
            })
            .collect();
        line(rules.iter().collect())?;
        self.rows.iter().try_for_each(|row| line(row.iter().collect()))
    }
}

/// `text` as markdown that reads as it was given, on one line, in a table as well as outside of one.
///
/// Line breaks, controls, characters that turn the direction of what follows, and blanks at the ends become
/// numeric entities.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let chars: Vec<char> = text.chars().collect();
    let word = |i: Option<usize>| i.and_then(|i| chars.get(i)).is_some_and(|it| it.is_alphanumeric());
    for (i, &c) in chars.iter().enumerate() {
        let end = i == 0 || i + 1 == chars.len();
        let (before, after) = (i.checked_sub(1), Some(i + 1));
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Within a word it does not emphasize, and most names have some.
            '_' if word(before) && word(after) => out.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', c]),
            // Lists and headings begin so; negative numbers do too, and are none.
            '-' | '+' | '#' | '=' if i == 0 && !word(after) => out.extend(['\\', c]),
            '.' | ')' if i > 0 && chars[..i].iter().all(char::is_ascii_digit) && !word(after) => {
                out.extend(['\\', c]);
            }
            ' ' if end => out.push_str("&#32;"),
            _ if hidden(c) => out.push_str(&format!("&#{};", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// Whether a character cannot be seen but changes what is.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Markdown of several lines that cannot reach beyond its own end: tags are shown instead of obeyed, and a block of
/// code that stays open is closed.
pub fn contained(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len() + 8);
    let mut fence: Option<String> = None;
    for (i, line) in markdown.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let marks = |it: char| line.trim_start().chars().take_while(|c| *c == it).collect::<String>();
        let mark = [marks('`'), marks('~')].into_iter().find(|it| it.len() >= 3);
        let bare = |mark: &str| line.trim().len() == mark.len();
        match (&fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if mark.starts_with(open.as_str()) && bare(&mark) => fence = None,
            (None, None) => {
                // Between backticks, a tag is none.
                let spans: Vec<&str> = line.split('`').collect();
                let last = spans.len() - 1;
                let spans = spans.iter().enumerate().map(|(i, it)| match i % 2 == 1 && i < last {
                    true => (*it).to_owned(),
                    false => it.replace('<', "&lt;"),
                });
                out.push_str(&spans.collect::<Vec<_>>().join("`"));
                continue;
            }
            (Some(_), _) => {}
        }
        out.push_str(line);
    }
    if let Some(fence) = fence {
        out.push('\n');
        out.push_str(&fence);
    }
    out
}

/// `text` in the font of programs.
pub fn code(text: &str) -> Inline {
    let plain =
        !text.is_empty() && text.trim() == text && !text.contains(['|', '`']) && !text.contains(hidden);
    // Within backticks nothing can be escaped, and a table splits at pipes even there.
    Inline(if plain { format!("`{text}`") } else { format!("<code>{}</code>", escape(text)) })
}

/// A sentence in which names stand between backticks, as messages have them: what is between is set as code.
pub fn prose(text: &str) -> Inline {
    let parts = text.split('`').enumerate();
    Inline(parts.map(|(i, part)| if i % 2 == 1 { code(part).0 } else { inner(part) }).collect())
}

/// As [`escape`], with the blanks at the ends of a part of a sentence.
fn inner(part: &str) -> String {
    let blank = |it: bool| if it { " " } else { "" };
    let (start, end) = (blank(part.starts_with(' ')), blank(part.len() > 1 && part.ends_with(' ')));
    format!("{start}{}{end}", escape(part.trim_matches(' ')))
}

/// The start of a part that is folded away under one line; `</details>` ends it. The line is HTML, in which nothing is
/// markdown: the text loses what would be a tag or an entity, and whatever cannot be seen.
pub fn summary(text: &str) -> Inline {
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            _ if hidden(c) => safe.push_str(&format!("&#{};", u32::from(c))),
            _ => safe.push(c),
        }
    }
    Inline(format!("<details><summary>{safe}</summary>\n"))
}

/// A link to the file at `path`, which is relative to the one that holds the link.
pub fn link(text: &str, path: &str) -> Inline {
    Inline(format!("[{}]({})", escape(text), encode(path)))
}

/// The picture at `path`, which is relative to the file that shows it.
pub fn image(alternative: &str, path: &str) -> Inline {
    Inline(format!("!{}", link(alternative, path)))
}

/// `path` with all but letters, digits, `-._~` and `/` percent-encoded.
pub fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A name for a file that stands for `name`: the same for the same name, another for another one, also where
/// upper and lower case are one; at most 80 bytes, and never more than a file name.
///
/// A name of lower-case letters, digits, `-`, `_` and `.` stands for itself; any other gets twelve digits of
/// its SHA-256 as an ending.
pub fn safe_file_name(name: &str) -> String {
    const LONGEST: usize = 64;
    let mut slug = String::new();
    for c in name.chars().map(|it| it.to_ascii_lowercase()) {
        match c {
            'a'..='z' | '0'..='9' | '_' => slug.push(c),
            '.' if !slug.is_empty() && !slug.ends_with('.') => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() == LONGEST {
            break;
        }
    }
    let slug = slug.trim_end_matches(['-', '.']);
    let itself = slug == name && !slug.is_empty() && !reserved(slug) && !looks_hashed(slug);
    if itself {
        return name.to_owned();
    }
    let slug = if slug.is_empty() { "name" } else { slug };
    format!("{slug}-{}", Digest::of(name).short())
}

/// Whether a name ends as those do that do not stand for themselves.
fn looks_hashed(name: &str) -> bool {
    let ending = name.rsplit_once('-').map_or("", |(_, it)| it);
    ending.len() == 12 && ending.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Names of devices on some systems, whatever extension they have.
fn reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or("");
    let numbered = |it: &str| stem.strip_prefix(it).is_some_and(|n| n.len() == 1 && n != "0");
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names() -> Vec<String> {
        serde_json::from_str(include_str!("../../tests/cases/23_names_cli/names.json")).unwrap()
    }

    /// What a renderer makes of escaped text.
    fn read(markdown: &str) -> String {
        let mut out = String::new();
        let mut rest = markdown;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\\' => {
                    let next = rest.chars().next().unwrap();
                    assert!(next.is_ascii_punctuation());
                    out.push(next);
                    rest = &rest[1..];
                }
                '&' => {
                    let (entity, after) = rest.split_once(';').unwrap();
                    out.push(match entity {
                        "lt" => '<',
                        "gt" => '>',
                        "amp" => '&',
                        _ => char::from_u32(entity[1..].parse().unwrap()).unwrap(),
                    });
                    rest = after;
                }
                _ => out.push(c),
            }
        }
        out
    }

    /// The cells of a row, split at pipes as a code host does.
    fn cells(line: &str) -> Vec<String> {
        let (mut cells, mut escaped) = (vec![String::new()], false);
        for c in line.chars() {
            if c == '|' && !escaped {
                cells.push(String::new());
            } else if let Some(cell) = cells.last_mut() {
                cell.push(c);
            }
            escaped = c == '\\' && !escaped;
        }
        assert!(cells.first().is_some_and(String::is_empty) && cells.last().is_some_and(String::is_empty));
        cells[1..cells.len() - 1].iter().map(|it| it.trim().to_owned()).collect()
    }

    #[test]
    fn every_name_keeps_its_row_and_reads_back() {
        let mut table = Table::new([
            ("name", Align::Left),
            ("n", Align::Right),
            ("mean", Align::Right),
            ("verdict", Align::Center),
        ]);
        for name in names() {
            table.row([name.into(), "30".into(), "1.234 ms".into(), "ACCEPT".into()]);
        }
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + names().len());
        for (line, name) in lines[2..].iter().zip(names()) {
            let cells = cells(line);
            assert_eq!(cells.len(), 4, "{line}");
            assert_eq!(read(&cells[0]), name);
            if cells[0].width() <= WIDEST {
                assert_eq!(line.width(), lines[0].width(), "{line}");
            }
        }
        let packed = format!("{table:#}");
        let cells_of = |text: &str| text.lines().map(cells).collect::<Vec<_>>();
        let (there, here) = (cells_of(&text), cells_of(&packed));
        // Of the rules, the widths differ.
        assert_eq!((&there[0], &there[2..]), (&here[0], &here[2..]));
        assert_eq!(packed.lines().nth(1), Some("| --- | --: | --: | :-: |"));
        assert!(packed.len() < text.len());
    }

    #[test]
    fn code_stays_in_its_cell() {
        assert_eq!(code("a_b*").as_str(), "`a_b*`");
        assert_eq!(code(r"a\|b").as_str(), r"<code>a\\\|b</code>");
        for name in names() {
            let mut table = Table::new([("name", Align::Left), ("n", Align::Left)]);
            table.row([code(&name), Inline::markdown("a|b\nc \\| d")]);
            let text = table.to_string();
            assert_eq!(text.lines().count(), 3);
            assert_eq!(cells(text.lines().last().unwrap()).len(), 2);
            assert!(text.ends_with(
                r"a\|b c \| d |
"
            ));
        }
    }

    #[test]
    fn files_have_names_of_their_own_inside_their_folder() {
        let mut all = names();
        all.extend(
            ["a:b", "A|B", "..", "../x", "con", "NUL.svg", "open-time", ".", "a-b"].map(str::to_owned),
        );
        all.extend([safe_file_name("a|b"), "x".repeat(65)]);
        let files: BTreeSet<String> = all.iter().map(|it| safe_file_name(it).to_lowercase()).collect();
        assert_eq!(files.len(), all.len());
        for file in &files {
            assert!(file.len() <= 80 && !file.starts_with(['.', '-']) && !file.contains(".."), "{file}");
            assert!(file.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it)), "{file}");
        }
        assert_eq!(safe_file_name("open-time"), "open-time");
        assert_eq!(safe_file_name("-0.5"), "0.5-1b07b0cffa0b");
    }

    #[test]
    fn what_is_contained_stays_inside() {
        assert_eq!(contained("a <b> `x < y` <!-- c"), "a &lt;b> `x < y` &lt;!-- c");
        assert_eq!(contained("`open <b>"), "`open &lt;b>");
        assert_eq!(contained("```\n<b>"), "```\n<b>\n```");
        assert_eq!(contained("````md\n```\n<b>\n````\n<i>"), "````md\n```\n<b>\n````\n&lt;i>");
    }

    #[test]
    fn links_are_encoded() {
        assert_eq!(link("a]b", "über/a (1).md").as_str(), r"[a\]b](%C3%BCber/a%20%281%29.md)");
        assert_eq!(link("x", "javascript:y").as_str(), "[x](javascript%3Ay)");
        assert_eq!(image("plot", "plots/a.svg").as_str(), "![plot](plots/a.svg)");
    }

    #[test]
    fn a_summary_is_one_line_of_text() {
        for name in names() {
            let line = summary(&name).to_string();
            let inside =
                line.strip_prefix("<details><summary>").and_then(|it| it.strip_suffix("</summary>\n"));
            let inside = inside.unwrap();
            assert!(!inside.contains(['<', '>', '\n', '\r']), "{line}");
        }
        assert_eq!(summary("a_b < c").as_str(), "<details><summary>a_b &lt; c</summary>\n");
    }

    #[test]
    fn names_in_a_sentence_are_code() {
        let text = "`open_time` of arm `a|b` at n=1: 3 < 4";
        assert_eq!(prose(text).as_str(), format!("`open_time` of arm {} at n=1: 3 &lt; 4", code("a|b")));
        assert_eq!(prose("plain").as_str(), "plain");
    }
}
