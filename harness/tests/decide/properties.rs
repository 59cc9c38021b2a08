//! What must hold for any samples.

use super::{decided, registration, set};
use harness::vocab::{Finding, Verdict};
use proptest::prelude::*;

const RULE: &str = "[[hypotheses]]\nid = \"h\"\nmetric = \"time\"\nmargin = 0.05\n[[guards]]\nmetric = \"memory\"\nmargin = 0.05\n";

fn claims(better: &str) -> String {
    format!(
        "[metrics.time]\nunit = \"1\"\nbetter = \"{better}\"\n[metrics.memory]\nunit = \"1\"\nbetter = \"{better}\"\n{RULE}"
    )
}

type Arms = [Vec<f64>; 4];

fn judge(better: &str, [a, b, c, d]: &Arms) -> (Verdict, Vec<Finding>) {
    let sets = [set("time", "a", a), set("time", "b", b), set("memory", "a", c), set("memory", "b", d)];
    let (decision, _) = decided(&registration(a.len(), &claims(better)), &sets);
    (decision.verdict, decision.hypotheses.iter().chain(&decision.guards).map(|it| it.finding).collect())
}

/// Samples of two metrics and two arms; many of them equal, many of the treatments close to the margins.
fn arms() -> impl Strategy<Value = Arms> {
    let sample = |n: usize| {
        (80.0..120.0_f64, prop_oneof![Just(0.0), Just(0.5), Just(6.0)], prop::collection::vec(-8_i32..8, n))
            .prop_map(|(mean, spread, steps)| {
                steps.iter().map(|it| mean.round() + spread * f64::from(*it)).collect::<Vec<_>>()
            })
    };
    (2_usize..12).prop_flat_map(move |n| [sample(n), sample(n), sample(n), sample(n)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_unit_does_not_matter(arms in arms(), exponent in -60..60) {
        let factor = f64::from(exponent).exp2();
        let scaled = arms.clone().map(|it| it.iter().map(|x| x * factor).collect());
        prop_assert_eq!(judge("lower", &arms), judge("lower", &scaled));
    }

    #[test]
    fn negating_everything_and_the_direction_changes_nothing(arms in arms()) {
        let negated = arms.clone().map(|it| it.iter().map(|x| -x).collect());
        prop_assert_eq!(judge("lower", &arms), judge("higher", &negated));
        prop_assert_eq!(judge("higher", &arms), judge("lower", &negated));
    }

    #[test]
    fn the_order_of_blocks_shows_dependence_and_nothing_else(arms in arms(), turn in 0_usize..12) {
        let turned = arms.clone().map(|mut it| { let n = it.len(); it.rotate_left(turn % n); it });
        for (one, other) in judge("lower", &arms).1.iter().zip(judge("lower", &turned).1) {
            prop_assert!(*one == other || *one == Finding::Undecided || other == Finding::Undecided);
        }
    }

    #[test]
    fn a_better_treatment_is_never_judged_worse(arms in arms(), shift in 0.0..30.0_f64) {
        let mut better = arms.clone();
        for i in [1, 3] {
            better[i].iter_mut().for_each(|x| *x -= shift);
        }
        let (before, after) = (judge("lower", &arms), judge("lower", &better));
        prop_assert!((before.0, after.0) != (Verdict::Accept, Verdict::Reject), "{before:?} {after:?}");
        for (before, after) in before.1.iter().zip(&after.1) {
            prop_assert!((before, after) != (&Finding::Supported, &Finding::Refuted));
        }
    }

    #[test]
    fn support_agrees_with_its_parts(arms in arms()) {
        let [a, b, c, d] = &arms;
        let sets = [set("time", "a", a), set("time", "b", b), set("memory", "a", c), set("memory", "b", d)];
        let (decision, _) = decided(&registration(a.len(), &claims("lower")), &sets);
        for it in decision.hypotheses.iter().chain(&decision.guards) {
            if it.finding == Finding::Supported {
                let floor = if it.kind == harness::decide::Kind::Guard { -0.05 } else { 0.05 };
                prop_assert!(it.gain.as_ref().unwrap().interval.lower > floor);
                prop_assert!(it.p_adjusted.as_ref().unwrap().value() < 0.05);
                prop_assert!(it.outlook.is_none());
            }
            if let Some(n) = it.outlook.and_then(|it| it.needed_n) {
                prop_assert!(n > a.len());
            }
        }
        if decision.verdict == Verdict::Accept {
            prop_assert!(decision.criteria.iter().all(|it| it.finding == Finding::Supported));
        }
    }
}
