use super::EXAMPLE;
use super::generate::prereg;
use harness::prereg::{Launch, Prereg, parse, parse_canonical};
use harness::vocab::{Margin, Scalar};
use proptest::prelude::*;
use std::time::Duration;

fn read(text: &str) -> Prereg {
    parse(text, "exp-1-lazy.toml").unwrap_or_else(|problems| panic!("{problems}"))
}

/// The canonical text of format 1. A change here changes the identity of every registration there is.
const CANONICAL: &str = include_str!("exp-1-lazy.canonical.toml");
const DIGEST: &str = "5f8b0ddb7ee1164e8860a58b4c4b462a757da0b3578349575db1dd10af5dee61";

#[test]
fn the_example_keeps_its_identity() {
    let example = read(EXAMPLE);
    assert_eq!(example.canonical(), CANONICAL);
    assert_eq!(example.digest().to_string(), DIGEST);
    assert_eq!(parse_canonical(CANONICAL), Ok(example));
}

#[test]
fn json_has_the_structure_of_the_text() {
    let json = read(EXAMPLE).to_json();
    assert_eq!(json["format"], 1);
    assert_eq!(json["params"]["terms"], serde_json::json!([1_000, 100_000, 1_000_000]));
    assert_eq!(json["arms"]["lazy"]["params"]["strategy"], "lazy");
    assert_eq!(json["hypotheses"][0]["margin"]["relative"], 0.5);
    assert_eq!(json["guards"][0]["where"], serde_json::json!({}));
    assert_eq!(json["decision"]["noise_margin"], 0.05);
}

/// Edits that mean the same.
#[test]
fn spelling_is_not_identity() {
    let same = [
        ("order  = 1\n", "# a comment\n\n   order=1   # another\n"),
        ("1_000, 100_000", "1000, 0x186a0"),
        ("margin = 0.50", "margin = 5e-1"),
        ("margin = 0.50", "margin = { relative = 0.5 }"),
        ("samples = 30", "samples = 3_0"),
        ("lookups = 10_000", "lookups = [10_000]"),
        (
            "terms   = [1_000, 100_000, 1_000_000]\nlookups = 10_000",
            "lookups = 10_000\nterms = [1_000, 100_000, 1_000_000]",
        ),
        ("system  = \"loading\"", "system = 'loading'\ntimeout = \"2min\""),
        ("claim = \"superior\"\n", "treatment = \"lazy\"\ncontrol = \"eager\"\n"),
        ("seed    = 20260110", "clock = \"wall\"\nseed = 20260110"),
        ("alpha = 0.05\ntest = \"welch\"", "alpha = 5e-2"),
        ("id     =", "format = 1\nid ="),
        ("max_load = 1.5", "max_load = 1.50"),
    ];
    let digest = read(EXAMPLE).digest();
    for (old, new) in same {
        assert_eq!(EXAMPLE.matches(old).count(), 1, "{old}");
        assert_eq!(read(&EXAMPLE.replace(old, new)).digest(), digest, "{new}");
    }
    assert_eq!(read(&EXAMPLE.replace('\n', "\r\n")).digest(), digest);
    assert_eq!(read(&format!("\u{feff}{EXAMPLE}")).digest(), digest);
}

/// One edit of every value there is.
#[test]
fn every_value_is_identity() {
    let edits: &[fn(&mut Prereg)] = &[
        |it| it.id.push('x'),
        |it| it.title.push('x'),
        |it| it.ledger.push('x'),
        |it| it.order += 1,
        |it| it.claim.push('x'),
        |it| it.changes[0].push('x'),
        |it| it.changes.swap(0, 1),
        |it| it.changes.truncate(1),
        |it| it.baseline = None,
        |it| it.worker.launch = Launch::Command(vec!["experiments".to_owned()]),
        |it| it.worker.system.push('x'),
        |it| it.worker.timeout += Duration::from_millis(1),
        |it| it.params[0].1[0] = Scalar::Int(10_001),
        |it| it.params[0].1[0] = Scalar::Float(10_000.0),
        |it| it.params[0].1[0] = Scalar::Text("10000".to_owned()),
        |it| it.params[0].0.push('x'),
        |it| it.params[1].1.swap(0, 1),
        |it| it.arms.swap(0, 1),
        |it| it.arms[1].name.push('x'),
        |it| it.arms[2].role = harness::vocab::Role::Null,
        |it| it.arms[1].params[0].1 = Scalar::Bool(true),
        |it| it.arms[1].env[0].1.push('x'),
        |it| it.arms[1].env[0].0.push('x'),
        |it| it.arms[1].command = Some(vec!["x".to_owned()]),
        |it| it.arms[1].git = Some("v1.2".to_owned()),
        |it| it.arms[1].build = Some(vec!["make".to_owned()]),
        |it| it.design.warmups += 1,
        |it| it.design.samples += 1,
        |it| it.design.order = harness::vocab::Order::Abba,
        |it| it.design.process = harness::vocab::Process::PerBlock,
        |it| it.design.clock = harness::vocab::Clock::ThreadCpu,
        |it| it.design.seed += 1,
        |it| it.design.mode = harness::vocab::Mode::Duet,
        |it| it.design.padding += 1,
        |it| it.design.slices += 1,
        |it| it.design.processes += 1,
        |it| it.metrics[0].name.push('x'),
        |it| it.metrics[0].unit = harness::vocab::Unit::parse("s").unwrap(),
        |it| it.metrics[0].better = harness::vocab::Direction::Higher,
        |it| it.metrics.swap(0, 1),
        |it| it.hypotheses[0].id.push('x'),
        |it| it.hypotheses[0].metric.push('x'),
        |it| it.hypotheses[0].condition.clear(),
        |it| it.hypotheses[0].contrast.treatment.push('x'),
        |it| it.hypotheses[0].contrast.control.push('x'),
        |it| it.hypotheses[0].claim = harness::vocab::Claim::Equivalent,
        |it| it.hypotheses[0].margin = Margin::Absolute(0.5),
        |it| it.hypotheses[0].margin = Margin::Relative(0.5_f64.next_up()),
        |it| it.hypotheses[0].min_effect = 0.6,
        |it| it.hypotheses.clear(),
        |it| it.guards[0].metric.push('x'),
        |it| it.guards[0].condition = it.hypotheses[0].condition.clone(),
        |it| it.guards[0].contrast.treatment.push('x'),
        |it| it.guards[0].margin = Margin::Relative(0.06),
        |it| it.guards.clear(),
        |it| it.decision.alpha = 0.01,
        |it| it.decision.test = harness::vocab::Test::MannWhitney,
        |it| it.decision.correction = harness::vocab::Correction::None,
        |it| it.decision.agreement = harness::vocab::Agreement::Require,
        |it| it.decision.labels = harness::vocab::Labels::GoNogo,
        |it| it.decision.noise_margin = 0.06,
        |it| it.environment.max_load = None,
    ];
    let example = read(EXAMPLE);
    let mut seen = vec![example.digest()];
    for (i, edit) in edits.iter().enumerate() {
        let mut edited = example.clone();
        edit(&mut edited);
        assert_ne!(edited, example, "edit {i} changes nothing");
        assert!(!seen.contains(&edited.digest()), "edit {i} is not seen in the digest");
        assert_ne!(edited.to_json(), serde_json::Value::Null);
        seen.push(edited.digest());
    }
}

#[test]
fn the_build_of_a_package_is_part_of_the_text_only_if_it_is_given() {
    let package = |text: &str| match parse(text, "exp-1-lazy.toml").unwrap().worker.launch {
        Launch::Package(package) => package,
        other => panic!("{other:?}"),
    };
    let text = EXAMPLE.replace(
        "package = \"experiments\"",
        "package = \"experiments\"\nprofile = \"fat\"\nfeatures = [\"peers\", \"extra\"]",
    );
    let built = package(&text);
    assert_eq!(
        (built.features, built.profile.as_deref()),
        (vec!["extra".into(), "peers".into()], Some("fat"))
    );
    let canonical = parse(&text, "exp-1-lazy.toml").unwrap().canonical();
    assert!(canonical.contains("features = [\"extra\", \"peers\"]\nprofile = \"fat\"\n"), "{canonical}");
    let usual = EXAMPLE.replace("package = \"experiments\"", "package = \"experiments\"\nfeatures = []");
    assert_eq!(parse(&usual, "exp-1-lazy.toml").unwrap().canonical(), CANONICAL);
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        parse(&text.replace(from, to), "exp-1-lazy.toml").unwrap_err().to_string()
    };
    let twice = refused("\"extra\"", "\"peers\"");
    assert!(twice.contains("`features` in [worker] names `peers` twice"), "{twice}");
    let command = refused("package = \"experiments\"", "command = [\"w\"]");
    assert!(command.contains("`profile` is of a package that cargo builds"), "{command}");
    assert!(command.contains("`features` is of a package that cargo builds"), "{command}");
}

#[test]
fn a_text_that_is_not_canonical_is_told_where() {
    let text = CANONICAL.replace("timeout = \"120s\"", "timeout = \"2min\"");
    let problems = parse_canonical(&text).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "canonical text:13:12: this is not the canonical text, which goes on with `120s\"`"
    );
}

proptest! {
    #[test]
    fn canonical_text_reads_back_as_the_same(prereg in prereg()) {
        let text = prereg.canonical();
        let again = parse_canonical(&text);
        prop_assert_eq!(again.as_ref(), Ok(&prereg), "{}", text);
        prop_assert_eq!(again.map(|it| it.digest()), Ok(prereg.digest()));
    }

    #[test]
    fn different_registrations_have_different_digests(a in prereg(), b in prereg()) {
        prop_assert_eq!(a == b, a.digest() == b.digest());
    }
}
