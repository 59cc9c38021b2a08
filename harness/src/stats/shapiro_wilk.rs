//! Is a sample plausibly normal?

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::dist::{Probability, normal_isf, normal_sf};
use super::moments::Sum;
use super::{Moments, PValue, Sample, StatsError};

/// The largest sample that the approximation of the p-value was made for.
const MAX_N: usize = 5_000;

/// The result of a test of normality.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapiroWilk {
    /// The statistic: 1 for a perfect fit, less otherwise.
    pub w: f64,
    /// The p-value of "the sample is from a normal distribution".
    pub p: PValue,
}

/// Tests a sample for normality (Shapiro and Wilk 1965, in the approximation of Royston 1995, AS R94).
///
/// A flag and not a gate: with 50 observations a t-test does not need normality, with 10 this test cannot see its
/// absence, and ticks of a coarse clock make p too small. O(n log n).
///
/// # Errors
///
/// [`StatsError::TooFew`] below 3 observations, [`StatsError::InvalidInput`] above 5,000,
/// [`StatsError::ZeroVariance`] if all are equal.
pub fn shapiro_wilk(sample: &Sample) -> Result<ShapiroWilk, StatsError> {
    sample.require(3)?;
    if sample.len() > MAX_N {
        return Err(StatsError::InvalidInput("the Shapiro-Wilk test takes at most 5,000 observations"));
    }
    let moments = Moments::of(sample)?;
    if moments.sd() == 0.0 {
        return Err(StatsError::ZeroVariance);
    }
    let sorted = sample.sorted();
    let n = sorted.len();
    let weights = weights(n)?;
    let z = |value: &f64| moments.deviation(*value) / moments.sd();
    // The weights are antisymmetric: half of them, with the gaps between mirrored observations.
    let numerator = Sum::of(
        weights
            .iter()
            .enumerate()
            .map(|(index, weight)| weight * (z(&sorted[n - 1 - index]) - z(&sorted[index]))),
    );
    // 1 - W is computed as such: in a good fit it has few digits left of W. The weights have norm 1, so it is the
    // squared distance of the standardized sample from its projection on them.
    let squares = Sum::of(sorted.iter().map(|value| z(value) * z(value)));
    let root = squares.sqrt();
    let slope = numerator / root;
    let rest = Sum::of(sorted.iter().enumerate().map(|(index, value)| {
        let weight = if index < weights.len() {
            -weights[index]
        } else if n - 1 - index < weights.len() {
            weights[n - 1 - index]
        } else {
            0.0
        };
        let residual = z(value) / root - slope * weight;
        residual * residual
    }));
    let w = (1.0 - rest).clamp(f64::MIN_POSITIVE, 1.0);
    Ok(ShapiroWilk { w, p: p_value(n, w, rest.max(f64::MIN_POSITIVE)) })
}

/// The weights of the upper half of the ordered sample, largest observation first.
fn weights(n: usize) -> Result<Vec<f64>, StatsError> {
    if n == 3 {
        return Ok(vec![FRAC_1_SQRT_2]);
    }
    let size = n as f64;
    let scores = (1..=n / 2)
        .map(|rank| normal_isf((rank as f64 - 0.375) / (size + 0.25)))
        .collect::<Result<Vec<f64>, _>>()?;
    let squares = 2.0 * Sum::of(scores.iter().map(|score| score * score));
    let u = size.sqrt().recip();
    let polynomial = |coefficients: [f64; 5]| {
        coefficients.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * u)
    };
    let norm = squares.sqrt();
    let first = scores[0] / norm + polynomial([0.221_157, -0.147_981, -2.071_190, 4.434_685, -2.706_056]);
    let second = (n > 5)
        .then(|| scores[1] / norm + polynomial([0.042_981, -0.293_762, -1.752_461, 5.682_633, -3.582_633]));
    let mut weights = vec![first];
    weights.extend(second);
    let fixed = weights.len();
    let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let phi = (squares - 2.0 * square(&scores[..fixed])) / (1.0 - 2.0 * square(&weights));
    weights.extend(scores[fixed..].iter().map(|score| score / phi.sqrt()));
    Ok(weights)
}

fn p_value(n: usize, w: f64, rest: f64) -> PValue {
    let polynomial =
        |x: f64, coefficients: [f64; 4]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let size = n as f64;
    if n == 3 {
        let p = 6.0 / PI * (w.sqrt().asin() - 0.75f64.sqrt().asin());
        return Probability::from_value(p.clamp(f64::MIN_POSITIVE, 1.0)).into();
    }
    let (score, mu, sigma) = if n <= 11 {
        let gamma = -2.273 + 0.459 * size;
        if rest.ln() >= gamma {
            return Probability::from_value(1e-99).into();
        }
        (
            -(gamma - rest.ln()).ln(),
            polynomial(size, [0.544, -0.399_78, 0.025_054, -6.714e-4]),
            polynomial(size, [1.382_2, -0.778_57, 0.062_767, -0.002_032_2]).exp(),
        )
    } else {
        let ln = size.ln();
        (
            rest.ln(),
            polynomial(ln, [-1.586_1, -0.310_82, -0.083_751, 0.003_891_5]),
            polynomial(ln, [-0.480_3, -0.082_676, 0.003_030_2, 0.0]).exp(),
        )
    };
    normal_sf((score - mu) / sigma).into()
}
