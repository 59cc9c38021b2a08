//! The values of a bucket, each as its difference from the least of them.
//!
//! Values of neighbours are often near each other: numbers of documents, places in another file, ranks. In one byte each
//! instead of eight, those of a whole bucket lie on one line of memory.

use super::near::Near;

/// How the values of a bucket lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packing {
    /// Bytes a value.
    slot: usize,
    /// Bytes a difference; that of a value if there are none, but whole values.
    width: usize,
}

impl Packing {
    /// Differences of so many bytes. A width that no writer puts down is no reason to read outside the node.
    #[inline(always)]
    pub(super) fn of(slot: usize, width: u8) -> Self {
        Self { slot, width: usize::from(width) }
    }

    /// Whether there are such differences.
    pub(super) fn is_known(self) -> bool {
        self.width <= self.slot && matches!(self.width, 0 | 1 | 2 | 4 | 8)
    }

    /// Whether values lie as they are.
    #[inline(always)]
    fn is_plain(self) -> bool {
        self.width == self.slot
    }

    /// Bytes before the first difference: the least value.
    #[inline(always)]
    fn base_len(self) -> usize {
        if self.is_plain() { 0 } else { self.slot }
    }

    /// Bytes of `n` values.
    #[inline(always)]
    pub(super) fn len(self, n: usize) -> usize {
        self.base_len() + n * self.width
    }

    /// Value `index` of a node whose values are from `place` on.
    #[inline(always)]
    pub(super) fn near(self, node: Near<'_>, place: usize, index: usize) -> [u8; 8] {
        self.value(|at| u64::from_le_bytes(*node.chunk(place + at)), index)
    }

    /// Value `index` of these.
    pub(super) fn get(self, bytes: &[u8], index: usize) -> [u8; 8] {
        let word = |at: usize| {
            let held = bytes.get(at..).unwrap_or(&[]);
            let mut word = [0; 8];
            word[..held.len().min(8)].copy_from_slice(&held[..held.len().min(8)]);
            u64::from_le_bytes(word)
        };
        self.value(word, index)
    }

    #[inline(always)]
    fn value(self, word: impl Fn(usize) -> u64, index: usize) -> [u8; 8] {
        if self.slot == 0 {
            return [0; 8];
        }
        let base = if self.is_plain() { 0 } else { word(0) };
        let difference = word(self.base_len() + index * self.width) & lowest(self.width);
        (base.wrapping_add(difference) & lowest(self.slot)).to_le_bytes()
    }
}

/// The bits of the lowest `bytes` bytes.
#[inline(always)]
fn lowest(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { !(u64::MAX << (8 * bytes)) }
}

/// Puts values of `slot` bytes each at the end of `out`, behind how many bytes a difference has at `out[width_at]`.
pub(super) fn pack(slots: &[u8], slot: usize, width_at: usize, out: &mut Vec<u8>) {
    let values = || slots.chunks_exact(slot.max(1)).map(padded);
    let (least, most) = values().fold((u64::MAX, 0), |(least, most), it| (it.min(least), it.max(most)));
    let n = slots.len().checked_div(slot).unwrap_or(0);
    let widths = [0, 1, 2, 4].into_iter().filter(|&width| width < slot);
    let fits = |&width: &usize| most.wrapping_sub(least) <= lowest(width);
    let packing = widths.map(|width| Packing { slot, width }).find(|it| fits(&it.width));
    match packing.filter(|it| it.len(n) < n * slot) {
        Some(packing) => {
            out[width_at] = packing.width as u8;
            out.extend_from_slice(&least.to_le_bytes()[..slot]);
            values().for_each(|it| out.extend_from_slice(&(it - least).to_le_bytes()[..packing.width]));
        }
        None => {
            out[width_at] = slot as u8;
            out.extend_from_slice(slots);
        }
    }
}

/// A value of up to eight bytes as a number.
fn padded(value: &[u8]) -> u64 {
    u64::from_le_bytes(super::super::inner::padded(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let cases: [&[u64]; 9] = [
            &[5],
            &[0, 0, 0],
            &[7, 7, 8],
            &[1 << 40, (1 << 40) + 255],
            &[3, 259, 1],
            &[70_000, 0, 9],
            &[u64::MAX, 0],
            &[u64::MAX, u64::MAX - 1, u64::MAX - 65_535],
            &[1 << 33, 0, 1 << 20],
        ];
        for (slot, mask) in [(0, 0), (4, u64::from(u32::MAX)), (8, u64::MAX)] {
            for case in cases {
                let slots: Vec<u8> = case.iter().flat_map(|it| it.to_le_bytes()[..slot].to_vec()).collect();
                let mut out = vec![99];
                pack(&slots, slot, 0, &mut out);
                let packing = Packing::of(slot, out[0]);
                assert!(packing.is_known() && out.len() == 1 + packing.len(case.len()), "{slot} {case:?}");
                assert!(out.len() <= 1 + slots.len(), "{slot} {case:?}");
                for (index, value) in case.iter().enumerate() {
                    assert_eq!(
                        packing.get(&out[1..], index),
                        (value & mask).to_le_bytes(),
                        "{slot} {case:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn neighbours_take_a_byte_each() {
        let slots: Vec<u8> = (1_000_u64..1_016).flat_map(u64::to_le_bytes).collect();
        let mut out = vec![0];
        pack(&slots, 8, 0, &mut out);
        assert_eq!(out.len(), 1 + 8 + 16);
    }

    #[test]
    fn widths_that_do_not_exist_are_known() {
        for (slot, known) in [(0, &[0][..]), (4, &[0, 1, 2, 4]), (8, &[0, 1, 2, 4, 8])] {
            let found: Vec<u8> = (0..=255).filter(|&width| Packing::of(slot, width).is_known()).collect();
            assert_eq!(found, known);
        }
    }
}
