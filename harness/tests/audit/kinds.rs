//! Every kind in every verdict it can have.

use super::{audit, here};
use harness::audit::{Shown, Verdict, kind};
use std::collections::BTreeSet;

#[test]
fn every_kind_gives_the_verdict_that_its_note_says() {
    let audit = audit(&std::fs::read_to_string(here("kinds.toml")).unwrap());
    let mut seen = BTreeSet::new();
    for row in &audit.rows {
        let claim = &audit.document.claims[row.claim];
        seen.insert(claim.kind.id);
        let shown = Shown::of(&audit, row);
        assert_eq!(row.finding.verdict.as_str(), claim.note, "{}: {shown:?}", claim.id);
        if row.finding.verdict == Verdict::CannotBeChecked {
            assert!(!row.finding.reason.is_empty(), "{}", claim.id);
        }
        for it in &row.finding.results {
            assert!(it.reach.range.contains(it.reach.at), "{}", claim.id);
        }
    }
    assert_eq!(seen, kind::ALL.iter().map(|it| it.id).collect());
}

#[test]
fn kinds_have_names_of_their_own_and_say_what_they_are() {
    let ids: BTreeSet<_> = kind::ALL.iter().map(|it| it.id).collect();
    assert_eq!(ids.len(), kind::ALL.len());
    assert!(kind::ALL.iter().all(|it| it.about.len() > 10));
}

#[test]
fn what_is_missing_is_named() {
    let text = |extra: &str| {
        format!(
            "[source]\ntitle = \"t\"\n[quantities]\na = {{ mean = \"1\" }}\nb = {{ mean = \"2\", sd = \"1\", n = 3 }}\n\
             [[claims]]\nid = \"x\"\n{extra}"
        )
    };
    let cases = [
        (
            "kind = \"welch-t\"\ntreatment = \"a\"\ncontrol = \"b\"\nclaimed = 1",
            "a has no n; a has no spread",
        ),
        ("kind = \"sd-from-se\"\nof = \"a\"\nclaimed = 1", "a has no n; a has no spread"),
        ("kind = \"wording\"", "it is a matter of words, not of arithmetic"),
    ];
    for (claim, reason) in cases {
        assert_eq!(audit(&text(claim)).rows[0].finding.reason, reason);
    }
}

#[test]
fn the_example_of_the_documentation_is_an_audit() {
    let example: String = include_str!("../../src/audit/mod.rs")
        .lines()
        .skip_while(|it| *it != "//! ```toml")
        .skip(1)
        .take_while(|it| *it != "//! ```")
        .map(|it| format!("{}\n", it.strip_prefix("//! ").unwrap_or_default()))
        .collect();
    let audit = audit(&example);
    assert_eq!(audit.rows.len(), 1);
    assert_eq!(audit.count(Verdict::Agrees), 1);
}
