//! Planned looks at an experiment before its end, with boundaries that keep alpha.
//!
//! For looks that were not planned there are e-processes: [`sign_stream`](super::sign_stream).

mod density;
mod repeated;

use density::Density;
pub use repeated::repeated_p;

use super::dist::{normal_isf, normal_sf};
use super::interval::checked_alpha;
use super::root::root;
use super::{PValue, StatsError};

/// More looks than anybody plans.
const MOST_LOOKS: usize = 100;

/// How much of alpha is spent by when (Lan and DeMets 1983).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spending {
    /// `2 - 2 Phi(z(alpha / 2) / sqrt t)`, like O'Brien and Fleming: hardly anything early, nearly everything at the end.
    OBrienFleming,
    /// `alpha ln(1 + (e - 1) t)`, like Pocock: about the same at every look.
    Pocock,
}

impl Spending {
    /// Returns the stable name of the function.
    pub fn code(self) -> &'static str {
        match self {
            Self::OBrienFleming => "obrien-fleming",
            Self::Pocock => "pocock",
        }
    }

    /// Returns what is spent of `alpha` up to the information fraction t, between 0 and 1.
    ///
    /// # Errors
    ///
    /// [`StatsError::InvalidLevel`] unless `0 < alpha < 1` and `0 < fraction <= 1`.
    pub fn spent(self, alpha: f64, fraction: f64) -> Result<f64, StatsError> {
        checked_alpha(alpha)?;
        if !(fraction > 0.0 && fraction <= 1.0) {
            return Err(StatsError::InvalidLevel { level: fraction });
        }
        if fraction == 1.0 {
            return Ok(alpha);
        }
        Ok(match self {
            Self::OBrienFleming => 2.0 * normal_sf(normal_isf(0.5 * alpha)? / fraction.sqrt()).value,
            Self::Pocock => alpha * ((std::f64::consts::E - 1.0) * fraction).ln_1p(),
        })
    }
}

impl Spending {
    /// The logarithm of what is spent, which keeps its digits where the share itself is below the smallest double.
    fn ln_spent(self, ln_alpha: f64, fraction: f64) -> Result<f64, StatsError> {
        if fraction == 1.0 {
            return Ok(ln_alpha);
        }
        Ok(match self {
            Self::OBrienFleming => {
                let z = normal_isf(0.5 * ln_alpha.exp())?;
                std::f64::consts::LN_2 + normal_sf(z / fraction.sqrt()).ln
            }
            Self::Pocock => ln_alpha + ((std::f64::consts::E - 1.0) * fraction).ln_1p().ln(),
        })
    }
}

/// The sides on which an experiment can stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// For a large z only. A z that is large when the treatment is less is for the caller to make.
    One,
    /// For a z large in magnitude; half of alpha is spent on each side.
    Two,
}

/// One planned look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The share of the information there will be at the end, mostly of the observations.
    pub fraction: f64,
    /// What is spent of alpha up to this look, of both sides together.
    pub spent: f64,
    /// The boundary: the experiment stops if z reaches it. `None` if what may be spent here is below 1e-300.
    pub z: Option<f64>,
    /// The p-value of the boundary in a test with a single look, with as many sides as the plan; `None` without one.
    pub p: Option<PValue>,
}

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on: the boundary was not reached, or there is none at this look.
    Continue,
    /// Stop: the null hypothesis is rejected at alpha over all looks.
    Stop,
}

/// A plan of looks.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSequential {
    /// The error rate over all looks together.
    pub alpha: f64,
    /// The sides on which to stop.
    pub sides: Sides,
    /// How alpha is spent.
    pub spending: Spending,
    /// The looks in order.
    pub looks: Vec<Look>,
}

/// Plans looks at information fractions: the boundaries at which the chance of ever stopping without a difference is what
/// the spending function allows (Lan and DeMets 1983; Jennison and Turnbull 2000).
///
/// The z of the looks are those of a Brownian motion: standard normal, with correlations `sqrt(t_i / t_j)`. That is so for
/// means of independent observations, about so for t of 30 and more observations an arm. Each boundary depends on the
/// looks up to it alone, so that a plan can be made anew if a look comes at another fraction than was planned, as long as
/// its time does not depend on z. Boundaries follow from numerical integration (Armitage, McPherson and Rowe 1969) and
/// are good to 1e-9. Two-sided plans are symmetric, and neither side may be crossed before. O(looks) for looks far
/// apart, a fraction of a second for 100.
///
/// # Errors
///
/// [`StatsError::Empty`] without fractions, [`StatsError::InvalidLevel`] unless `0 < alpha <= 0.5`,
/// [`StatsError::InvalidInput`] for fractions that do not ascend within `0 < t <= 1` by at least 0.0001, or more than 100.
pub fn group_sequential(
    fractions: &[f64],
    alpha: f64,
    sides: Sides,
    spending: Spending,
) -> Result<GroupSequential, StatsError> {
    if checked_alpha(alpha)? > 0.5 {
        return Err(StatsError::InvalidLevel { level: alpha });
    }
    let Some(last) = fractions.last() else { return Err(StatsError::Empty) };
    let mut steps = [0.0].iter().chain(fractions).zip(fractions).map(|(before, after)| after - before);
    // A step that is NaN is none either.
    if !steps.all(|step| step >= 1e-4) || *last > 1.0 {
        return Err(StatsError::InvalidInput("fractions of information ascend within 0 to 1"));
    }
    if fractions.len() > MOST_LOOKS {
        return Err(StatsError::InvalidInput("at most 100 looks can be planned"));
    }
    let count = if sides == Sides::Two { 2.0 } else { 1.0 };
    let side = alpha / count;
    let mut looks = Vec::with_capacity(fractions.len());
    let mut density: Option<Density> = None;
    let mut before = 0.0;
    for (index, fraction) in fractions.iter().copied().enumerate() {
        let spent = spending.spent(side, fraction)?;
        let tail = |z: f64| match &density {
            None => normal_sf(z).value,
            Some(density) => density.above(z * fraction.sqrt(), fraction),
        };
        let z = boundary(spent - before, tail);
        // What was too little to be spent here is left for the next look.
        before = if z.is_some() { spent } else { before };
        let p = z.map(|z| {
            let p = PValue::from(normal_sf(z));
            if sides == Sides::Two { p.doubled() } else { p }
        });
        looks.push(Look { fraction, spent: spent * count, z, p });
        if index + 1 < fractions.len() {
            let upper = z.map(|z| z * fraction.sqrt());
            let lower = if sides == Sides::Two { upper.map(|upper| -upper) } else { None };
            let step = fractions[index + 1] - fraction;
            density = Some(match density {
                None => Density::first(fraction, lower, upper, step),
                Some(earlier) => earlier.next(fraction, lower, upper, step),
            });
        }
    }
    Ok(GroupSequential { alpha, sides, spending, looks })
}

/// The z whose tail is `target`, given a falling tail; `None` if there is too little to spend.
fn boundary(target: f64, tail: impl Fn(f64) -> f64) -> Option<f64> {
    if target < 1e-300 {
        return None;
    }
    let ln = |p: f64| p.max(1e-320).ln();
    Some(root(-10.0, 38.0, |z| ln(tail(z)) - target.ln()))
}

impl GroupSequential {
    /// Decides after a planned look: [`Decision::Stop`] if z reaches the boundary at this information fraction, in
    /// magnitude for a two-sided plan.
    ///
    /// # Errors
    ///
    /// [`StatsError::NonFinite`] for a z that is NaN, [`StatsError::InvalidInput`] for a fraction that is none of the plan,
    /// to 1e-9.
    pub fn look(&self, fraction: f64, z: f64) -> Result<Decision, StatsError> {
        if z.is_nan() {
            return Err(StatsError::NonFinite);
        }
        let Some(look) = self.looks.iter().find(|look| (look.fraction - fraction).abs() <= 1e-9) else {
            return Err(StatsError::InvalidInput("no look is planned at this fraction of information"));
        };
        let z = if self.sides == Sides::Two { z.abs() } else { z };
        Ok(if look.z.is_some_and(|boundary| z >= boundary) { Decision::Stop } else { Decision::Continue })
    }
}

#[cfg(test)]
mod tests;
