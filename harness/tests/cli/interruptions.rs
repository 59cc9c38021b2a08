//! Runs that are ended in the middle, by their user or by a kill, and taken up again.

use crate::support::{Experiment, Project, signal, wait_until};

/// A project whose run was ended by this signal after that many requests for a sample.
fn interrupted(by: &str, after: usize) -> (Project, crate::support::Said) {
    let project = Project::with(&Experiment::FASTER);
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(after);
    signal(run.pid(), by);
    let told = run.wait();
    project.remove("pause");
    (project, told)
}

/// The requests that were made.
fn asked(project: &Project) -> Vec<String> {
    project.read("asked").lines().map(str::to_owned).collect()
}

#[test]
fn ctrl_c_ends_a_run_with_everything_stored_and_nothing_left_running() {
    let (project, told) = interrupted("INT", 9);
    assert_eq!(told.code, Some(1), "{told}");
    assert!(told.out.is_empty(), "{told}");
    told.complains(&[
        "error: interrupted; all finished blocks of run ",
        "hint: go on with it: harness run faster --resume",
    ]);
    assert!(project.workers().is_empty(), "workers outlive the run");
    assert!(project.postmaster().is_none(), "the server outlives the run");
    assert_eq!(project.sql("select state from harness.run_events order by seq"), ["running", "aborted"]);
    let shown = project.expect(0, &["show", "faster"]);
    assert!(shown.out.contains("aborted") && shown.out.contains("not complete"), "{shown}");
    let before = asked(&project).len();
    let told = project.expect(0, &["run", "faster", "--resume"]);
    told.complains(&["resuming run "]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    let states = project.sql("select state from harness.run_events order by seq");
    assert_eq!(states, ["running", "aborted", "resumed", "done"]);
    assert!(asked(&project).len() <= 24, "{before} and {}", asked(&project).len());
}

#[test]
fn a_run_that_was_killed_goes_on_in_the_same_order_where_it_stopped() {
    let (project, told) = interrupted("KILL", 11);
    assert_eq!(told.code, None, "{told}");
    let before = asked(&project);
    // Workers notice that nobody asks any more.
    wait_until("the workers are gone", || project.workers().is_empty());
    let stored = project.sql("select count(*) from samples where arm = 'a'")[0].parse::<usize>().unwrap();
    assert!(stored >= 3, "{stored}");
    let told = project.expect(0, &["run", "faster", "--resume"]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    let counted = "select arm, count(*), count(distinct block) from samples group by arm order by arm";
    assert_eq!(project.sql(counted), ["a 10 10", "b 10 10"]);
    let all = asked(&project);
    let again = all.len() - 22;
    assert!(again <= 2, "{again} samples were measured again");
    // What was measured again is the block in flight, in the order that it had.
    let resumed = &all[before.len()..];
    assert_eq!(before[before.len() - again..], resumed[..again], "another order");
    assert!(project.read("ledgers/demo.md").contains("### Verdict: ACCEPT"));
    project
        .expect(1, &["run", "faster", "--resume"])
        .complains(&["no run of `faster` waits to be resumed", "hint: start a new run: harness run faster"]);
}

#[test]
fn cells_that_were_complete_are_not_entered_again() {
    let rest = "[params]\nterms = [10, 20]\n";
    let project = Project::with(&Experiment { rest, samples: 3, ..Experiment::FASTER });
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    // Eight samples of the first cell, and one of the second.
    project.wait_for_requests(9);
    signal(run.pid(), "TERM");
    assert_eq!(run.wait().code, Some(1));
    project.remove("pause");
    project.expect(0, &["run", "faster", "--resume"]);
    assert_eq!(project.sql("select count(*) from samples"), ["12"]);
}

#[test]
fn a_run_that_lacks_only_its_verdict_gets_it() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["run", "faster"]);
    let verdict = project.sql("select verdict from harness.verdicts");
    // As if the process had been killed between the last sample and the verdict.
    let id = project.run_id();
    std::fs::remove_file(project.path(&format!("ledgers/evidence/faster/run-{id}.ndjson.gz"))).unwrap();
    let forget = "alter table harness.verdicts disable trigger all; alter table harness.findings disable trigger all; \
                  delete from harness.findings; delete from harness.verdicts; \
                  alter table harness.verdicts enable trigger all; alter table harness.findings enable trigger all";
    project.sql(forget);
    assert!(project.sql("select 1 from harness.verdicts").is_empty());
    project.write("asked", "");
    let told = project.expect(0, &["run", "faster", "--resume"]);
    assert!(told.out.contains("faster: ACCEPT (the run that decides)"), "{told}");
    assert_eq!(project.sql("select verdict from harness.verdicts"), verdict);
    assert_eq!(project.read("asked"), "", "it was measured anew");
}

#[test]
fn what_has_changed_since_is_not_resumed() {
    let (project, _) = interrupted("INT", 6);
    let held = project.hold();
    let worker = project.read("worker.sh");
    project.write("worker.sh", &format!("{worker}# built anew\n"));
    project
        .expect(1, &["run", "faster", "--resume"])
        .complains(&["cannot be resumed: the worker of arm `a` was built anew since", "start a new run"]);
    project.write("worker.sh", &worker);
    project.edit("experiments/faster.toml", "samples = 10", "samples = 11");
    project
        .expect(5, &["run", "faster", "--resume"])
        .complains(&["is not what was registered", "+ samples = 11"]);
    project.expect(0, &["register", "faster", "--amend", "--reason", "one more"]);
    project
        .expect(1, &["run", "faster", "--resume"])
        .complains(&["cannot be resumed: it belongs to another version of the registration"]);
    // A new run says what it leaves behind, and a clone tells the same of both.
    let told = project.expect(0, &["run", "faster"]);
    told.complains(&[
        "was not finished and stays on record; --resume would go on with it, this is a new run",
    ]);
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("| interrupted |"), "{ledger}");
    drop(held);
    project.expect(0, &["db", "stop"]);
    std::fs::remove_dir_all(project.path(".harness")).unwrap();
    project.expect(0, &["render", "--check"]);
}

#[test]
fn a_run_that_is_measured_is_not_resumed_by_another_process() {
    let project = Project::with(&Experiment::FASTER);
    project.write("asked", "");
    project.write("pause", "0.2\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(2);
    project.expect(1, &["run", "faster", "--resume"]).complains(&["is being measured by another process"]);
    project.write("pause", "0\n");
    let told = project.harness(&["run", "faster"]);
    assert_eq!(told.code, Some(0), "{told}");
    told.complains(&["is being measured right now: the two disturb each other"]);
    assert_eq!(run.wait().code, Some(0));
    assert_eq!(project.sql("select count(*) from samples"), ["40"]);
    project.expect(0, &["render", "--check"]);
}

#[test]
fn an_experiment_that_never_ran_has_nothing_to_resume() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(1, &["run", "faster", "--resume"]).complains(&["no run of `faster` waits to be resumed"]);
}
