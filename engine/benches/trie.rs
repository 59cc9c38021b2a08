//! Opening, looking up, checkpointing and building on the terms of the loading ledger: tries of heap nodes, and images.
//!
//! `cargo bench -p engine`; the names say whether 100,000 or 1,000,000 numbers made the terms.

#[path = "../tests/support/terms.rs"]
mod terms;

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use engine::trie::{Backing, Verify};
use engine::{CharImage, CharTrie, ImageWriter, LoadStrategy, OpenOptions, Profile};

const STRATEGIES: [(&str, LoadStrategy); 2] = [("eager", LoadStrategy::Eager), ("lazy", LoadStrategy::Lazy)];

fn build(terms: &[String]) -> CharTrie<u64> {
    let mut trie = CharTrie::new();
    for (term, rank) in terms.iter().zip(0..) {
        trie.insert(term, rank).expect("the term is short");
    }
    trie
}

fn open(path: &Path, options: impl Into<OpenOptions>) -> CharTrie<u64> {
    CharTrie::open(path, options).expect("the image was just written")
}

/// The ledger's 10,000 lookups: hits among the first terms, misses at the root.
fn ledger_queries(terms: &[String]) -> Vec<String> {
    let query = |i: usize| {
        if i.is_multiple_of(2) { terms[i % terms.len()].clone() } else { format!("nonexistent_query_{i}") }
    };
    (0..10_000).map(query).collect()
}

/// Terms all over the trie, in an order the processor cannot foresee.
fn scattered(terms: &[String], count: usize) -> Vec<String> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % terms.len() as u64) as usize
    };
    (0..count).map(|_| terms[next()].clone()).collect()
}

fn count_hits(trie: &CharTrie<u64>, queries: &[String]) -> usize {
    queries.iter().filter(|query| trie.contains(query).expect("the image is sound")).count()
}

fn opening_and_lookup(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, count) in [("100k", 100_000), ("1m", 1_000_000)] {
        let terms = terms::ledger_terms(count);
        let path = folder.path().join(name);
        build(&terms).checkpoint(&path).expect("the scratch folder has room");

        let mut group = criterion.benchmark_group(format!("open_{name}"));
        group.sample_size(30);
        for (id, options) in [
            ("eager", OpenOptions::from(LoadStrategy::Eager)),
            ("lazy", OpenOptions::new()),
            ("lazy, verified", OpenOptions::new().verify(Verify::Full)),
            ("lazy, copied", OpenOptions::new().backing(Backing::Copy)),
        ] {
            group.bench_function(id, |bencher| bencher.iter_with_large_drop(|| open(&path, options)));
        }
        group.finish();

        let ledger = ledger_queries(&terms);
        let scattered = scattered(&terms, 100_000);
        let mut group = criterion.benchmark_group(format!("lookup_{name}"));
        group.sample_size(30);
        for (id, strategy) in STRATEGIES {
            group.bench_function(BenchmarkId::new("ledger 10k, first pass", id), |bencher| {
                let fresh = || open(&path, strategy);
                bencher.iter_batched_ref(
                    fresh,
                    |trie| count_hits(trie, black_box(&ledger)),
                    BatchSize::PerIteration,
                );
            });
            let trie = open(&path, strategy);
            group.bench_function(BenchmarkId::new("ledger 10k, warm", id), |bencher| {
                bencher.iter(|| count_hits(&trie, black_box(&ledger)));
            });
            group.bench_function(BenchmarkId::new("scattered hits 100k", id), |bencher| {
                bencher.iter(|| count_hits(&trie, black_box(&scattered)));
            });
        }
        group.finish();
    }
}

fn write_image(terms: &[String], path: &Path, profile: Profile) {
    let mut writer = ImageWriter::<char, u64>::create(path, profile).expect("the scratch folder has room");
    for (term, rank) in terms.iter().zip(0..) {
        writer.push(term, rank).expect("terms are sorted");
    }
    writer.finish().expect("the scratch folder has room");
}

fn images(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let terms = terms::ledger_terms(1_000_000);
    let (ledger, scattered) = (ledger_queries(&terms), scattered(&terms, 100_000));
    let mut group = criterion.benchmark_group("image_1m");
    group.sample_size(20);
    for (name, profile) in
        [("balanced", Profile::Balanced), ("compact", Profile::Compact), ("fast", Profile::Fast)]
    {
        let path = folder.path().join(name);
        group.bench_function(BenchmarkId::new("build", name), |bencher| {
            bencher.iter(|| write_image(&terms, &path, profile));
        });
        let open = |verify| CharImage::<u64>::open(&path, verify).expect("the image was just written");
        for (id, verify) in
            [("open", Verify::Header), ("open, verified", Verify::Full), ("open, walked", Verify::Structural)]
        {
            group.bench_function(BenchmarkId::new(id, name), |bencher| bencher.iter(|| open(verify)));
        }
        let image = open(Verify::Header);
        let count = |keys: &[String]| {
            keys.iter().filter(|key| image.contains(key).expect("the image is sound")).count()
        };
        group.bench_function(BenchmarkId::new("ledger 10k, warm", name), |bencher| {
            bencher.iter(|| count(black_box(&ledger)));
        });
        group.bench_function(BenchmarkId::new("scattered hits 100k", name), |bencher| {
            bencher.iter(|| count(black_box(&scattered)));
        });
        group.bench_function(BenchmarkId::new("scattered hits 100k, many at once", name), |bencher| {
            bencher.iter(|| image.get_many(black_box(&scattered)).expect("the image is sound"));
        });
    }
    group.finish();
}

fn writing(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let terms = terms::ledger_terms(100_000);
    let shuffled = scattered(&terms, 100_000);
    let trie = build(&terms);
    let path = folder.path().join("a.trie");
    let mut group = criterion.benchmark_group("write_100k");
    group.sample_size(10);
    group.bench_function("checkpoint", |bencher| bencher.iter(|| trie.checkpoint(&path)));
    group.bench_function("build, sorted", |bencher| bencher.iter_with_large_drop(|| build(&terms)));
    group.bench_function("build, scattered", |bencher| bencher.iter_with_large_drop(|| build(&shuffled)));
    group.bench_function("iterate", |bencher| bencher.iter(|| trie.iter().count()));
    group.finish();
}

criterion_group!(benches, opening_and_lookup, images, writing);
criterion_main!(benches);
