//! A run from its registration to its verdict, ledger, plots and evidence.

use crate::support::{Experiment, Project, Transcript};

#[test]
fn an_accepted_experiment_from_the_first_run_to_the_ledger() {
    let project = Project::with(&Experiment::FASTER);
    let held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.say("the first run registers, and decides");
    let first = project.expect(0, &["run", "faster", "--gate"]);
    transcript.note(&["run", "faster", "--gate"], &first);
    for line in first.err.lines() {
        let path = match line.split_once(' ').map(|(name, path)| (name, path.trim())) {
            Some(("evidence" | "ledger", path)) => path,
            Some(("plots", path)) => path.split_once(' ').unwrap().0,
            _ => continue,
        };
        assert!(project.path(path).exists(), "`{path}` is named and not there");
    }
    assert_eq!(first.err.matches("plots/faster/ (").count(), 1, "{first}");
    assert_eq!(std::fs::read_dir(project.path("plots/faster")).unwrap().count(), 4);
    transcript.say("the second is a replication").run(&["run", "faster", "-q"]);
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("1 of 1, on 1 host"), "{ledger}");
    assert_eq!(ledger.matches("| decides").count(), 1, "{ledger}");
    assert_eq!(ledger.matches("| replication").count(), 1, "{ledger}");
    transcript.run(&["list"]).run(&["show", "faster"]).run(&["check", "faster"]);

    transcript.say("the same store renders the same bytes");
    transcript.run(&["render"]).run(&["render", "--check"]);
    assert_eq!(project.read("ledgers/demo.md"), ledger);
    project.edit("ledgers/demo.md", "ACCEPT", "REJECT");
    project.remove("plots/faster/gain.svg");
    transcript
        .say("a ledger that was edited, and a plot that is gone, are found")
        .run(&["render", "--check"]);
    project.expect(0, &["render", "demo"]);
    assert_eq!(project.read("ledgers/demo.md"), ledger);
    transcript.check("accept");

    drop(held);
    project.expect(0, &["db", "stop"]);
    // A fresh clone: the same ledger, and the newcomer's run is a replication in it.
    std::fs::remove_dir_all(project.path(".harness")).unwrap();
    project.expect(0, &["render", "--check"]);
    let third = project.expect(0, &["run", "faster", "--format", "json"]).json();
    assert_eq!(third["part"], "a replication");
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("2 of 2, on 1 host"), "{ledger}");
    assert_eq!(ledger.matches("| decides").count(), 1, "{ledger}");
}

#[test]
fn rejected_and_undecided_experiments_say_why_and_what_would_decide() {
    let project = Project::new();
    // Slower where faster was claimed, and a difference that drowns in the noise.
    project.add(&Experiment { id: "slower", mean: [40, 44], ..Experiment::FASTER });
    let rest = "[[hypotheses]]\nid = \"less\"\nmetric = \"time\"\nmin_effect = 0.1\n";
    project.add(&Experiment { id: "unclear", mean: [1000, 1004], noise: 200, rest, ..Experiment::FASTER });
    project.add(&Experiment { id: "record", rest: "", claim: "", ..Experiment::FASTER });
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    for id in ["slower", "unclear", "record"] {
        transcript.run(&["run", id, "--gate", "-q"]);
    }
    transcript.check("verdicts");
    // Without the gate a verdict is no failure.
    project.expect(0, &["run", "slower"]);
    let said = project.harness(&["run", "unclear"]);
    assert_eq!(said.code, Some(0), "{said}");
    let needed = said
        .out
        .lines()
        .find(|it| it.contains("samples of each arm are needed"))
        .unwrap_or_else(|| panic!("no n:\n{said}"));
    assert!(needed.chars().any(|it| it.is_ascii_digit()), "{needed}");
}

#[test]
fn a_result_comes_in_every_form_and_standard_output_has_nothing_else() {
    let project = Project::with(&Experiment::FASTER);
    let _held = project.hold();
    let json = project.expect(0, &["run", "faster", "--format", "json"]).json();
    assert_eq!((&json["label"], &json["part"]), (&"ACCEPT".into(), &"the run that decides".into()));
    assert_eq!(json["arms"].as_array().unwrap().len(), 2);
    let mut transcript = Transcript::of(&project);
    for format in ["csv", "markdown"] {
        transcript.run(&["run", "faster", "-q", "--format", format]);
        transcript.run(&["list", "--format", format]);
        transcript.run(&["register", "faster", "-q", "--format", format]);
        transcript.run(&["check", "--format", format]);
        transcript.run(&["render", "--format", format]);
    }
    transcript.check("formats");
    for args in [
        &["show", "faster"][..],
        &["list"],
        &["check"],
        &["register", "faster"],
        &["render"],
        &["render", "--check"],
        &["db", "status"],
        &["run", "faster", "--quick"],
    ] {
        project.expect(0, &[args, &["--format", "json"]].concat()).json();
    }
    project.add(&Experiment { id: "new", ..Experiment::FASTER });
    project.expect(0, &["register", "new"]);
    assert!(project.expect(0, &["show", "new", "--format", "json"]).json()["run"].is_null());
}

#[test]
fn a_rehearsal_leaves_nothing_behind() {
    let project = Project::with(&Experiment { rest: "[params]\nterms = [10, 20]\n", ..Experiment::FASTER });
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster", "--quick"]).check("quick");
    for name in [".harness", "ledgers", "plots"] {
        assert!(!project.path(name).exists(), "{name}");
    }
    assert!(project.path("target/bench-scratch").read_dir().unwrap().next().is_none());
    // Two words that do not go together.
    project.expect(2, &["run", "faster", "--quick", "--gate"]);
}

#[test]
fn an_experiment_that_is_swept_has_a_line_for_every_cell() {
    let rest = "[params]\nterms = [10, 20]\n\n[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n\
                where = { terms = 20 }\n\n[[guards]]\nmetric = \"time\"\nmargin = 0.05\n";
    let project = Project::with(&Experiment { rest, ..Experiment::FASTER });
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster"]).check("cells");
}

#[test]
fn an_amendment_stands_in_the_ledger_with_its_reason() {
    let project = Project::with(&Experiment::FASTER);
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.run(&["register", "faster", "--amend", "--reason", "too early"]);
    project.expect(0, &["run", "faster"]);
    transcript.run(&["register", "faster"]).run(&["register", "faster", "--amend", "--reason", "no change"]);
    project.edit("experiments/faster.toml", "samples = 10", "samples = 12");
    transcript.say("the file was edited after its registration");
    transcript.run(&["run", "faster"]).run(&["register", "faster"]).run(&["list"]);
    transcript.run(&["register", "faster", "--amend"]);
    transcript.run(&["register", "faster", "--amend", "--reason", " "]);
    transcript.run(&["register", "faster", "--amend", "--reason", "the interval was | too wide"]);
    transcript.run(&["show", "faster", "-q"]).run(&["list"]);
    transcript.check("amend");
    project.expect(0, &["run", "faster"]);
    let ledger = project.read("ledgers/demo.md");
    assert!(ledger.contains("the interval was \\| too wide"), "{ledger}");
    assert_eq!(ledger.matches("before the amendment").count(), 1, "{ledger}");
    assert_eq!(ledger.matches("| decides").count(), 1, "{ledger}");
    for version in [1, 2] {
        assert!(project.path(&format!("ledgers/evidence/faster/registration-{version}.json")).exists());
    }
    // Back to the first text: that is a change, too.
    project.edit("experiments/faster.toml", "samples = 12", "samples = 10");
    project.expect(5, &["run", "faster"]);
}

#[test]
fn what_the_harness_keeps_for_itself_is_nothing_to_commit() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["run", "faster"]);
    let said = crate::support::said(
        &mut project.program("git", &["status", "--porcelain", "--untracked-files=all"]),
    );
    let others: Vec<_> = said
        .out
        .lines()
        .filter(|it| !["ledgers/", "plots/", "experiments/"].iter().any(|that| it.contains(that)))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    let json = project.expect(0, &["show", "faster", "--format", "json"]).json();
    assert_eq!(json["decision"]["verdict"], "accept", "{json:#}");
}
