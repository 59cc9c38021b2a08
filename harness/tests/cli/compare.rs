//! Two runs, arms or files side by side.

use crate::support::{Experiment, Project, Transcript};
use std::path::Path;

#[test]
fn runs_and_arms_are_compared_without_a_verdict() {
    let project = Project::with(&Experiment::FASTER);
    project.add(&Experiment { id: "other", title: "Other", mean: [100, 44], ..Experiment::FASTER });
    let _held = project.hold();
    project.expect(0, &["run", "faster"]);
    project.expect(0, &["run", "other"]);
    let mut transcript = Transcript::of(&project);
    transcript.say("two experiments by their deciding runs").run(&["compare", "faster", "other"]);
    transcript.say("two arms").run(&["compare", "faster:a", "faster:b"]);
    transcript.run(&["compare", "faster:b", "other:b", "--format", "markdown"]);
    transcript.run(&["compare", "faster:b", "other:b", "--format", "csv"]);
    project.write("b.csv", "arm,time\nb,0.044\nb,0.045\nb,0.0443\n");
    transcript.say("an arm and a file in another unit");
    transcript.run(&["compare", "faster:b", "b.csv", "--unit", "s"]);
    transcript
        .say("what is not there")
        .run(&["compare", "fastr", "other"])
        .run(&["compare", "faster:c", "other"]);
    transcript.check("compare");
    let id = project.run_id();
    let json = project.expect(0, &["compare", "faster", &id, "--format", "json"]).json();
    assert_eq!((&json["label"], &json["b"]["run"]), (&"exploratory: no verdict".into(), &id.as_str().into()));
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 2, "{json:#}");
    assert_eq!(json["changes"].as_array().unwrap().len(), 1, "{json:#}");
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1, "{json:#}");
}

#[test]
fn files_are_compared_where_no_project_is() {
    let project = Project::new();
    let outside = project.outside("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for (from, to) in [
        ("14_csv_locale/samples_semicolon_bom_crlf.csv", "comma.csv"),
        ("19_bad_values/nan_bare.json", "nan.json"),
        ("19_bad_values/nul_in_name.json", "nul.json"),
        ("19_bad_values/negative.csv", "negative.csv"),
        ("15_units/unknown.csv", "unknown.csv"),
    ] {
        std::fs::copy(cases.join(from), outside.join(to)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(outside.join(name), text).unwrap();
    write(
        "before.csv",
        "arm,metric,value,unit\nx,insert,990,ns\nx,insert,990,ns\nx,open,29.68,us\nx,open,29.68,us\n",
    );
    write(
        "after.csv",
        "arm,metric,value,unit\nx,insert,1.1,us\nx,insert,1.1,us\nx,open,0.2307,ms\nx,open,0.2307,ms\n",
    );
    write("old.txt", "# measured before\n10.1\n10.3\n9.9\n10.2\n10.0\n");
    write("new.txt", "9.1\n9.3\n8.9\n9.6\n9.0\n");
    write("zero.json", "[0, 0, 0, 0, 0]");
    write("faults.json", "[12, 11, 13, 12, 12]");
    let mut transcript = Transcript::of(&project);
    let mut run = |args: &[&str]| {
        let said = crate::support::said(project.command(args).current_dir(&outside));
        transcript.note(args, &said);
        said
    };
    run(&["compare", "old.txt", "new.txt", "--unit", "ms"]);
    run(&["compare", "comma.csv:base", "comma.csv:neu", "--decimal", "comma"]);
    run(&["compare", "before.csv", "after.csv"]);
    run(&["compare", "zero.json", "faults.json"]);
    run(&["compare", "comma.csv:base", "comma.csv:neu"]);
    run(&["compare", "old.txt", "nan.json"]);
    run(&["compare", "nul.json", "old.txt"]);
    run(&["compare", "old.txt", "negative.csv"]);
    run(&["compare", "unknown.csv", "old.txt"]);
    run(&["compare", "old.txt", "before.csv"]);
    let said = run(&["compare", "faults.json", "zero.json", "--better", "higher", "--format", "json"]).json();
    assert!((said["comparisons"][0]["gain"].as_f64().unwrap() + 1.0).abs() < 1e-12, "{said:#}");
    transcript.check("compare-files");
}
