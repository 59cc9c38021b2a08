//! What holds for every table.

use super::audit;
use harness::audit::{Audit, Document, Verdict};
use proptest::prelude::*;

fn table(factor: f64, unit: &str, t: f64, c: f64, claims: &str) -> Audit {
    let arm = |mean: f64| {
        // As many digits as the other unit prints.
        let decimals = if factor == 1.0 { 2 } else { 5 };
        let mean = format!("{:.decimals$}", mean * factor);
        let sd = format!("{:.decimals$}", 2.5 * factor);
        format!("{{ mean = \"{mean}\", sd = \"{sd}\", n = 12, unit = \"{unit}\", better = \"lower\" }}")
    };
    audit(&format!("[source]\ntitle = \"t\"\n[quantities]\nt = {}\nc = {}\n{claims}", arm(t), arm(c)))
}

fn claims(claimed: &str) -> String {
    let claim = |kind: &str, claimed: &str| {
        format!(
            "[[claims]]\nid = \"{kind}\"\nkind = \"{kind}\"\ntreatment = \"t\"\ncontrol = \"c\"\nclaimed = {claimed}\n"
        )
    };
    let kinds = [
        "percent-change",
        "percent-reduction",
        "ratio",
        "speedup",
        "rate-gain",
        "welch-t",
        "welch-df",
        "welch-p",
        "cohens-d",
    ];
    let mut all: String = kinds.iter().map(|it| claim(it, claimed)).collect();
    all += &claim("gain-interval", "[\"-10\", \"10\"]");
    all += &claim("gain-limit", "\"> 1\"");
    all + &claim("comparison", "\"better\"")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_unit_changes_nothing(t in 1_000..20_000i32, c in 1_000..20_000i32, claimed in -50..50i32) {
        let (t, c) = (f64::from(t) / 100.0, f64::from(c) / 100.0);
        let claims = claims(&format!("\"{claimed}\""));
        let (ms, s) = (table(1.0, "ms", t, c, &claims), table(1e-3, "s", t, c, &claims));
        for (a, b) in ms.rows.iter().zip(&s.rows) {
            prop_assert_eq!(a.finding.verdict, b.finding.verdict);
            for (a, b) in a.finding.results.iter().zip(&b.finding.results) {
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1e-3);
                prop_assert!(close(a.reach.at, b.reach.at), "{:?} {:?}", a, b);
                prop_assert!(close(a.reach.range.low, b.reach.range.low), "{:?} {:?}", a, b);
            }
        }
    }

    /// A claim that is printed from the result itself agrees, to however many digits.
    #[test]
    fn the_result_itself_agrees(t in 1_000..20_000i32, c in 1_000..20_000i32, decimals in 0..8usize) {
        let (t, c) = (f64::from(t) / 100.0, f64::from(c) / 100.0);
        let value = 100.0 * (t / c - 1.0);
        let claim = format!(
            "[[claims]]\nid = \"x\"\nkind = \"percent-change\"\ntreatment = \"t\"\ncontrol = \"c\"\nclaimed = \"{value:.decimals$}\"\n"
        );
        let audit = table(1.0, "ms", t, c, &claim);
        prop_assert_eq!(audit.rows[0].finding.verdict, Verdict::Agrees);
        let range = audit.rows[0].finding.results[0].reach.range;
        prop_assert!(range.low <= value && value <= range.high);
    }

    /// Any text and any edit of a good one: an answer, never a crash.
    #[test]
    fn no_text_crashes(at in 0..4_000usize, length in 0..40usize, put in "[ -~\n\"]{0,12}") {
        let mut text = std::fs::read_to_string(super::here("kinds.toml")).unwrap();
        let from = text.floor_char_boundary(at.min(text.len()));
        let to = text.floor_char_boundary((from + length).min(text.len()));
        text.replace_range(from..to, &put);
        if let Ok(document) = Document::parse(&text, "a.toml") {
            let _ = harness::audit::page(&Audit::of(document), "a.toml");
        }
    }
}
