//! Claims that were accepted, measured again.

use crate::support::{Experiment, Project};

/// Swaps what the arms of `Experiment::FASTER` take.
fn swap(project: &Project) {
    project.edit("worker.sh", "value=$((mean * 1000", "value=$(((140 - mean) * 1000");
}

#[test]
fn accepted_claims_are_standing_undecided_or_lost() {
    let project = Project::with(&Experiment::FASTER);
    project.add(&Experiment { id: "other", ledger: "else", samples: 12, ..Experiment::FASTER });
    project.add(&Experiment { id: "slower", mean: [40, 44], ..Experiment::FASTER });
    let _held = project.hold();
    for id in ["faster", "other", "slower"] {
        project.expect(0, &["run", id]);
    }
    let claims = |code, args: &[&str]| {
        let args = [&["recheck", "--format", "json"], args].concat();
        let json = project.expect(code, &args).json();
        let rows = json.as_array().unwrap().iter();
        let mut rows: Vec<_> =
            rows.map(|it| (it["experiment"].clone(), it["claim"].clone(), it["rechecked"].clone())).collect();
        rows.sort_by_key(|it| it.0.to_string());
        serde_json::to_value(rows).unwrap()
    };
    let starts_from = |project: &Project| project.read("ledgers/demo.md");
    assert!(!starts_from(&project).contains("rechecked"), "nothing was measured again");
    assert_eq!(
        claims(0, &[]),
        serde_json::json!([["faster", "standing", "1 of 1"], ["other", "standing", "1 of 1"]])
    );
    assert!(starts_from(&project).contains("**Claim standing: rechecked 1 of 1.**"), "it was measured again");

    // No run fits into no time at all.
    let none = serde_json::json!([["other", "not rechecked: beyond the budget", "1 of 1"]]);
    assert_eq!(claims(0, &["--ledger", "else", "--budget", "0s"]), none);

    // A run that dies says nothing about the claim.
    project.write("trouble", "40 3 die");
    assert_eq!(claims(4, &["faster"]), serde_json::json!([["faster", "undecided", "1 of 1"]]));
    project.remove("trouble");

    swap(&project);
    assert_eq!(claims(3, &["faster"]), serde_json::json!([["faster", "lost", "1 of 2"]]));
    let ledger = starts_from(&project);
    assert!(ledger.contains("**Claim lost: rechecked 1 of 2.**"), "{ledger}");
    assert!(ledger.contains("### Verdict: ACCEPT"), "the first run decides for ever:\n{ledger}");
    project.expect(0, &["verify"]);
}

#[test]
fn what_cannot_be_rechecked_is_refused_before_anything_is_measured() {
    let project = Project::with(&Experiment::FASTER);
    project.add(&Experiment { id: "slower", mean: [40, 44], ..Experiment::FASTER });
    let _held = project.hold();
    project.expect(0, &["run", "faster"]);
    project.expect(0, &["run", "slower"]);
    project.expect(2, &["recheck", "slower"]).complains(&["`slower` was not accepted", "harness run slower"]);
    project.expect(2, &["recheck", "fastr"]).complains(&["no experiment `fastr`"]);
    project
        .expect(2, &["recheck", "--ledger", "dmo"])
        .complains(&["no ledger `dmo`", "ledgers are `demo`\n"]);
    // A file that is not what was accepted.
    project.edit("experiments/faster.toml", "samples = 10", "samples = 20");
    project.expect(5, &["recheck"]).complains(&["is not what was registered as version 1"]);
    assert_eq!(project.expect(0, &["list", "--format", "json"]).json()[0]["complete_runs"], 1);
}
