//! Blocks that depend on their neighbors: what was found has to hold for as many independent ones as they are worth.

use super::judge::Rule;
use super::method::Method;
use crate::analyse::{Comparison, Gain, Pair, Statistics};
use crate::stats::dist::student_t_isf;
use crate::stats::{Autocorrelation, FirstOrder, Interval, Moments, Sample};
use crate::vocab::{Claim, Finding, Margin};

/// Neighbors whose correlation is that unlikely by chance, one-sided, are taken for dependent. What that does to false and to true
/// claims stands in the tables of `METHODOLOGY.md`.
const LEVEL: f64 = 0.05;

/// How much wider the interval of a gain is with its dependence, and what shows the dependence.
struct Dependence {
    /// Of the differences within blocks, or of the more dependent arm.
    found: FirstOrder,
    n: usize,
    /// What the half-widths are multiplied by, at least 1.
    stretch: f64,
}

/// Why what was found does not stand: neighboring blocks depend on each other, and counted as the independent samples that they are
/// worth they do not show it.
pub(super) fn objection(
    finding: Finding,
    rule: &Rule<'_>,
    comparison: &Comparison,
    counted: Margin,
    gain: &Gain,
    method: Method,
) -> Option<String> {
    // The order within a block is drawn, so that signs are evidence whatever blocks have in common.
    if finding == Finding::Undecided || method == Method::SignEProcess {
        return None;
    }
    let (margin, interval) = (rule.margin.value(), gain.interval);
    let Dependence { found, n, stretch } = dependence(comparison, counted, interval, method)?;
    let lower = gain.value - stretch * (gain.value - interval.lower);
    let upper = gain.value + stretch * (interval.upper - gain.value);
    let stands = match (finding, rule.claim) {
        (Finding::Supported, Claim::Superior) => lower > margin,
        (Finding::Supported, Claim::NonInferior) => lower > -margin,
        (Finding::Supported, Claim::Equivalent) => lower > -margin && upper < margin,
        (_, Claim::Superior) => upper < margin,
        (_, Claim::NonInferior) => upper < -margin,
        (_, Claim::Equivalent) => upper < -margin || lower > margin,
    };
    (!stands).then(|| {
        let what = if finding == Finding::Supported { "support" } else { "refute" };
        format!(
            "blocks depend on those before them (lag 1: {:.2}, p = {}), and the {:.0} independent ones that {n} are worth do not \
             {what} it",
            found.phi, found.p, found.size
        )
    })
}

/// `None` where neighbors seem to be independent.
///
/// What all arms of a block have in common drops out of the difference and is no harm, so that arms that were measured in blocks are
/// judged by their differences within them; other arms each by itself.
fn dependence(
    comparison: &Comparison,
    counted: Margin,
    interval: Interval,
    method: Method,
) -> Option<Dependence> {
    let statistics = comparison.statistics.as_ref().ok()?;
    let pair = comparison.samples.as_deref()?;
    let half = 0.5 * (1.0 - interval.level);
    let ratio = match counted {
        Margin::Relative(_) => statistics.ratio.as_ref().ok()?.ratio,
        Margin::Absolute(_) => 1.0,
    };
    let (a, b) = (variance(&statistics.treatment), ratio * ratio * variance(&statistics.control));
    let (found, n, variance, df) = if pair.by_block {
        let (found, of_mean) = of_blocks(pair, ratio)?;
        (found, pair.treatment.len(), found.time * of_mean, found.size - 1.0)
    } else {
        let (found, n, times, df) = of_arms(pair)?;
        (found, n, times[0] * a + times[1] * b, df)
    };
    let (assumed, assumed_df) = match method {
        Method::PairedT | Method::Wilcoxon => (variance / found.time, n as f64 - 1.0),
        _ => (a + b, unpaired_df(statistics)),
    };
    let quantiles = student_t_isf(half, df.max(1.0)).ok()? / student_t_isf(half, assumed_df).ok()?;
    let stretch = (variance / assumed).sqrt() * quantiles;
    stretch.is_finite().then(|| Dependence { found, n, stretch: stretch.max(1.0) })
}

/// Squared standard error of a mean.
fn variance(moments: &Moments) -> f64 {
    moments.standard_error() * moments.standard_error()
}

fn unpaired_df(statistics: &Statistics) -> f64 {
    (statistics.treatment.n() + statistics.control.n() - 2) as f64
}

/// Of the differences within blocks, with the squared standard error of their mean if they were independent.
fn of_blocks(pair: &Pair, ratio: f64) -> Option<(FirstOrder, f64)> {
    let values = pair.treatment.values().iter().zip(pair.control.values());
    let differences = Sample::new(values.map(|(t, c)| t - ratio * c).collect()).ok()?;
    let found = significant(&differences, LEVEL)?;
    Some((found, variance(&Moments::of(&differences).ok()?)))
}

/// Of the more dependent arm, with its n, the autocorrelation times of both and their degrees of freedom.
fn of_arms(pair: &Pair) -> Option<(FirstOrder, usize, [f64; 2], f64)> {
    // One of two is dependent by chance twice as often.
    let arms = [&pair.treatment, &pair.control].map(|it| (significant(it, 0.5 * LEVEL), it.len()));
    let times = arms.map(|(it, _)| it.map_or(1.0, |it| it.time));
    let df = arms.iter().map(|(it, n)| it.map_or(*n as f64, |it| it.size)).sum::<f64>() - 2.0;
    let found = arms.into_iter().filter_map(|(it, n)| Some((it?, n)));
    let (found, n) = found.max_by(|a, b| a.0.time.total_cmp(&b.0.time))?;
    Some((found, n, times, df))
}

fn significant(sample: &Sample, level: f64) -> Option<FirstOrder> {
    Autocorrelation::of(sample).ok()?.first_order().ok().filter(|it| it.p.value() < level)
}
