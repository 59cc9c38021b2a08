//! What is said of files that are no audits.

use super::here;
use harness::audit::Document;
use std::fmt::Write as _;

/// `problems.txt` holds the cases: a heading (`# ..`), the file (`+ ..`) and the answer (`| ..`).
/// `HARNESS_BLESS=1 cargo test -p harness --test audit` writes the answers.
#[test]
fn every_problem_is_told() {
    let path = here("problems.txt");
    let cases = std::fs::read_to_string(&path).unwrap();
    let mut answered = String::new();
    for case in cases.split("\n\n").map(str::trim_end).filter(|it| !it.is_empty()) {
        let mut text = String::new();
        for line in case.lines().filter(|it| !it.starts_with('|')) {
            writeln!(answered, "{line}").unwrap();
            if let Some(line) = line.strip_prefix("+ ") {
                writeln!(text, "{line}").unwrap();
            }
        }
        let problems = Document::parse(&text, "a.toml").unwrap_err();
        for line in problems.to_string().lines() {
            writeln!(answered, "{}", format!("| {line}").trim_end()).unwrap();
        }
        answered.push('\n');
    }
    let answered = format!("{}\n", answered.trim_end());
    if std::env::var_os("HARNESS_BLESS").is_some() {
        std::fs::write(&path, answered).unwrap();
    } else {
        assert_eq!(answered, cases, "an answer changed");
    }
}
