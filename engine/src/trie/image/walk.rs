//! Walks the entries of an image in the order of their keys, forwards and backwards, from anywhere.

use super::super::bucket::common_len;
use super::nodes::{BucketView, Damage, Hit, InnerView, Nodes, View};

/// A place in an image: at an entry, or at none.
///
/// Nodes that share bytes would let a small file unfold into a huge tree, so the bytes of all nodes that were entered
/// may add up to those of their section; a walk in one direction enters a node once. A turn starts a new sum.
#[derive(Clone)]
pub(in crate::trie) struct Walker<'i> {
    nodes: Nodes<'i>,
    root: Option<u32>,
    key: Vec<u8>,
    frames: Vec<Frame<'i>>,
    spent: u64,
    entered: u64,
    backwards: bool,
}

#[derive(Clone)]
struct Frame<'i> {
    view: View<'i>,
    /// Bytes of the key at the end of the prefix of the node.
    depth: usize,
    /// In a bucket: the entry. In an inner node: 0 for its own key, `i + 1` for child `i`.
    place: usize,
}

type Found<'i> = Result<Option<Hit>, Damage>;

impl<'i> Walker<'i> {
    pub(in crate::trie) fn new(nodes: Nodes<'i>, root: Option<u32>) -> Self {
        Self { nodes, root, key: Vec::new(), frames: Vec::new(), spent: 0, entered: 0, backwards: false }
    }

    /// The key of the entry it is at.
    pub(in crate::trie) fn key(&self) -> &[u8] {
        &self.key
    }

    /// How many nodes were entered, and their bytes, since the last jump.
    pub(super) fn entered(&self) -> (u64, u64) {
        (self.entered, self.spent)
    }

    fn leave_all(&mut self) {
        self.key.clear();
        self.frames.clear();
        (self.spent, self.entered) = (0, 0);
    }

    fn turn(&mut self, backwards: bool) {
        if self.backwards != backwards {
            self.backwards = backwards;
            (self.spent, self.entered) = (0, 0);
        }
    }

    /// Goes to the first entry.
    pub(in crate::trie) fn first(&mut self) -> Found<'i> {
        self.leave_all();
        match self.root {
            Some(root) => self.descend(root, Self::first_in),
            None => Ok(None),
        }
    }

    /// Goes to the last entry.
    pub(in crate::trie) fn last(&mut self) -> Found<'i> {
        self.leave_all();
        match self.root {
            Some(root) => self.descend(root, Self::last_in),
            None => Ok(None),
        }
    }

    /// Goes to the first entry whose key is not below `key`.
    pub(in crate::trie) fn seek(&mut self, key: &[u8]) -> Found<'i> {
        self.leave_all();
        let Some(mut unit) = self.root else { return Ok(None) };
        let mut rest = key;
        loop {
            self.enter(unit)?;
            let Some(frame) = self.frames.last_mut() else { return Ok(None) };
            let prefix = frame.view.prefix();
            let shared = common_len(prefix, rest);
            if shared < prefix.len() {
                let before = rest.get(shared).is_some_and(|&byte| byte > prefix[shared]);
                return if before { self.skip() } else { self.first_in() };
            }
            rest = &rest[shared..];
            match frame.view {
                View::Bucket(bucket) => return self.seek_in_bucket(bucket, rest),
                View::Inner(inner) => {
                    let Some((&edge, below)) = rest.split_first() else { return self.first_in() };
                    let index = inner.lower_bound(edge);
                    if index == inner.children() {
                        return self.skip();
                    }
                    let (found, child) = inner.child(index)?;
                    frame.place = index + 1;
                    self.key.push(found);
                    if found != edge {
                        return self.descend(child, Self::first_in);
                    }
                    (unit, rest) = (child, below);
                }
            }
        }
    }

    fn seek_in_bucket(&mut self, bucket: BucketView<'i>, wanted: &[u8]) -> Found<'i> {
        let depth = self.key.len();
        for index in 0..bucket.n {
            bucket.tail(index, &mut self.key, depth, index > 0)?;
            if self.key[depth..] >= *wanted {
                if let Some(frame) = self.frames.last_mut() {
                    frame.place = index;
                }
                return Ok(Some(bucket.hit(index)));
            }
        }
        self.skip()
    }

    /// Leaves the node it is in for the entry behind it.
    fn skip(&mut self) -> Found<'i> {
        self.frames.pop();
        self.next()
    }

    /// Goes to the next entry. There is none after the last one, and none when it is at none.
    pub(in crate::trie) fn next(&mut self) -> Found<'i> {
        self.turn(false);
        while let Some(frame) = self.frames.last_mut() {
            match frame.view {
                View::Bucket(bucket) if frame.place + 1 < bucket.n => {
                    frame.place += 1;
                    let (place, depth) = (frame.place, frame.depth);
                    bucket.tail(place, &mut self.key, depth, true)?;
                    return Ok(Some(bucket.hit(place)));
                }
                View::Inner(inner) if frame.place < inner.children() => {
                    frame.place += 1;
                    let (place, depth) = (frame.place, frame.depth);
                    return self.down(&inner, depth, place, Self::first_in);
                }
                _ => {}
            }
            self.frames.pop();
        }
        self.key.clear();
        Ok(None)
    }

    /// Goes to the entry before. There is none before the first one, and none when it is at none.
    pub(in crate::trie) fn prev(&mut self) -> Found<'i> {
        self.turn(true);
        while let Some(frame) = self.frames.last_mut() {
            match frame.view {
                View::Bucket(bucket) if frame.place > 0 => {
                    frame.place -= 1;
                    let (place, depth) = (frame.place, frame.depth);
                    bucket.tail(place, &mut self.key, depth, false)?;
                    return Ok(Some(bucket.hit(place)));
                }
                View::Inner(inner) if frame.place > 1 => {
                    frame.place -= 1;
                    let (place, depth) = (frame.place, frame.depth);
                    return self.down(&inner, depth, place, Self::last_in);
                }
                View::Inner(inner) if frame.place == 1 => {
                    frame.place = 0;
                    if let Some(hit) = inner.value {
                        self.key.truncate(frame.depth);
                        return Ok(Some(hit));
                    }
                }
                _ => {}
            }
            self.frames.pop();
        }
        self.key.clear();
        Ok(None)
    }

    /// Goes down from an inner node whose keys have `depth` bytes to the child at `place`.
    fn down(
        &mut self,
        inner: &InnerView<'i>,
        depth: usize,
        place: usize,
        end: fn(&mut Self) -> Found<'i>,
    ) -> Found<'i> {
        let (edge, child) = inner.child(place - 1)?;
        self.key.truncate(depth);
        self.key.push(edge);
        self.descend(child, end)
    }

    fn descend(&mut self, unit: u32, end: fn(&mut Self) -> Found<'i>) -> Found<'i> {
        self.enter(unit)?;
        end(self)
    }

    fn enter(&mut self, unit: u32) -> Result<(), Damage> {
        let view = self.nodes.view(unit)?;
        self.spent += view.weight();
        self.entered += 1;
        if self.spent > self.nodes.bytes.len() as u64 {
            return Err(Damage { at: u64::from(unit), reason: "nodes overlap" });
        }
        self.key.extend_from_slice(view.prefix());
        self.frames.push(Frame { view, depth: self.key.len(), place: 0 });
        Ok(())
    }

    /// The first entry of the node it has just entered.
    fn first_in(&mut self) -> Found<'i> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(None) };
            let depth = frame.depth;
            match frame.view {
                View::Bucket(bucket) => {
                    bucket.tail(0, &mut self.key, depth, false)?;
                    return Ok(Some(bucket.hit(0)));
                }
                View::Inner(InnerView { value: Some(hit), .. }) => return Ok(Some(hit)),
                View::Inner(inner) => {
                    frame.place = 1;
                    let (edge, child) = inner.child(0)?;
                    self.key.push(edge);
                    self.enter(child)?;
                }
            }
        }
    }

    /// The last entry of the node it has just entered.
    fn last_in(&mut self) -> Found<'i> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(None) };
            let depth = frame.depth;
            match frame.view {
                View::Bucket(bucket) => {
                    frame.place = bucket.n - 1;
                    bucket.tail(bucket.n - 1, &mut self.key, depth, false)?;
                    return Ok(Some(bucket.hit(bucket.n - 1)));
                }
                View::Inner(inner) => {
                    frame.place = inner.children();
                    let (edge, child) = inner.child(frame.place - 1)?;
                    self.key.push(edge);
                    self.enter(child)?;
                }
            }
        }
    }
}
