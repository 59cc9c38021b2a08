//! What makes a run INVALID, whatever its samples say.

use super::{around, event, prereg, registration, result, run, set, time};
use harness::analyse::analyse;
use harness::decide::{Decision, decide};
use harness::store::RunData;
use harness::vocab::{RunState, Verdict};
use serde_json::json;

const CLAIMS: &str =
    "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\n[arms.c]\nrole = \"sham\"\nparams.mode = \"a\"\n";

fn changed(change: impl FnOnce(&mut RunData)) -> Decision {
    let prereg = prereg(&registration(20, CLAIMS));
    let mut sets = time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 20));
    sets.push(set("time", "c", &around(100.2, 2.0, 20)));
    let mut run = run(&prereg, &sets);
    change(&mut run);
    let analysis = analyse(&prereg, &run);
    decide(&prereg, &run, &analysis)
}

#[track_caller]
fn invalid(change: impl FnOnce(&mut RunData), reason: &str) {
    let decision = changed(change);
    assert_eq!(decision.verdict, Verdict::Invalid);
    assert_eq!(decision.reasons.join("\n"), reason);
}

#[test]
fn the_run_is_fine_as_it_is() {
    let decision = changed(|_| {});
    assert_eq!(decision.verdict, Verdict::Accept, "{:?}", decision.reasons);
}

#[test]
fn samples_are_missing_or_too_many() {
    invalid(
        |run| run.sets[1].values.truncate(19),
        "the samples are not those registered: 19 of 20 samples of `time` in arm `b`",
    );
    invalid(
        |run| run.sets.truncate(1),
        "the samples are not those registered: 0 of 20 samples of `time` in arm `b`, and 1 more set of samples is \
         not as registered",
    );
    invalid(
        |run| run.sets[0].values.push(80.0),
        "the samples are not those registered: 20 of 20 samples of `time` in arm `a`, and 1 beyond the registered \
         blocks",
    );
}

#[test]
fn the_run_failed() {
    let detail = json!({ "reason": "arm `b` died at block 3" });
    invalid(move |run| run.events.push(event(3, RunState::Failed, Some(detail))), "arm `b` died at block 3");
    invalid(|run| run.events.push(event(3, RunState::Failed, None)), "the run failed");
}

#[test]
fn the_work_has_other_results() {
    let results = |b: &'static str| {
        move |run: &mut RunData| {
            run.cells = vec![result("", "a", "9f3c"), result("", "b", b), result("", "c", "9f3c")];
        }
    };
    assert_eq!(changed(results("9f3c")).verdict, Verdict::Accept);
    invalid(results("0000"), "arms `a` and `b` give different results");
    invalid(results(""), "arm `b` does not say what its work resulted in, arm `a` does");
}

#[test]
fn the_unit_is_another_one() {
    invalid(
        |run| run.sets[1].unit = "s".into(),
        "samples of `time` are in `s`, which is not its registered unit",
    );
}

#[test]
fn a_copy_of_the_control_differs() {
    let decision = changed(|run| run.sets[2].values = around(80.0, 2.0, 20));
    assert_eq!(decision.verdict, Verdict::Invalid);
    let reason = &decision.reasons[0];
    assert!(reason.starts_with("sham: `time`: arm `c`, a copy of `a`, differs: gain +20."), "{reason}");
    assert!(reason.ends_with(" at 99.9 %, expected zero or noise of 5 %"), "{reason}");
    // A difference that is real, but within the registered noise.
    assert_eq!(changed(|run| run.sets[2].values = around(97.5, 2.0, 20)).verdict, Verdict::Accept);
    // A metric of which nothing is claimed does not decide.
    let free = changed(|run| run.sets[2].values = around(80.0, 2.0, 20)).sham;
    assert!(free.iter().all(|it| it.decisive));
}

#[test]
fn what_is_invalid_is_neither_rejected_nor_recorded() {
    let worse = changed(|run| {
        run.sets[1].values = around(120.0, 2.0, 19);
    });
    assert_eq!(worse.verdict, Verdict::Invalid);
    let prereg = prereg(&registration(20, ""));
    let run = run(&prereg, &time(&around(100.0, 2.0, 20), &around(90.0, 2.0, 19)));
    let analysis = analyse(&prereg, &run);
    assert_eq!(decide(&prereg, &run, &analysis).verdict, Verdict::Invalid);
}
