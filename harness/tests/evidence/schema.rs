//! The schemas of evidence and worker protocol are what the code writes: every message fits, every property occurs.

use super::{SAMPLE, chain_file, evidence, invalidated, lines, links, registration};
use harness::worker::protocol::{Answer, Prepare, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../schemas/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Checks `value` by the part of JSON Schema that ours use, and notes the properties that it has.
fn fits(
    root: &Value,
    schema: &Value,
    value: &Value,
    at: &str,
    seen: &mut BTreeSet<String>,
) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(&reference[1..]).ok_or_else(|| format!("no {reference}"))?;
        return fits(root, target, value, reference, seen);
    }
    let known = [
        "$schema",
        "title",
        "description",
        "$defs",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "oneOf",
        "anyOf",
        "enum",
        "const",
        "pattern",
        "format",
        "minimum",
    ];
    if let Some(unknown) = schema.as_object().unwrap().keys().find(|it| !known.contains(&it.as_str())) {
        return Err(format!("{at}: this test does not know `{unknown}`"));
    }
    for (word, most) in [("oneOf", 1), ("anyOf", usize::MAX)] {
        if let Some(choices) = schema[word].as_array() {
            let mut fitting = 0;
            for (i, choice) in choices.iter().enumerate() {
                let mut inner = BTreeSet::new();
                if fits(root, choice, value, &format!("{at}/{word}/{i}"), &mut inner).is_ok() {
                    fitting += 1;
                    seen.append(&mut inner);
                }
            }
            if fitting == 0 || fitting > most {
                return Err(format!("{at}: {fitting} of {word} fit {value}"));
            }
        }
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(it) if it.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(it) => vec![it],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let suits = |it: &&str| *it == kind || (*it == "number" && kind == "integer");
    let one_of = schema["enum"].as_array().is_none_or(|it| it.contains(value));
    let constant = schema.get("const").is_none_or(|it| it == value);
    let large = schema["minimum"].as_f64().is_none_or(|it| value.as_f64().is_some_and(|value| value >= it));
    if !(types.is_empty() || types.iter().any(suits)) || !one_of || !constant || !large {
        return Err(format!("{at}: {value} does not fit"));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        if !schema["items"].is_null() {
            fits(root, &schema["items"], item, &format!("{at}/items"), seen)
                .map_err(|it| format!("{i}: {it}"))?;
        }
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                return Err(format!("{at}: {name} is missing"));
            }
        }
        for (name, member) in members {
            let path = format!("{at}/{name}");
            match (schema["properties"].get(name), &schema["additionalProperties"]) {
                (Some(property), _) => {
                    seen.insert(path.clone());
                    fits(root, property, member, &path, seen)?;
                }
                (None, Value::Bool(false)) => return Err(format!("{path} is not in the schema")),
                (None, more) if more.is_object() => fits(root, more, member, &path, seen)?,
                (None, _) => {}
            }
        }
    }
    Ok(())
}

/// Every property that a schema names.
fn properties(schema: &Value, at: &str, all: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "properties" => {
                        for (name, property) in member.as_object().unwrap() {
                            all.insert(format!("{at}/{name}"));
                            properties(property, &format!("{at}/{name}"), all);
                        }
                    }
                    "$defs" => {
                        for (name, definition) in member.as_object().unwrap() {
                            properties(definition, &format!("#/$defs/{name}"), all);
                        }
                    }
                    "oneOf" | "anyOf" => {
                        for (i, choice) in member.as_array().unwrap().iter().enumerate() {
                            properties(choice, &format!("{at}/{name}/{i}"), all);
                        }
                    }
                    "items" => properties(member, &format!("{at}/items"), all),
                    _ => {}
                }
            }
        }
        _ => unreachable!("a schema is an object"),
    }
}

#[track_caller]
fn check(name: &str, values: &[Value]) {
    let schema = schema(name);
    let (mut seen, mut all) = (BTreeSet::new(), BTreeSet::new());
    for value in values {
        fits(&schema, &schema, value, "#", &mut seen).unwrap_or_else(|it| panic!("{it}"));
    }
    properties(&schema, "#", &mut all);
    let never: Vec<_> = all.difference(&seen).collect();
    assert!(never.is_empty(), "no value has {never:?}");
}

fn chain_lines() -> Vec<String> {
    let base = tempfile::tempdir().unwrap();
    let path = chain_file::write(base.path(), "demo", &links()).unwrap();
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn evidence_is_what_its_schema_says() {
    let mut values: Vec<Value> = lines(&evidence())
        .iter()
        .chain(&lines(&invalidated()))
        .chain(&chain_lines())
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    values.push(serde_json::to_value(registration()).unwrap());
    check("evidence", &values);
}

#[test]
fn what_is_no_evidence_does_not_fit() {
    let schema = schema("evidence");
    let refused = |value: &Value| fits(&schema, &schema, value, "#", &mut BTreeSet::new()).is_err();
    let sample: Value = serde_json::from_str(SAMPLE).unwrap();
    assert!(!refused(&sample));
    let mut unknown = sample.clone();
    unknown["samples"]["color"] = json!("red");
    assert!(refused(&unknown) && refused(&json!({ "evidence": 3 })) && refused(&json!({ "joke": {} })));
}

#[test]
fn the_protocol_is_what_its_schema_says() {
    let map = || BTreeMap::from([("terms".to_owned(), json!(1000))]);
    let requests = [
        Request::Hello { protocol: 1 },
        Request::Prepare(Prepare {
            system: "loading".into(),
            params: map(),
            seed: 7,
            scratch: "scratch".into(),
            clock: "wall".into(),
            metrics: BTreeMap::from([("time".to_owned(), "ms".to_owned())]),
        }),
        Request::Check(Prepare {
            system: "loading".into(),
            params: map(),
            seed: 7,
            scratch: "scratch".into(),
            clock: "wall".into(),
            metrics: BTreeMap::new(),
        }),
        Request::Sample { block: 0, warmup: true },
        Request::Finish {},
    ];
    let answers = [
        Answer::Hello { protocol: 1, systems: vec!["loading".into()], checks: true, build: map() },
        Answer::Fit {},
        Answer::Ready { effective: map() },
        Answer::Sample { values: BTreeMap::from([("time".to_owned(), json!(0.7))]), digest: "9f".into() },
        Answer::Bye {},
        Answer::Error { message: "no".into() },
    ];
    let values: Vec<Value> = requests
        .iter()
        .map(|it| serde_json::to_value(it).unwrap())
        .chain(answers.iter().map(|it| serde_json::to_value(it).unwrap()))
        .collect();
    check("worker-protocol", &values);
}
