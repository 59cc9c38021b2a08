use super::EXAMPLE;
use harness::prereg::parse;
use std::fmt::Write as _;
use std::path::Path;

/// The one place that calls the parser: an edited example and what is said of it.
///
/// `problems.txt` holds the cases. A case is a heading (`# ..`), edits of the example (lines to take out with
/// `-`, lines to put in their place with `+`, `~` between two edits) and the answer (`| ..`).
/// `HARNESS_BLESS=1 cargo test -p harness --test prereg` writes the answers.
#[test]
fn every_problem_is_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prereg/problems.txt");
    let cases = std::fs::read_to_string(&path).unwrap();
    let mut answered = String::new();
    for case in cases.split("\n\n").map(str::trim_end).filter(|it| !it.is_empty()) {
        let asked: Vec<_> = case.lines().filter(|it| !it.starts_with('|')).collect();
        writeln!(answered, "{}", asked.join("\n")).unwrap();
        for line in answer(&edit(&asked)).lines() {
            writeln!(answered, "{}", format!("| {line}").trim_end()).unwrap();
        }
        answered.push('\n');
    }
    let answered = format!("{}\n", answered.trim_end());
    if std::env::var_os("HARNESS_BLESS").is_some() {
        std::fs::write(&path, answered).unwrap();
    } else {
        for (is, was) in answered.split("\n\n").zip(cases.split("\n\n")) {
            assert_eq!(is.trim_end(), was.trim_end(), "an answer changed");
        }
        assert_eq!(answered, cases);
    }
}

fn edit(asked: &[&str]) -> String {
    let mut text = EXAMPLE.to_owned();
    let mut edits = asked.iter().filter(|it| !it.starts_with('#')).peekable();
    while edits.peek().is_some() {
        let (mut old, mut new) = (String::new(), String::new());
        while let Some(line) = edits.next_if(|it| it.starts_with('-')) {
            writeln!(old, "{}", line.get(2..).unwrap_or_default()).unwrap();
        }
        while let Some(line) = edits.next_if(|it| it.starts_with('+')) {
            writeln!(new, "{}", line.get(2..).unwrap_or_default()).unwrap();
        }
        edits.next_if(|it| **it == "~");
        assert_eq!(text.matches(&old).count(), 1, "to be found once:\n{old}");
        text = text.replace(&old, &new);
    }
    text
}

fn answer(text: &str) -> String {
    match parse(text, "exp-1-lazy.toml") {
        Ok(_) => "fine".to_owned(),
        Err(problems) => {
            let places: Vec<_> = problems.all().iter().map(|it| (it.line, it.column)).collect();
            assert!(places.is_sorted(), "problems in the order of the file");
            problems.to_string().replace("exp-1-lazy.toml:", "")
        }
    }
}

#[test]
fn a_byte_order_mark_has_no_column() {
    let place = |text: &str| {
        let problems = parse(text, "x").unwrap_err();
        let it = problems.all().iter().find(|it| it.message.contains("`idd`")).unwrap().clone();
        (it.line, it.column)
    };
    assert_eq!(place("\u{feff}idd = 1"), (1, 1));
    assert_eq!(place("\u{feff}\"ä\" = 1\r\n idd = 1"), (2, 2));
}

#[test]
fn a_problem_is_read_by_programs() {
    let problems = parse(&EXAMPLE.replace("samples", "sample"), "x.toml").unwrap_err();
    let json = problems.to_json();
    assert_eq!(json["file"], "x.toml");
    let found = serde_json::json!({
        "line": 30,
        "column": 1,
        "message": "unknown key `sample` in [design]",
        "hint": "did you mean `samples`?",
    });
    assert!(json["problems"].as_array().unwrap().contains(&found), "{json}");
}
