//! What an n can show, from a run or a pilot.

use crate::support::{Experiment, Project, Transcript};

const CLAIMS: &str = "[[hypotheses]]\nid = \"half\"\nmetric = \"time\"\nmargin = 0.5\n\
                      [[hypotheses]]\nid = \"any\"\nmetric = \"time\"\n";

const PILOT: &str = "arm,time_ms\na,100\na,104\na,97\na,101\nb,48\nb,51\nb,49\nb,50\n";

#[test]
fn power_is_told_from_a_pilot_and_from_a_run() {
    let project = Project::with(&Experiment { rest: CLAIMS, ..Experiment::FASTER });
    project.write("pilot.csv", PILOT);
    let mut transcript = Transcript::of(&project);
    transcript.say("a pilot needs no store").run(&[
        "power",
        "faster",
        "--pilot",
        "pilot.csv",
        "--gain",
        "55",
    ]);
    assert!(!project.path(".harness").exists());
    let _held = project.hold();
    transcript.say("there is no run").run(&["power", "faster"]);
    project.expect(0, &["run", "faster"]);
    transcript.say("the newest run, in every form").run(&["power", "faster"]);
    transcript.run(&["power", "faster", "--format", "markdown", "--gain", "50.1"]);
    transcript.run(&["power", "faster", "--format", "csv"]);
    let json = project.expect(0, &["power", "faster", "--format", "json"]).json();
    assert_eq!(json["claims"].as_array().unwrap().len(), 2, "{json:#}");
    assert_eq!((&json["claims"][0]["n"], &json["claims"][0]["alpha"]), (&10.into(), &0.025.into()));
    // A run of a changed file plans the file; without the file, the registration is planned.
    let id = project.run_id();
    project.edit("experiments/faster.toml", "samples = 10", "samples = 20");
    let changed = project.expect(0, &["power", "faster", "--from", &id, "--format", "json"]).json();
    assert_eq!(changed["claims"][0]["n"], 20, "{changed:#}");
    project.remove("experiments/faster.toml");
    let gone = project.expect(0, &["power", "faster", "--format", "json"]).json();
    assert_eq!(gone["claims"][0]["n"], 10, "{gone:#}");
    transcript.check("power");
}

#[test]
fn pilots_that_do_not_fit_are_refused() {
    let project = Project::with(&Experiment { rest: CLAIMS, ..Experiment::FASTER });
    for (text, words) in [
        ("arm,time_ms\na,1\nc,2\n", &["`pilot.csv`", "no arm `c` is registered, only `a`, `b`"][..]),
        ("arm,time_ms\na,1\na,2\n", &["there are no samples of arm `b`"]),
        ("arm,size\na,1\na,2\n", &["no metric `size` is registered, only `time`"]),
        ("arm,time_B\na,1\na,2\n", &["`time_B` is in B, and registered in ms"]),
        ("1\n2\n3\n", &["it does not say which arm"]),
        ("arm,time_ms\na,1\na,nan\n", &["line 3", "`nan` is not a finite number"]),
        ("arm,cell,time\na,x=1,1\n", &["there is no cell `x=1`: nothing is swept"]),
    ] {
        project.write("pilot.csv", text);
        project.expect(2, &["power", "faster", "--pilot", "pilot.csv"]).complains(words);
    }
    project.expect(2, &["power", "faster", "--pilot", "none.csv"]).complains(&["failed to read `none.csv`"]);
    project.expect(2, &["power", "faster", "--gain", "nan"]).complains(&["expected a number"]);
    project.expect(2, &["power", "faster", "--from", "x"]);
}
