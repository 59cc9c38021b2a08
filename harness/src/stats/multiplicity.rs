//! p-values of hypotheses that are decided together.

use super::PValue;

/// A correction of the p-values of a family.
///
/// Several treatments against one control, or against two, are a family like any other: one p-value a comparison, adjusted
/// together by [`Correction::Holm`]. Dunnett's test (1955) would use that comparisons with one control are correlated
/// (by 1/2 for arms of equal size), but it assumes equal variances, which arms of a performance experiment rarely have; for
/// 3 treatments its single-step critical t is 2.35 instead of Bonferroni's 2.39 in large samples, and Holm's step-down
/// wins most of that back for all comparisons but the smallest p-value. Two controls are never pooled into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// No correction.
    None,
    /// `m p`.
    Bonferroni,
    /// Step-down (Holm 1979): controls the chance of a single false claim under any dependence. The default for a
    /// registered family.
    Holm,
    /// Step-up (Hochberg 1988): like Holm's and never larger, for independent or positively dependent tests.
    Hochberg,
    /// Benjamini and Hochberg (1995): controls the share of false claims among the claims. For screens.
    BenjaminiHochberg,
    /// Benjamini and Yekutieli (2001): the same under any dependence.
    BenjaminiYekutieli,
}

impl Correction {
    /// Returns the stable name of the correction.
    pub fn code(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bonferroni => "bonferroni",
            Self::Holm => "holm",
            Self::Hochberg => "hochberg",
            Self::BenjaminiHochberg => "bh",
            Self::BenjaminiYekutieli => "by",
        }
    }

    /// Returns the adjusted p-values in the order of the given ones: what is compared with alpha of the family.
    ///
    /// Works where p itself is below the smallest `f64`. An empty family stays empty. O(m log m).
    pub fn adjust(self, family: &[PValue]) -> Vec<PValue> {
        let m = family.len();
        let size = m as f64;
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|a, b| family[*a].ln().total_cmp(&family[*b].ln()));
        let mut adjusted = family.to_vec();
        match self {
            Self::None => {}
            Self::Bonferroni => adjusted.iter_mut().for_each(|p| *p = p.times(size)),
            Self::Holm => {
                let mut largest: Option<PValue> = None;
                for (position, index) in order.into_iter().enumerate() {
                    let p = family[index].times(size - position as f64);
                    let p = largest.map_or(p, |largest| largest.max(p));
                    largest = Some(p);
                    adjusted[index] = p;
                }
            }
            Self::Hochberg => step_up(&mut adjusted, &order, |rank| size - rank + 1.0),
            Self::BenjaminiHochberg => step_up(&mut adjusted, &order, |rank| size / rank),
            Self::BenjaminiYekutieli => {
                let harmonic: f64 = (1..=m).rev().map(|i| (i as f64).recip()).sum();
                step_up(&mut adjusted, &order, |rank| harmonic * size / rank);
            }
        }
        adjusted
    }
}

/// Multiplies each p-value by the factor of its rank and takes the running minimum from the largest down.
fn step_up(family: &mut [PValue], order: &[usize], factor: impl Fn(f64) -> f64) {
    let mut smallest = PValue::ONE;
    for (position, index) in order.iter().enumerate().rev() {
        smallest = smallest.min(family[*index].times(factor(position as f64 + 1.0)));
        family[*index] = smallest;
    }
}
