//! Every answer of a suffix index against the plainest search there is.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/words.rs"]
mod words;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use engine::suffix::{EncodedIndex, Layout};
use engine::symbol::Symbol;
use engine::{Position, Scdawg, SuffixAutomaton, SuffixIndex, SuffixTree, Verify};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use words::{positions, sorted, spell};

fn symbols<K: Symbol>(text: &K::Key) -> Vec<K> {
    let mut rest = K::bytes(text);
    let next = || {
        let (symbol, len) = K::first(rest)?;
        rest = &rest[len..];
        Some(symbol)
    };
    std::iter::from_fn(next).collect()
}

fn check_pattern<K: Symbol>(index: &SuffixIndex<K>, texts: &[Vec<K>], pattern: &[K]) -> TestCaseResult
where
    K::Owned: std::fmt::Debug,
{
    let expected = positions(texts, pattern);
    let key = spell(pattern);
    let snapshot = index.snapshot();
    prop_assert_eq!(sorted(snapshot.positions(key.borrow())), expected.clone(), "{:?}", pattern);
    prop_assert_eq!(sorted(snapshot.occurrences(key.borrow()).collect()), expected.clone());
    prop_assert_eq!(snapshot.count(key.borrow()), expected.len() as u64);
    prop_assert_eq!(snapshot.contains(key.borrow()), !expected.is_empty());
    let bytes = |symbols: &[K]| {
        let mut out = Vec::new();
        symbols.iter().for_each(|symbol| symbol.push(&mut out));
        out.len() as u32
    };
    let in_bytes = expected
        .iter()
        .map(|at| Position { offset: bytes(&texts[at.document as usize][..at.offset as usize]), ..*at });
    let mut out = Vec::new();
    snapshot.byte_positions_into(key.borrow(), &mut out);
    prop_assert_eq!(sorted(out), in_bytes.collect::<Vec<_>>());
    Ok(())
}

fn substrings<K: Symbol>(texts: &[Vec<K>]) -> BTreeSet<Vec<K>> {
    let windows = |text: &[K]| -> Vec<Vec<K>> {
        (0..text.len())
            .flat_map(|from| (from + 1..=text.len()).map(move |to| (from, to)))
            .map(|(from, to)| text[from..to].to_vec())
            .collect()
    };
    texts.iter().flat_map(|text| windows(text)).collect()
}

fn check_index<K: Symbol>(index: &SuffixIndex<K>, texts: &[Vec<K>], queries: &[Vec<K>]) -> TestCaseResult
where
    K::Owned: std::fmt::Debug,
{
    let all = substrings(texts);
    let snapshot = index.snapshot();
    prop_assert_eq!(snapshot.texts() as usize, texts.len());
    prop_assert_eq!(snapshot.distinct_substrings().unwrap(), all.len() as u64);
    for (number, text) in texts.iter().enumerate() {
        prop_assert_eq!(symbols::<K>(snapshot.text(number as u32).unwrap().borrow()), text.clone());
    }
    prop_assert!(snapshot.text(texts.len() as u32).is_none());
    check_pattern(index, texts, &[])?;
    for part in all.iter().step_by(1 + all.len() / 60).chain(queries) {
        check_pattern(index, texts, part)?;
    }
    for query in queries {
        let key = spell(query);
        let found = snapshot.longest_common_substring(key.borrow());
        let bytes = &K::bytes(key.borrow())[found];
        let longest =
            substrings(std::slice::from_ref(query)).intersection(&all).map(Vec::len).max().unwrap_or(0);
        let common = spell::<K>(&[]);
        let found = symbols::<K>(<K as Symbol>::key(bytes).unwrap_or(common).borrow());
        prop_assert_eq!(found.len(), longest);
        prop_assert!(found.is_empty() || all.contains(&found));
    }
    Ok(())
}

/// The same texts built at once, grown one by one, and opened from a file of each layout.
fn check<K: Symbol>(texts: &[Vec<K>], queries: &[Vec<K>]) -> TestCaseResult
where
    K::Owned: std::fmt::Debug,
{
    let keys: Vec<K::Owned> = texts.iter().map(|text| spell(text)).collect();
    let built = SuffixIndex::<K>::from_texts(keys.iter().map(Borrow::borrow)).unwrap();
    check_index(&built, texts, queries)?;
    let grown = SuffixIndex::<K>::new();
    let (mut encoded, mut out) = (EncodedIndex::<K>::new(), Vec::new());
    for key in &keys {
        grown.push(key.borrow()).unwrap();
        encoded.push(key.borrow()).unwrap();
    }
    check_index(&grown, texts, queries)?;
    for query in queries.iter().filter(|query| !query.is_empty()) {
        encoded.positions_into(spell(query).borrow(), &mut out).unwrap();
        prop_assert_eq!(sorted(out.clone()), positions(texts, query));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    for layout in [Layout::Fast, Layout::Compact] {
        grown.checkpoint(&path, layout).unwrap();
        let opened = SuffixIndex::<K>::open(&path, Verify::Structural).unwrap();
        check_index(&opened, texts, queries)?;
    }
    Ok(())
}

fn symbol_texts<K: Symbol>(alphabet: &'static [K], longest: usize) -> impl Strategy<Value = Vec<Vec<K>>> {
    let text = prop::collection::vec(prop::sample::select(alphabet), 0..longest);
    prop::collection::vec(text, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_found(texts in symbol_texts(b"ab\0", 150), queries in symbol_texts(b"ab\0c", 12)) {
        check::<u8>(&texts, &queries)?;
    }

    #[test]
    fn any_bytes_are_found(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..4),
        queries in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3), 0..9),
    ) {
        check::<u8>(&texts, &queries)?;
    }

    #[test]
    fn chars_are_found(
        texts in symbol_texts(&['a', 'é', 'ï', '日', '本', '𝛃', '🦀', '\0'], 150),
        queries in symbol_texts(&['a', 'é', 'ï', '日', '東', '𝛃', '🦀', '\0'], 6),
    ) {
        check::<char>(&texts, &queries)?;
    }
}

/// The texts that were not removed, in place of the others nothing.
fn left<K: Clone>(texts: &[Vec<K>], removed: &[u32]) -> Vec<Option<Vec<K>>> {
    texts.iter().zip(0..).map(|(text, number)| (!removed.contains(&number)).then(|| text.clone())).collect()
}

fn check_removed<K: Symbol>(
    index: &SuffixIndex<K>,
    left: &[Option<Vec<K>>],
    queries: &[Vec<K>],
) -> TestCaseResult
where
    K::Owned: std::fmt::Debug,
{
    let snapshot = index.snapshot();
    let there: Vec<Vec<K>> = left.iter().flatten().cloned().collect();
    let numbers: Vec<u32> = left.iter().zip(0..).filter(|(it, _)| it.is_some()).map(|(_, at)| at).collect();
    let found: Vec<(u32, Vec<K>)> =
        snapshot.iter().map(|(number, text)| (number, symbols::<K>(text.borrow()))).collect();
    prop_assert_eq!(found, numbers.iter().copied().zip(there.iter().cloned()).collect::<Vec<_>>());
    let all = substrings(&there);
    prop_assert_eq!(snapshot.distinct_substrings().unwrap(), all.len() as u64);
    for pattern in all.iter().step_by(1 + all.len() / 20).chain(queries).chain([&Vec::new()]) {
        let mut expected = positions(&there, pattern);
        expected.iter_mut().for_each(|at| at.document = numbers[at.document as usize]);
        let key = spell(pattern);
        prop_assert_eq!(sorted(snapshot.positions(key.borrow())), expected.clone(), "{:?}", pattern);
        prop_assert_eq!(sorted(snapshot.occurrences(key.borrow()).collect()), expected.clone());
        prop_assert_eq!(snapshot.count(key.borrow()), expected.len() as u64);
        prop_assert_eq!(snapshot.contains(key.borrow()), !expected.is_empty());
        let common = snapshot.longest_common_substring(key.borrow());
        prop_assert!(
            common.is_empty() || index.contains(K::key(&K::bytes(key.borrow())[common]).unwrap().borrow())
        );
        let whole = snapshot.longest_common_substring(key.borrow()).len() == K::bytes(key.borrow()).len();
        prop_assert_eq!(whole, pattern.is_empty() || !expected.is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Texts are gone from the next answer on, merged or not, from a file or not; others keep their numbers.
    #[test]
    fn removed_texts_are_gone(
        texts in symbol_texts(&['a', 'é', '日', '🦀'], 120),
        queries in symbol_texts(&['a', 'é', '日', '🦀'], 6),
        removed in prop::collection::btree_set(0_u32..8, 0..5),
        settled in 0_usize..6,
    ) {
        let keys: Vec<String> = texts.iter().map(|text| text.iter().collect()).collect();
        let settled = settled.min(keys.len());
        let index = SuffixIndex::<char>::from_texts(keys[..settled].iter().map(String::as_str)).unwrap();
        for key in &keys[settled..] {
            index.push(key).unwrap();
        }
        let before = index.snapshot();
        let removed: Vec<u32> = removed.into_iter().collect();
        for &number in &removed {
            prop_assert_eq!(index.remove(number), (number as usize) < keys.len());
            prop_assert!(!index.remove(number));
        }
        prop_assert_eq!(before.iter().count(), keys.len());
        let left = left(&texts, &removed);
        check_removed(&index, &left, &queries)?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        for layout in [Layout::Fast, Layout::Compact] {
            index.checkpoint(&path, layout).unwrap();
            let opened = SuffixIndex::<char>::open(&path, Verify::Structural).unwrap();
            prop_assert_eq!(opened.snapshot().text_len(), keys.iter().zip(&left).map(|(key, left)| if left.is_some() { key.len() as u64 } else { 0 }).sum::<u64>());
            check_removed(&opened, &left, &queries)?;
            prop_assert_eq!(opened.push("a").unwrap() as usize, keys.len());
        }
        let graph = Scdawg::from(index);
        if let Some(found) = graph.find("a") {
            prop_assert_eq!(found.count(), graph.count("a"));
        }
        check_removed(&graph, &left, &queries)?;
    }
}

/// Long repeats, borders of texts and parts of both, below and above the smallest text with all sections.
#[test]
fn common_parts_of_long_texts_are_found() {
    let fibonacci = fibonacci(3_000);
    let mut noise: Vec<u8> =
        (0..6_000_u32).map(|i| b'a' + (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
    noise.extend_from_within(100..2_100);
    let texts =
        [vec![b'a'; 2_500], fibonacci.clone(), b"abc".repeat(700), noise.clone(), noise[..900].to_vec()];
    let index = SuffixIndex::<u8>::from_texts(texts.iter().map(Vec::as_slice)).unwrap();
    let mixed = [&noise[300..1_700], b"zz", &fibonacci[5..2_000], b"b", &noise[4_000..5_500]].concat();
    for query in [
        vec![b'a'; 4_000],
        mixed,
        noise.repeat(2),
        b"cab".repeat(500),
        [b"zaz".repeat(30), fibonacci].concat(),
    ] {
        let found = index.snapshot().longest_common_substring(&query);
        let occurs = |part: &[u8]| index.contains(part);
        assert!(occurs(&query[found.clone()]));
        // No longer part occurs, and none as long before it.
        let longer = found.len() + 1;
        assert!(query.windows(longer).all(|part| !occurs(part)), "{found:?}");
        assert!(query[..found.end - 1].windows(found.len()).all(|part| !occurs(part)), "{found:?}");
    }
}

fn fibonacci(len: usize) -> Vec<u8> {
    let (mut one, mut two) = (b"b".to_vec(), b"a".to_vec());
    while two.len() < len {
        (one, two) = (two.clone(), [&two[..], &one].concat());
    }
    two.truncate(len);
    two
}

#[test]
fn periodic_texts_are_found() {
    let texts = [vec![b'a'; 300], fibonacci(400), b"abc".repeat(70), vec![b'a'; 300]];
    let queries = [vec![b'a'; 299], vec![b'a'; 301], fibonacci(90), b"bcab".to_vec(), b"cc".to_vec()];
    check::<u8>(&texts, &queries).unwrap();
}

#[test]
fn a_tree_with_inner_nodes_is_searched() {
    // More than one level above buckets, and patterns that end anywhere on the way.
    let words: Vec<Vec<u8>> =
        (0..900_u32).map(|i| format!("w{}-{}", i % 7, i * i % 1009).into_bytes()).collect();
    let index = SuffixIndex::<u8>::from_texts(words.iter().map(Vec::as_slice)).unwrap();
    for text in words.iter().step_by(23) {
        for from in 0..text.len() {
            for to in from + 1..=text.len() {
                check_pattern(&index, &words, &text[from..to]).unwrap();
            }
            let mut near = text[from..].to_vec();
            near.push(b'x');
            check_pattern(&index, &words, &near).unwrap();
        }
    }
}

#[test]
fn many_texts_become_few_segments() {
    let index = SuffixIndex::<u8>::new();
    let mut texts = Vec::new();
    for i in 0..700_u32 {
        let text =
            format!("{:x}{}", i.wrapping_mul(2_654_435_761), "ab".repeat(i as usize % 40)).into_bytes();
        assert_eq!(index.push(&text).unwrap(), i);
        texts.push(text);
    }
    for pattern in [&b"ab"[..], b"1", b"abababababababab", b"f0", b"zz"] {
        check_pattern(&index, &texts, pattern).unwrap();
    }
    assert!(!format!("{index:?}").contains("segments: 0"), "{index:?}");
    index.merge().unwrap();
    check_pattern(&index, &texts, b"abab").unwrap();
    assert!(format!("{index:?}").contains("segments: 1"), "{index:?}");
}

type Graph = BTreeMap<Vec<u8>, usize>;

/// Every substring and how often it occurs.
fn counts(texts: &[Vec<u8>]) -> Graph {
    substrings(texts).into_iter().map(|part| (part.clone(), positions(texts, &part).len())).collect()
}

/// The symbols before or behind a string that occur everywhere it does.
fn extended(counts: &Graph, string: &[u8], left: bool, right: bool) -> Vec<u8> {
    let longer = |string: &[u8], symbol: u8| {
        let behind = [string, &[symbol]].concat();
        let before = [&[symbol], string].concat();
        [(right, behind), (left, before)]
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, string)| string)
            .collect::<Vec<_>>()
    };
    let mut string = string.to_vec();
    loop {
        let all = (0..=255).flat_map(|symbol| longer(&string, symbol));
        let mut same = all.filter(|longer| counts.get(longer) == counts.get(&string));
        match same.next() {
            Some(longer) => string = longer,
            None => return string,
        }
    }
}

#[test]
fn graphs_are_those_of_their_substrings() {
    let texts: Vec<Vec<u8>> = [&b"abcbcabbc"[..], b"", b"bcab", b"cabbca"].map(<[u8]>::to_vec).into();
    let all = counts(&texts);
    let keys = || texts.iter().map(Vec::as_slice);
    // Grown, so that nothing is in a segment; and built.
    let grown = SuffixIndex::<u8>::new();
    keys().for_each(|text| assert!(grown.push(text).unwrap() < 4));
    for (automaton, graph) in [
        (SuffixAutomaton::<u8>::from_texts(keys()).unwrap(), Scdawg::<u8>::from_texts(keys()).unwrap()),
        (SuffixAutomaton::from(grown), {
            let grown = SuffixIndex::<u8>::new();
            keys().for_each(|text| assert!(grown.push(text).unwrap() < 4));
            Scdawg::from(grown)
        }),
    ] {
        for (string, &count) in &all {
            let state =
                string.iter().try_fold(automaton.start(), |state, &symbol| state.step(symbol)).unwrap();
            assert_eq!(state.longest().unwrap(), extended(&all, string, true, false));
            assert_eq!(state.count(), count as u64);
            let link = state.link().unwrap().longest().unwrap();
            let longest = state.longest().unwrap();
            let suffixes = (1..longest.len()).map(|at| &longest[at..]);
            let expected = suffixes.into_iter().find(|&suffix| all[suffix] > count).unwrap_or_default();
            assert_eq!(link, extended(&all, expected, !expected.is_empty(), false), "{string:?}");
            let found = graph.find(string).unwrap();
            assert_eq!(found.maximal().string().unwrap(), extended(&all, string, true, true));
            for symbol in *b"abcd" {
                let right = [&string[..], &[symbol]].concat();
                assert_eq!(found.right(symbol).map(|it| it.count()), all.get(&right).map(|&it| it as u64));
                let left = [&[symbol], &string[..]].concat();
                assert_eq!(found.left(symbol).map(|it| it.count()), all.get(&left).map(|&it| it as u64));
                let expect = |string| all.get(&string).map(|&count| (symbol, count as u64));
                let of = |found: Vec<(u8, u64)>| found.into_iter().find(|(it, _)| *it == symbol);
                assert_eq!(of(found.rights()), expect(right));
                assert_eq!(of(found.lefts()), expect(left));
            }
        }
        let expect = |left, right| -> BTreeSet<Vec<u8>> {
            let closed = |string: &Vec<u8>| extended(&all, string, left, right);
            all.keys().map(closed).chain([Vec::new()]).collect()
        };
        let states: Vec<Vec<u8>> = automaton.states().map(|state| state.longest().unwrap()).collect();
        assert_eq!(states.len(), expect(true, false).len());
        assert_eq!(states.into_iter().collect::<BTreeSet<_>>(), expect(true, false));
        let nodes: Vec<Vec<u8>> = graph.nodes().map(|node| node.string().unwrap()).collect();
        assert_eq!(nodes.len(), expect(true, true).len());
        assert_eq!(nodes.into_iter().collect::<BTreeSet<_>>(), expect(true, true));
        assert!(automaton.start().step(b'd').is_none() && automaton.start().link().is_none());
        assert!(graph.find(b"ccc").is_none());
    }
}

#[test]
fn tree_nodes_are_where_texts_branch_or_end() {
    let texts: Vec<Vec<u8>> = [&b"abcbcabbc"[..], b"", b"bcab", b"cabbca"].map(<[u8]>::to_vec).into();
    let all = counts(&texts);
    let expected: BTreeSet<Vec<u8>> = all
        .keys()
        .filter(|string| extended(&all, string, false, true) == **string)
        .cloned()
        .chain([Vec::new()])
        .collect();
    let tree = SuffixTree::<u8>::from_texts(texts.iter().map(Vec::as_slice)).unwrap();
    let nodes: Vec<Vec<u8>> = tree.nodes().map(|node| node.string().unwrap()).collect();
    assert!(nodes.is_sorted());
    assert_eq!(nodes.into_iter().collect::<BTreeSet<_>>(), expected);
}
