//! Builds the nodes of an image from keys that come in order, in one pass.
//!
//! What is held: the entries of the bucket that is growing, the inner nodes on the way to it with their finished
//! children, and a run of inner nodes that gathers. A group of keys below an edge waits until it does not fit into a bucket
//! any more; then it becomes an inner node, and it stays one, as more keys never fit better. So the nodes are those of the
//! rule in `FORMAT.md`.

use super::super::bucket::{MAX_ENTRIES, common_len, fits};
use super::super::fingerprint::fingerprint;
use super::group::Group;
use super::layout::{
    FLAG_EVEN, FLAG_FRONT, FLAG_LONG_PREFIX, FLAG_TABLE, FLAG_VALUE, FLAG_WIDE, KIND_BUCKET, KIND_INNER,
    MAX_LISTED, MAX_SECTION, MAX_SHORT_PREFIX, NO_CHILD, NO_ROOT, Shape, UNIT,
};
use super::output::Output;
use super::packed::pack;
use super::run::Run;
use crate::error::Error;

/// Why building stopped.
pub(in crate::trie) enum Stop {
    Storage(Error),
    TooLarge,
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Storage(fault) => fault,
            Stop::TooLarge => Self::ImageTooLarge { limit: MAX_SECTION },
        }
    }
}

impl From<Error> for Stop {
    fn from(fault: Error) -> Self {
        Self::Storage(fault)
    }
}

type Done<T = ()> = Result<T, Stop>;

/// The nodes of an image that were built.
pub(super) struct Built {
    pub(super) root: u32,
    pub(super) nodes: u32,
}

/// Builds nodes behind what an output has already.
pub(super) struct Builder {
    shape: Shape,
    front_coded: bool,
    base: u64,
    nodes: u32,
    /// Keys so far.
    count: u64,
    last: Vec<u8>,
    group: Group,
    /// Inner nodes on the way to the group, the root first.
    frames: Vec<Frame>,
    spare: Vec<Frame>,
    run: Run,
}

/// Bytes of a run that is put in its place before the end.
const MAX_RUN: usize = 64 << 20;

/// An inner node that is growing.
#[derive(Default)]
struct Frame {
    /// Bytes of the keys at the end of its prefix.
    depth: usize,
    /// Slot and rank of the key that ends there.
    value: Option<([u8; 8], u64)>,
    edges: Vec<u8>,
    offsets: Vec<u16>,
    /// Its children, complete but for their place.
    cluster: Vec<u8>,
    /// There is an inner node among them.
    inner: bool,
    /// Where in the cluster units are that count from the start of the run.
    relative: Vec<usize>,
}

impl Builder {
    /// A builder that puts its nodes behind what `out` has.
    pub(super) fn new(shape: Shape, front_coded: bool, out: &Output<'_>) -> Self {
        Self {
            shape,
            front_coded,
            base: out.len(),
            nodes: 0,
            count: 0,
            last: Vec::new(),
            group: Group::default(),
            frames: Vec::new(),
            spare: Vec::new(),
            run: Run::default(),
        }
    }

    /// How many keys there are so far.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// The key that came last.
    pub(super) fn last(&self) -> Option<&[u8]> {
        (self.count > 0).then_some(&self.last)
    }

    /// Puts a value of variable length behind the nodes so far and returns the slot that refers to it.
    pub(super) fn variable(&mut self, value: &[u8], out: &mut Output<'_>) -> Done<[u8; 4]> {
        let len = u32::try_from(value.len()).map_err(|_| Stop::TooLarge)?;
        let unit = self.place(&len.to_le_bytes(), value, out)?;
        Ok(unit.to_le_bytes())
    }

    /// Adds an entry, whose key is above all before.
    pub(super) fn push(&mut self, key: &[u8], slot: &[u8], out: &mut Output<'_>) -> Done {
        if self.shape.ranks && self.count > u64::from(u32::MAX) {
            return Err(Stop::TooLarge);
        }
        let shared = common_len(&self.last, key);
        if self.count > 0 && self.frames.last().is_some_and(|frame| shared <= frame.depth) {
            self.close_group(out)?;
            self.close_frames(Some(shared), out)?;
        }
        self.add(key, slot, shared, out)?;
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.count += 1;
        Ok(())
    }

    /// Adds an entry to the group, which becomes an inner node if it does not fit.
    fn add(&mut self, key: &[u8], slot: &[u8], shared: usize, out: &mut Output<'_>) -> Done {
        loop {
            if self.group.len() == 0 {
                self.group.rank = self.count;
                self.group.shared = key.len();
                self.group.push(key, slot);
                return Ok(());
            }
            let common = self.group.shared.min(shared);
            let n = self.group.len() + 1;
            if fits(n, self.group.keys.len() + key.len(), common) {
                self.group.shared = common;
                self.group.push(key, slot);
                return Ok(());
            }
            self.split(common, shared > common, out)?;
        }
    }

    /// Makes an inner node of the group, whose keys part after `depth` bytes. The last of the groups below it stays
    /// open if `open` says that the next key belongs to it.
    fn split(&mut self, depth: usize, open: bool, out: &mut Output<'_>) -> Done {
        let width = self.shape.slot;
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.depth = depth;
        if self.group.key(0).len() == depth {
            let mut slot = [0; 8];
            slot[..width].copy_from_slice(self.group.slot(0, width));
            frame.value = Some((slot, self.group.rank));
            self.group.drain(1, width);
        }
        self.frames.push(frame);
        while self.group.len() > 0 {
            let edge = self.group.key(0)[depth];
            let run =
                (1..self.group.len()).take_while(|&index| self.group.key(index)[depth] == edge).count() + 1;
            let shared = common_len(self.group.key(0), self.group.key(run - 1));
            if run == self.group.len() && open {
                self.group.shared = shared;
                return Ok(());
            }
            self.bucket(run, depth + 1, shared, out)?;
            self.group.drain(run, width);
        }
        Ok(())
    }

    /// Writes the group as a bucket of the innermost inner node.
    fn close_group(&mut self, out: &mut Output<'_>) -> Done {
        if self.group.len() > 0 {
            let above = self.frames.last().map_or(0, |frame| frame.depth + 1);
            self.bucket(self.group.len(), above, self.group.shared, out)?;
        }
        self.group.clear(self.count);
        Ok(())
    }

    /// Completes the inner nodes that the next key, which has `shared` bytes in common with the last one, is not below.
    fn close_frames(&mut self, shared: Option<usize>, out: &mut Output<'_>) -> Done<Option<u32>> {
        while let Some(frame) = self.frames.pop() {
            if shared.is_some_and(|shared| frame.depth <= shared) {
                self.frames.push(frame);
                return Ok(None);
            }
            if let Some(shared) = shared
                && self.frames.last().is_none_or(|above| above.depth < shared)
            {
                let mut parent = self.spare.pop().unwrap_or_default();
                parent.depth = shared;
                self.frames.push(parent);
            }
            let above = self.frames.last().map_or(0, |above| above.depth + 1);
            let children = if frame.inner {
                self.run.push(&frame.cluster, frame.depth, &frame.relative)
            } else {
                self.place(&frame.cluster, &[], out)?
            };
            let children = if frame.inner && (self.frames.is_empty() || self.run.len() > MAX_RUN) {
                self.place_run(children, out)?
            } else {
                children
            };
            let relative = frame.inner && !self.run.is_empty();
            let key = std::mem::take(&mut self.last);
            let (flag, prefix) = self.prefix(&key[above..frame.depth], out)?;
            let mut node = self.begin_child(&key, above);
            self.last = key;
            if let Some(parent) = self.frames.last_mut() {
                parent.inner = true;
                if relative {
                    parent.relative.push(node.len() + CHILDREN_AT);
                }
            }
            self.inner(&frame, children, flag, prefix.bytes(), &mut node);
            let root = self.end_child(node, out)?;
            self.reuse(frame);
            if root.is_some() {
                return Ok(root);
            }
        }
        Ok(None)
    }

    /// Gives the run its place, and all that refers to it the right units; returns that of the cluster at `unit` of the run.
    fn place_run(&mut self, unit: u32, out: &mut Output<'_>) -> Done<u32> {
        let mut run = std::mem::take(&mut self.run);
        run.arrange(self.next_unit(run.len(), out)?);
        for frame in &mut self.frames {
            frame.relative.iter().for_each(|&at| run.settle(&mut frame.cluster, at));
            frame.relative.clear();
        }
        run.arranged().try_for_each(|cluster| out.push(cluster))?;
        Ok(run.unit(unit))
    }

    fn reuse(&mut self, mut frame: Frame) {
        frame.value = None;
        frame.inner = false;
        frame.relative.clear();
        frame.edges.clear();
        frame.offsets.clear();
        frame.cluster.clear();
        if self.spare.len() < 64 {
            self.spare.push(frame);
        }
    }

    /// The cluster that a child whose keys start with `key[..above]` goes to.
    fn begin_child(&mut self, key: &[u8], above: usize) -> Vec<u8> {
        let Some(parent) = self.frames.last_mut() else { return Vec::new() };
        parent.edges.push(key[above - 1]);
        parent.offsets.push((parent.cluster.len() as u64 / UNIT) as u16);
        std::mem::take(&mut parent.cluster)
    }

    /// Takes the cluster back; without a parent the child is the root, which gets its place.
    fn end_child(&mut self, mut cluster: Vec<u8>, out: &mut Output<'_>) -> Done<Option<u32>> {
        cluster.resize(cluster.len().next_multiple_of(UNIT as usize), 0);
        self.nodes = self.nodes.checked_add(1).ok_or(Stop::TooLarge)?;
        if let Some(parent) = self.frames.last_mut() {
            parent.cluster = cluster;
            return Ok(None);
        }
        self.place(&cluster, &[], out).map(Some)
    }

    fn inner(&self, frame: &Frame, children: u32, flag: u8, prefix: &[u8], node: &mut Vec<u8>) {
        let n = frame.edges.len();
        let (low, high) = (frame.edges[0], frame.edges[n - 1]);
        let places = usize::from(high - low) + 1;
        // A table is looked at once; it is taken where it is not larger than a list, too.
        let table = n > MAX_LISTED || 2 * places <= 3 * n;
        let kind = KIND_INNER
            | flag
            | if frame.value.is_some() { FLAG_VALUE } else { 0 }
            | if table { FLAG_TABLE } else { 0 };
        let prefix_len = if flag == 0 { prefix.len() as u8 } else { 0 };
        let [last, low] = if table { [high - low, low] } else { [(n - 1) as u8, 0] };
        node.extend([kind, last, prefix_len, low]);
        node.extend(children.to_le_bytes());
        node.extend_from_slice(prefix);
        if table {
            let mut table = [NO_CHILD; 256];
            for (&edge, &offset) in frame.edges.iter().zip(&frame.offsets) {
                table[usize::from(edge - low)] = offset;
            }
            node.extend(table[..places].iter().flat_map(|offset| offset.to_le_bytes()));
        } else {
            node.extend_from_slice(&frame.edges);
            node.extend(frame.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        }
        // Behind what every way needs, which then is at the same place in all nodes.
        if let Some((slot, rank)) = &frame.value {
            if self.shape.ranks {
                node.extend((*rank as u32).to_le_bytes());
            }
            node.extend_from_slice(&slot[..self.shape.slot]);
        }
    }

    /// Writes the first `n` entries of the group, whose keys part after `shared` bytes, as a child of the innermost
    /// inner node or, if there is none, as the root.
    fn bucket(&mut self, n: usize, above: usize, shared: usize, out: &mut Output<'_>) -> Done<Option<u32>> {
        let group = std::mem::take(&mut self.group);
        let (flag, prefix) = self.prefix(&group.key(0)[above..shared], out)?;
        let mut node = self.begin_child(group.key(0), above);
        let tails = (0..n).map(|index| &group.key(index)[shared..]);
        let coded = if self.front_coded { front_coding(tails.clone()) } else { None };
        let total = group.start(n) - n * shared;
        let first = group.ends[0] - shared;
        let even = coded.is_none() && first <= 255 && tails.clone().all(|tail| tail.len() == first);
        let wide = !even && coded.as_ref().map_or(total > 255, |coded| coded.wide);
        let kind = KIND_BUCKET
            | flag
            | if even { FLAG_EVEN } else { 0 }
            | if wide { FLAG_WIDE } else { 0 }
            | if coded.is_some() { FLAG_FRONT } else { 0 };
        node.extend([kind, n as u8, if flag == 0 { prefix.bytes().len() as u8 } else { 0 }]);
        let width_at = node.len();
        node.push(0);
        if self.shape.ranks {
            node.extend((group.rank as u32).to_le_bytes());
        }
        if let Some(coded) = &coded {
            node.extend_from_slice(&coded.lens);
        } else {
            node.extend(tails.clone().map(fingerprint));
            if even {
                node.push(first as u8);
            } else {
                let mut end = 0;
                for tail in tails.clone() {
                    end += tail.len();
                    node.extend_from_slice(&(end as u16).to_le_bytes()[..if wide { 2 } else { 1 }]);
                }
            }
        }
        node.extend_from_slice(prefix.bytes());
        pack(&group.slots[..n * self.shape.slot], self.shape.slot, width_at, &mut node);
        match &coded {
            Some(coded) => node.extend_from_slice(&coded.tails),
            None => tails.for_each(|tail| node.extend_from_slice(tail)),
        }
        let root = self.end_child(node, out)?;
        self.group = group;
        Ok(root)
    }

    /// A prefix as a node holds it; a long one gets its place first.
    fn prefix(&mut self, bytes: &[u8], out: &mut Output<'_>) -> Done<(u8, Prefix)> {
        let mut prefix = Prefix { held: [0; MAX_SHORT_PREFIX], len: bytes.len() };
        if bytes.len() <= MAX_SHORT_PREFIX {
            prefix.held[..bytes.len()].copy_from_slice(bytes);
            return Ok((0, prefix));
        }
        let unit = self.place(bytes, &[], out)?;
        prefix.len = 8;
        prefix.held[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        prefix.held[4..8].copy_from_slice(&unit.to_le_bytes());
        Ok((FLAG_LONG_PREFIX, prefix))
    }

    /// Gives bytes their place in the section and returns its unit.
    fn place(&mut self, first: &[u8], second: &[u8], out: &mut Output<'_>) -> Done<u32> {
        let unit = self.next_unit(first.len() + second.len(), out)?;
        out.push(first)?;
        out.push(second)?;
        out.pad_to(UNIT);
        Ok(unit)
    }

    /// The unit where so many bytes are going to be, if they have room.
    fn next_unit(&self, len: usize, out: &Output<'_>) -> Done<u32> {
        let offset = out.len() - self.base;
        if offset + len as u64 > MAX_SECTION - 4 * UNIT {
            return Err(Stop::TooLarge);
        }
        Ok((offset / UNIT) as u32)
    }

    /// Completes everything.
    pub(super) fn finish(mut self, out: &mut Output<'_>) -> Done<Built> {
        let root = if self.count == 0 {
            Some(NO_ROOT)
        } else if self.frames.is_empty() {
            self.bucket(self.group.len(), 0, self.group.shared, out)?
        } else {
            self.close_group(out)?;
            self.close_frames(None, out)?
        };
        Ok(Built { root: root.unwrap_or(NO_ROOT), nodes: self.nodes })
    }
}

/// Where an inner node has the unit of its children.
const CHILDREN_AT: usize = 4;

struct Prefix {
    held: [u8; MAX_SHORT_PREFIX],
    len: usize,
}

impl Prefix {
    fn bytes(&self) -> &[u8] {
        &self.held[..self.len]
    }
}

/// Tails without what each shares with the one before.
struct Coded {
    lens: Vec<u8>,
    tails: Vec<u8>,
    wide: bool,
}

/// Front-codes tails, if that makes them smaller.
fn front_coding<'k>(tails: impl Iterator<Item = &'k [u8]> + Clone) -> Option<Coded> {
    let (mut pairs, mut plain, mut n) = (Vec::with_capacity(MAX_ENTRIES), 0, 0);
    let mut before: &[u8] = b"";
    for tail in tails.clone() {
        pairs.push((common_len(before, tail), tail.len()));
        (before, plain, n) = (tail, plain + tail.len(), n + 1);
    }
    let coded = |limit: usize| -> Option<usize> {
        pairs.iter().try_fold(0, |sum, &(shared, len)| {
            let rest = len - shared.min(limit);
            (rest <= limit).then_some(sum + rest)
        })
    };
    let narrow = coded(15).map(|rest| rest + n);
    let wide = coded(255).map(|rest| rest + 2 * n);
    let best = [narrow, wide].into_iter().flatten().min()?;
    // Fingerprint and end of each tail take two or three bytes.
    if best >= plain + if plain > 255 { 3 * n } else { 2 * n } {
        return None;
    }
    let wide = narrow != Some(best);
    let limit = if wide { 255 } else { 15 };
    let mut coded = Coded { lens: Vec::new(), tails: Vec::new(), wide };
    for (tail, &(shared, len)) in tails.zip(&pairs) {
        let shared = shared.min(limit);
        if wide {
            coded.lens.extend([shared as u8, (len - shared) as u8]);
        } else {
            coded.lens.push((shared << 4 | (len - shared)) as u8);
        }
        coded.tails.extend_from_slice(&tail[shared..]);
    }
    Some(coded)
}
