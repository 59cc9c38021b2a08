use super::{Entry, Problem, Sorted};
use crate::vocab::Unit;
use serde_json::{Map, Value};

/// Reads an array of numbers, an object with `samples`, or an array of such objects.
pub(super) fn read(text: &str, into: &mut Sorted) -> Result<(), Problem> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let column = error.column();
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        // What serde_json stopped at, as it stands there.
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let from: usize = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        let before = line[..from].rfind([',', '[', ':', ' ']).map_or(0, |at| at + 1);
        let word = line[before..].split([',', ']', '}']).next().unwrap_or_default().trim();
        let sample = match line[..from].rfind('[') {
            Some(open) => format!(", sample {}", line[open..before].matches(',').count() + 1),
            None => String::new(),
        };
        Problem::at(format!("line {}, column {column}{sample}", error.line()), format!("{message}: `{word}`"))
    })?;
    match &document {
        Value::Array(items) if items.first().is_some_and(Value::is_object) => {
            for (i, item) in items.iter().enumerate() {
                let place = format!("entry {}", i + 1);
                let Value::Object(object) = item else {
                    return Err(Problem::at(place, "not an object, as the first one is"));
                };
                self::object(object, &format!("{place}, "), into)?;
            }
            Ok(())
        }
        Value::Array(items) => samples(items, &[""; 3], None, "", into),
        Value::Object(object) => self::object(object, "", into),
        _ => Err(Problem::at("", "neither a list of numbers nor an object with `samples`")),
    }
}

fn object(object: &Map<String, Value>, place: &str, into: &mut Sorted) -> Result<(), Problem> {
    let text = |key: &str| match object.get(key) {
        None => Ok(""),
        Some(Value::String(it)) => Ok(it.as_str()),
        Some(other) => Err(Problem::at(format!("{place}`{key}`"), format!("`{other}` is not a text"))),
    };
    let names = [text("arm")?, text("metric")?, text("cell")?];
    let known = ["arm", "metric", "cell", "unit", "samples"];
    if let Some(other) = object.keys().find(|it| !known.contains(&it.as_str())) {
        return Err(Problem::at(format!("{place}`{}`", other.escape_debug()), "unknown key"));
    }
    let unit = match object.get("unit") {
        None => None,
        Some(_) => {
            let problem =
                |it: crate::vocab::UnknownUnit| Problem::at(format!("{place}`unit`"), it.to_string());
            Some(Unit::parse(text("unit")?).map_err(problem)?)
        }
    };
    match object.get("samples") {
        Some(Value::Array(items)) => samples(items, &names, unit, place, into),
        _ => Err(Problem::at(format!("{place}`samples`"), "expected a list of numbers")),
    }
}

fn samples(
    items: &[Value],
    [arm, metric, cell]: &[&str; 3],
    unit: Option<Unit>,
    place: &str,
    into: &mut Sorted,
) -> Result<(), Problem> {
    if items.is_empty() {
        return Err(Problem::at(place.trim_end_matches([',', ' ']), "there are no samples"));
    }
    for (i, item) in items.iter().enumerate() {
        let here = || format!("{place}sample {}", i + 1);
        let value = item.as_f64().filter(|it| it.is_finite());
        let value = value.ok_or_else(|| Problem::at(here(), format!("`{item}` is not a finite number")))?;
        let entry = Entry { arm, metric, cell, unit, value, block: None };
        into.push(&entry).map_err(|it| Problem::at(here(), it))?;
    }
    Ok(())
}
