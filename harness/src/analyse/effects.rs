//! Effects of a factorial as comparisons of two sides, each made of several arms block by block.
//!
//! The i-th sample of a side is a weighted sum of the samples that the arms have in a block: for a main effect the mean of
//! the arms with the factor at its second level, against the mean of the others; for an interaction what its factors give
//! together, against the sum of what fewer of them give. The two sides have no arm in common, so that they are independent,
//! and everything that is said of two arms can be said of them. Scaling all samples by a power of two scales every side
//! exactly.

use super::comparison::compare_samples;
use super::{Comparison, Samples, Undefined};
use crate::prereg::{Effect, Factorial, Metric, Prereg};
use crate::stats::{Cell as Mean, Sample, StatsError, additivity};
use crate::vocab::{Cell, Order};
use std::collections::BTreeMap;

/// An effect of a factorial in one metric and cell.
#[derive(Clone, Debug)]
pub struct EffectComparison {
    /// Which effect.
    pub effect: Effect,
    /// Its two sides, compared.
    pub comparison: Comparison,
}

/// Every effect of every metric and cell; none without factors.
pub(super) fn effects(prereg: &Prereg, samples: &Samples) -> Vec<EffectComparison> {
    let mut effects = Vec::new();
    let Some(factorial) = &prereg.factors else { return effects };
    for metric in &prereg.metrics {
        for cell in prereg.cells() {
            for effect in factorial.effects() {
                let comparison = compare(prereg, samples, factorial, metric, &cell, &effect);
                effects.push(EffectComparison { effect, comparison });
            }
        }
    }
    effects
}

fn compare(
    prereg: &Prereg,
    samples: &Samples,
    factorial: &Factorial,
    metric: &Metric,
    cell: &Cell,
    effect: &Effect,
) -> Comparison {
    let cell = cell.to_string();
    let arms: Vec<BTreeMap<u32, f64>> =
        factorial.arms.iter().map(|it| samples.blocks(&metric.name, &cell, it).collect()).collect();
    let complete = arms.iter().all(|it| it.keys().eq(arms[0].keys()));
    let shared: Vec<u32> =
        arms[0].keys().filter(|it| arms.iter().all(|arm| arm.contains_key(it))).copied().collect();
    let side = |weights: &[f64]| {
        let used: Vec<_> = arms.iter().zip(weights).filter(|(_, weight)| **weight != 0.0).collect();
        let sum = |block: &u32| used.iter().map(|(arm, weight)| **weight * arm[block]).sum::<f64>();
        Sample::new(shared.iter().map(sum).collect())
    };
    let [together, apart] = weights(factorial, effect);
    let by_block = prereg.design.order != Order::Sequential && complete;
    let names = factorial.sides(effect);
    let mut comparison = compare_samples(metric, cell, names, [side(&together), side(&apart)], by_block);
    if *effect == Effect::Additivity {
        let means = |it: &BTreeMap<u32, f64>| Mean::of(&Sample::new(it.values().copied().collect())?);
        let means: Result<Vec<Mean>, StatsError> = arms.iter().map(means).collect();
        match means.and_then(|it| additivity(&it)) {
            Ok(it) => comparison.additivity = Some(it),
            Err(error) => comparison.statistics = Err(Undefined::from(error)),
        }
    }
    comparison
}

/// The weights of the arms in the two sides of an effect; their difference is the effect.
fn weights(factorial: &Factorial, effect: &Effect) -> [Vec<f64>; 2] {
    let (cells, switches) = (factorial.arms.len(), factorial.switches(effect));
    if *effect == Effect::Additivity {
        let together = |cell: usize| if cell == cells - 1 { 1.0 } else { 0.0 };
        let apart = |cell: usize| match cell.count_ones() {
            0 => 1.0 - factorial.factors.len() as f64,
            1 => 1.0,
            _ => 0.0,
        };
        return [(0..cells).map(together).collect(), (0..cells).map(apart).collect()];
    }
    // Averaged over the levels of the other factors.
    let share = (1_usize << switches.count_ones()) as f64 / cells as f64;
    let off = |cell: usize| (!cell & switches).count_ones();
    let together = |cell: usize| if off(cell) == 0 { share } else { 0.0 };
    let apart = |cell: usize| match off(cell) {
        0 => 0.0,
        odd if odd % 2 == 1 => share,
        _ => -share,
    };
    [(0..cells).map(together).collect(), (0..cells).map(apart).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prereg::Factor;
    use crate::stats::factorial;

    fn switches(k: usize) -> Factorial {
        let factor = |i: usize| Factor { name: format!("f{i}"), levels: ["off".to_owned(), "on".to_owned()] };
        let arms = (0..1 << k).map(|it| format!("arm{it}")).collect();
        Factorial { factors: (0..k).map(factor).collect(), arms }
    }

    /// The same estimates as the textbook's contrasts, which halve an interaction once for each factor but one.
    #[test]
    fn sides_differ_by_the_effect() {
        for k in 1..=4 {
            let it = switches(k);
            let means: Vec<f64> = (0..1 << k).map(|cell| f64::from(cell * cell % 11) + 0.5).collect();
            let cells: Vec<Mean> = means.iter().map(|mean| Mean::of_mean(*mean).unwrap()).collect();
            let textbook = factorial(&cells).unwrap();
            for effect in it.effects().iter().filter(|it| **it != Effect::Additivity) {
                let sum = |weights: &[f64]| weights.iter().zip(&means).map(|(w, m)| w * m).sum::<f64>();
                let [together, apart] = weights(&it, effect);
                let bits = it.switches(effect);
                let expected = textbook.iter().find(|it| it.switches == bits).unwrap().contrast.estimate;
                let times = f64::from(1_u32 << (bits.count_ones() - 1));
                assert!((sum(&together) - sum(&apart) - times * expected).abs() < 1e-9, "{effect}");
                assert!(together.iter().zip(&apart).all(|(a, b)| a * b == 0.0), "no arm on both sides");
            }
        }
    }
}
