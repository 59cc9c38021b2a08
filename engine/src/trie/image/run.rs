//! Clusters of children that get their places together.
//!
//! Every lookup goes through inner nodes first. Where those of the upper levels lie side by side at the end of the section,
//! few lines and pages of memory have to be near, and the first lookup faults few pages in.

use std::cmp::Reverse;

use super::layout::UNIT;

/// Clusters with inner nodes in them that have no place yet. What refers to them lies in other such clusters.
#[derive(Default)]
pub(super) struct Run {
    bytes: Vec<u8>,
    clusters: Vec<Cluster>,
    /// Where units are that count from the start of the run.
    relative: Vec<usize>,
}

struct Cluster {
    /// Its first byte in the run.
    start: usize,
    /// Bytes that all its keys share.
    depth: usize,
    /// The unit of the section where it is going to start.
    unit: u32,
}

impl Run {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds a cluster, with units in it that count from the start of the run at `relative`. The result is its unit in the run.
    pub(super) fn push(&mut self, cluster: &[u8], depth: usize, relative: &[usize]) -> u32 {
        let start = self.bytes.len();
        self.relative.extend(relative.iter().map(|&at| start + at));
        self.clusters.push(Cluster { start, depth, unit: 0 });
        self.bytes.extend_from_slice(cluster);
        (start as u64 / UNIT) as u32
    }

    /// The deepest clusters first, so that children lie before their parents, each with the unit where it starts if the first
    /// one does at `first`.
    pub(super) fn arrange(&mut self, first: u32) {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        order.sort_by_key(|&index| Reverse(self.clusters[index].depth));
        let mut unit = first;
        for index in order {
            self.clusters[index].unit = unit;
            unit = unit.wrapping_add((self.span(index).len() as u64 / UNIT) as u32);
        }
        let (relative, mut bytes) = (std::mem::take(&mut self.relative), std::mem::take(&mut self.bytes));
        relative.into_iter().for_each(|at| self.settle(&mut bytes, at));
        self.bytes = bytes;
    }

    fn span(&self, index: usize) -> std::ops::Range<usize> {
        let end = self.clusters.get(index + 1).map_or(self.bytes.len(), |next| next.start);
        self.clusters[index].start..end
    }

    /// The unit of the section, of a cluster by its unit in the run.
    pub(super) fn unit(&self, unit: u32) -> u32 {
        let start = unit as usize * UNIT as usize;
        let found = self.clusters.binary_search_by_key(&start, |cluster| cluster.start);
        found.map_or(unit, |index| self.clusters[index].unit)
    }

    /// Replaces the unit in the run at `at` by that of the section.
    pub(super) fn settle(&self, bytes: &mut [u8], at: usize) {
        if let Some(unit) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
            *unit = self.unit(u32::from_le_bytes(*unit)).to_le_bytes();
        }
    }

    /// The clusters in the order of their places.
    pub(super) fn arranged(&self) -> impl Iterator<Item = &[u8]> {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        order.sort_by_key(|&index| self.clusters[index].unit);
        order.into_iter().map(|index| &self.bytes[self.span(index)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_lie_behind_deeper_ones() {
        let mut run = Run::default();
        let deep = run.push(&[1; 8], 9, &[]);
        let middle = run.push(&[&deep.to_le_bytes()[..], &[2; 12]].concat(), 5, &[0]);
        let other = run.push(&[3; 16], 6, &[]);
        let high = run.push(
            &[&[4; 4][..], &middle.to_le_bytes(), &other.to_le_bytes(), &[4; 4]].concat(),
            1,
            &[4, 8],
        );
        assert_eq!([deep, middle, other, high], [0, 1, 3, 5]);
        run.arrange(70);
        assert_eq!([deep, middle, other, high].map(|unit| run.unit(unit)), [70, 73, 71, 75]);
        let bytes: Vec<u8> = run.arranged().flatten().copied().collect();
        let unit = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((bytes[0], bytes[8], unit(24), unit(44), unit(48)), (1, 3, 70, 73, 71));
    }
}
