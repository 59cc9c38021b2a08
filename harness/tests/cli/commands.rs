//! Experiments of plain commands, from `harness init` to a verdict, and what is said when a command misbehaves.

use crate::support::{Project, Transcript};

/// Two commands that print a number.
fn printed(a: &str, b: &str, rest: &str) -> String {
    format!(
        r#"id = "size"
title = "Size"
ledger = "demo"
[arms.a]
role = "control"
command = {a}
[arms.b]
role = "treatment"
command = {b}
[design]
warmups = 1
samples = 3
[metrics.size]
unit = "B"
better = "lower"
probe = {{ pattern = 'size ([0-9]+)' }}
nature = "exact"
{rest}
"#
    )
}

const HALF: &str = "[[hypotheses]]\nid = \"half\"\nmetric = \"size\"\nmargin = 0.4\n";

#[test]
fn a_project_of_two_commands_is_begun_in_two_steps() {
    let project = Project::new();
    let mut transcript = Transcript::of(&project);
    let folder = project.outside("new");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let told = project.expect(0, &["init", "--project", folder]);
    assert!(told.err.contains("next: harness new"), "{told}");
    assert!(project.expect(0, &["init", "--project", folder]).err.contains("is a project already"));
    transcript
        .say("two commands")
        .run(&["new", "faster", "--command", "./new --fast", "--against", "./old"])
        .run(&["check", "faster"])
        .say("nothing is overwritten")
        .run(&["new", "faster", "--command", "./new", "--against", "./old"])
        .say("programs that are not there")
        .run(&["run", "faster"]);
    project.write("old", "#!/bin/sh\n");
    transcript.say("or not executable").run(&["run", "faster"]);
    transcript.check("new");
    let text = project.read("experiments/faster.toml");
    for part in
        ["command = [\"./new\", \"--fast\"]", "test = \"wilcoxon\"", "probe  = \"wall\"", "margin     = 0.0"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn exact_metrics_are_facts_and_a_command_that_misbehaves_ends_its_run() {
    let project = Project::new();
    let held = project.hold();
    let mut transcript = Transcript::of(&project);
    project.write(
        "experiments/size.toml",
        &printed("[\"echo\", \"size 100\"]", "[\"echo\", \"size 50\"]", HALF),
    );
    transcript.say("three samples of a fact are enough").run(&["run", "size", "-q"]);
    // One that does not repeat itself.
    let counts = r#"["sh", "-c", "echo x >> n; echo size $(wc -l < n)"]"#;
    let varying =
        printed("[\"echo\", \"size 100\"]", counts, HALF).replace("\"size\"\ntitle", "\"varies\"\ntitle");
    project.write("experiments/varies.toml", &varying);
    transcript.say("an exact metric that varies").run(&["run", "varies", "-q"]);
    // One that fails in its third run.
    let fails = r#"["sh", "-c", "echo x >> m; echo size 1; test $(wc -l < m) -lt 3 || { echo cache vanished >&2; exit 3; }"]"#;
    let failing =
        printed("[\"echo\", \"size 100\"]", fails, HALF).replace("\"size\"\ntitle", "\"fails\"\ntitle");
    project.write("experiments/fails.toml", &failing);
    transcript.say("a command that begins to fail").run(&["run", "fails"]);
    let kept = project.sql("select count(*) from samples where experiment = 'fails' and arm = 'b'");
    assert_eq!(kept, ["1"]);
    // One whose answer is not that of the other arm, with variables that only one arm sets.
    let differs = printed(
        "[\"echo\", \"size 7\"]",
        "[\"echo\", \"size 7 \"]\nenv = { SWITCH = \"on\" }",
        "[commands]\nresult = \"stdout\"",
    )
    .replace("\"size\"\ntitle", "\"differs\"\ntitle");
    project.write("experiments/differs.toml", &differs);
    let told = project.harness(&["run", "differs"]);
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&[
        "is INVALID: command of arm",
        "sets the variable SWITCH and arm `a` does not",
        "compare what the arms answer",
    ]);
    transcript.check("commands");
    drop(held);
}

#[test]
fn a_small_command_has_a_peak_of_its_own() {
    let project = Project::new();
    let _held = project.hold();
    let size = |command: &str| {
        let text = printed("[\"sh\", \"-c\", \"true\"]", command, "")
            .replace("[metrics.size]\nunit = \"B\"\nbetter = \"lower\"\nprobe = { pattern = 'size ([0-9]+)' }\nnature = \"exact\"", 
                "[metrics.peak]\nunit = \"MiB\"\nbetter = \"lower\"\nprobe = \"peak-rss\"\n[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\nprobe = \"wall\"");
        project.write("experiments/size.toml", &text);
        project.harness(&["run", "size"])
    };
    // 8 MiB of text in a variable of a shell.
    let told = size(r#"["sh", "-c", "x=$(head -c 8388608 /dev/zero | tr '\\0' x); test ${#x} = 8388608"]"#);
    assert_eq!(told.code, Some(0), "{told}");
    let peaks = project.sql(
        "select arm, max(value) < 4, min(value) > 8 from samples where metric = 'peak' group by 1 order by 1",
    );
    assert_eq!(peaks, ["a t f", "b f t"]);
    assert_eq!(project.sql("select count(*) from samples where metric = 'time' and value > 0"), ["6"]);
    // The launcher tells how its command ended.
    let failing = printed("[\"true\"]", "[\"sh\", \"-c\", \"echo gone >&2; exit 3\"]", "")
        .replace("probe = { pattern = 'size ([0-9]+)' }\nnature = \"exact\"", "probe = \"peak-rss\"")
        .replace("\"size\"\ntitle", "\"fails\"\ntitle");
    project.write("experiments/fails.toml", &failing);
    let told = project.harness(&["run", "fails"]);
    assert_eq!(told.code, Some(1), "{told}");
    told.complains(&["command of arm `b`, run 1 (warm-up 0), ended with exit status: 3: gone"]);
}
