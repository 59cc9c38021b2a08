use crate::prereg::{Design, Prereg};
use crate::store::{RunData, SampleSet};
use crate::vocab::Replicate;
use std::collections::BTreeMap;

/// The measured samples of a run, by metric, cell and arm, each with its block.
#[derive(Clone, Debug, Default)]
pub struct Samples(BTreeMap<(String, String, String), BTreeMap<u32, f64>>);

impl Samples {
    /// The measured samples of `run`, without its warm-ups.
    pub fn of(run: &RunData) -> Self {
        Self::of_sets(&run.sets)
    }

    /// What the rule decides by: the means of the units of replication, numbered in place of the blocks.
    pub fn units(&self, design: &Design) -> Self {
        if design.unit() == Replicate::Block {
            return self.clone();
        }
        let means = |blocks: &BTreeMap<u32, f64>| {
            let mut units: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (&block, &value) in blocks {
                units.entry(design.unit_of(block)).or_default().push(value);
            }
            // Sums of at most 100,000 finite numbers: each is divided first, so that none is out of range.
            let mean = |all: &Vec<f64>| all.iter().map(|it| it / all.len() as f64).sum();
            units.iter().map(|(unit, all)| (*unit, mean(all))).collect()
        };
        Self(self.0.iter().map(|(key, blocks)| (key.clone(), means(blocks))).collect())
    }

    /// The measured ones of some sets.
    pub(super) fn of_sets(sets: &[SampleSet]) -> Self {
        let mut samples = Self::default();
        for set in sets.iter().filter(|it| !it.warmup) {
            let key = (set.metric.clone(), set.cell.clone(), set.arm.clone());
            let blocks = samples.0.entry(key).or_default();
            blocks.extend((set.first_block..).zip(set.values.iter().copied()));
        }
        samples
    }

    /// The samples of the first so many blocks.
    pub(super) fn first(&self, blocks: u32) -> Self {
        let first = |all: &BTreeMap<u32, f64>| all.range(..blocks).map(|(at, it)| (*at, *it)).collect();
        Self(self.0.iter().map(|(key, all)| (key.clone(), first(all))).collect())
    }

    /// How many blocks a cell has: up to the last one of any of its samples.
    pub(super) fn blocks_of(&self, prereg: &Prereg, cell: &str) -> u32 {
        let names = prereg.metrics.iter().flat_map(|it| prereg.arms.iter().map(|arm| (&it.name, &arm.name)));
        let last = |(metric, arm): (&String, &String)| {
            let key = (metric.clone(), cell.to_owned(), arm.clone());
            Some(self.0.get(&key)?.last_key_value()?.0 + 1)
        };
        names.filter_map(last).max().unwrap_or(0)
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
