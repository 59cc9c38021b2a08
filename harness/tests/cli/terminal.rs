//! What a terminal shows: colors, and progress between blocks.

use crate::support::{Experiment, Project, said};

/// Runs the program on a terminal that `script` makes, and returns everything that it showed.
fn on_a_terminal(project: &Project, args: &str, variables: &[(&str, &str)]) -> String {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_harness"));
    let mut command = project.program("script", &["--quiet", "--return", "--command", &line, "/dev/null"]);
    let told = said(command.env("TERM", "xterm").envs(variables.iter().copied()));
    assert_eq!(told.code, Some(0), "{told}");
    told.out
}

#[test]
fn color_is_for_terminals_and_for_those_who_ask() {
    let project = Project::with(&Experiment::FASTER);
    project.expect(0, &["run", "faster"]);
    let colored = |args: &[&str]| project.expect(0, args).out.contains('\u{1b}');
    assert!(!colored(&["show", "faster"]));
    assert!(colored(&["show", "faster", "--color", "always"]));
    assert!(!colored(&["show", "faster", "--color", "never"]));
    let err = project.harness(&["run", "fastr", "--color", "always"]).err;
    assert!(err.contains("\u{1b}[31merror:\u{1b}[0m"), "{err}");
    let shown = on_a_terminal(&project, "show faster", &[]);
    assert!(shown.contains("\u{1b}[32mACCEPT\u{1b}[0m"), "{shown}");
    let shown = on_a_terminal(&project, "show faster", &[("NO_COLOR", "1")]);
    assert!(!shown.contains("\u{1b}["), "{shown}");
    let shown = on_a_terminal(&project, "show faster", &[("HARNESS_COLOR", "never")]);
    assert!(!shown.contains("\u{1b}["), "{shown}");
}

#[test]
fn progress_is_drawn_between_blocks_and_wiped_away() {
    let project = Project::with(&Experiment { samples: 4, warmups: 1, ..Experiment::FASTER });
    project.write("pause", "0.1\n");
    let shown = on_a_terminal(&project, "run faster", &[]);
    let drawn: Vec<_> = shown.split('\r').filter(|it| it.contains("block ")).collect();
    // At most once a block.
    assert!((2..=5).contains(&drawn.len()), "{shown:?}");
    assert!(drawn[0].contains("block 1 of 5, ") && drawn[0].contains(" s left"), "{:?}", drawn[0]);
    // Nothing is left of it when the result comes.
    let last = shown.rfind("block 5 of 5").unwrap();
    let wiped = shown[last..].find("\r\u{1b}[K").unwrap() + last;
    assert!(wiped < shown.find('┌').unwrap(), "{shown:?}");
    let quiet = on_a_terminal(&project, "run faster -q", &[]);
    assert!(!quiet.contains("block ") && quiet.contains("ACCEPT"), "{quiet:?}");
    // Into a file there are no bars, and standard output has the result alone.
    project.remove("pause");
    let told = project.expect(0, &["run", "faster"]);
    assert!(told.out.starts_with('┌') && !told.out.contains("block"), "{told}");
    assert!(told.err.starts_with("measured in ") && !told.err.contains('\r'), "{told}");
}

#[test]
fn quiet_is_quiet_and_verbose_tells_more() {
    let project = Project::with(&Experiment::FASTER);
    let told = project.expect(0, &["run", "faster", "-q"]);
    assert!(told.err.is_empty(), "{told}");
    let told = project.expect(0, &["render", "--check", "-v"]);
    told.complains(&["store: the private cluster in ", "ledgers/demo.md is up to date"]);
    assert!(told.out.is_empty(), "{told}");
}
