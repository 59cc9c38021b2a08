//! Factorials, contrasts of several arms, thresholds and the reference arm, as they are written and read.

use harness::prereg::{Effect, Prereg, Thresholds, parse, parse_canonical};
use harness::vocab::{Margin, Role, Scalar};

/// `parts` in place of arms, hypotheses and so on.
fn text(parts: &str) -> String {
    format!(
        "id = \"slots\"\ntitle = \"Slots\"\nledger = \"slots\"\n[worker]\npackage = \"w\"\nsystem = \"heap\"\n\
         [design]\nsamples = 10\n[metrics.rate]\nunit = \"Mop/s\"\nbetter = \"higher\"\n{parts}"
    )
}

const SLOTS: &str = r#"
[factors.c5]
off = { env = { INLINE_C5 = "0" } }
on = { env = { INLINE_C5 = "1" } }
[factors.c6]
off = { params = { c6 = false } }
on = { params = { c6 = true } }
"#;

fn read(parts: &str) -> Prereg {
    let prereg = parse(&text(parts), "slots.toml").unwrap_or_else(|it| panic!("{it}"));
    // Whatever is read is frozen and read again as the same.
    assert_eq!(parse_canonical(&prereg.canonical()).unwrap_or_else(|it| panic!("{it}")), prereg);
    prereg
}

fn hypothesis(rest: &str) -> String {
    format!("[[hypotheses]]\nid = \"h\"\nmetric = \"rate\"\n{rest}\n")
}

#[track_caller]
fn problem(parts: &str, expected: &str) {
    let said = parse(&text(parts), "slots.toml").map(|_| ()).unwrap_err().to_string();
    assert!(said.contains(expected), "`{expected}` is not in:\n{said}");
    assert_eq!(said.matches("slots.toml:").count(), 1, "one problem, told once:\n{said}");
}

#[test]
fn levels_that_set_something_make_the_arms() {
    let prereg = read(SLOTS);
    let arms: Vec<_> = prereg.arms.iter().map(|it| (it.name.as_str(), it.role)).collect();
    let expected = [
        ("c5-off.c6-off", Role::Control),
        ("c5-on.c6-off", Role::Treatment),
        ("c5-off.c6-on", Role::Treatment),
        ("c5-on.c6-on", Role::Treatment),
    ];
    assert_eq!(arms, expected);
    let both = prereg.arm("c5-on.c6-on").unwrap();
    assert_eq!(both.env, [("INLINE_C5".to_owned(), "1".to_owned())]);
    assert_eq!(both.params, [("c6".to_owned(), Scalar::Bool(true))]);
    assert_eq!(prereg.factors.as_ref().unwrap().arms, expected.map(|(name, _)| name));
    let canonical = prereg.canonical();
    for line in [
        "[factors]\nc5 = [\"off\", \"on\"]\nc6 = [\"off\", \"on\"]\n",
        "[arms.\"c5-on.c6-off\"]\nrole = \"treatment\"\nlevels = { c5 = \"on\", c6 = \"off\" }\nparams = { c6 = false }\n",
    ] {
        assert!(canonical.contains(line), "{canonical}");
    }
}

#[test]
fn an_arm_by_hand_takes_the_place_of_the_one_that_would_be_made() {
    let prereg = read(&format!(
        "{SLOTS}[arms.both]\nlevels = {{ c6 = \"on\", c5 = \"on\" }}\nenv = {{ TRACE = \"0\" }}\n\
         [arms.peer]\nrole = \"null\"\nparams.c6 = true\n"
    ));
    let names: Vec<_> = prereg.arms.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["c5-off.c6-off", "c5-on.c6-off", "c5-off.c6-on", "both", "peer"]);
    assert_eq!(prereg.arm("both").unwrap().env.len(), 2);
    assert_eq!(prereg.arm("both").unwrap().role, Role::Treatment);
    assert_eq!(prereg.factors.unwrap().arms[3], "both");
}

#[test]
fn levels_with_names_only_are_bound_by_hand() {
    let arm = |name: &str, c5: &str, c6: &str, value: &str| {
        format!("[arms.{name}]\nlevels = {{ c5 = \"{c5}\", c6 = \"{c6}\" }}\nenv.INLINE = \"{value}\"\n")
    };
    let factors = "[factors]\nc5 = [\"off\", \"on\"]\nc6 = [\"off\", \"on\"]\n";
    let three = format!(
        "{factors}{}{}{}",
        arm("d", "on", "on", "c5,c6"),
        arm("a", "off", "off", ""),
        arm("b", "on", "off", "c5")
    );
    let prereg = read(&format!("{three}{}", arm("c", "off", "on", "c6")));
    assert_eq!(prereg.factors.as_ref().unwrap().arms, ["a", "b", "c", "d"]);
    assert_eq!(prereg.arm("a").unwrap().role, Role::Control);
    problem(
        &three,
        "no arm has the levels c5=off, c6=on\n    help: give one `levels = { c5 = \"off\", c6 = \"on\" }`",
    );
    let twice = format!("{three}{}{}", arm("c", "off", "on", "c6"), arm("e", "off", "on", "c"));
    problem(&twice, "arms `c` and `e` have the same levels, c5=off, c6=on");
}

#[test]
fn contrasts_name_effects() {
    let claims = |contrast: &str| {
        let it = read(&format!("{SLOTS}{}", hypothesis(&format!("contrast = \"{contrast}\""))))
            .hypotheses
            .remove(0);
        (it.effect, it.contrast.treatment, it.contrast.control, it.min_effect)
    };
    let main = (Some(Effect::Main("c6".into())), "c6=on".to_owned(), "c6=off".to_owned(), 0.0);
    assert_eq!(claims("main:c6"), main);
    // In the order of the factors, however they are named.
    let factors = vec!["c5".to_owned(), "c6".to_owned()];
    assert_eq!(claims("interaction:c6, c5").0, Some(Effect::Interaction(factors)));
    assert_eq!(claims("additivity").0, Some(Effect::Additivity));
    // The total is one arm against another, with all that belongs to two arms.
    assert_eq!(claims("total"), (None, "c5-on.c6-on".to_owned(), "c5-off.c6-off".to_owned(), 0.5));
}

#[test]
fn several_arms_are_a_claim_each() {
    let arms =
        ["eager", "lazy"].map(|it| format!("[arms.{it}]\nrole = \"control\"\nparams.mode = \"{it}\"\n"));
    let threads = [2, 4].map(|it| format!("[arms.t{it}]\nrole = \"treatment\"\nparams.threads = {it}\n"));
    let both = "treatment = [\"t2\", \"t4\"]\ncontrol = [\"eager\", \"lazy\"]";
    let all = format!("{}{}", arms.concat(), threads.concat());
    let ids = |rest: &str| -> Vec<String> {
        read(&format!("{all}{}", hypothesis(rest))).hypotheses.into_iter().map(|it| it.id).collect()
    };
    assert_eq!(ids(both), ["h.t2.eager", "h.t2.lazy", "h.t4.eager", "h.t4.lazy"]);
    assert_eq!(ids("treatment = [\"t2\", \"t4\"]\ncontrol = \"lazy\""), ["h.t2", "h.t4"]);
    assert_eq!(ids("treatment = [\"t2\"]\ncontrol = [\"eager\", \"lazy\"]"), ["h.eager", "h.lazy"]);
    assert_eq!(ids("treatment = [\"t2\"]\ncontrol = [\"lazy\"]"), ["h"]);
    let guard = format!("[[guards]]\nmetric = \"rate\"\nmargin = 0.05\n{both}\n");
    assert_eq!(read(&format!("{all}{guard}")).guards.len(), 4);
    let wrong = |rest: &str, expected: &str| problem(&format!("{all}{}", hypothesis(rest)), expected);
    wrong(
        "treatment = [\"t2\", \"t5\"]\ncontrol = \"lazy\"",
        "no arm is called `t5`\n    help: did you mean",
    );
    wrong("treatment = [\"t2\", \"t2\"]\ncontrol = \"lazy\"", "names arm `t2` twice");
    wrong("treatment = []\ncontrol = \"lazy\"", "is an empty list");
    wrong("treatment = \"t2\"\ncontrol = [\"lazy\", \"t2\"]", "arm `t2` is compared with itself");
}

#[test]
fn what_is_wrong_with_a_factorial_is_told() {
    let wrong = |parts: &str, expected: &str| problem(&format!("{SLOTS}{parts}"), expected);
    let contrast = |it: &str, expected: &str| wrong(&hypothesis(&format!("contrast = \"{it}\"")), expected);
    contrast("main:c7", "no factor is called `c7`\n    help: did you mean `c5`?");
    contrast("mian:c6", "help: did you mean `main`?");
    contrast("main:c5,c6", "expected `main:<factor>`");
    contrast("interaction:c6", "expected `main:<factor>`");
    contrast("interaction:c6,c6", "expected `main:<factor>`");
    contrast("total:c6", "expected `main:<factor>`");
    let both = "contrast = \"main:c6\"\ncontrol = \"c5-off.c6-off\"";
    wrong(&hypothesis(both), "`contrast` says which arms are compared, and so does `control`");
    wrong(&hypothesis("contrast = \"main:c6\"\nmin_effect = 0.5"), "Cohen's d is of two arms");
    let levels = |it: &str| format!("[arms.x]\nlevels = {{ {it} }}\n");
    wrong(&levels("c5 = \"on\""), "`levels` in [arms.x] leaves out `c6`");
    wrong(&levels("c5 = \"on\", c6 = \"onn\""), "did you mean `on`?");
    wrong(&levels("c5 = \"on\", c6 = \"on\", c7 = \"on\""), "no factor is called `c7`");
    let role = format!("{}role = \"control\"\n", levels("c5 = \"on\", c6 = \"on\""));
    wrong(&role, "arm `x` has the levels of another cell than the baseline");
    wrong(
        &format!("{}env.INLINE_C5 = \"2\"\n", levels("c5 = \"on\", c6 = \"on\"")),
        "arm `x` gets `INLINE_C5` twice",
    );
    let arms = "[arms.a]\nrole = \"control\"\nparams.m = 1\n[arms.b]\nrole = \"treatment\"\nparams.m = 2\n";
    problem(&format!("{arms}{}", hypothesis("contrast = \"main:c6\"")), "there is no [factors]");
    problem("[factors]\nc5 = [\"off\", \"off\"]\n", "two levels that differ");
    problem("[factors]\nc5 = [\"off\"]\n", "expected two levels, the baseline's first");
    problem("[factors]\n", "[factors] has 0 factors, expected 1 to 4");
    problem("[factors.c5]\noff = {}\n", "expected two levels, the baseline's first\n    help: `off = {}`");
    problem("[factors.c5]\noff = {}\non = {}\n", "arms `c5-off` and `c5-on` are the same");
    let one = "[factors.c5]\noff = {}\non = { params = { c5 = 1 } }\n";
    problem(&format!("{one}{}", hypothesis("contrast = \"additivity\"")), "nothing to add up with");
}

#[test]
fn labels_have_thresholds() {
    let go = "[decision]\nlabels = \"go-nogo\"\n";
    let thresholds =
        |it: &str| format!("{SLOTS}{go}[decision.thresholds]\n{it}\n{}", hypothesis("contrast = \"total\""));
    let prereg = read(&thresholds("go = 0.01\nstrong_go = 0.03"));
    let filled_in = Thresholds { go: 0.01, strong_go: 0.03, neutral: 0.01 };
    assert_eq!(prereg.decision.thresholds, Some(filled_in));
    assert_eq!(prereg.hypotheses[0].margin, Margin::Relative(0.01));
    problem(&format!("{SLOTS}{go}"), "labels `go-nogo` need thresholds");
    problem(&thresholds("go = 0.03\nstrong_go = 0.03"), "expected a gain above that of `go`");
    problem(
        &thresholds("go = 0.01\nstrong_go = 0.03\nneutral = 0.02"),
        "expected a gain of at most that of `go`",
    );
    problem(
        &format!("{SLOTS}[decision.thresholds]\ngo = 0.01\nstrong_go = 0.03\n"),
        "are those of labels `go-nogo`",
    );
}

#[test]
fn the_reference_is_an_arm() {
    assert_eq!(read(SLOTS).reference, None);
    let prereg = read(&format!("{SLOTS}[report]\nreference = \"c5-on.c6-on\"\n"));
    assert_eq!(prereg.reference.as_deref(), Some("c5-on.c6-on"));
    problem(&format!("{SLOTS}[report]\nreference = \"c5-on.c6-onn\"\n"), "did you mean `c5-on.c6-on`?");
}
