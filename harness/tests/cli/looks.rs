//! Runs that are looked at as registered: one that stops early, one that goes to its end, one that was interrupted.

use crate::support::{Experiment, Project, Transcript, signal};

const EARLY: &str =
    "[design.looks]\nat = [10, 20, 30]\n\n[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n";

#[test]
fn a_clear_gain_stops_at_the_first_look() {
    let project = Project::with(&Experiment { samples: 30, rest: EARLY, ..Experiment::FASTER });
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--gate", "-q"]).run(&["show", "faster"]);
    transcript.run(&["run", "faster", "--quick", "-q"]);
    transcript.check("looks-early");
    assert_eq!(project.sql("select count(*) from samples"), ["20"]);
    project.expect(0, &["render", "--check"]);
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("stopped at look 1 of 3, after 10 of 30 blocks"), "{ledger}");
    assert!(project.path("plots/faster/looks.svg").exists());
}

#[test]
fn without_a_difference_it_goes_to_the_last_look() {
    let rest = "[design.looks]\nmethod = \"sign-e-process\"\nevery = 5\n\n[[hypotheses]]\nid = \"less\"\nmetric = \"time\"\n\
                min_effect = 0.1\n";
    let unclear = Experiment { mean: [1000, 1001], noise: 200, samples: 15, rest, ..Experiment::FASTER };
    let project = Project::with(&unclear);
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--gate", "-q"]).check("looks-end");
}

/// An interrupted stage is completed, and its look is taken then: the same blocks, the same decision.
#[test]
fn an_interrupted_stage_shows_nothing_and_is_completed() {
    let project = Project::with(&Experiment { samples: 30, rest: EARLY, ..Experiment::FASTER });
    let _held = project.hold();
    project.write("asked", "");
    project.write("pause", "0.05\n");
    let run = project.start(&["run", "faster"]);
    project.wait_for_requests(11);
    signal(run.pid(), "INT");
    assert_eq!(run.wait().code, Some(1));
    project.remove("pause");
    let shown = project.expect(0, &["show", "faster"]);
    shown.complains(&["it has registered looks, and nothing of it is shown before it stops"]);
    assert!(!shown.out.contains("mean") && !shown.out.contains("ms"), "{shown}");
    // Which blocks the new workers measure depends on the moment of the interruption, and so do the digits.
    let told = project.expect(0, &["run", "faster", "--resume"]);
    for line in ["stopped at look 1 of 3, after 10 of 30 blocks", "faster: ACCEPT (the run that decides)"] {
        assert!(told.out.contains(line), "{told}");
    }
    assert_eq!(project.sql("select count(*) from samples"), ["20"]);
    // From the stored blocks alone the same follows.
    project.expect(0, &["render", "--check"]);
}
