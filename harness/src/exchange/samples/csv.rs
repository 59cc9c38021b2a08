use super::number::{Decimal, number};
use super::{Entry, Problem, Sorted};
use crate::vocab::Unit;

/// Columns that are no metric.
const RESERVED: [&str; 6] = ["arm", "metric", "cell", "unit", "value", "block"];

/// Reads CSV with a header, or plain numbers, one a line.
pub(super) fn read(text: &str, decimal: Decimal, into: &mut Sorted) -> Result<(), Problem> {
    let first = text.lines().find(|it| !it.trim().is_empty() && !it.starts_with('#')).unwrap_or_default();
    // The header decides; names have no commas unless quoted.
    let separator = [';', '\t', ','].into_iter().find(|it| outside_quotes(first).any(|that| that == *it));
    let begins = first.trim_start().trim_start_matches(['"', '+', '-', '.', ',']);
    let header = match separator {
        Some(_) => !begins.starts_with(char::is_numeric),
        // A name, and none of the words for a number that is missing.
        None => {
            let word = first.trim();
            let missing = ["nan", "inf", "infinity", "na", "null"].contains(&word.to_lowercase().as_str());
            !missing && word.chars().all(|it| it.is_alphabetic() || it == '_')
        }
    };
    if header { table(text, separator.unwrap_or(','), decimal, into) } else { plain(text, decimal, into) }
}

fn outside_quotes(line: &str) -> impl Iterator<Item = char> {
    let mut quoted = false;
    line.chars().filter(move |it| {
        quoted ^= *it == '"';
        !quoted
    })
}

fn plain(text: &str, decimal: Decimal, into: &mut Sorted) -> Result<(), Problem> {
    for (i, line) in text.lines().enumerate() {
        let word = line.split('#').next().unwrap_or_default().trim();
        if word.is_empty() {
            continue;
        }
        let at = |it| Problem::line(i + 1, it);
        let value = number(word, decimal).map_err(at)?;
        let entry = Entry { arm: "", metric: "", cell: "", unit: None, value, block: None };
        into.push(&entry).map_err(at)?;
    }
    Ok(())
}

/// A record with the line that it begins on.
struct Record {
    line: usize,
    fields: Vec<String>,
}

/// The columns of a table by what they are.
struct Header {
    names: Vec<String>,
    metrics: Vec<(usize, String, Option<Unit>)>,
}

impl Header {
    fn of(record: Record) -> Result<Self, Problem> {
        let at = |it: String| Problem::line(record.line, it);
        let names: Vec<String> = record.fields.iter().map(|it| it.trim().to_owned()).collect();
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(at(format!("column {} has no name", i + 1)));
            }
            if names[..i].contains(name) {
                return Err(at(format!("two columns are named `{name}`")));
            }
        }
        let has = |name: &str| names.iter().any(|it| it == name);
        let metrics: Vec<_> = names
            .iter()
            .enumerate()
            .filter(|(_, name)| !RESERVED.contains(&name.as_str()))
            .map(|(i, name)| {
                let suffix = name.rsplit_once('_').map_or(name.as_str(), |(_, it)| it);
                (i, name.clone(), Unit::parse(suffix).ok())
            })
            .collect();
        if has("value") && !metrics.is_empty() {
            return Err(at(format!(
                "beside `value`, there is a column `{}` that is none of {}",
                metrics[0].1,
                list()
            )));
        }
        if !has("value") && (metrics.is_empty() || has("metric")) {
            return Err(at("no column has the samples: `value`, or one named after its metric".to_owned()));
        }
        if has("unit") && metrics.len() > 1 {
            return Err(at("a column `unit` beside several metrics does not say whose it is".to_owned()));
        }
        Ok(Self { names, metrics })
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|it| it == name)
    }
}

fn list() -> String {
    format!("`{}`", RESERVED.join("`, `"))
}

fn table(text: &str, separator: char, decimal: Decimal, into: &mut Sorted) -> Result<(), Problem> {
    let mut records = records(text, separator)?.into_iter();
    let Some(header) = records.next() else { return Ok(()) };
    let line = header.line;
    let header = Header::of(header)?;
    let [arm, metric, cell, unit, value, block] = RESERVED.map(|it| header.at(it));
    let mut any = false;
    for Record { line, fields } in records {
        let at = |it: String| Problem::line(line, it);
        if fields.len() != header.names.len() {
            let (found, expected) = (fields.len(), header.names.len());
            return Err(at(format!("{found} fields, where the header has {expected}")));
        }
        let field = |column: Option<usize>| column.map_or("", |it| fields[it].trim());
        let unit = match unit {
            None => None,
            Some(_) if field(unit).is_empty() => return Err(at("no unit".to_owned())),
            Some(_) => Some(Unit::parse(field(unit)).map_err(|it| at(it.to_string()))?),
        };
        if (arm.is_some() && field(arm).is_empty()) || (metric.is_some() && field(metric).is_empty()) {
            return Err(at("an arm and a metric have a name".to_owned()));
        }
        let block = match block {
            None => None,
            Some(_) => {
                let number = field(block).parse();
                Some(number.map_err(|_| at(format!("`{}` is not the number of a block", field(block))))?)
            }
        };
        let (arm, cell) = (field(arm), field(cell));
        if value.is_some() {
            let entry = Entry {
                arm,
                metric: field(metric),
                cell,
                unit,
                value: number(field(value), decimal).map_err(at)?,
                block,
            };
            into.push(&entry).map_err(at)?;
        }
        for (column, name, own) in &header.metrics {
            let within = |it: String| at(format!("`{name}`: {it}"));
            let value = number(field(Some(*column)), decimal).map_err(within)?;
            let entry = Entry { arm, metric: name, cell, unit: unit.or(*own), value, block };
            into.push(&entry).map_err(within)?;
        }
        any = true;
    }
    if any { Ok(()) } else { Err(Problem::line(line, "there are no samples below the header")) }
}

/// The records of CSV after RFC 4180; blank lines and, outside of quotes, lines that begin with `#` are none.
fn records(text: &str, separator: char) -> Result<Vec<Record>, Problem> {
    let mut records = Vec::new();
    let mut open: Option<(Record, String)> = None;
    for (i, line) in text.lines().enumerate() {
        let (mut record, mut field, mut quoted) = match open.take() {
            // A quoted field goes on over the end of a line.
            Some((record, field)) => (record, field + "\n", true),
            None if line.trim().is_empty() || line.starts_with('#') => continue,
            None => (Record { line: i + 1, fields: Vec::new() }, String::new(), false),
        };
        let mut chars = line.chars().peekable();
        while let Some(it) = chars.next() {
            match it {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    field.push('"');
                }
                '"' if quoted => quoted = false,
                '"' if field.trim().is_empty() => {
                    field.clear();
                    quoted = true;
                }
                it if it == separator && !quoted => record.fields.push(std::mem::take(&mut field)),
                it => field.push(it),
            }
        }
        if quoted {
            open = Some((record, field));
        } else {
            record.fields.push(field);
            records.push(record);
        }
    }
    match open {
        Some((record, _)) => Err(Problem::line(record.line, "a quotation mark is not closed")),
        None => Ok(records),
    }
}
