//! The methods of the panel.

use super::{Finding, Meaning, Method, Question, Reason, Says};
use crate::stats::{
    Interval, PermutationStatistic, RankMethod, Sample, Status, Welch, brunner_munzel, cliffs_delta,
    geometric_ratio, hodges_lehmann, mann_whitney, paired_t, paired_t_of_ratios, permutation, tukey_outliers,
    welch, yuen,
};

/// Every method there is, in the order of a table.
pub static ALL: &[Method] = &[
    Method { id: "welch", label: "Welch t", meaning: Meaning::Difference, answer: raw },
    Method {
        id: "welch-log",
        label: "Welch t of logarithms",
        meaning: Meaning::RelativeChange,
        answer: logarithms,
    },
    Method {
        id: "welch-fenced",
        label: "Welch t, gross outliers set aside",
        meaning: Meaning::Difference,
        answer: fenced,
    },
    Method { id: "yuen", label: "Yuen's trimmed t", meaning: Meaning::Difference, answer: trimmed },
    Method { id: "mann-whitney", label: "Mann-Whitney U", meaning: Meaning::Superiority, answer: ranks },
    Method {
        id: "brunner-munzel",
        label: "Brunner-Munzel",
        meaning: Meaning::Superiority,
        answer: placements,
    },
    Method {
        id: "hodges-lehmann",
        label: "Hodges-Lehmann shift",
        meaning: Meaning::Difference,
        answer: shift,
    },
    Method {
        id: "permutation",
        label: "permutation of Welch's t",
        meaning: Meaning::Difference,
        answer: relabeled,
    },
    Method {
        id: "bootstrap",
        label: "bootstrap of the relative change",
        meaning: Meaning::RelativeChange,
        answer: resampled,
    },
    Method { id: "paired", label: "paired t by block", meaning: Meaning::RelativeChange, answer: blocks },
    Method {
        id: "paired-raw",
        label: "paired t by block, of differences",
        meaning: Meaning::Difference,
        answer: raw_blocks,
    },
];

impl Question<'_> {
    fn level(&self) -> f64 {
        1.0 - self.options.alpha
    }

    /// The finding of a comparison of means.
    fn of_welch(&self, found: &Welch) -> Result<Finding, Reason> {
        let test = found.test.ok_or(Reason::Degenerate(found.status))?;
        let interval = found.interval(self.level())?;
        Ok(Finding::by_p(Meaning::Difference, found.difference, &test.p, interval, self.options.alpha))
    }
}

fn raw(question: &Question<'_>) -> Result<Finding, Reason> {
    question.of_welch(&welch(question.treatment, question.control)?)
}

fn logarithms(question: &Question<'_>) -> Result<Finding, Reason> {
    let found = geometric_ratio(question.treatment, question.control)?;
    let test = found.logarithms.test.ok_or(Reason::Degenerate(found.logarithms.status))?;
    let interval = found.change_interval(question.level())?;
    Ok(Finding::by_p(Meaning::RelativeChange, found.change, &test.p, interval, question.options.alpha))
}

/// Without what lies beyond the outer fences of its own arm, three interquartile ranges from the quartiles.
fn fenced(question: &Question<'_>) -> Result<Finding, Reason> {
    let within = |sample: &Sample| {
        let [low, .., high] = tukey_outliers(sample).fences;
        Sample::new(sample.values().iter().copied().filter(|value| low <= *value && *value <= high).collect())
    };
    question.of_welch(&welch(&within(question.treatment)?, &within(question.control)?)?)
}

fn trimmed(question: &Question<'_>) -> Result<Finding, Reason> {
    question.of_welch(&yuen(question.treatment, question.control, question.options.trim)?.trimmed)
}

fn ranks(question: &Question<'_>) -> Result<Finding, Reason> {
    let found = mann_whitney(question.treatment, question.control, RankMethod::AutoConditional)?;
    let delta = cliffs_delta(question.treatment, question.control);
    let interval = delta.newcombe_interval(question.level())?.map(|delta| 0.5 * (delta + 1.0));
    Ok(Finding::by_p(Meaning::Superiority, delta.a12, &found.p, Some(interval), question.options.alpha))
}

fn placements(question: &Question<'_>) -> Result<Finding, Reason> {
    let found = brunner_munzel(question.treatment, question.control)?;
    let test = found.test.ok_or(Reason::Degenerate(found.status))?;
    let interval = found.interval(question.level())?;
    Ok(Finding::by_p(Meaning::Superiority, found.superiority, &test.p, interval, question.options.alpha))
}

fn shift(question: &Question<'_>) -> Result<Finding, Reason> {
    let found = hodges_lehmann(question.treatment, question.control);
    let interval = found.interval(question.level())?;
    if interval.achieved.is_some_and(|achieved| achieved < question.level() - 1e-12) {
        return Err(Reason::LevelOutOfReach);
    }
    Ok(Finding::by_interval(found.shift, interval.interval))
}

fn relabeled(question: &Question<'_>) -> Result<Finding, Reason> {
    let difference = welch(question.treatment, question.control)?.difference;
    if !question.decides {
        return Ok(Finding { estimate: difference, p: None, interval: None, says: Says::NoDifference });
    }
    let found = permutation(
        question.treatment,
        question.control,
        PermutationStatistic::WelchT,
        question.options.resamples,
        question.options.seed,
    )?;
    Ok(Finding::by_p(Meaning::Difference, difference, &found.p, None, question.options.alpha))
}

fn resampled(question: &Question<'_>) -> Result<Finding, Reason> {
    // One observation has no resamples but itself.
    question.treatment.require(2)?;
    question.control.require(2)?;
    let found = question.resampled.as_ref().map_err(|error| *error)?;
    if found.status != Status::Regular {
        return Err(Reason::Degenerate(found.status));
    }
    let interval: Interval = found.bca_interval(question.level())?.interval;
    Ok(Finding::by_interval(found.observed, interval))
}

fn blocks(question: &Question<'_>) -> Result<Finding, Reason> {
    if !question.options.paired {
        return Err(Reason::NotPaired);
    }
    let found = paired_t_of_ratios(question.treatment, question.control)?;
    let test = found.test.ok_or(Reason::Degenerate(found.status))?;
    let interval = found.interval(question.level())?.map(|interval| interval.map(f64::exp_m1));
    let change = found.difference.exp_m1();
    Ok(Finding::by_p(Meaning::RelativeChange, change, &test.p, interval, question.options.alpha))
}

fn raw_blocks(question: &Question<'_>) -> Result<Finding, Reason> {
    if !question.options.paired {
        return Err(Reason::NotPaired);
    }
    let found = paired_t(question.treatment, question.control)?;
    let test = found.test.ok_or(Reason::Degenerate(found.status))?;
    let interval = found.interval(question.level())?;
    Ok(Finding::by_p(Meaning::Difference, found.difference, &test.p, interval, question.options.alpha))
}
