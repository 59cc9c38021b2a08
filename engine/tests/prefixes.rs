//! Iteration below a prefix, wherever in a node the prefix ends.

#[path = "support/strategies.rs"]
mod strategies;
#[path = "support/terms.rs"]
mod terms;

use std::collections::BTreeSet;

use engine::CharTrie;
use strategies::STRATEGIES;

/// Compares what lies below every prefix of every term, and below prefixes that leave the terms.
fn check(trie: &CharTrie<u64>, terms: &[String]) {
    let mut prefixes = BTreeSet::new();
    for term in terms.iter().step_by(7) {
        for (end, _) in term.char_indices() {
            prefixes.insert(term[..end].to_owned());
            prefixes.insert(format!("{}~", &term[..end]));
        }
        prefixes.insert(term.clone());
        prefixes.insert(format!("{term}0"));
    }
    for prefix in &prefixes {
        let start = terms.partition_point(|term| term < prefix);
        let expected =
            terms[start..].iter().zip(start as u64..).take_while(|(term, _)| term.starts_with(prefix));
        let found = trie.prefix(prefix).map(|entry| entry.expect("the image is sound"));
        assert!(found.eq(expected.map(|(term, rank)| (term.clone(), rank))), "{prefix}");
    }
}

#[test]
fn every_prefix_finds_its_terms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = terms::ledger_terms(2_000);
    let mut trie = CharTrie::<u64>::new();
    for (term, rank) in terms.iter().zip(0..) {
        trie.insert(term, rank).unwrap();
    }
    check(&trie, &terms);
    trie.checkpoint(&path).unwrap();
    for strategy in STRATEGIES {
        check(&CharTrie::open(&path, strategy).unwrap(), &terms);
    }
}
