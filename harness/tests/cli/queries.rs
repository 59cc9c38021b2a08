//! Looking at what there is.

use crate::support::{Experiment, Project, Transcript, said};
use std::process::Stdio;
use unicode_width::UnicodeWidthStr;

#[test]
fn lists_and_shows_say_what_is_there_and_what_is_not() {
    let project = Project::with(&Experiment::FASTER);
    project.add(&Experiment { id: "other", title: "Other", ledger: "more", rest: "", ..Experiment::FASTER });
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.say("nothing is registered").run(&["list"]).run(&["show", "faster"]).run(&["render", "demo"]);
    project.expect(0, &["register", "faster"]);
    transcript.say("registered, and not run").run(&["show", "faster"]).run(&["list", "--ledger", "demo"]);
    project.expect(0, &["run", "faster"]);
    project.expect(0, &["run", "other"]);
    project.write("experiments/faster.toml", "id = 1\n");
    project.remove("experiments/other.toml");
    transcript.say("one file is broken, one is gone; the store knows both").run(&["list"]);
    transcript.run(&["show", "experiments/other.toml"]);
    transcript.run(&["list", "--ledger", "dmeo"]).run(&["render", "dmeo"]).run(&["show", "fastr"]);
    transcript.run(&["show", "01a22c4a-6093-7152-907f-8117d7b97000"]);
    transcript.check("queries");
    let id = project.run_id();
    let one = project.expect(0, &["show", &id, "--format", "json"]).json();
    assert_eq!(one["run"], id.as_str());
    let status = project.expect(0, &["db", "status", "--format", "json"]).json();
    assert_eq!(
        (&status[0]["experiments"], &status[0]["runs"], &status[0]["samples"]),
        (&2.into(), &2.into(), &40.into())
    );
}

#[test]
fn a_reader_who_has_seen_enough_ends_nothing_in_panic() {
    let project = Project::with(&Experiment::FASTER);
    for args in [&["list"][..], &["check"], &["check", "--format", "json"], &["--help"], &["run", "--help"]] {
        let mut child = project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !err.contains("panicked"), "{args:?}: {output:?}");
    }
    // A full disk is another matter.
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let told = said(project.command(&["check"]).stdout(full));
        assert_eq!(told.code, Some(1), "{told}");
        told.complains(&["No space left on device"]);
    }
}

#[test]
fn names_break_neither_tables_nor_ledgers() {
    let project = Project::with(&Experiment {
        title: "a|b 漢字テスト é 🦀",
        claim: "`x` | <b>bold</b> 漢字 \\\\ é",
        ..Experiment::FASTER
    });
    project.add(&Experiment { id: "plain", title: "plain", rest: "", ..Experiment::FASTER });
    let listed = project.expect(0, &["list"]);
    let widths: Vec<_> = listed.out.lines().map(UnicodeWidthStr::width).collect();
    assert!(widths.len() > 4 && widths.iter().all(|it| *it == widths[0]), "{widths:?}\n{listed}");
    assert!(!listed.out.contains('\u{1b}'), "{listed:}");
    let run = project.expect(0, &["run", "faster"]);
    assert!(!run.to_string().contains('\u{1b}'), "{run}");
    let ledger = project.read("ledgers/demo.md");
    assert!(!ledger.contains('\u{1b}') && !ledger.contains("<b>"), "{ledger}");
    assert!(ledger.contains("a\\|b 漢字テスト"), "{ledger}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    for table in ledger.split("\n\n").filter(|it| it.starts_with('|')) {
        let columns: Vec<_> = table.lines().map(columns).collect();
        assert!(columns.iter().all(|it| *it == columns[0]), "{table}");
    }
    let markdown = project.expect(0, &["list", "--format", "markdown"]);
    assert!(markdown.out.lines().all(|it| columns(it) == 8), "{markdown}");
    let csv = project.expect(0, &["list", "--format", "csv"]);
    assert_eq!(csv.out.lines().count(), 3, "{csv}");
}
