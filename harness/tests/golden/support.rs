//! Reads a family of reference cases, runs every case and compares every expected field.

use std::path::Path;

use harness::stats::{Moments, PValue, Sample, StatsError};
use serde_json::{Map, Value, json};

/// The smallest normal number: reference values below it are `null`.
const UNDERFLOW: f64 = 2.3e-308;

/// What a case answers: the fields of `expected`, or an error whose code is compared.
pub(crate) type Answer = Result<Value, StatsError>;

/// The input of a case, with the datasets of its family.
pub(crate) struct Input<'a> {
    pub(crate) id: &'a str,
    fields: &'a Value,
    expected: &'a Value,
    datasets: &'a Value,
}

impl Input<'_> {
    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.get(key).is_some()
    }

    pub(crate) fn expects(&self, key: &str) -> bool {
        self.expected.get(key).is_some()
    }

    /// An expected number that the test compares in its own way.
    pub(crate) fn expected(&self, key: &str) -> f64 {
        number(&self.expected[key])
    }

    pub(crate) fn get(&self, key: &str) -> &Value {
        self.fields.get(key).unwrap_or_else(|| panic!("{}: no input `{key}`", self.id))
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.get(key).as_str().expect("a text")
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        number(self.get(key))
    }

    pub(crate) fn size(&self, key: &str) -> usize {
        self.get(key).as_u64().expect("a count") as usize
    }

    pub(crate) fn values(&self, key: &str) -> Vec<f64> {
        self.resolve(self.get(key))
    }

    pub(crate) fn resolve(&self, value: &Value) -> Vec<f64> {
        let array = match value {
            Value::String(name) => self.datasets.get(name).unwrap_or_else(|| panic!("no dataset `{name}`")),
            other => other,
        };
        array.as_array().expect("an array").iter().map(number).collect()
    }

    pub(crate) fn sample(&self, key: &str) -> Result<Sample, StatsError> {
        Sample::new(self.values(key))
    }

    /// The moments of an arm, from a sample or from a summary.
    pub(crate) fn moments(&self, arm: &str) -> Result<Moments, StatsError> {
        match self.fields.get(format!("summary_{arm}")) {
            Some(summary) => moments_of_summary(summary),
            None => Moments::of(&self.sample(arm)?),
        }
    }

    /// The largest magnitude among all inputs.
    fn magnitude(&self) -> f64 {
        fn walk(value: &Value, input: &Input<'_>) -> f64 {
            match value {
                Value::Number(number) => number.as_f64().expect("a float").abs(),
                Value::String(name) => input.datasets.get(name).map_or(0.0, |data| walk(data, input)),
                Value::Array(items) => items.iter().map(|item| walk(item, input)).fold(0.0, f64::max),
                Value::Object(fields) => fields.values().map(|item| walk(item, input)).fold(0.0, f64::max),
                Value::Null | Value::Bool(_) => 0.0,
            }
        }
        walk(self.fields, self)
    }
}

pub(crate) fn moments_of_summary(summary: &Value) -> Result<Moments, StatsError> {
    let n = summary["n"].as_u64().expect("a count") as usize;
    Moments::from_summary(number(&summary["mean"]), number(&summary["sd"]), n)
}

/// A number, where the file may spell one that JSON does not have.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().expect("a float"),
        Value::String(text) => text.parse().expect("a spelled number"),
        other => panic!("not a number: {other}"),
    }
}

/// A finite result; infinities are "there is none", and NaN is a bug.
pub(crate) fn num(value: f64) -> Value {
    assert!(!value.is_nan(), "a result is NaN");
    if value.is_infinite() { Value::Null } else { json!(value) }
}

/// A result that may not exist.
pub(crate) fn opt(value: Option<f64>) -> Value {
    value.map_or(Value::Null, num)
}

/// Writes `name` and `ln_name`.
pub(crate) fn put_p(map: &mut Map<String, Value>, name: &str, p: PValue) {
    map.insert(name.to_owned(), num(p.value()));
    map.insert(format!("ln_{name}"), num(p.ln()));
}

/// Runs all cases of a family and reports every deviation at once.
///
/// `ignored` names expected fields that belong to no result, with the reason at the call.
#[track_caller]
pub(crate) fn run(family: &str, count: usize, ignored: &[&str], answer: impl Fn(&Input<'_>) -> Answer) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{family}.json"));
    let text = std::fs::read_to_string(path).expect("the reference file is readable");
    let file: Value = serde_json::from_str(&text).expect("the reference file is JSON");
    let cases = file["cases"].as_array().expect("cases");
    let mut problems = Vec::new();
    for case in cases {
        let input = Input {
            id: case["id"].as_str().expect("an id"),
            fields: &case["input"],
            expected: &case["expected"],
            datasets: &file["datasets"],
        };
        let found = answer(&input).unwrap_or_else(|error| json!({ "error": error.code() }));
        let check = Check { file: &file, case, id: input.id, magnitude: input.magnitude(), ignored };
        check.compare(&mut Vec::new(), input.expected, &found, &mut problems);
    }
    assert!(
        problems.is_empty(),
        "{family}: {} deviations in {} cases\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
    assert_eq!(cases.len(), count, "{family}: the number of cases is not the one that is known to pass");
}

#[test]
fn every_family_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let names = |ending: &str| {
        let entries = std::fs::read_dir(&folder).expect("the folder is readable");
        let paths = entries.map(|entry| entry.expect("the entry is readable").path());
        let ending = ending.to_owned();
        paths.filter(move |path| path.extension().is_some_and(|found| *found == *ending)).collect::<Vec<_>>()
    };
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("the file is readable");
    let tests: String = names("rs").iter().map(read).collect();
    let families = names("json");
    assert!(families.len() >= 25);
    for family in families {
        let name = family.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(tests.contains(&format!("run(\"{name}\", ")), "no test runs `{name}`");
    }
}

struct Check<'a> {
    file: &'a Value,
    case: &'a Value,
    id: &'a str,
    magnitude: f64,
    ignored: &'a [&'a str],
}

impl Check<'_> {
    fn compare(&self, path: &mut Vec<String>, expected: &Value, found: &Value, problems: &mut Vec<String>) {
        match (expected, found) {
            (Value::Object(expected), Value::Object(_)) => {
                for (key, value) in expected {
                    if self.ignored.contains(&key.as_str()) {
                        continue;
                    }
                    path.push(key.clone());
                    match found.get(key) {
                        None => problems.push(format!("{} {}: not computed", self.id, path.join("."))),
                        Some(Value::Number(number))
                            if value.is_null() && expected.contains_key(&format!("ln_{key}")) =>
                        {
                            if number.as_f64().expect("a float") > UNDERFLOW {
                                problems.push(format!(
                                    "{} {}: {number} is no underflow",
                                    self.id,
                                    path.join(".")
                                ));
                            }
                        }
                        Some(found) => self.compare(path, value, found, problems),
                    }
                    path.pop();
                }
            }
            (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
                for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                    path.push(index.to_string());
                    self.compare(path, expected, found, problems);
                    path.pop();
                }
            }
            (Value::Number(expected), Value::Number(found)) => {
                let (expected, found) =
                    (expected.as_f64().expect("a float"), found.as_f64().expect("a float"));
                let tolerance = self.tolerance(path);
                if !self.close(path, expected, found, tolerance) {
                    let relative = (found - expected).abs() / expected.abs();
                    problems.push(format!(
                        "{} {}: expected {expected:e}, found {found:e}, off by {relative:.1e}, allowed {tolerance:.0e}",
                        self.id,
                        path.join(".")
                    ));
                }
            }
            (expected, found) if expected == found => {}
            (expected, found) => {
                problems.push(format!("{} {}: expected {expected}, found {found}", self.id, path.join(".")));
            }
        }
    }

    fn close(&self, path: &[String], expected: f64, found: f64, tolerance: f64) -> bool {
        let distance = (found - expected).abs();
        if distance <= tolerance * expected.abs() {
            return true;
        }
        let logarithm = path.last().is_some_and(|key| key.starts_with("ln"));
        (expected == 0.0 && distance <= 1e-12 * self.magnitude)
            || (logarithm && expected.abs() < 1e-3 && distance <= 1e-12)
    }

    /// The tolerance of the case before that of the family, and of a named field before the default.
    fn tolerance(&self, path: &[String]) -> f64 {
        [&self.case["tolerance"], &self.file["tolerance"]]
            .into_iter()
            .find_map(|rules| self.field_tolerance(rules, path).or_else(|| rules["default_rtol"].as_f64()))
            .expect("a family has a default tolerance")
    }

    fn field_tolerance(&self, rules: &Value, path: &[String]) -> Option<f64> {
        let fields = rules.get("fields")?.as_object()?;
        let by_case =
            fields.iter().find(|(pattern, _)| pattern.starts_with("offset_") && matches(pattern, self.id));
        let dotted = path.join(".");
        let mut names = vec![dotted.as_str()];
        names.extend(path.iter().rev().map(String::as_str));
        let by_field =
            names.iter().find_map(|name| fields.iter().find(|(pattern, _)| matches(pattern, name)));
        by_case.or(by_field).map(|(_, tolerance)| match tolerance {
            Value::String(text) => {
                text.split(' ').next().and_then(|number| number.parse().ok()).expect("a tolerance")
            }
            number => number.as_f64().expect("a tolerance"),
        })
    }
}

/// A pattern is a name with at most one `*` at one of its ends.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        name.starts_with(start)
    } else if let Some(end) = pattern.strip_prefix('*') {
        name.ends_with(end)
    } else {
        pattern == name
    }
}
