//! What the main methods cost, for the sizes of a ledger, of a long run and of an import.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use harness::stats::rng::Rng;
use harness::stats::{
    Estimand, PanelOptions, PermutationStatistic, RankMethod, Sample, Summary, bootstrap, cliffs_delta,
    effect_size, mann_whitney, modality, panel, permutation, ratio, shapiro_wilk, trend, welch,
};

/// Skewed observations without ties, around a level.
fn sample(n: usize, level: f64, seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let values = (0..n).map(|_| level * (1.0 + 0.02 * -(1.0 - uniform()).ln())).collect();
    Sample::new(values).expect("finite values")
}

fn two_arms(c: &mut Criterion) {
    for n in [51, 1_000, 100_000] {
        let (treatment, control) = (sample(n, 99.0, 1), sample(n, 100.0, 2));
        let mut group = c.benchmark_group(format!("2x{n}"));
        group.bench_function("welch", |b| b.iter(|| welch(black_box(&treatment), &control)));
        group.bench_function("fieller", |b| {
            b.iter(|| ratio(black_box(&treatment), &control).and_then(|ratio| ratio.fieller(0.95)));
        });
        group.bench_function("effect-size", |b| b.iter(|| effect_size(black_box(&treatment), &control)));
        // Sorting is part of what ranks cost; a fresh copy has not been sorted yet.
        let fresh = || {
            let copy = |sample: &Sample| Sample::new(sample.values().to_vec()).expect("finite values");
            (copy(&treatment), copy(&control))
        };
        let size = BatchSize::LargeInput;
        group.bench_function("summary", |b| b.iter_batched(fresh, |(x, _)| Summary::of(&x), size));
        group.bench_function("cliffs-delta", |b| b.iter_batched(fresh, |(x, y)| cliffs_delta(&x, &y), size));
        group.bench_function("mann-whitney-asymptotic", |b| {
            let method = RankMethod::Asymptotic { continuity: true };
            b.iter_batched(fresh, |(x, y)| mann_whitney(&x, &y, method), size);
        });
        if n == 51 {
            group.bench_function("mann-whitney-exact", |b| {
                b.iter_batched(fresh, |(x, y)| mann_whitney(&x, &y, RankMethod::Exact), size);
            });
            group.bench_function("panel", |b| {
                let options = PanelOptions { paired: true, ..PanelOptions::default() };
                b.iter(|| panel(black_box(&treatment), &control, options));
            });
            group.bench_function("permutation", |b| {
                let statistic = PermutationStatistic::WelchT;
                b.iter(|| permutation(black_box(&treatment), &control, statistic, 10_000, 1));
            });
            group.bench_function("modality", |b| b.iter(|| modality(black_box(&treatment), 1)));
            group.bench_function("noncentral-interval", |b| {
                let effect = effect_size(&treatment, &control).expect("enough").standardized.expect("spread");
                b.iter(|| black_box(effect).noncentral_interval(0.95));
            });
        }
        if n <= 1_000 {
            group.sample_size(20);
            group.bench_function("bootstrap-bca", |b| {
                let estimand = Estimand::MeanRatio;
                b.iter(|| bootstrap(black_box(&treatment), &control, estimand, 9_999, 1)?.bca_interval(0.95));
            });
            group.bench_function("shapiro-wilk", |b| b.iter(|| shapiro_wilk(black_box(&treatment))));
            group.bench_function("trend", |b| b.iter(|| trend(black_box(&treatment), 0.95)));
        }
        group.finish();
    }
}

criterion_group!(benches, two_arms);
criterion_main!(benches);
