//! The four ledgers against the reference: every number, every range, every verdict, and the committed pages.

use super::{here, root};
use harness::audit::{Audit, Document, Printed, Row, Verdict, page};
use serde_json::Value;
use std::collections::BTreeMap;

const LEDGERS: [&str; 4] = ["loading", "inline-slots", "suffix", "codec"];

fn load(ledger: &str) -> Audit {
    Audit::of(Document::load(root(&format!("experiments/audits/{ledger}.toml"))).unwrap())
}

/// The words of the reference; the module's documentation says why.
fn verdict(word: &str) -> Verdict {
    match word {
        "agrees" | "consistent" | "supported" | "approximately" => Verdict::Agrees,
        "agrees within rounding of the printed inputs" => Verdict::WithinRounding,
        "DISAGREES" | "INCONSISTENT" | "NOT ESTABLISHED" => Verdict::DoesNotFollow,
        "NOT VERIFIABLE" | "WORDING" => Verdict::CannotBeChecked,
        other => panic!("unknown word {other}"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().filter_map(Value::as_f64).collect(),
        one => one.as_f64().into_iter().collect(),
    }
}

#[track_caller]
fn same(id: &str, is: f64, expected: f64, tolerance: f64) {
    let far = (is - expected).abs();
    assert!(is == expected || far <= tolerance * expected.abs(), "{id}: {is}, expected {expected}");
}

/// Every number that a row has to show.
fn shown(row: &Row) -> Vec<f64> {
    let finding = &row.finding;
    let interval = finding.interval.iter().flat_map(|it| [it.low, it.high]);
    let details = finding.details.iter().map(|it| it.value);
    finding.results.iter().map(|it| it.reach.at).chain(details).chain(interval).collect()
}

#[test]
fn all_158_claims_have_the_numbers_and_verdicts_of_the_reference() {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(here("expected.json")).unwrap()).unwrap();
    let tolerance = expected["tolerance"].as_f64().unwrap();
    let audits: Vec<Audit> = LEDGERS.iter().map(|it| load(it)).collect();
    let mut rows: BTreeMap<&str, &Row> = BTreeMap::new();
    for audit in &audits {
        for row in &audit.rows {
            assert!(rows.insert(&audit.document.claims[row.claim].id, row).is_none());
        }
    }
    let claims = expected["claims"].as_array().unwrap();
    assert_eq!((claims.len(), rows.len()), (158, 158));
    for claim in claims {
        let id = claim["id"].as_str().unwrap();
        let row = rows.get(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!(row.finding.verdict, verdict(claim["verdict"].as_str().unwrap()), "{id}");
        let values = numbers(&claim["recomputed"]);
        if !values.is_empty() {
            assert_eq!(row.finding.results.len(), values.len(), "{id}");
            for (is, value) in row.finding.results.iter().zip(values) {
                same(id, is.reach.at, value, tolerance);
            }
        }
        if let [low, high] = numbers(&claim["range"]).as_slice() {
            let range = row.finding.results[0].reach.range;
            same(id, range.low, *low, tolerance);
            same(id, range.high, *high, tolerance);
        }
        for text in claim["printed"].as_array().into_iter().flatten() {
            let printed = Printed::parse(text.as_str().unwrap()).unwrap();
            let near = |it: &f64| (it.abs() - printed.value().abs()).abs() <= printed.half() * (1.0 + 1e-6);
            assert!(shown(row).iter().any(near), "{id}: {} is not in {:?}", printed.text(), shown(row));
        }
    }
}

#[test]
fn the_verdicts_by_ledger() {
    let counts = LEDGERS.map(|ledger| {
        let audit = load(ledger);
        Verdict::ALL.map(|it| audit.count(it))
    });
    assert_eq!(counts, [[51, 6, 13, 3], [16, 4, 4, 0], [27, 0, 0, 0], [3, 2, 27, 2]]);
}

/// `HARNESS_BLESS=1 cargo test -p harness --test audit` writes the pages.
#[test]
fn the_committed_pages_are_what_the_audits_render() {
    for ledger in LEDGERS {
        let path = root(&format!("ledgers/audit-{ledger}.md"));
        let text = page(&load(ledger), &format!("{ledger}.toml"));
        assert_eq!(text, page(&load(ledger), &format!("{ledger}.toml")));
        if std::env::var_os("HARNESS_BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap() == text, "{ledger} is stale");
    }
}
