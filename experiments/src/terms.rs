//! The terms and queries of the loading experiments, from their published formulas.

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

/// `count` queries, of which the share `misses` is not among the terms, spread evenly.
///
/// With a share of one half these are the published ones: even numbers look up the i-th term in order, odd
/// numbers something that does not exist.
pub(crate) fn queries(terms: &[String], count: u64, misses: f64) -> Vec<String> {
    let missed_before = |i: u64| (i as f64 * misses).floor();
    (0..count)
        .map(|i| {
            if missed_before(i + 1) > missed_before(i) {
                format!("nonexistent_query_{i}")
            } else {
                terms[i as usize % terms.len()].clone()
            }
        })
        .collect()
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

    #[test]
    fn half_of_the_queries_miss() {
        let terms = terms(100);
        let queries = queries(&terms, 10, 0.5);
        assert_eq!(queries[0], terms[0]);
        assert_eq!(queries[1], "nonexistent_query_1");
        assert_eq!(queries[2], terms[2]);
        let misses =
            |share| super::queries(&terms, 1_000, share).iter().filter(|it| !terms.contains(it)).count();
        assert_eq!([misses(0.0), misses(0.25), misses(0.5), misses(1.0)], [0, 250, 500, 1_000]);
    }
}
