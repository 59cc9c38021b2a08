use super::{Sides, Spending, group_sequential};
use crate::stats::root::root;
use crate::stats::{PValue, StatsError};

/// Below this alpha, boundaries are not integrated any more: their tails would lose digits.
const SMALLEST: f64 = 1e-10;

/// Returns the repeated p-value of the last of some looks: the smallest alpha at which its boundary would have been
/// reached (Jennison and Turnbull 2000, chapter 9), given the p-value `p` of a test with a single look, with as many sides.
///
/// Without any difference, the chance that it is ever below alpha is at most alpha, at whichever look it is taken and for
/// whatever reason the looks end there. It is below alpha if and only if the repeated interval, of level one minus the
/// boundary's p at alpha, excludes "no difference". `fractions` are those of the looks so far, this one included.
///
/// Where it is below 1e-10 the bound is given for which no integral is needed: what is spent at this look alone is no more
/// than the boundary's p. Below 1e-290 that bound itself is out of reach, and 1e-290 is given. A fraction of a
/// second for 20 looks.
///
/// # Errors
///
/// As [`group_sequential`], which is asked for plans at many alphas.
pub fn repeated_p(
    fractions: &[f64],
    sides: Sides,
    spending: Spending,
    p: PValue,
) -> Result<PValue, StatsError> {
    let level = |alpha: f64| -> Result<f64, StatsError> {
        let plan = group_sequential(fractions, alpha, sides, spending)?;
        // Without a boundary nothing is rejected.
        Ok(plan.looks.last().and_then(|it| it.p).map_or(f64::NEG_INFINITY, PValue::ln))
    };
    let target = p.ln();
    if fractions == [1.0] {
        return Ok(p);
    }
    // More than half of alpha is no plan; a p that would need it shows nothing at all.
    if target > level(0.5)? {
        return Ok(PValue::ONE);
    }
    if target < level(SMALLEST)? {
        let bound = bound(fractions, sides, spending, target)?;
        return PValue::from_ln(bound.min(SMALLEST.ln()));
    }
    let mut failed = None;
    let found = root(SMALLEST.ln(), 0.5_f64.ln(), |ln_alpha| match level(ln_alpha.exp()) {
        Ok(level) => level.max(-1e4) - target,
        Err(error) => {
            failed = Some(error);
            0.0
        }
    });
    failed.map_or_else(|| PValue::from_ln(found), Err)
}

/// The logarithm of the smallest alpha that spends at least the p-value at the last look alone.
fn bound(fractions: &[f64], sides: Sides, spending: Spending, ln_p: f64) -> Result<f64, StatsError> {
    let count: f64 = if sides == Sides::Two { 2.0 } else { 1.0 };
    let Some((last, before)) = fractions.split_last() else { return Err(StatsError::Empty) };
    let spent_here = |ln_alpha: f64| -> Result<f64, StatsError> {
        let side = ln_alpha - count.ln();
        let here = spending.ln_spent(side, *last)?;
        let earlier = before.last().map_or(Ok(f64::NEG_INFINITY), |it| spending.ln_spent(side, *it))?;
        // The share that is left of what is spent up to here.
        Ok(count.ln() + here + (-(earlier - here).exp()).ln_1p())
    };
    let smallest = 1e-290_f64.ln();
    if spent_here(smallest)? > ln_p {
        return Ok(smallest);
    }
    let mut failed = None;
    let found = root(smallest, 0.5_f64.ln(), |ln_alpha| match spent_here(ln_alpha) {
        Ok(spent) => spent - ln_p,
        Err(error) => {
            failed = Some(error);
            0.0
        }
    });
    failed.map_or(Ok(found), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::dist::normal_isf;
    use crate::stats::rng::Rng;

    #[test]
    fn the_boundary_itself_has_the_planned_alpha() {
        let fractions = [0.3, 0.5, 0.8, 1.0];
        for sides in [Sides::One, Sides::Two] {
            for spending in [Spending::OBrienFleming, Spending::Pocock] {
                for alpha in [0.3, 0.05, 0.001, 1e-7] {
                    let plan = group_sequential(&fractions, alpha, sides, spending).unwrap();
                    for (index, look) in plan.looks.iter().enumerate() {
                        let p = repeated_p(&fractions[..=index], sides, spending, look.p.unwrap()).unwrap();
                        assert!((p.value() / alpha - 1.0).abs() < 1e-6, "{alpha} {index}: {}", p.value());
                    }
                }
            }
        }
    }

    #[test]
    fn one_look_changes_nothing() {
        let p = PValue::new(0.0123).unwrap();
        for spending in [Spending::OBrienFleming, Spending::Pocock] {
            assert_eq!(repeated_p(&[1.0], Sides::Two, spending, p), Ok(p));
        }
    }

    /// Never below p, never falling where p rises, never 0.
    #[test]
    fn it_follows_p_over_its_whole_range() {
        for spending in [Spending::OBrienFleming, Spending::Pocock] {
            for fractions in [&[0.4][..], &[0.4, 0.7], &[0.4, 0.7, 1.0]] {
                let mut before = 0.0;
                for exponent in [-2000, -320, -300, -250, -100, -40, -12, -11, -10, -8, -5, -3, -2, -1, 0] {
                    let p = PValue::from_ln(f64::from(exponent) * std::f64::consts::LN_10).unwrap();
                    let found = repeated_p(fractions, Sides::Two, spending, p).unwrap();
                    assert!(found.ln() >= p.ln() - 1e-9, "{fractions:?} 1e{exponent}");
                    assert!(found.value() > 0.0 && found.value() >= before, "{fractions:?} 1e{exponent}");
                    before = found.value();
                }
                assert_eq!(before, 1.0);
            }
        }
    }

    #[test]
    fn it_is_ever_below_alpha_as_often_as_alpha() {
        let fractions: [f64; 3] = [0.25, 0.6, 1.0];
        let mut below = 0;
        for seed in 0..2_000 {
            let mut rng = Rng::new(seed);
            let (mut place, mut time, mut least) = (0.0_f64, 0.0_f64, 1.0_f64);
            for (index, fraction) in fractions.into_iter().enumerate() {
                let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                place += normal_isf(uniform).unwrap() * (fraction - time).sqrt();
                time = fraction;
                let z: f64 = place / fraction.sqrt();
                let p = PValue::from(crate::stats::dist::normal_sf(z.abs())).doubled();
                let found = repeated_p(&fractions[..=index], Sides::Two, Spending::Pocock, p).unwrap();
                least = least.min(found.value());
            }
            below += u32::from(least < 0.1);
        }
        // Four standard errors.
        assert!((f64::from(below) / 2_000.0 - 0.1).abs() < 0.027, "{below}");
    }
}
