//! A registration as text and samples go in, a decision comes out, as from a run that was stored.

use harness::analyse::analyse;
use harness::decide::{Decision, decide};
use harness::prereg::{Prereg, parse};
use harness::store::{Event, Git, Run, RunArm, RunData, SampleSet};
use harness::vocab::RunState;
use std::collections::BTreeMap;

/// The time at which every simulated run took place.
const AT: &str = "2026-01-10T12:00:00Z";

/// An experiment with the arms `a` (control), `b` (treatment) and, if wanted, `s` (sham), with `n` samples of each
/// metric `m0`, `m1` and so on, and with what `claims` says.
pub(super) fn registration(n: usize, metrics: usize, sham: bool, claims: &str) -> Prereg {
    let metrics: String =
        (0..metrics).map(|it| format!("[metrics.m{it}]\nunit = \"ms\"\nbetter = \"lower\"\n")).collect();
    let sham = if sham { "[arms.s]\nrole = \"sham\"\nparams.mode = \"a\"\n" } else { "" };
    let text = format!(
        "id = \"demo\"\ntitle = \"Demo\"\nledger = \"demo\"\n[worker]\ncommand = [\"worker\"]\nsystem = \"demo\"\n\
         [arms.a]\nrole = \"control\"\nparams.mode = \"a\"\n[arms.b]\nrole = \"treatment\"\nparams.mode = \"b\"\n{sham}\
         [design]\nsamples = {n}\n{metrics}{claims}"
    );
    parse(&text, "demo.toml").unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// A complete run with `samples`: metric, arm and values.
pub(super) fn run(prereg: &Prereg, samples: Vec<(String, &str, Vec<f64>)>) -> RunData {
    let at = || AT.parse().expect("a time");
    let event = |seq, state| Event { seq, at: at(), state, detail: None };
    let arm = |arm: &str| RunArm {
        arm: arm.to_owned(),
        command: Vec::new(),
        env: BTreeMap::new(),
        binary: None,
        build: None,
    };
    RunData {
        run: Run {
            id: "01940000-0000-7000-8000-000000000001".parse().expect("an id"),
            experiment: prereg.id.clone(),
            version: 1,
            registration: prereg.digest(),
            host: "simulated".into(),
            environment: serde_json::json!({}),
            harness: "0.1.0".into(),
            seed: 1,
            git: Git { commit: "0".repeat(40), dirty: false },
            started_at: at(),
        },
        arms: prereg.arms.iter().map(|it| arm(&it.name)).collect(),
        cells: Vec::new(),
        events: vec![event(1, RunState::Running), event(2, RunState::Done)],
        invalidations: Vec::new(),
        sets: samples
            .into_iter()
            .map(|(metric, arm, values)| SampleSet {
                metric,
                cell: String::new(),
                arm: arm.to_owned(),
                warmup: false,
                first_block: 0,
                unit: "ms".into(),
                at_ns: (0..values.len() as i64).collect(),
                values,
            })
            .collect(),
    }
}

/// Decides samples of the metric `m0`.
pub(super) fn decided(prereg: &Prereg, arms: Vec<(&'static str, Vec<f64>)>) -> Decision {
    let run = run(prereg, arms.into_iter().map(|(arm, values)| ("m0".to_owned(), arm, values)).collect());
    decide(prereg, &run, &analyse(prereg, &run))
}
