//! Writes the nodes of an image from sorted entries: children before their parents, siblings side by side.

use std::ops::Range;

use super::super::bucket::{common_len, fits};
use super::super::fingerprint::fingerprint;
use super::layout::{
    FLAG_LONG_PREFIX, FLAG_VALUE, KIND_BUCKET, KIND_INNER, MAX_SECTION, MAX_SHORT_PREFIX, NO_ROOT, UNIT,
};
use crate::error::{Error, Result};

/// Entries in the order of their keys.
#[derive(Default)]
pub(in crate::trie) struct Entries {
    keys: Vec<u8>,
    ends: Vec<usize>,
    values: Vec<u8>,
    width: usize,
}

impl Entries {
    pub(in crate::trie) fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds an entry; its key is above all keys before.
    pub(in crate::trie) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.values.extend_from_slice(value);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    fn key(&self, index: usize) -> &[u8] {
        &self.keys[self.start(index)..self.ends[index]]
    }

    fn value(&self, index: usize) -> &[u8] {
        &self.values[index * self.width..][..self.width]
    }

    /// How many bytes the keys of `range` have in common after the first `depth`.
    fn common(&self, range: &Range<usize>, depth: usize) -> usize {
        common_len(&self.key(range.start)[depth..], &self.key(range.end - 1)[depth..])
    }

    /// The end of the run of keys in `range` that have the same byte at `depth` as its first.
    fn run(&self, range: &Range<usize>, depth: usize) -> usize {
        let edge = self.key(range.start)[depth];
        let (mut low, mut stride) = (range.start, 1);
        while low + stride < range.end && self.key(low + stride)[depth] == edge {
            low += stride;
            stride *= 2;
        }
        // The last of the run is in low..high.
        let mut high = (low + stride).min(range.end);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.key(middle)[depth] == edge {
                low = middle;
            } else {
                high = middle;
            }
        }
        low + 1
    }
}

/// The nodes of an image.
pub(super) struct Nodes {
    pub(super) root: u32,
    pub(super) count: u32,
}

/// An inner node whose children are being written.
struct Frame {
    /// The entries below it, without the one that ends at it.
    range: Range<usize>,
    /// Bytes of the keys above its prefix, and with its prefix.
    above: usize,
    depth: usize,
    /// The entry that ends at it.
    value: Option<usize>,
    edges: Vec<u8>,
    offsets: Vec<u16>,
    /// Its children, complete but for their place.
    cluster: Vec<u8>,
}

/// Writes the nodes of `entries` to the end of `out`, whose first `base` bytes belong to others.
pub(super) fn write_nodes(entries: &Entries, out: &mut Vec<u8>, base: usize) -> Result<Nodes> {
    let mut writer = Writer { entries, out, base, count: 0 };
    let root = if entries.len() == 0 { NO_ROOT } else { writer.tree()? };
    Ok(Nodes { root, count: writer.count })
}

struct Writer<'e> {
    entries: &'e Entries,
    out: &'e mut Vec<u8>,
    base: usize,
    count: u32,
}

impl Writer<'_> {
    fn tree(&mut self) -> Result<u32> {
        let everything = 0..self.entries.len();
        let mut top = Vec::new();
        let mut frames = Vec::new();
        self.begin(everything, 0, &mut top, &mut frames)?;
        while let Some(frame) = frames.last_mut() {
            if frame.range.is_empty() {
                let done = frames.pop().expect("it is the last");
                let above = frames.last_mut().map_or(&mut top, |frame| &mut frame.cluster);
                self.inner(&done, above)?;
                continue;
            }
            let (depth, start) = (frame.depth, frame.range.start);
            let end = self.entries.run(&frame.range, depth);
            frame.range.start = end;
            frame.edges.push(self.entries.key(start)[depth]);
            frame.offsets.push((frame.cluster.len() as u64 / UNIT) as u16);
            let mut cluster = std::mem::take(&mut frame.cluster);
            let parent = frames.len() - 1;
            self.begin(start..end, depth + 1, &mut cluster, &mut frames)?;
            frames[parent].cluster = cluster;
        }
        self.place(&top)
    }

    /// Writes a bucket for `range` to `cluster`, or begins an inner node.
    fn begin(
        &mut self,
        range: Range<usize>,
        depth: usize,
        cluster: &mut Vec<u8>,
        frames: &mut Vec<Frame>,
    ) -> Result<()> {
        let shared = self.entries.common(&range, depth);
        let bytes = self.entries.ends[range.end - 1] - self.entries.start(range.start) - range.len() * depth;
        if fits(range.len(), bytes, shared) {
            return self.bucket(range, depth, depth + shared, cluster);
        }
        let above = depth;
        let depth = depth + shared;
        let mut range = range;
        let value = (self.entries.key(range.start).len() == depth).then_some(range.start);
        range.start += usize::from(value.is_some());
        frames.push(Frame {
            range,
            above,
            depth,
            value,
            edges: Vec::new(),
            offsets: Vec::new(),
            cluster: Vec::new(),
        });
        Ok(())
    }

    fn bucket(&mut self, range: Range<usize>, above: usize, depth: usize, out: &mut Vec<u8>) -> Result<()> {
        let prefix = self.prefix(range.start, above, depth)?;
        let tails = range.clone().map(|index| &self.entries.key(index)[depth..]);
        let total: usize = tails.clone().map(<[u8]>::len).sum();
        out.extend([KIND_BUCKET | prefix.flag, range.len() as u8, prefix.len, total as u8]);
        out.extend(tails.clone().map(fingerprint));
        let mut end = 0;
        out.extend(tails.clone().map(|tail| {
            end += tail.len();
            end as u8
        }));
        range.clone().for_each(|index| out.extend_from_slice(self.entries.value(index)));
        out.extend_from_slice(prefix.bytes());
        tails.for_each(|tail| out.extend_from_slice(tail));
        self.finish(out)
    }

    fn inner(&mut self, frame: &Frame, out: &mut Vec<u8>) -> Result<()> {
        let children = self.place(&frame.cluster)?;
        let first = frame.range.start - 1;
        let prefix = self.prefix(first, frame.above, frame.depth)?;
        let flags = prefix.flag | if frame.value.is_some() { FLAG_VALUE } else { 0 };
        out.extend([KIND_INNER | flags, (frame.edges.len() - 1) as u8, prefix.len, 0]);
        out.extend(children.to_le_bytes());
        if let Some(index) = frame.value {
            out.extend_from_slice(self.entries.value(index));
        }
        out.extend_from_slice(prefix.bytes());
        out.extend_from_slice(&frame.edges);
        out.extend(frame.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        self.finish(out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.resize(out.len().next_multiple_of(UNIT as usize), 0);
        self.count = self.count.checked_add(1).ok_or(Error::ImageTooLarge { limit: MAX_SECTION })?;
        Ok(())
    }

    /// Gives bytes their place in the section and returns its unit.
    fn place(&mut self, bytes: &[u8]) -> Result<u32> {
        let offset = (self.out.len() - self.base) as u64;
        if offset + bytes.len() as u64 > MAX_SECTION {
            return Err(Error::ImageTooLarge { limit: MAX_SECTION });
        }
        self.out.extend_from_slice(bytes);
        self.out.resize(self.base + (self.out.len() - self.base).next_multiple_of(UNIT as usize), 0);
        Ok((offset / UNIT) as u32)
    }

    /// The bytes from `above` to `depth` of a key, as a node has them; long ones are placed in the section.
    fn prefix(&mut self, index: usize, above: usize, depth: usize) -> Result<Prefix> {
        let entries = self.entries;
        let bytes = &entries.key(index)[above..depth];
        let mut prefix = Prefix { flag: 0, len: 0, used: bytes.len(), held: [0; MAX_SHORT_PREFIX] };
        if bytes.len() <= MAX_SHORT_PREFIX {
            prefix.len = bytes.len() as u8;
            prefix.held[..bytes.len()].copy_from_slice(bytes);
        } else {
            let unit = self.place(bytes)?;
            prefix.flag = FLAG_LONG_PREFIX;
            prefix.used = 8;
            prefix.held[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            prefix.held[4..8].copy_from_slice(&unit.to_le_bytes());
        }
        Ok(prefix)
    }
}

/// A prefix as a node holds it.
struct Prefix {
    flag: u8,
    len: u8,
    used: usize,
    held: [u8; MAX_SHORT_PREFIX],
}

impl Prefix {
    fn bytes(&self) -> &[u8] {
        &self.held[..self.used]
    }
}
