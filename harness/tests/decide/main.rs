//! The rule through one door: a registration as text and samples go in, a decision comes out.

#![cfg(feature = "app")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod caveats;
mod contrasts;
mod error_rates;
mod factorial;
mod family;
mod invalid;
mod looks;
mod planned;
mod properties;
mod registered;
mod robustness;
mod stored;
mod units;
mod verdicts;

use harness::analyse::{Analysis, analyse};
use harness::decide::{Decision, decide};
use harness::prereg::{Prereg, parse};
use harness::store::{CellArm, Event, Git, Run, RunArm, RunData, SampleSet};
use harness::vocab::{Finding, RunState, Verdict};
use serde_json::json;

/// The registration of an experiment with the arms `a` (control) and `b` (treatment), the metric `time` in ms and
/// whatever else `claims` says; `n` samples.
fn registration(n: usize, claims: &str) -> String {
    let order = if claims.contains("[design]") { "" } else { "[design]\n" };
    let design = if order.is_empty() { String::new() } else { format!("[design]\nsamples = {n}\n") };
    let metrics =
        if claims.contains("[metrics.") { "" } else { "[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n" };
    format!(
        r#"
id = "demo"
title = "Demo"
ledger = "demo"
[worker]
command = ["worker"]
system = "demo"
[arms.a]
role = "control"
params.mode = "a"
[arms.b]
role = "treatment"
params.mode = "b"
{design}
{metrics}
{claims}
"#
    )
}

/// Samples of one metric, cell and arm.
struct Set {
    metric: String,
    cell: String,
    arm: String,
    values: Vec<f64>,
}

fn set(metric: &str, arm: &str, values: &[f64]) -> Set {
    Set { metric: metric.into(), cell: String::new(), arm: arm.into(), values: values.to_vec() }
}

/// Both arms of the metric `time`.
fn time(a: &[f64], b: &[f64]) -> Vec<Set> {
    vec![set("time", "a", a), set("time", "b", b)]
}

fn prereg(text: &str) -> Prereg {
    parse(text, "demo.toml").unwrap_or_else(|it| panic!("{it}"))
}

/// A run that is done, with these samples.
fn run(prereg: &Prereg, sets: &[Set]) -> RunData {
    let id = "01940000-0000-7000-8000-000000000001".parse().unwrap();
    let at: jiff::Timestamp = "2026-01-10T12:00:00Z".parse().unwrap();
    let git = Git { commit: "0".repeat(40), dirty: false };
    let sets = sets.iter().map(|it| SampleSet {
        metric: it.metric.clone(),
        cell: it.cell.clone(),
        arm: it.arm.clone(),
        warmup: false,
        first_block: 0,
        unit: prereg.metric(&it.metric).unwrap().unit.name().to_owned(),
        values: it.values.clone(),
        at_ns: (0..it.values.len() as i64).collect(),
    });
    RunData {
        run: Run {
            id,
            experiment: prereg.id.clone(),
            version: 1,
            registration: prereg.digest(),
            host: "host-1".into(),
            environment: json!({}),
            harness: "0.1.0".into(),
            seed: 1,
            git,
            started_at: at,
        },
        arms: prereg
            .arms
            .iter()
            .map(|it| RunArm {
                arm: it.name.clone(),
                command: vec!["worker".into()],
                env: std::collections::BTreeMap::new(),
                binary: None,
                build: None,
            })
            .collect(),
        cells: Vec::new(),
        events: vec![event(1, RunState::Running, None), event(2, RunState::Done, None)],
        invalidations: Vec::new(),
        sets: sets.collect(),
    }
}

fn event(seq: u32, state: RunState, detail: Option<serde_json::Value>) -> Event {
    Event { seq, at: "2026-01-10T12:00:00Z".parse().unwrap(), state, detail }
}

fn result(cell: &str, arm: &str, result: &str) -> CellArm {
    CellArm { cell: cell.into(), arm: arm.into(), effective: json!({}), result: result.into() }
}

/// The door.
fn decided(text: &str, sets: &[Set]) -> (Decision, Analysis) {
    let prereg = prereg(text);
    let run = run(&prereg, sets);
    let analysis = analyse(&prereg, &run);
    (decide(&prereg, &run, &analysis), analysis)
}

/// Checks a verdict, the findings (s, r, u for every hypothesis and guard in order) and that a reason has a text.
#[track_caller]
fn check(claims: &str, sets: &[Set], verdict: Verdict, findings: &str, reason: &str) -> Decision {
    let n = sets.iter().map(|it| it.values.len()).max().unwrap_or(2).max(2);
    let (decision, _) = decided(&registration(n, claims), sets);
    let found: String = decision
        .hypotheses
        .iter()
        .chain(&decision.guards)
        .map(|it| match it.finding {
            Finding::Supported => 's',
            Finding::Refuted => 'r',
            Finding::Undecided => 'u',
        })
        .collect();
    let shown = decision.reasons.join("\n");
    assert_eq!((decision.verdict, found.as_str()), (verdict, findings), "{shown}");
    assert!(shown.contains(reason), "`{reason}` is not in: {shown}");
    assert_eq!(decision.reasons.is_empty(), matches!(verdict, Verdict::Accept | Verdict::Recorded));
    let criteria =
        decision.criteria.iter().flat_map(|it| [it.name(), it.threshold.clone(), it.result.clone()]);
    for text in criteria.chain(decision.reasons.iter().cloned()) {
        assert!(!text.contains("NaN") && !text.contains("inf ") && !text.is_empty(), "{text}");
    }
    decision
}

/// `n` samples around `mean` that are as regular as can be, with deviations up to `spread`.
fn around(mean: f64, spread: f64, n: usize) -> Vec<f64> {
    let place = |i: usize| (i * 7 % n) as f64 / (n - 1) as f64 - 0.5;
    (0..n).map(|i| mean + 2.0 * spread * place(i)).collect()
}
