use crate::store::RunData;
use std::collections::BTreeMap;

/// The measured samples of a run, by metric, cell and arm, each with its block.
#[derive(Clone, Debug, Default)]
pub struct Samples(BTreeMap<(String, String, String), BTreeMap<u32, f64>>);

impl Samples {
    /// The measured samples of `run`, without its warm-ups.
    pub fn of(run: &RunData) -> Self {
        let mut samples = Self::default();
        for set in run.sets.iter().filter(|it| !it.warmup) {
            let key = (set.metric.clone(), set.cell.clone(), set.arm.clone());
            let blocks = samples.0.entry(key).or_default();
            blocks.extend((set.first_block..).zip(set.values.iter().copied()));
        }
        samples
    }

    /// The values of one metric, cell and arm, in order of their blocks.
    pub fn values(&self, metric: &str, cell: &str, arm: &str) -> Vec<f64> {
        self.blocks(metric, cell, arm).map(|(_, value)| value).collect()
    }

    /// Block and value of one metric, cell and arm, in order.
    pub fn blocks(&self, metric: &str, cell: &str, arm: &str) -> impl Iterator<Item = (u32, f64)> {
        let key = (metric.to_owned(), cell.to_owned(), arm.to_owned());
        self.0.get(&key).into_iter().flatten().map(|(block, value)| (*block, *value))
    }
}
