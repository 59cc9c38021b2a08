//! Several hosts: a comparison within each, never over the pooled observations.

use super::dist::normal_sf;
use super::dominance::Pairs;
use super::moments::Sum;
use super::{PValue, Sample, StatsError, Tails};

/// The treatment and the control of one stratum, for example one host.
pub type Stratum<'a> = (&'a Sample, &'a Sample);

/// The result of van Elteren's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VanElteren {
    /// Sum over strata of the excess rank sum of the treatment, each by its size plus 1.
    pub statistic: f64,
    /// Variance of the statistic under the null hypothesis, corrected for ties.
    pub variance: f64,
    /// Statistic by its deviation, without continuity correction; 0 if all observations of each stratum are equal.
    pub z: f64,
    /// The p-values; 1 if all observations of each stratum are equal.
    pub p: Tails,
}

/// Tests whether the treatment tends to larger values, within strata (van Elteren 1960): a Mann-Whitney test that
/// compares only observations of the same host. O(n log n).
///
/// # Errors
///
/// [`StatsError::Empty`] without strata.
pub fn van_elteren(strata: &[Stratum<'_>]) -> Result<VanElteren, StatsError> {
    if strata.is_empty() {
        return Err(StatsError::Empty);
    }
    let (mut statistic, mut variance) = (Sum::default(), Sum::default());
    for (treatment, control) in strata {
        let pairs = Pairs::count(treatment, control);
        let product = treatment.len() as f64 * control.len() as f64;
        let n = (treatment.len() + control.len()) as f64;
        // An excess rank sum is an excess of wins.
        statistic.add(0.5 * (pairs.wins as f64 - pairs.losses as f64) / (n + 1.0));
        if pairs.wins + pairs.losses > 0 {
            let tied = pairs.tie_term as f64 / (n * (n - 1.0));
            variance.add(product / 12.0 * ((n + 1.0) - tied) / ((n + 1.0) * (n + 1.0)));
        }
    }
    let (statistic, variance) = (statistic.value(), variance.value());
    if variance == 0.0 {
        return Ok(VanElteren { statistic, variance, z: 0.0, p: Tails::ONES });
    }
    let z = statistic / variance.sqrt();
    let (less, greater) = (PValue::from(normal_sf(-z)), PValue::from(normal_sf(z)));
    let p = Tails { two_sided: less.min(greater).doubled(), less, greater };
    Ok(VanElteren { statistic, variance, z, p })
}
