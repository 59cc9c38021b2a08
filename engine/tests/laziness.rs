//! Lazy opening materialises what is accessed, eager opening everything; both give the same answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "support/terms.rs"]
mod terms;

use engine::trie::{Backing, Verify};
use engine::{CharTrie, LoadStrategy, OpenOptions};

const COUNT: usize = 20_000;

fn write(path: &std::path::Path) -> Vec<String> {
    let terms = terms::ledger_terms(COUNT);
    let mut trie = CharTrie::<u64>::new();
    for (term, rank) in terms.iter().zip(0..) {
        trie.insert(term, rank).unwrap();
    }
    assert_eq!(trie.materialised_nodes(), 0);
    trie.checkpoint(path).unwrap();
    terms
}

#[test]
fn nodes_are_materialised_when_they_are_accessed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let eager = CharTrie::<u64>::open(&path, LoadStrategy::Eager).unwrap();
    let all = eager.materialised_nodes();
    assert!(all > 1_000, "{all}");
    for options in [
        OpenOptions::new(),
        OpenOptions::new().verify(Verify::Full),
        OpenOptions::new().backing(Backing::Copy),
    ] {
        let lazy = CharTrie::<u64>::open(&path, options).unwrap();
        assert_eq!(lazy.len(), terms.len() as u64);
        assert_eq!(lazy.materialised_nodes(), 0);
        assert_eq!(lazy.get(&terms[0]).unwrap(), Some(0));
        let one_way = lazy.materialised_nodes();
        assert!((2..20).contains(&one_way), "{one_way}");
        // The same way again, and a miss at the root, materialise nothing.
        assert_eq!(lazy.get(&terms[0]).unwrap(), Some(0));
        assert!(!lazy.contains("nonexistent_query_1").unwrap());
        assert_eq!(lazy.materialised_nodes(), one_way);
        let some = lazy.prefix("term0000").count();
        assert_eq!(some, terms.iter().filter(|term| term.starts_with("term0000")).count());
        assert!(lazy.materialised_nodes() < all / 10);
        assert_eq!(lazy.iter().count(), terms.len());
        assert_eq!(lazy.materialised_nodes(), all);
    }
    assert_eq!(eager.materialised_nodes(), all);
}

#[test]
fn an_eager_trie_does_not_need_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let eager = CharTrie::<u64>::open(&path, LoadStrategy::Eager).unwrap();
    std::fs::write(&path, "gone").unwrap();
    for (term, rank) in terms.iter().zip(0..) {
        assert_eq!(eager.get(term).unwrap(), Some(rank));
    }
}

#[test]
fn a_copy_does_not_need_its_file_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let copy = CharTrie::<u64>::open(&path, OpenOptions::new().backing(Backing::Copy)).unwrap();
    std::fs::write(&path, "gone").unwrap();
    assert_eq!(copy.iter().count(), terms.len());
}

#[test]
fn a_lazy_trie_keeps_reading_the_image_it_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let mut lazy = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    lazy.insert("new", 1).unwrap();
    lazy.remove(&terms[5]).unwrap();
    // Over the very file it is mapped from.
    CharTrie::<u64>::new().checkpoint(&path).unwrap();
    lazy.checkpoint(&path).unwrap();
    let again = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
    assert_eq!((again.len(), again.get("new").unwrap()), (terms.len() as u64, Some(1)));
    assert_eq!(again.get(&terms[5]).unwrap(), None);
    assert!(lazy.iter().map(Result::unwrap).eq(again.iter().map(Result::unwrap)));
}

#[test]
fn readers_on_many_threads_share_a_lazy_trie() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let eager = CharTrie::<u64>::open(&path, LoadStrategy::Eager).unwrap();
    for round in 0..10 {
        let lazy = CharTrie::<u64>::open(&path, LoadStrategy::Lazy).unwrap();
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (lazy, terms, start) = (&lazy, &terms, &start);
                scope.spawn(move || {
                    start.wait();
                    let step = if thread % 2 == 0 { 1 } else { 7 + round };
                    for rank in (0..terms.len()).step_by(step) {
                        assert_eq!(lazy.get(&terms[rank]).unwrap(), Some(rank as u64));
                    }
                });
            }
        });
        assert_eq!(lazy.materialised_nodes(), eager.materialised_nodes());
    }
}

#[test]
fn every_strategy_materialises_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trie");
    let terms = write(&path);
    let nodes = |strategy| CharTrie::<u64>::open(&path, strategy).unwrap().materialised_nodes();
    let all = nodes(LoadStrategy::Eager);
    for threads in [0, 1, 2, 7, 1_000] {
        assert_eq!(nodes(LoadStrategy::Parallel(threads)), all, "{threads}");
    }
    let mut before = 0;
    for depth in 0..4 {
        let some = nodes(LoadStrategy::Depth(depth));
        assert!(some > before || depth == 0 && some == 0, "{depth} {some}");
        before = some;
    }
    assert_eq!(nodes(LoadStrategy::Depth(1)), 1);
    assert_eq!(nodes(LoadStrategy::Depth(usize::MAX)), all);

    let mut mapped = CharTrie::<u64>::open(&path, LoadStrategy::Mapped).unwrap();
    for (term, rank) in terms.iter().zip(0..) {
        assert_eq!(mapped.get(term).unwrap(), Some(rank));
    }
    assert_eq!(mapped.iter().count(), terms.len());
    assert_eq!(mapped.materialised_nodes(), 0);
    // A change materialises its way and nothing else, and what is read in place stays right around it.
    assert_eq!(mapped.insert(&terms[7], 1_000_000).unwrap(), Some(7));
    assert!((1..20).contains(&mapped.materialised_nodes()));
    assert_eq!(mapped.remove(&terms[9]).unwrap(), Some(9));
    let mut expected: Vec<(String, u64)> = terms.iter().cloned().zip(0..).collect();
    expected[7].1 = 1_000_000;
    expected.remove(9);
    assert!(mapped.iter().map(Result::unwrap).eq(expected));
    assert!(mapped.materialised_nodes() < all / 10);
}
