use super::judge::Judged;
use crate::analyse::{Comparison, Gain, Undefined};
use crate::stats::{Sample, geometric_mean};

/// What is claimed of one metric of two arms in several cells, in one number. Nothing is decided by it.
#[derive(Clone, Debug)]
pub struct Overall {
    /// The metric.
    pub metric: String,
    /// The arm in question.
    pub treatment: String,
    /// What it is compared with.
    pub control: String,
    /// In how many cells something is claimed of it.
    pub cells: usize,
    /// The geometric mean of the ratios over these cells, as a share, with its interval over the blocks.
    pub gain: Result<Gain, Undefined>,
}

/// Every metric of two arms of which something is claimed in several cells, in the order of the hypotheses.
pub(super) fn overall(hypotheses: &[Judged], level: f64) -> Vec<Overall> {
    let mut groups: Vec<Vec<&Comparison>> = Vec::new();
    for it in hypotheses.iter().map(|it| &it.comparison).filter(|it| it.additivity.is_none()) {
        let alike = |that: &&Comparison| {
            (&that.metric, &that.treatment, &that.control) == (&it.metric, &it.treatment, &it.control)
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(alike)) {
            // Two claims of one cell are of the same samples.
            Some(group) if group.iter().any(|that| that.cell == it.cell) => {}
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups.retain(|group| group.len() > 1);
    let of_group = |group: Vec<&Comparison>| Overall {
        metric: group[0].metric.clone(),
        treatment: group[0].treatment.clone(),
        control: group[0].control.clone(),
        cells: group.len(),
        gain: gain(&group, level),
    };
    groups.into_iter().map(of_group).collect()
}

fn gain(group: &[&Comparison], level: f64) -> Result<Gain, Undefined> {
    let mut pairs: Vec<(&Sample, &Sample)> = Vec::new();
    for it in group {
        let pair = it.samples.as_ref().filter(|pair| pair.by_block);
        let pair =
            pair.ok_or_else(|| Undefined("the arms were not measured together in every cell".to_owned()))?;
        pairs.push((&pair.treatment, &pair.control));
    }
    if pairs.iter().any(|(it, _)| it.len() != pairs[0].0.len()) {
        return Err(Undefined("the cells do not have equally many blocks".to_owned()));
    }
    let mean = geometric_mean(&pairs)?;
    Ok(group[0].oriented_gain(mean.change, mean.change_interval(level)?, level))
}
