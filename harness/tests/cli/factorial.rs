//! Experiments of more than two arms: a factorial, treatments against several controls, and one that only records.

use crate::support::{Project, Transcript};

/// Everything but arms and claims.
const HEAD: &str = r#"
ledger = "slots"
[worker]
command = ["worker.sh"]
system = "demo"
timeout = "2s"
[design]
warmups = 1
samples = 10
"#;

fn arm(name: &str, rest: &str, mean: u32) -> String {
    format!("[arms.{name}]\n{rest}\nparams = {{ mean = {mean}, noise = 2 }}\n")
}

const TIME: &str = "[metrics.time]\nunit = \"ms\"\nbetter = \"lower\"\n";

/// Two switches that save 5 and 8 ms alone, and 10 together.
fn slots() -> String {
    let cell = |name: &str, c5: &str, c6: &str, mean: u32| {
        arm(name, &format!("levels = {{ c5 = \"{c5}\", c6 = \"{c6}\" }}"), mean)
    };
    let arms = [
        cell("a", "off", "off", 100),
        cell("b", "on", "off", 95),
        cell("c", "off", "on", 92),
        cell("d", "on", "on", 90),
    ];
    format!(
        "id = \"slots\"\ntitle = \"Inline slots\"\nclaim = \"Both switches together save time.\"\n{HEAD}{TIME}\
         [factors]\nc5 = [\"off\", \"on\"]\nc6 = [\"off\", \"on\"]\n{}\
         [[hypotheses]]\nid = \"both\"\nmetric = \"time\"\ncontrast = \"total\"\n\
         [[hypotheses]]\nid = \"c5-on-top\"\nmetric = \"time\"\ntreatment = \"d\"\ncontrol = \"c\"\n\
         [[hypotheses]]\nid = \"adds-up\"\nmetric = \"time\"\ncontrast = \"additivity\"\nclaim = \"non-inferior\"\nmargin = 0.50\n\
         [decision]\nlabels = \"go-nogo\"\n[decision.thresholds]\ngo = 0.01\nstrong_go = 0.012\n[report]\nreference = \"a\"\n",
        arms.concat()
    )
}

#[test]
fn a_factorial_from_its_factors_to_the_label() {
    let project = Project::new();
    project.write("experiments/slots.toml", &slots());
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.run(&["check", "slots"]).run(&["run", "slots", "--gate", "-q"]).run(&["list"]);
    let ledger = project.read("ledgers/slots.md");
    for part in [
        "### Verdict: STRONG GO",
        "### Factorial",
        "### Scorecard",
        "interaction-time.svg",
        "One by one, the factors",
    ] {
        assert!(ledger.contains(part), "`{part}` is not in\n{ledger}");
    }
    assert!(project.read("plots/slots/interaction-time.svg").contains("c6=on"));
    project.expect(0, &["render", "--check"]);
    let json = project.expect(0, &["show", "slots", "--format", "json"]).json();
    assert_eq!((&json["label"], &json["decision"]["label"]), (&"STRONG GO".into(), &"STRONG GO".into()));
    assert_eq!(json["decision"]["effects"][0]["family"].as_array().unwrap().len(), 3);
    let listed = project.expect(0, &["list", "--format", "json"]).json();
    assert_eq!(listed[0]["verdict"], "STRONG GO");
    let shown = project.expect(0, &["show", "slots"]).out;
    let line = shown.lines().find(|it| it.contains(&project.run_id())).unwrap();
    assert!(line.contains("STRONG GO"), "{shown}");
    let written = project.read("experiments/slots.toml");
    project.write(
        "experiments/slots.toml",
        &written.replace("\"additivity\"", "\"additvity\"").replace("c6 = \"on\"", "c6 = \"onn\""),
    );
    transcript.say("what is misspelt").run(&["check", "slots"]);
    transcript.check("factorial");
}

#[test]
fn treatments_are_compared_with_several_controls_as_one_family() {
    let project = Project::new();
    let control = |name: &str, mean: u32| arm(name, "role = \"control\"", mean);
    let treatment = |name: &str, mean: u32| arm(name, "role = \"treatment\"", mean);
    let arms = [
        control("eager", 80),
        control("lazy", 20),
        treatment("threads-1", 55),
        treatment("threads-2", 56),
        treatment("threads-4", 61),
        treatment("threads-8", 62),
    ];
    project.write(
        "experiments/parallel.toml",
        &format!(
            "id = \"parallel\"\ntitle = \"Parallel loading\"\n{HEAD}{TIME}{}[[hypotheses]]\nid = \"faster\"\nmetric = \"time\"\n\
             treatment = [\"threads-1\", \"threads-2\", \"threads-4\", \"threads-8\"]\ncontrol = [\"eager\", \"lazy\"]\n",
            arms.concat()
        ),
    );
    project.write(
        "experiments/observe.toml",
        &format!(
            "id = \"observe\"\ntitle = \"Operations by class\"\n{HEAD}[metrics.time]\nunit = \"1\"\nbetter = \"higher\"\n{}",
            control("mixed", 572)
        ),
    );
    let _held = project.hold();
    let mut transcript = Transcript::of(&project);
    transcript.run(&["run", "parallel", "--gate", "-q"]);
    transcript.say("nothing is claimed").run(&["run", "observe", "--gate", "-q"]);
    transcript.check("several-arms");
    let ledger = project.read("ledgers/slots.md");
    assert!(ledger.contains("Treatments against controls, time:"), "{ledger}");
    assert!(ledger.contains("over a family of 8, corrected after Holm"), "{ledger}");
}
