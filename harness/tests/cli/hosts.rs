//! What is said of the host: by `doctor`, by `calibrate`, and of blocks in which it was too busy.

use crate::support::{Experiment, Project, Said, Transcript, said};

#[test]
fn a_doctor_on_a_kernel_that_hides_everything_calls_nothing_fit() {
    let project = Project::new();
    std::fs::create_dir(project.path("empty")).unwrap();
    let args = ["doctor", "--root", "empty"];
    let mut told = project.expect(0, &args);
    // The clock is that of this machine.
    let step = told.out.find("steps of ").unwrap();
    let end = step + told.out[step..].find('\n').unwrap();
    told.out.replace_range(step..end, "steps of x ns");
    Transcript::of(&project)
        .say("below this folder there is neither proc nor sys")
        .note(&args, &told)
        .check("doctor");
    // What is hidden is not called unfit.
    project.expect(0, &["doctor", "--root", "empty", "--gate"]);
    let json = project.expect(0, &["doctor", "--format", "json"]).json();
    let count = |key: &str| json[key].as_u64().unwrap();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!(count("fit") + count("unfit") + count("hidden"), checks.len() as u64);
    let advised = checks
        .iter()
        .filter(|it| it["fitness"] == "unfit")
        .all(|it| !it["advice"].as_str().unwrap().is_empty());
    assert!(advised, "{json:#}");
    let gated = project.harness(&["doctor", "--gate", "-q"]);
    assert!(matches!(gated.code, Some(0 | 6)), "{gated}");
}

#[test]
fn a_calibration_is_shown_kept_and_cited() {
    let project = Project::with(&Experiment::FASTER);
    // A worker whose noise differs from process to process, by how many were there before.
    project.write("started", "");
    project.edit(
        "worker.sh",
        "random=$((mean * 7919 + 17))",
        "echo x >> started; random=$((mean * 7919 + 17 + 1013 * $(wc -l < started)))",
    );
    let mut transcript = Transcript::of(&project);
    transcript
        .run(&["calibrate", "faster", "--comparisons", "20", "-q"])
        .say("of another number of samples it is no calibration of what is registered")
        .run(&["calibrate", "faster", "--comparisons", "5", "--samples", "4"])
        .check("calibrate");
    let kept = std::fs::read_dir(project.path("ledgers/evidence/faster")).unwrap().flatten();
    let kept = kept.filter(|it| it.file_name().to_string_lossy().starts_with("calibration")).count();
    assert_eq!(kept, 1);
    let told = project.expect(0, &["run", "faster"]);
    assert!(told.out.contains("half: gain above the host's noise"), "{told}");
}

/// A project whose host is busy while block 3 is measured, as far as its worker and the kernel's file can be made to say so.
fn busy_in_block_3(then: &str) -> Project {
    let project = Project::with(&Experiment::FASTER);
    let rule = format!("[environment.blocks]\nmax_load = 1.5\nthen = \"{then}\"\n");
    let text = project.read("experiments/faster.toml");
    project.write("experiments/faster.toml", &format!("{text}{rule}"));
    project.write("load", "0.50 0.50 0.50 1/100 4242\n");
    // The first sample of a process is a warm-up.
    let told = "digest=d\n      if [ \"$mean\" = 100 ]; then\n        load=0.50; if [ $n = 4 ]; then load=9.00; fi\n        \
                echo \"$load 0.50 0.50 1/100 4242\" > load\n      fi\n";
    project.edit(
        "worker.sh",
        "digest=d\n      if [ \"$n\" = \"$at\" ]",
        &format!("{told}      if [ \"$n\" = \"$at\" ]"),
    );
    project
}

/// Runs the program where the project's file stands for that of the kernel; `None` where nothing may be mounted.
fn under_a_load_of_its_own(project: &Project, args: &[&str]) -> Option<Said> {
    let mounted = "mount --bind load /proc/loadavg && exec \"$0\" \"$@\"";
    let probe = ["--mount", "sh", "-c", mounted, "true"];
    if said(&mut project.program("unshare", &probe)).code != Some(0) {
        return None;
    }
    let harness = ["--mount", "sh", "-c", mounted, env!("CARGO_BIN_EXE_harness")];
    Some(said(&mut project.program("unshare", &[&harness[..], args].concat())))
}

#[test]
fn a_block_that_breaks_the_rule_is_measured_again_or_excluded_as_registered() {
    let (again, out) = (busy_in_block_3("remeasure"), busy_in_block_3("exclude"));
    let args = ["run", "faster", "-q"];
    let Some(told) = under_a_load_of_its_own(&again, &args) else { return };
    assert_eq!(told.code, Some(0), "{told}");
    Transcript::of(&again).say("measured again").note(&args, &told).check("blocks-remeasure");
    assert_eq!(again.sql("select arm, count(*) from samples group by 1 order by 1"), ["a 10", "b 10"]);
    let ledger = again.read("ledgers/demo.md");
    for text in [
        "1 measured again, 0 excluded",
        "|     3 |       1 | load 9.00, at most 1.5 | measured again |",
        "faster/telemetry.svg",
    ] {
        assert!(ledger.contains(text), "`{text}` is not in:\n{ledger}");
    }
    let plot = again.read("plots/faster/telemetry.svg");
    assert!(
        plot.contains("12 readings; load: highest 9.00;") && plot.contains("struck: measured again, 1 block"),
        "{plot}"
    );
    let told = under_a_load_of_its_own(&out, &args).unwrap();
    assert_eq!(told.code, Some(0), "{told}");
    Transcript::of(&out).say("excluded").note(&args, &told).check("blocks-exclude");
    assert_eq!(
        out.sql("select arm, count(*), max(block) from samples group by 1 order by 1"),
        ["a 9 9", "b 9 9"]
    );
    let plot = out.read("plots/faster/telemetry.svg");
    assert!(
        plot.contains("11 readings; load: highest 9.00;") && plot.contains("crossed out: excluded, 1 block"),
        "{plot}"
    );
    // Both are on record: what did not count as well.
    let kept = "select detail->'block'->>'then', json_array_length((detail->'block'->'samples')::json) from run_events where seq = 2";
    assert_eq!(again.sql(kept), ["remeasure 2"]);
    assert_eq!(out.sql(kept), ["exclude 2"]);
    for project in [again, out] {
        project.expect(0, &["render", "--check"]);
        project.expect(0, &["verify"]);
    }
}
