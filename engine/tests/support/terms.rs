//! The terms of the loading ledger.

/// The sorted, distinct terms that `count` numbers give.
pub(crate) fn ledger_terms(count: usize) -> Vec<String> {
    let mut terms: Vec<String> = (0..count)
        .map(|i| match i % 10 {
            0..=3 => format!("term{i:05}"),
            4..=6 => format!("prefix{}suffix{i:06}end", i % 100),
            7 | 8 => format!("very_long_prefix_{}_middle_section_{i:08}_suffix_ending", i % 1000),
            _ => format!("日本語テスト{i:05}"),
        })
        .collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}
