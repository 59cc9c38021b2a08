//! What is wrong on the command line or in a file is told at once, in full, and with a way out. Nothing here opens
//! the store.

use crate::support::{Experiment, Project, Said, Transcript, said};

#[test]
fn every_problem_of_a_file_is_told_at_once() {
    let project = Project::with(&Experiment::FASTER);
    project.edit("experiments/faster.toml", "samples = 10", "samples = 1");
    project.edit("experiments/faster.toml", "warmups = 1", "warmup = 1");
    project.edit("experiments/faster.toml", "margin = 0.5", "margin = 0.5\ntreatment = \"c\"");
    project.add(&Experiment { id: "good", ..Experiment::FASTER });
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "faster"]).run(&["check"]).run(&["check", "good", "god"]);
    transcript.run(&["check", "--format", "json"]);
    transcript.check("problems");
    project.write("experiments/good.toml", "id = \"good\"\ntitle = ");
    project.expect(2, &["check", "good"]).complains(&["experiments/good.toml:2:"]);
    std::fs::write(project.path("experiments/good.toml"), [b'i', 0xff]).unwrap();
    project.expect(2, &["check", "experiments/good.toml"]).complains(&["not UTF-8 at byte 1"]);
    assert!(!project.path(".harness").exists(), "the store was opened for nothing");
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    let project = Project::with(&Experiment::FASTER);
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "fastr"]).run(&["run", "other"]).run(&["register", "experiments/fastre.toml"]);
    transcript.run(&["rnu", "faster"]).run(&["run", "faster", "--gat"]).run(&["run"]).run(&["db", "stat"]);
    transcript.run(&["list", "--format", "jsn"]);
    transcript.check("suggestions");
}

#[test]
fn a_place_without_a_project_is_told() {
    let project = Project::new();
    let mut transcript = Transcript::of(&project);
    let elsewhere = project.outside("home");
    let here = elsewhere.display().to_string();
    let told = said(project.command(&["list"]).current_dir(&elsewhere));
    transcript.note(&["list"], &told);
    let told = project.harness(&["list", "--project", &here]);
    transcript
        .note(&["list", "--project", "<home>"], &Said { err: told.err.replace(&here, "<home>"), ..told });
    transcript.run(&["list", "--project", "nowhere"]);
    transcript.check("no-project");
    // From a folder inside of the project, and from outside by name.
    project.add(&Experiment::FASTER);
    let told = said(project.command(&["check"]).current_dir(project.path("experiments")));
    assert!(told.code == Some(0) && told.out.contains("ok faster"), "{told}");
    let root = project.root.display().to_string();
    let told = said(project.command(&["check"]).current_dir(&elsewhere).env("HARNESS_PROJECT", root));
    assert!(told.code == Some(0) && told.out.contains("ok faster"), "{told}");
}

#[test]
fn a_program_without_arguments_or_asked_for_help_explains_itself() {
    let project = Project::new();
    let mut transcript = Transcript::of(&project);
    let mut commands = vec![vec!["--help"]];
    for command in [
        "run",
        "register",
        "check",
        "list",
        "show",
        "render",
        "verify",
        "invalidate",
        "import",
        "export",
        "power",
        "compare",
        "db",
    ] {
        commands.push(vec![command, "--help"]);
    }
    for args in commands {
        let told = said(project.command(&args).env("COLUMNS", "100"));
        assert_eq!(told.code, Some(0));
        // The options of every command are the same under each: once is enough.
        let (own, _) = told.out.split_once("\nOptions of every command:").unwrap();
        let out = if args.len() == 1 { told.out.clone() } else { own.to_owned() };
        transcript.note(&args, &Said { out, ..told });
    }
    transcript.check("help");
    assert_eq!(project.harness(&[]).code, Some(2));
    assert!(project.expect(0, &["--version"]).out.starts_with("harness 0."));
    // Help is asked for in places that are no project.
    assert_eq!(said(project.command(&["run", "-h"]).current_dir("/")).code, Some(0));
}

#[test]
fn variables_stand_for_options() {
    let project = Project::with(&Experiment::FASTER);
    let with = |variables: &[(&str, &str)], args: &[&str]| {
        said(project.command(args).envs(variables.iter().copied()))
    };
    let told = with(&[("HARNESS_QUICK", "1"), ("HARNESS_FORMAT", "json")], &["run", "faster"]);
    assert!(told.json().is_array() && told.err.contains("A rehearsal"), "{told}");
    // A variable that is empty is not set, and what is typed counts more than what is set.
    let told = with(&[("HARNESS_QUIET", ""), ("HARNESS_FORMAT", ""), ("HARNESS_PROJECT", "")], &["check"]);
    assert_eq!(told.code, Some(0), "{told}");
    let told = with(&[("HARNESS_QUIET", "1")], &["run", "faster", "--quick", "--format", "json", "-v"]);
    assert!(told.err.contains("A rehearsal"), "{told}");
    let told = with(&[("HARNESS_VERBOSE", "1")], &["run", "faster", "--quick", "--format", "json", "-q"]);
    assert!(told.code == Some(0) && told.err.is_empty(), "{told}");
    let told = with(&[], &["check", "-q", "-v"]);
    assert_eq!(told.code, Some(2), "{told}");
    let told = with(&[], &["export", "faster"]);
    assert!(told.code == Some(2) && told.err.contains("expected the id of a run"), "{told}");
    let told = with(&[("HARNESS_QUIET", "maybe")], &["check"]);
    assert!(told.code == Some(2) && told.err.contains("expected 1 or 0"), "{told}");
}
