//! Gains from the differences within blocks, with the interval that belongs to the registered test.

use super::method::blocks;
use crate::analyse::{Comparison, Gain, Pair, Undefined};
use crate::stats::{Interval, paired_ratio, paired_t, pseudomedian, walsh_ratio};
use crate::vocab::Margin;

/// The gain of the means; its interval is the inversion of the paired t-test: of the mean difference, or of the ratio by Fieller.
pub(super) fn of_t(comparison: &Comparison, counted: Margin, level: f64) -> Result<Gain, Undefined> {
    let Pair { treatment, control, .. } = blocks(comparison)?;
    match counted {
        Margin::Absolute(_) => {
            let found = paired_t(treatment, control)?;
            Ok(comparison.oriented_gain(found.difference, found.interval(level)?, level))
        }
        Margin::Relative(_) => {
            let found = paired_ratio(treatment, control)?;
            let sign = comparison.control_sign()?;
            let interval =
                match found.fieller_change(level)? {
                    None => None,
                    Some(bounds) => Some(bounds.interval(level).ok_or_else(|| {
                        Undefined("the control's mean cannot be told from zero".to_owned())
                    })?),
                };
            let interval =
                interval.map(|it| Interval { lower: it.lower * sign, upper: it.upper * sign, level });
            Ok(comparison.oriented_gain(found.relative_difference, interval, level))
        }
    }
}

/// The gain at which the signed ranks are in balance (Hodges and Lehmann), of the differences or of the ratio; its interval is the
/// inversion of Wilcoxon's test.
///
/// A ratio needs a control above zero; for another one, the gain of the means. Where there are too few blocks for the level, the
/// interval reaches at least as far as the one of the paired t-test.
pub(super) fn of_ranks(comparison: &Comparison, counted: Margin, level: f64) -> Result<Gain, Undefined> {
    let Pair { treatment, control, .. } = blocks(comparison)?;
    let (value, mut interval) = match counted {
        Margin::Relative(_) if control.min() <= 0.0 => return of_t(comparison, counted, level),
        Margin::Relative(_) => {
            let found = walsh_ratio(treatment, control)?;
            (found.ratio - 1.0, found.change_interval(level)?)
        }
        Margin::Absolute(_) => {
            let found = pseudomedian(treatment, control)?;
            (found.value, found.usual_interval(level)?)
        }
    };
    let smallest_p = super::claim::smallest_signed_rank_p(treatment.len());
    if smallest_p > 1.0 - level {
        let wider = of_t(comparison, counted, level)?.interval;
        let ends = [wider.lower, wider.upper].map(|it| comparison.better.gain(it));
        interval.lower = interval.lower.min(ends[0].min(ends[1]));
        interval.upper = interval.upper.max(ends[0].max(ends[1]));
    }
    Ok(comparison.oriented_gain(value, Some(interval), level))
}
