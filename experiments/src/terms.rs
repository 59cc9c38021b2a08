//! The terms of the loading experiments, from their published formula.

/// The terms for `0..n`, sorted and without duplicates; the value of a term is its rank.
pub(crate) fn terms(n: u64) -> Vec<String> {
    let mut terms: Vec<String> = (0..n).map(term).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn term(i: u64) -> String {
    match i % 10 {
        0..=3 => format!("term{i:05}"),
        4..=6 => format!("prefix{}suffix{i:06}end", i % 100),
        7 | 8 => format!("very_long_prefix_{}_middle_section_{i:08}_suffix_ending", i % 1000),
        _ => format!("日本語テスト{i:05}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_those_of_the_ledger() {
        let thousand = terms(1_000);
        assert_eq!(thousand.len(), 1_000);
        assert!(thousand.iter().any(|it| it == "prefix4suffix000004end"));
        assert!(thousand.iter().any(|it| it == "日本語テスト00009"));
        assert!(thousand.is_sorted());
        // The published size of the keys of the largest set.
        assert_eq!(terms(1_000_000).iter().map(String::len).sum::<usize>(), 24_798_000);
    }
}
