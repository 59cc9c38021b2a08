//! The children of an inner node, in four sizes.

use super::slot::Slot;

/// The children of an inner node by edge byte.
pub(super) trait Fan {
    /// How many children there are.
    fn len(&self) -> usize;

    /// How many children there can be.
    fn capacity(&self) -> usize;

    /// The child at `edge`.
    fn find(&self, edge: u8) -> Option<&Slot>;

    /// The child at `edge`, to change.
    fn find_mut(&mut self, edge: u8) -> Option<&mut Slot>;

    /// The first child whose edge is not below `from`.
    fn next(&self, from: usize) -> Option<(u8, &Slot)>;

    /// The last child whose edge is below `end`.
    fn before(&self, end: usize) -> Option<(u8, &Slot)>;

    /// Adds a child; there is room, and none at `edge` yet.
    fn add(&mut self, edge: u8, child: Slot);

    /// Removes the child at `edge` and returns it.
    fn remove(&mut self, edge: u8) -> Option<Slot>;

    /// Visits every child, in no particular order.
    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Slot));
}

/// Up to `N` children in the order of their edges.
pub(super) struct Sorted<const N: usize> {
    len: u8,
    keys: [u8; N],
    slots: [Slot; N],
}

impl<const N: usize> Sorted<N> {
    pub(super) const fn new() -> Self {
        Self { len: 0, keys: [0; N], slots: [const { Slot::empty() }; N] }
    }

    #[inline]
    fn position(&self, edge: u8) -> Option<usize> {
        let index = if N == 16 {
            let (low, high) = self.keys.split_at(8);
            match first_equal(low, edge) {
                8 => 8 + first_equal(high, edge),
                index => index,
            }
        } else {
            self.keys.iter().position(|&key| key == edge).unwrap_or(N)
        };
        // Keys beyond `len` are zero; the real edge 0 comes first, so a match out there is none.
        (index < usize::from(self.len)).then_some(index)
    }
}

/// The index of the first of eight bytes that equals `byte`, or 8.
#[inline]
pub(super) fn first_equal(bytes: &[u8], byte: u8) -> usize {
    let flags = equal_flags(bytes, byte);
    if flags == 0 { 8 } else { flags.trailing_zeros() as usize / 8 }
}

/// Flags in the top bits of those of eight bytes that equal `byte`. The lowest flag is exact; one above a true
/// match may be false.
#[inline]
pub(super) fn equal_flags(bytes: &[u8], byte: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let zero_if_equal = word ^ (ONES * u64::from(byte));
    zero_if_equal.wrapping_sub(ONES) & !zero_if_equal & (ONES << 7)
}

impl<const N: usize> Fan for Sorted<N> {
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn capacity(&self) -> usize {
        N
    }

    #[inline]
    fn find(&self, edge: u8) -> Option<&Slot> {
        self.position(edge).map(|index| &self.slots[index])
    }

    fn find_mut(&mut self, edge: u8) -> Option<&mut Slot> {
        self.position(edge).map(|index| &mut self.slots[index])
    }

    fn next(&self, from: usize) -> Option<(u8, &Slot)> {
        let keys = &self.keys[..self.len()];
        let index = keys.partition_point(|&key| usize::from(key) < from);
        keys.get(index).map(|&key| (key, &self.slots[index]))
    }

    fn before(&self, end: usize) -> Option<(u8, &Slot)> {
        let keys = &self.keys[..self.len()];
        let index = keys.partition_point(|&key| usize::from(key) < end).checked_sub(1)?;
        Some((keys[index], &self.slots[index]))
    }

    fn add(&mut self, edge: u8, child: Slot) {
        let len = self.len();
        let index = if len == 0 || self.keys[len - 1] < edge {
            // Images and sorted inserts come this way.
            len
        } else {
            let index = self.keys[..len].partition_point(|&key| key < edge);
            self.keys[index..=len].rotate_right(1);
            self.slots[index..=len].rotate_right(1);
            index
        };
        self.keys[index] = edge;
        self.slots[index] = child;
        self.len += 1;
    }

    fn remove(&mut self, edge: u8) -> Option<Slot> {
        let index = self.position(edge)?;
        let len = self.len();
        self.keys[index..len].rotate_left(1);
        self.slots[index..len].rotate_left(1);
        self.keys[len - 1] = 0;
        self.len -= 1;
        Some(self.slots[len - 1].replace(Slot::empty()))
    }

    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Slot)) {
        let len = self.len();
        self.slots[..len].iter_mut().for_each(visit);
    }
}

/// Up to 48 children, found through a table of all edges.
pub(super) struct Indexed {
    len: u8,
    /// One more than the place of the child, or 0.
    places: [u8; 256],
    slots: [Slot; 48],
}

impl Indexed {
    pub(super) const fn new() -> Self {
        Self { len: 0, places: [0; 256], slots: [const { Slot::empty() }; 48] }
    }
}

impl Fan for Indexed {
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn capacity(&self) -> usize {
        48
    }

    #[inline]
    fn find(&self, edge: u8) -> Option<&Slot> {
        self.slots.get(usize::from(self.places[usize::from(edge)]).wrapping_sub(1))
    }

    fn find_mut(&mut self, edge: u8) -> Option<&mut Slot> {
        self.slots.get_mut(usize::from(self.places[usize::from(edge)]).wrapping_sub(1))
    }

    fn next(&self, from: usize) -> Option<(u8, &Slot)> {
        let edge = from + self.places.get(from..)?.iter().position(|&place| place != 0)?;
        let edge = edge as u8;
        self.find(edge).map(|slot| (edge, slot))
    }

    fn before(&self, end: usize) -> Option<(u8, &Slot)> {
        let edge = self.places.get(..end)?.iter().rposition(|&place| place != 0)? as u8;
        self.find(edge).map(|slot| (edge, slot))
    }

    fn add(&mut self, edge: u8, child: Slot) {
        self.slots[self.len()] = child;
        self.len += 1;
        self.places[usize::from(edge)] = self.len;
    }

    fn remove(&mut self, edge: u8) -> Option<Slot> {
        let place = std::mem::take(&mut self.places[usize::from(edge)]);
        let index = usize::from(place.checked_sub(1)?);
        let last = self.len;
        self.len -= 1;
        // The last child moves into the gap.
        self.slots.swap(index, usize::from(last) - 1);
        if let Some(moved) = self.places.iter_mut().find(|place| **place == last) {
            *moved = place;
        }
        Some(self.slots[usize::from(last) - 1].replace(Slot::empty()))
    }

    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Slot)) {
        let len = self.len();
        self.slots[..len].iter_mut().for_each(visit);
    }
}

/// A slot for every edge.
pub(super) struct Direct {
    len: u16,
    present: [u64; 4],
    slots: [Slot; 256],
}

impl Direct {
    pub(super) const fn new() -> Self {
        Self { len: 0, present: [0; 4], slots: [const { Slot::empty() }; 256] }
    }

    fn has(&self, edge: u8) -> bool {
        self.present[usize::from(edge) / 64] >> (edge % 64) & 1 != 0
    }
}

impl Fan for Direct {
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn capacity(&self) -> usize {
        256
    }

    #[inline]
    fn find(&self, edge: u8) -> Option<&Slot> {
        self.has(edge).then(|| &self.slots[usize::from(edge)])
    }

    fn find_mut(&mut self, edge: u8) -> Option<&mut Slot> {
        if self.has(edge) { Some(&mut self.slots[usize::from(edge)]) } else { None }
    }

    fn next(&self, from: usize) -> Option<(u8, &Slot)> {
        (from..256).map(|edge| edge as u8).find_map(|edge| self.find(edge).map(|slot| (edge, slot)))
    }

    fn before(&self, end: usize) -> Option<(u8, &Slot)> {
        (0..end).rev().map(|edge| edge as u8).find_map(|edge| self.find(edge).map(|slot| (edge, slot)))
    }

    fn add(&mut self, edge: u8, child: Slot) {
        self.slots[usize::from(edge)] = child;
        self.present[usize::from(edge) / 64] |= 1 << (edge % 64);
        self.len += 1;
    }

    fn remove(&mut self, edge: u8) -> Option<Slot> {
        if !self.has(edge) {
            return None;
        }
        self.present[usize::from(edge) / 64] &= !(1 << (edge % 64));
        self.len -= 1;
        Some(self.slots[usize::from(edge)].replace(Slot::empty()))
    }

    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Slot)) {
        self.slots.iter_mut().for_each(visit);
    }
}
