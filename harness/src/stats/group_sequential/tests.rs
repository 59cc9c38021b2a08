use super::*;
use crate::stats::rng::Rng;

fn equal_looks(k: usize) -> Vec<f64> {
    (1..=k).map(|look| look as f64 / k as f64).collect()
}

fn boundaries(fractions: &[f64], alpha: f64, sides: Sides, spending: Spending) -> Vec<f64> {
    let plan = group_sequential(fractions, alpha, sides, spending).unwrap();
    plan.looks.iter().map(|look| look.z.unwrap()).collect()
}

#[track_caller]
fn check(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} {expected}");
    }
}

/// Two-sided boundaries for five looks, alpha 0.05, as published for both functions; the second one of the first table is
/// 3.35701 to more digits (see the reference values).
#[test]
fn published_boundaries() {
    let five = |spending| boundaries(&equal_looks(5), 0.05, Sides::Two, spending);
    check(&five(Spending::OBrienFleming), &[4.8769, 3.3569, 2.6803, 2.2898, 2.0310], 1.2e-4);
    check(&five(Spending::Pocock), &[2.4380, 2.4268, 2.4101, 2.3966, 2.3859], 1.2e-4);
}

#[test]
fn one_look_is_the_fixed_test() {
    for alpha in [0.001, 0.05, 0.3] {
        for spending in [Spending::OBrienFleming, Spending::Pocock] {
            check(
                &boundaries(&[1.0], alpha, Sides::Two, spending),
                &[normal_isf(0.5 * alpha).unwrap()],
                1e-12,
            );
            check(&boundaries(&[1.0], alpha, Sides::One, spending), &[normal_isf(alpha).unwrap()], 1e-12);
        }
    }
}

/// Two looks are a bivariate normal, whose rectangle follows from one integral over the first z.
#[test]
fn two_looks_spend_what_they_should() {
    for fraction in [0.1, 0.5, 0.9, 0.999] {
        for sides in [Sides::One, Sides::Two] {
            let plan = group_sequential(&[fraction, 1.0], 0.05, sides, Spending::Pocock).unwrap();
            let [a, b] = [plan.looks[0].z.unwrap(), plan.looks[1].z.unwrap()];
            let low = if sides == Sides::Two { -a } else { -12.0 };
            let root = (1.0 - fraction).sqrt();
            // The midpoint rule, with many steps.
            let steps = 400_000;
            let width = (a - low) / f64::from(steps);
            let crossed: f64 = (0..steps)
                .map(|step| {
                    let z = low + width * (f64::from(step) + 0.5);
                    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
                    density * normal_sf((b - z * fraction.sqrt()) / root).value * width
                })
                .sum();
            let sides = if sides == Sides::Two { 2.0 } else { 1.0 };
            let total = sides * (normal_sf(a).value + crossed);
            assert!((total - 0.05).abs() < 1e-9, "{fraction}: {total}");
        }
    }
}

#[test]
fn a_true_null_is_rejected_as_often_as_planned() {
    for (sides, spending) in [
        (Sides::One, Spending::Pocock),
        (Sides::Two, Spending::OBrienFleming),
        (Sides::Two, Spending::Pocock),
    ] {
        let fractions = [0.15, 0.4, 0.45, 0.8, 1.0];
        let plan = group_sequential(&fractions, 0.05, sides, spending).unwrap();
        let mut stopped = 0;
        for seed in 0..20_000 {
            let mut rng = Rng::new(seed);
            let (mut place, mut time) = (0.0, 0.0);
            for fraction in fractions {
                let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                place += normal_isf(uniform).unwrap() * (fraction - time).sqrt();
                time = fraction;
                if plan.look(fraction, place / fraction.sqrt()).unwrap() == Decision::Stop {
                    stopped += 1;
                    break;
                }
            }
        }
        // Four standard errors.
        assert!((f64::from(stopped) / 20_000.0 - 0.05).abs() < 0.0062, "{spending:?}: {stopped}");
    }
}

#[test]
fn a_look_depends_on_no_later_one() {
    let whole = boundaries(&[0.2, 0.35, 0.9, 1.0], 0.05, Sides::Two, Spending::OBrienFleming);
    let part = boundaries(&[0.2, 0.35], 0.05, Sides::Two, Spending::OBrienFleming);
    assert_eq!(whole[..2], part);
}

#[test]
fn decides_at_planned_looks() {
    let plan = group_sequential(&[0.5, 1.0], 0.05, Sides::Two, Spending::OBrienFleming).unwrap();
    assert_eq!(plan.look(0.5, -3.0), Ok(Decision::Stop));
    assert_eq!(plan.look(0.5, 2.9), Ok(Decision::Continue));
    assert_eq!(plan.look(1.0, f64::INFINITY), Ok(Decision::Stop));
    assert_eq!(plan.look(0.6, 9.0).map_err(StatsError::code), Err("invalid_input"));
    assert_eq!(plan.look(0.5, f64::NAN), Err(StatsError::NonFinite));
    let above = group_sequential(&[0.5, 1.0], 0.05, Sides::One, Spending::OBrienFleming).unwrap();
    assert_eq!(above.look(1.0, -9.0), Ok(Decision::Continue));
}

#[test]
fn very_early_looks_cannot_stop() {
    let plan =
        group_sequential(&[0.001, 0.02, 0.03, 1.0], 0.05, Sides::Two, Spending::OBrienFleming).unwrap();
    assert_eq!((plan.looks[0].z, plan.looks[0].p), (None, None));
    assert_eq!(plan.look(0.001, 50.0), Ok(Decision::Continue));
    // 2.2414 / sqrt 0.02 = 15.8.
    let early = plan.looks[1].z.unwrap();
    assert!((15.0..16.0).contains(&early), "{early}");
    assert!(plan.looks[2].z.unwrap() < early);
    check(&[plan.looks[3].z.unwrap()], &[normal_isf(0.025).unwrap()], 1e-6);
}

#[test]
fn refuses_what_is_no_plan() {
    let code = |fractions: &[f64], alpha| {
        group_sequential(fractions, alpha, Sides::Two, Spending::Pocock).map_err(StatsError::code).err()
    };
    assert_eq!(code(&[], 0.05), Some("empty"));
    for alpha in [0.0, -1.0, 0.6, 1.0, f64::NAN] {
        assert_eq!(code(&[1.0], alpha), Some("invalid_level"));
    }
    for fractions in [
        &[0.0, 1.0][..],
        &[0.5, 0.5],
        &[0.6, 0.5],
        &[0.5, 1.1],
        &[-0.1, 1.0],
        &[f64::NAN, 1.0],
        &[0.5, f64::NAN],
    ] {
        assert_eq!(code(fractions, 0.05), Some("invalid_input"), "{fractions:?}");
    }
    assert_eq!(
        code(&(1..=101).map(|k| f64::from(k) / 101.0).collect::<Vec<_>>(), 0.05),
        Some("invalid_input")
    );
    assert_eq!(Spending::Pocock.spent(0.05, 0.0).map_err(StatsError::code), Err("invalid_level"));
}

#[test]
fn many_looks_are_possible() {
    let found = boundaries(&equal_looks(60), 0.05, Sides::Two, Spending::Pocock);
    assert!(found.iter().all(|z| (2.3..3.5).contains(z)), "{found:?}");
}
