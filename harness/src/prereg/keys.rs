//! The keys of every table of the format.

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
    "params",
    "arms",
    "design",
    "metrics",
    "hypotheses",
    "guards",
    "decision",
    "environment",
];
pub(super) const WORKER: &[&str] = &["package", "command", "system", "timeout"];
pub(super) const ARM: &[&str] = &["role", "params", "env", "command"];
pub(super) const DESIGN: &[&str] = &["warmups", "samples", "order", "process", "clock", "seed"];
pub(super) const METRIC: &[&str] = &["unit", "better"];
pub(super) const HYPOTHESIS: &[&str] =
    &["id", "metric", "where", "treatment", "control", "claim", "margin", "min_effect"];
pub(super) const GUARD: &[&str] = &["metric", "where", "treatment", "control", "margin"];
pub(super) const MARGIN: &[&str] = &["relative", "absolute"];
pub(super) const DECISION: &[&str] = &["alpha", "test", "correction", "agreement", "labels", "noise_margin"];
pub(super) const ENVIRONMENT: &[&str] = &["max_load"];

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[arms.a]", ARM),
            ("[design]", DESIGN),
            ("[metrics.m]", METRIC),
            ("[[hypotheses]]", HYPOTHESIS),
            ("[[guards]]", GUARD),
            ("[decision]", DECISION),
            ("[environment]", ENVIRONMENT),
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
