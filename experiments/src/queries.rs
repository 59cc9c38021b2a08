//! The queries of the loading experiments, from their published formula.

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
    fn half_of_the_queries_miss() {
        let terms = crate::terms::terms(100);
        let queries = queries(&terms, 10, 0.5);
        assert_eq!(queries[0], terms[0]);
        assert_eq!(queries[1], "nonexistent_query_1");
        assert_eq!(queries[2], terms[2]);
        let misses =
            |share| super::queries(&terms, 1_000, share).iter().filter(|it| !terms.contains(it)).count();
        assert_eq!([misses(0.0), misses(0.25), misses(0.5), misses(1.0)], [0, 250, 500, 1_000]);
    }
}
