//! Samples as series: the same samples are the same series, however they were cut into chunks.

use super::{SampleSet, StoreError};

/// The most samples of one row: 256 KiB, which every server that speaks this SQL takes.
const LARGEST: usize = 32_768;

fn key(set: &SampleSet) -> (&str, &str, &str, bool) {
    (&set.metric, &set.cell, &set.arm, set.warmup)
}

fn end(set: &SampleSet) -> u64 {
    u64::from(set.first_block) + set.values.len() as u64
}

/// Whether two sets belong to the same series and have a block in common.
fn overlap(a: &SampleSet, b: &SampleSet) -> bool {
    key(a) == key(b) && u64::from(a.first_block) < end(b) && u64::from(b.first_block) < end(a)
}

fn place(set: &SampleSet, block: u64) -> String {
    let warmup = if set.warmup { "warm-up block" } else { "block" };
    let cell = if set.cell.is_empty() { String::new() } else { format!(" ({})", set.cell) };
    format!("{} of arm {}{cell}, {warmup} {block}", set.metric, set.arm)
}

/// Puts sets in order and joins neighbours: one set for each stretch without a gap.
pub(crate) fn join(mut sets: Vec<SampleSet>) -> Vec<SampleSet> {
    sets.sort_by(|a, b| (key(a), a.first_block).cmp(&(key(b), b.first_block)));
    let mut joined: Vec<SampleSet> = Vec::new();
    for set in sets {
        match joined.last_mut() {
            Some(last) if goes_on(last, &set) => {
                last.values.extend(set.values);
                last.at_ns.extend(set.at_ns);
            }
            _ => joined.push(set),
        }
    }
    joined
}

fn in_order(sets: &[SampleSet]) -> Vec<&SampleSet> {
    let mut sorted: Vec<&SampleSet> = sets.iter().collect();
    sorted.sort_by(|a, b| (key(a), a.first_block).cmp(&(key(b), b.first_block)));
    sorted
}

/// Sets in order, neighbours that [`join`] would join in one list.
pub(super) fn stretches_of(sets: &[SampleSet]) -> Vec<Vec<&SampleSet>> {
    let mut stretches: Vec<Vec<&SampleSet>> = Vec::new();
    for set in in_order(sets) {
        match stretches.last_mut() {
            Some(stretch) if stretch.last().is_some_and(|last| goes_on(last, set)) => stretch.push(set),
            _ => stretches.push(vec![set]),
        }
    }
    stretches
}

/// Whether `next` begins where `set` ends.
fn goes_on(set: &SampleSet, next: &SampleSet) -> bool {
    key(set) == key(next)
        && end(set) == u64::from(next.first_block)
        && set.unit == next.unit
        && set.at_ns.is_empty() == next.at_ns.is_empty()
}

/// The first block that is in two of the joined sets.
pub(crate) fn twice(joined: &[SampleSet]) -> Option<String> {
    let pair = joined.windows(2).find(|pair| overlap(&pair[0], &pair[1]))?;
    Some(place(&pair[1], pair[1].first_block.into()))
}

/// Cuts sets into rows.
pub(super) fn cut(sets: Vec<SampleSet>) -> Vec<SampleSet> {
    let mut rows = Vec::with_capacity(sets.len());
    for mut set in sets {
        while set.values.len() > LARGEST {
            let values = set.values.split_off(LARGEST);
            let at_ns = if set.at_ns.is_empty() { Vec::new() } else { set.at_ns.split_off(LARGEST) };
            let first_block = set.first_block + LARGEST as u32;
            let rest = SampleSet { values, at_ns, first_block, ..set.clone() };
            rows.push(std::mem::replace(&mut set, rest));
        }
        rows.push(set);
    }
    rows
}

/// What of `given` is not stored yet. Blocks that are must be the same to the bit. O(n log n) in the number of sets.
pub(crate) fn missing(stored: &[SampleSet], given: &[SampleSet]) -> Result<Vec<SampleSet>, StoreError> {
    if let Some([_, set]) = in_order(given).array_windows().find(|[a, b]| overlap(a, b)) {
        return Err(StoreError::Contradiction {
            difference: format!("{} is given twice", place(set, set.first_block.into())),
        });
    }
    let stored = Stored::of(stored);
    let mut missing = Vec::new();
    for set in given {
        let mut has: Option<Vec<bool>> = None;
        for known in stored.overlapping(set) {
            let has = has.get_or_insert_with(|| vec![false; set.values.len()]);
            let first = known.first_block.max(set.first_block);
            let (k, j) = ((first - known.first_block) as usize, (first - set.first_block) as usize);
            let n = (known.values.len() - k).min(set.values.len() - j);
            for i in 0..n {
                compare(known, k + i, set, j + i).map_err(|difference| {
                    let block = u64::from(first) + i as u64;
                    StoreError::Contradiction { difference: format!("{}: {difference}", place(set, block)) }
                })?;
            }
            has[j..j + n].fill(true);
        }
        match has {
            None => missing.push(set.clone()),
            Some(has) => missing.extend(stretches(set, &has)),
        }
    }
    Ok(missing)
}

/// Sets in order, in which those that overlap another one are found without looking at all of them.
struct Stored<'a> {
    sets: Vec<&'a SampleSet>,
    /// The end of each, or of one before it in its series that ends later.
    reach: Vec<u64>,
}

impl<'a> Stored<'a> {
    fn of(sets: &'a [SampleSet]) -> Self {
        let sets = in_order(sets);
        let mut reach = Vec::with_capacity(sets.len());
        for (i, set) in sets.iter().enumerate() {
            let before = if i > 0 && key(sets[i - 1]) == key(set) { reach[i - 1] } else { 0 };
            reach.push(end(set).max(before));
        }
        Self { sets, reach }
    }

    fn overlapping<'b>(&'b self, set: &'b SampleSet) -> impl Iterator<Item = &'a SampleSet> + 'b {
        let from = self.sets.partition_point(|it| key(it) < key(set));
        let series = self.sets[from..].partition_point(|it| key(it) == key(set));
        let to =
            from + self.sets[from..from + series].partition_point(|it| u64::from(it.first_block) < end(set));
        let from = from + self.reach[from..to].partition_point(|it| *it <= u64::from(set.first_block));
        self.sets[from..to].iter().copied().filter(|it| overlap(it, set))
    }
}

fn compare(stored: &SampleSet, k: usize, given: &SampleSet, j: usize) -> Result<(), String> {
    let (was, is) = (stored.values[k], given.values[j]);
    if was.to_bits() != is.to_bits() {
        return Err(format!("stored {was:?}, given {is:?}"));
    }
    if stored.unit != given.unit {
        return Err(format!("stored in {}, given in {}", stored.unit, given.unit));
    }
    match (stored.at_ns.get(k), given.at_ns.get(j)) {
        (was, is) if was == is => Ok(()),
        (was, is) => {
            let word = |it: Option<&i64>| it.map_or_else(|| "no time".to_owned(), |it| format!("{it} ns"));
            Err(format!("stored at {}, given at {}", word(was), word(is)))
        }
    }
}

/// The parts of a set that are not there yet.
fn stretches(set: &SampleSet, has: &[bool]) -> Vec<SampleSet> {
    let mut parts = Vec::new();
    let mut from = 0;
    while from < has.len() {
        let Some(start) = has[from..].iter().position(|it| !it).map(|it| from + it) else { break };
        let stop = has[start..].iter().position(|it| *it).map_or(has.len(), |it| start + it);
        parts.push(SampleSet {
            first_block: set.first_block + start as u32,
            values: set.values[start..stop].to_vec(),
            at_ns: set.at_ns.get(start..stop).unwrap_or_default().to_vec(),
            ..set.clone()
        });
        from = stop;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(first_block: u32, values: &[f64]) -> SampleSet {
        SampleSet {
            metric: "t".to_owned(),
            cell: String::new(),
            arm: "a".to_owned(),
            warmup: false,
            first_block,
            unit: "ms".to_owned(),
            values: values.to_vec(),
            at_ns: values.iter().map(|it| *it as i64).collect(),
        }
    }

    #[test]
    fn neighbours_join_and_gaps_stay() {
        let joined = join(vec![set(4, &[5.0]), set(1, &[2.0]), set(0, &[1.0])]);
        assert_eq!(joined, [set(0, &[1.0, 2.0]), set(4, &[5.0])]);
    }

    #[test]
    fn blocks_that_are_there_twice_are_found() {
        let joined = join(vec![set(0, &[1.0, 2.0]), set(1, &[2.0])]);
        assert_eq!(twice(&joined).as_deref(), Some("t of arm a, block 1"));
        assert_eq!(twice(&join(vec![set(0, &[1.0]), set(1, &[2.0])])), None);
    }

    #[test]
    fn long_sets_are_cut_and_join_again() {
        let long = set(7, &(0..70_000).map(f64::from).collect::<Vec<_>>());
        let rows = cut(vec![long.clone()]);
        assert_eq!(rows.iter().map(|it| it.values.len()).collect::<Vec<_>>(), [32_768, 32_768, 4_464]);
        assert_eq!(join(rows), [long]);
    }

    #[test]
    fn only_what_is_new_is_missing() {
        let stored = [set(0, &[1.0, 2.0]), set(3, &[4.0])];
        assert_eq!(missing(&stored, &[set(0, &[1.0, 2.0])]).unwrap(), []);
        let all = set(0, &[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(missing(&stored, &[all]).unwrap(), [set(2, &[3.0]), set(4, &[5.0])]);
    }

    #[test]
    fn what_is_missing_does_not_depend_on_the_order_of_what_is_stored() {
        let other = SampleSet { arm: "b".to_owned(), ..set(0, &[1.0, 2.0, 3.0]) };
        // One that spans others, as a damaged store may have it.
        let stored = [set(6, &[7.0]), set(1, &[2.0, 3.0, 4.0, 5.0]), other, set(3, &[4.0]), set(2, &[3.0])];
        let given = [set(4, &[5.0, 6.0, 7.0, 8.0]), set(0, &[1.0])];
        let expected = [set(5, &[6.0]), set(7, &[8.0]), set(0, &[1.0])];
        assert_eq!(missing(&stored, &given).unwrap(), expected);
        let mut turned = stored.clone();
        turned.reverse();
        assert_eq!(missing(&turned, &given).unwrap(), expected);
    }

    #[test]
    fn a_hundred_thousand_sets_are_compared_in_no_time() {
        // Each with each would be 10^10 comparisons: minutes.
        let all: Vec<SampleSet> = (0..100_000).map(|it| set(2 * it, &[f64::from(it)])).collect();
        assert_eq!(missing(&all, &all).unwrap(), []);
    }

    #[test]
    fn the_first_difference_is_named() {
        let check = |stored: &SampleSet, given: &SampleSet, expected: &str| {
            let error = missing(std::slice::from_ref(stored), std::slice::from_ref(given)).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
        };
        check(&set(0, &[1.0, 2.0]), &set(0, &[1.0, 2.5]), "t of arm a, block 1: stored 2.0, given 2.5");
        check(&set(0, &[0.0]), &set(0, &[-0.0]), "block 0: stored 0.0, given -0.0");
        let other_unit = SampleSet { unit: "s".to_owned(), ..set(0, &[1.0]) };
        check(&set(0, &[1.0]), &other_unit, "block 0: stored in ms, given in s");
        let untimed = SampleSet { at_ns: vec![], ..set(0, &[1.0]) };
        check(&set(0, &[1.0]), &untimed, "block 0: stored at 1 ns, given at no time");
        let twice = missing(&[], &[set(0, &[1.0, 2.0]), set(1, &[2.0])]).unwrap_err();
        assert!(twice.to_string().ends_with("t of arm a, block 1 is given twice"), "{twice}");
    }
}
