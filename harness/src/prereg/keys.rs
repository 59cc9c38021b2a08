//! The keys of every table of the format. `schemas/prereg.schema.json` lists the same, by test.

pub(super) const ROOT: &[&str] = &[
    "format",
    "id",
    "title",
    "ledger",
    "order",
    "claim",
    "changes",
    "baseline",
    "worker",
    "commands",
    "params",
    "factors",
    "arms",
    "design",
    "metrics",
    "hypotheses",
    "guards",
    "decision",
    "environment",
    "report",
];
pub(super) const WORKER: &[&str] = &["package", "features", "profile", "command", "system", "timeout"];
pub(super) const COMMANDS: &[&str] = &[
    "command",
    "shell",
    "dir",
    "stdin",
    "output",
    "capture_limit",
    "result",
    "exit_codes",
    "before",
    "after",
    "timeout",
];
pub(super) const OUTPUT: &[&str] = &["file"];
pub(super) const RESULT: &[&str] = &["files"];
pub(super) const STEPS: &[&str] = &["run", "block", "sample"];
pub(super) const PROBE: &[&str] = &["bytes", "pattern", "pointer"];
pub(super) const ARM: &[&str] = &["role", "levels", "params", "env", "command", "git", "build"];
pub(super) const LEVEL: &[&str] = &["params", "env"];
pub(super) const DESIGN: &[&str] = &[
    "warmups",
    "samples",
    "order",
    "process",
    "clock",
    "seed",
    "slices",
    "processes",
    "builds",
    "mode",
    "padding",
    "looks",
];
pub(super) const LOOKS: &[&str] = &["method", "at", "every", "spending"];
pub(super) const METRIC: &[&str] = &["unit", "better", "probe", "nature"];
pub(super) const HYPOTHESIS: &[&str] =
    &["id", "metric", "where", "contrast", "treatment", "control", "claim", "margin", "min_effect"];
pub(super) const GUARD: &[&str] = &["metric", "where", "treatment", "control", "margin"];
pub(super) const MARGIN: &[&str] = &["relative", "absolute"];
pub(super) const DECISION: &[&str] =
    &["alpha", "test", "correction", "agreement", "labels", "thresholds", "noise_margin"];
pub(super) const THRESHOLDS: &[&str] = &["go", "strong_go", "neutral"];
pub(super) const ENVIRONMENT: &[&str] =
    &["max_load", "max_steal", "max_pressure", "governor", "pin", "blocks"];
pub(super) const BLOCKS: &[&str] = &["max_load", "max_steal", "max_pressure", "then"];
pub(super) const REPORT: &[&str] = &["reference"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prereg::word::{Word, spellings};
    use crate::vocab::*;
    use serde_json::Value;

    fn schema() -> Value {
        serde_json::from_str(include_str!("../../../schemas/prereg.schema.json")).unwrap()
    }

    fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_schema_has_the_keys_of_the_parser() {
        let schema = schema();
        let tables = [
            ("", ROOT),
            ("/$defs/worker", WORKER),
            ("/$defs/commands", COMMANDS),
            ("/$defs/commands/properties/output/anyOf/1", OUTPUT),
            ("/$defs/commands/properties/result/anyOf/1", RESULT),
            ("/$defs/steps", STEPS),
            ("/$defs/metric/properties/probe/anyOf/1", PROBE),
            ("/$defs/arm", ARM),
            ("/$defs/design", DESIGN),
            ("/$defs/looks", LOOKS),
            ("/$defs/metric", METRIC),
            ("/$defs/hypothesis", HYPOTHESIS),
            ("/$defs/guard", GUARD),
            ("/$defs/margin/anyOf/1", MARGIN),
            ("/$defs/decision", DECISION),
            ("/$defs/environment", ENVIRONMENT),
            ("/$defs/blocks", BLOCKS),
            ("/$defs/level", LEVEL),
            ("/$defs/thresholds", THRESHOLDS),
            ("/$defs/report", REPORT),
        ];
        for (pointer, keys) in tables {
            let table = schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
            let properties = table["properties"].as_object().unwrap();
            assert_eq!(
                sorted(properties.keys().map(String::as_str)),
                sorted(keys.iter().copied()),
                "{pointer}"
            );
            assert_eq!(table["additionalProperties"], false, "{pointer}");
        }
    }

    #[test]
    fn the_schema_has_the_words_of_the_parser() {
        fn check<W: Word>(table: &str, key: &str) {
            let schema = schema();
            let words = &schema["$defs"][table]["properties"][key]["enum"];
            let words: Vec<_> = words.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(words, spellings::<W>().collect::<Vec<_>>(), "{table}.{key}");
        }
        check::<Role>("arm", "role");
        check::<Order>("design", "order");
        check::<Process>("design", "process");
        check::<Mode>("design", "mode");
        check::<Clock>("design", "clock");
        check::<LookMethod>("looks", "method");
        check::<Spending>("looks", "spending");
        check::<Direction>("metric", "better");
        check::<Nature>("metric", "nature");
        let gauges = schema()["$defs"]["metric"]["properties"]["probe"]["anyOf"][0]["enum"].clone();
        let gauges: Vec<_> = gauges.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let known: Vec<_> = crate::probe::Probe::names().collect();
        assert_eq!(gauges, known);
        check::<Claim>("hypothesis", "claim");
        check::<Test>("decision", "test");
        check::<Correction>("decision", "correction");
        check::<Agreement>("decision", "agreement");
        check::<Labels>("decision", "labels");
        check::<Then>("blocks", "then");
        let units = &schema()["$defs"]["metric"]["properties"]["unit"]["examples"];
        let units: Vec<_> = units.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(units, Unit::known().collect::<Vec<_>>());
    }

    /// A key that is known but never read would be accepted with any value.
    #[test]
    fn every_key_is_read() {
        let wrong = "1979-05-27";
        let place = |table: &str| match table {
            "" => String::new(),
            _ => format!("{table}\n"),
        };
        let tables = [
            ("", ROOT),
            ("[worker]", WORKER),
            ("[commands]", COMMANDS),
            ("[arms.a]", ARM),
            ("[design]", DESIGN),
            ("[design.looks]", LOOKS),
            ("[metrics.m]", METRIC),
            ("[[hypotheses]]", HYPOTHESIS),
            ("[[guards]]", GUARD),
            ("[decision]", DECISION),
            ("[environment]", ENVIRONMENT),
            ("[environment.blocks]", BLOCKS),
            ("[factors.f.on]", LEVEL),
            ("[decision.thresholds]", THRESHOLDS),
            ("[report]", REPORT),
        ];
        for (table, keys) in tables {
            for key in keys {
                let text = format!("{}{key} = {wrong}\n", place(table));
                let problems = crate::prereg::parse(&text, "x").unwrap_err().to_string();
                assert!(
                    problems.contains(&format!("`{key}`")) && problems.contains(wrong),
                    "{text}{problems}"
                );
            }
        }
        for key in MARGIN {
            let text = format!("[[guards]]\nmargin = {{ {key} = {wrong} }}\n");
            let problems = crate::prereg::parse(&text, "x").unwrap_err().to_string();
            assert!(problems.contains(&format!("`{key}` in `margin` is date `{wrong}`")), "{problems}");
        }
    }
}
