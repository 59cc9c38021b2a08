use super::*;
use crate::stats::dist::normal_isf;

fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(rng: &mut Rng) -> f64 {
    normal_isf(uniform(rng)).unwrap()
}

/// How many of 200 samples are found to have more than one mode at 0.05.
fn rejected(n: usize, draw: impl Fn(&mut Rng) -> f64) -> usize {
    // One simulation serves all samples of a size.
    let null = null_dips(n, 99);
    let critical = null[SAMPLES * 95 / 100];
    let is_rejected = |seed: &u64| {
        let mut rng = Rng::new(*seed);
        let sample = Sample::new((0..n).map(|_| draw(&mut rng)).collect()).unwrap();
        dip(&without_ties(&sample)) > critical
    };
    (0..200).filter(is_rejected).count()
}

#[test]
fn one_mode_is_rarely_taken_for_two() {
    for n in [8, 30] {
        let found = rejected(n, uniform);
        assert!((2..=22).contains(&found), "uniform {n}: {found} of 200");
        for (name, found) in [
            ("normal", rejected(n, normal)),
            ("exponential", rejected(n, |rng| -uniform(rng).ln())),
            ("pareto", rejected(n, |rng| uniform(rng).powf(-0.7))),
        ] {
            assert!(found <= 8, "{name} {n}: {found} of 200");
        }
    }
}

#[test]
fn steps_of_a_clock_are_no_modes() {
    for step in [0.1, 0.5, 1.5] {
        let found = rejected(40, |rng| 20.0 + (normal(rng) / step).round() * step);
        assert!(found <= 16, "{step}: {found} of 200");
    }
}

#[test]
fn two_modes_are_found() {
    let mixed =
        |distance: f64| move |rng: &mut Rng| normal(rng) + if uniform(rng) < 0.4 { distance } else { 0.0 };
    for (distance, least) in [(6.0, 180), (4.5, 60)] {
        let found = rejected(51, mixed(distance));
        assert!(found >= least, "{distance}: {found} of 200");
    }
}

#[test]
fn a_seed_gives_the_same_p_and_large_samples_are_scaled() {
    let mut rng = Rng::new(4);
    let sample = Sample::new((0..5_000).map(|_| normal(&mut rng)).collect()).unwrap();
    let found = modality(&sample, 7).unwrap();
    assert_eq!(found, modality(&sample, 7).unwrap());
    assert!(found.p.value() > 0.5, "{found:?}");
    let two = Sample::new((0..5_000).map(|k| normal(&mut rng) + f64::from(k % 2) * 5.0).collect()).unwrap();
    assert!(modality(&two, 7).unwrap().p.value() < 0.001);
}

#[test]
fn degenerate_samples() {
    let constant = Sample::new(vec![2.0; 9]).unwrap();
    assert_eq!(modality(&constant, 1).unwrap().p, PValue::ONE);
    let few = Sample::new(vec![1.0; 7]).unwrap();
    assert_eq!(modality(&few, 1), Err(StatsError::TooFew { needed: 8, found: 7 }));
}
