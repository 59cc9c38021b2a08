//! Keys that wait for the bucket that they will be in.

/// Entries that may become a bucket.
#[derive(Default)]
pub(super) struct Group {
    pub(super) keys: Vec<u8>,
    pub(super) ends: Vec<usize>,
    pub(super) slots: Vec<u8>,
    /// Bytes all its keys have in common.
    pub(super) shared: usize,
    /// The rank of its first key.
    pub(super) rank: u64,
}

impl Group {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    pub(super) fn key(&self, index: usize) -> &[u8] {
        &self.keys[self.start(index)..self.ends[index]]
    }

    pub(super) fn slot(&self, index: usize, width: usize) -> &[u8] {
        &self.slots[index * width..(index + 1) * width]
    }

    pub(super) fn push(&mut self, key: &[u8], slot: &[u8]) {
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.slots.extend_from_slice(slot);
    }

    /// Takes the first `n` entries off.
    pub(super) fn drain(&mut self, n: usize, width: usize) {
        let bytes = self.start(n);
        self.keys.drain(..bytes);
        self.ends.drain(..n);
        self.ends.iter_mut().for_each(|end| *end -= bytes);
        self.slots.drain(..n * width);
        self.rank += n as u64;
    }

    pub(super) fn clear(&mut self, rank: u64) {
        self.keys.clear();
        self.ends.clear();
        self.slots.clear();
        self.rank = rank;
    }
}
