//! What the store takes, checked before the server is asked: the error names the field.

use super::{
    CellArm, Event, Invalidation, Registration, Run, RunArm, SampleSet, StoreError, StoredFinding,
    StoredVerdict,
};
use serde_json::Value;

/// Postgres keeps every text but one with U+0000.
pub(super) fn text(field: &str, text: &str) -> Result<(), StoreError> {
    match text.find('\0') {
        Some(at) => Err(StoreError::invalid(field, format!("it has U+0000 at byte {at}"))),
        None => Ok(()),
    }
}

fn name(field: &str, value: &str) -> Result<(), StoreError> {
    if value.is_empty() {
        return Err(StoreError::invalid(field, "it is empty"));
    }
    text(field, value)
}

/// The same for every text in a document, keys too.
pub(super) fn json(field: &str, value: &Value) -> Result<(), StoreError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(it) => text(field, it),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, item)| json(&format!("{field}[{i}]"), item))
        }
        Value::Object(members) => members.iter().try_for_each(|(key, member)| {
            text(field, key)?;
            json(&format!("{field}.{key}"), member)
        }),
    }
}

pub(super) fn whole(field: &str, value: u32) -> Result<i32, StoreError> {
    i32::try_from(value).map_err(|_| StoreError::invalid(field, format!("{value} is too large")))
}

/// An experiment's identity: what the schema accepts.
pub(super) fn slug(value: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = value.len() <= 100
        && value.starts_with(plain)
        && value.chars().all(|c| plain(c) || matches!(c, '.' | '_' | '-'));
    if fits {
        return Ok(());
    }
    text("experiment", value)?;
    Err(StoreError::invalid(
        "experiment",
        format!("`{value}` is not 1 to 100 lower-case letters, digits, `.`, `_` and `-`"),
    ))
}

pub(crate) fn registration(it: &Registration) -> Result<(), StoreError> {
    slug(&it.experiment)?;
    if it.version == 0 {
        return Err(StoreError::invalid("version", "versions count from 1"));
    }
    whole("version", it.version)?;
    text("title", &it.title)?;
    text("canonical", &it.canonical)?;
    json("doc", &it.doc)?;
    text("git.commit", &it.git.commit)?;
    text("reason", it.reason.as_deref().unwrap_or_default())?;
    if crate::vocab::Digest::of(&it.canonical) != it.digest {
        return Err(StoreError::invalid("digest", "it is not the digest of the canonical text"));
    }
    Ok(())
}

pub(crate) fn run(it: &Run, arms: &[RunArm]) -> Result<(), StoreError> {
    slug(&it.experiment)?;
    whole("version", it.version)?;
    text("host", &it.host)?;
    text("harness", &it.harness)?;
    text("git.commit", &it.git.commit)?;
    json("environment", &it.environment)?;
    for arm in arms {
        name("arm", &arm.arm)?;
        arm.build.as_ref().map_or(Ok(()), |it| json("build", it))?;
        arm.command.iter().try_for_each(|part| text("command", part))?;
        for (key, value) in &arm.env {
            text("env", key)?;
            text(&format!("env.{key}"), value)?;
        }
    }
    Ok(())
}

pub(crate) fn event(it: &Event) -> Result<(), StoreError> {
    if it.seq == 0 {
        return Err(StoreError::invalid("event.seq", "events count from 1"));
    }
    whole("event.seq", it.seq)?;
    it.detail.as_ref().map_or(Ok(()), |detail| json("event.detail", detail))
}

pub(super) fn invalidation(it: &Invalidation) -> Result<(), StoreError> {
    if it.seq == 0 {
        return Err(StoreError::invalid("invalidation.seq", "invalidations count from 1"));
    }
    whole("invalidation.seq", it.seq)?;
    name("reason", &it.reason)
}

pub(crate) fn cell_arm(it: &CellArm) -> Result<(), StoreError> {
    text("cell", &it.cell)?;
    name("arm", &it.arm)?;
    json("effective", &it.effective)?;
    text("result", &it.result)
}

pub(crate) fn sample_set(it: &SampleSet) -> Result<(), StoreError> {
    name("metric", &it.metric)?;
    text("cell", &it.cell)?;
    name("arm", &it.arm)?;
    text("unit", &it.unit)?;
    let place = |problem: String| StoreError::invalid(format!("{} of arm {}", it.metric, it.arm), problem);
    if it.values.is_empty() {
        return Err(place("no samples".to_owned()));
    }
    if !it.at_ns.is_empty() && it.at_ns.len() != it.values.len() {
        return Err(place(format!("{} times for {} samples", it.at_ns.len(), it.values.len())));
    }
    if let Some(i) = it.values.iter().position(|value| !value.is_finite()) {
        return Err(place(format!(
            "the sample of block {} is {}, which is not a finite number",
            u64::from(it.first_block) + i as u64,
            it.values[i]
        )));
    }
    let last = u64::from(it.first_block) + it.values.len() as u64;
    if last > i32::MAX as u64 {
        return Err(place(format!("block {last} is too large")));
    }
    Ok(())
}

pub(crate) fn verdict(it: &StoredVerdict, findings: &[StoredFinding]) -> Result<(), StoreError> {
    if it.seq == 0 {
        return Err(StoreError::invalid("verdict.seq", "verdicts count from 1"));
    }
    whole("verdict.seq", it.seq)?;
    json("verdict.doc", &it.doc)?;
    text("harness", &it.harness)?;
    for finding in findings {
        name("finding.id", &finding.id)?;
        text("finding.metric", &finding.metric)?;
        text("finding.cell", &finding.cell)?;
        text("finding.treatment", &finding.treatment)?;
        text("finding.control", &finding.control)?;
        whole("finding.n_control", finding.n_control)?;
        whole("finding.n_treatment", finding.n_treatment)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(result: Result<(), StoreError>, expected: &str) {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }

    fn set(arm: &str, values: Vec<f64>) -> SampleSet {
        let (metric, cell, unit) = ("t".to_owned(), String::new(), "ms".to_owned());
        SampleSet {
            metric,
            cell,
            arm: arm.into(),
            warmup: false,
            first_block: 3,
            unit,
            values,
            at_ns: vec![],
        }
    }

    #[test]
    fn bad_values_are_named() {
        refused(
            sample_set(&set("ba\0se", vec![1.5])),
            "the store does not take `arm`: it has U+0000 at byte 2",
        );
        refused(sample_set(&set("", vec![1.5])), "the store does not take `arm`: it is empty");
        refused(sample_set(&set("base", vec![])), "the store does not take `t of arm base`: no samples");
        for (bad, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
            refused(
                sample_set(&set("base", vec![1.5, bad, 1.7])),
                &format!(
                    "the store does not take `t of arm base`: the sample of block 4 is {word}, \
                     which is not a finite number"
                ),
            );
        }
        assert!(sample_set(&set("base", vec![-0.0, f64::MIN_POSITIVE / 2.0])).is_ok());
    }

    #[test]
    fn nul_is_found_anywhere_in_a_document() {
        let doc = serde_json::json!({"a": [{"b": "x\0"}]});
        refused(json("doc", &doc), "the store does not take `doc.a[0].b`: it has U+0000 at byte 1");
    }

    #[test]
    fn identities_are_what_the_schema_accepts() {
        for good in ["exp-1-lazy", "0", "a.b_c"] {
            assert!(slug(good).is_ok());
        }
        for bad in ["", "-a", "A", "a b", "é", &"a".repeat(101)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }
}
