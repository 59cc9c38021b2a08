//! Whatever a file holds, the answer is a value or a list of problems that are in the file.

use super::EXAMPLE;
use harness::prereg::{parse, parse_canonical};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn survive(text: &str) {
    match parse(text, "hostile.toml") {
        Ok(prereg) => assert!(parse_canonical(&prereg.canonical()).is_ok()),
        Err(problems) => {
            assert!(!problems.all().is_empty());
            let lines = text.split('\n').count();
            for problem in problems.all() {
                assert!((1..=lines).contains(&problem.line), "{problems}");
                assert!(problem.column >= 1);
                assert!(!problem.message.contains('\n') && !problem.message.contains('\0'), "{problem:?}");
            }
        }
    }
}

/// Tokens that mean something to TOML or to a pre-registration.
const TOKENS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\"",
    "\"\"\"",
    "'",
    "#",
    "\n",
    "\r\n",
    "\u{feff}",
    "\0",
    "-1",
    "1e999",
    "nan",
    "0x",
    "2026-01-10",
    "true",
    "ä",
    "where",
    "margin",
    "terms",
    "lazy",
    "control",
    "arms",
    "params",
    "1_000",
    "_",
    "\\u0000",
    "\\",
];

proptest! {
    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..300)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_tokens(tokens in vec(select(TOKENS), 0..60)) {
        survive(&tokens.concat());
    }

    #[test]
    fn mutated_files(edits in vec((any::<Index>(), 0_usize..12, select(TOKENS)), 1..5)) {
        let mut text: Vec<char> = EXAMPLE.chars().collect();
        for (at, removed, token) in edits {
            let at = at.index(text.len());
            let end = (at + removed).min(text.len());
            text.splice(at..end, token.chars());
        }
        survive(&text.iter().collect::<String>());
    }

    #[test]
    fn shuffled_lines(lines in vec(select(EXAMPLE.lines().collect::<Vec<_>>()), 0..70)) {
        survive(&lines.join("\n"));
    }
}

#[test]
fn large_files_are_refused_in_reasonable_time() {
    survive(&"[".repeat(100_000));
    survive(&format!("{EXAMPLE}\nx = {}", "[".repeat(100_000)));
    let arms: String = (0..20_000).map(|i| format!("[arms.a{i}]\nrole = \"control\"\n")).collect();
    survive(&format!("{EXAMPLE}\n{arms}"));
    let keys: String = (0..40_000).map(|i| format!("k{i} = 1\n")).collect();
    survive(&format!("{keys}{EXAMPLE}"));
    let values: Vec<_> = (0..100_000).map(|i| i.to_string()).collect();
    survive(&EXAMPLE.replace("lookups = 10_000", &format!("lookups = [{}]", values.join(","))));
}
